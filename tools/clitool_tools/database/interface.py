"""What every database engine does, behind the same tools. Tools check the call; engines speak to the database.

An engine is a package below this one, declared by `Module`. This module is for type checkers and readers: no call
imports it.
"""

from __future__ import annotations

from typing import Any, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

    from clitool.family import Finding, Origin
    from clitool.tool import Deadline
    from clitool_tools.database.engine import Bounds, Selection, Statement
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.table import Column, Sort, Table, Unique
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node


class Module(Protocol):
    """The package of an engine."""

    KEYS: tuple[str, ...]
    """The settings beside those that all engines have; those of other engines are refused."""

    def locate(self, settings: Mapping[str, Any], origin: Origin, prefix: str) -> Any:  # noqa: ANN401 - a type of the engine's own
        """Return what `connect` opens, from the settings in `KEYS`, without effect; raises `SettingsError`."""

    def fold(self, name: str) -> Hashable:
        """Return what all spellings that may mean the same table have in common.

        Where only the server knows (MySQL), it is the widest rule; the engine itself asks again, exactly.
        """

    def is_reserved(self, name: str) -> bool:
        """Return whether a table of this name is the database's own, which no setting can allow."""

    def screen(self, sql: str) -> None:
        """Raise what can be said against a caller's statement without the database."""

    def screen_pipeline(self, connection: Connection, pipeline: Sequence[Any]) -> Collection[str]:
        """Return the tables that a caller's pipeline names beside its own, all allowed, or refuse it."""

    def connect(self, connection: Connection, deadline: Deadline) -> Engine:
        """Return the engine for one call; it may open the database at the first use."""

    def check(self, connection: Connection, prefix: str, *, probe: bool) -> Iterable[Finding]:
        """Yield the findings of `clitool check`; reach the database only if `probe` is true."""


class Engine(Protocol):
    """One database for one call. Every fault is raised as a `ClitoolError`, never as the driver's own."""

    def tables(self) -> list[Table]:
        """Return the tables and views that exist and are allowed, by name, without their columns."""

    def table(self, name: str, *, change: bool = False) -> Table:
        """Return an allowed table, or raise: `not_found` if it does not exist, and for `change` if it is a view."""

    def describe(self, table: Table) -> Mapping[str, Any]:
        """Return collations, indexes, foreign keys and base tables for `database_describe`."""

    def order(self, table: Table) -> Sequence[Sort] | None:
        """Return columns that put every row in its own place, to end an order with; None if there are none."""

    def uniques(self, table: Table) -> Sequence[Unique]:
        """Return the unique indexes that identify a row, the primary key included."""

    def select(self, selection: Selection) -> Iterator[Sequence[Any]]:
        """Yield rows: the selected columns, then the sort values; at most ``limit + 1``; null sorts first.

        Where the table is open, yield what `table.OpenTable` says instead.
        """

    def aggregate(
        self, table: Table, pipeline: Sequence[Any], limit: int, *, is_canonical: bool
    ) -> Iterator[Sequence[Any]]:
        """Yield the documents, at most ``limit + 1``, of a pipeline that `screen_pipeline` has admitted."""

    def statement(self, sql: str, params: Sequence[Stored] | Mapping[str, Stored]) -> Statement:
        """Admit one SELECT of the caller's under the full guard, or refuse it; nothing of it runs yet."""

    def insert(self, table: Table, rows: Sequence[Mapping[Column, Stored]]) -> Mapping[str, Any]:
        """Insert all rows or none; return the count `inserted`, and `ids` where the table generates keys."""

    def upsert(self, table: Table, unique: Unique, rows: Sequence[Mapping[Column, Stored]]) -> Mapping[str, int]:
        """Update by key or insert, all rows or none; return the counts `inserted`, `updated`, `unchanged`."""

    def update(self, table: Table, where: Node, values: Mapping[Column, Stored], bounds: Bounds) -> int:
        """Update the matching rows; return how many matched."""

    def delete(self, table: Table, where: Node, bounds: Bounds) -> int:
        """Delete the matching rows; return how many there were."""

    def close(self) -> None:
        """Release the database."""
