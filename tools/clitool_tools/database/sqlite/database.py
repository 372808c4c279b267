"""A SQLite database for one call: the engine's methods, each handed to the module that does it."""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.database.names import hint, shown
from clitool_tools.database.sqlite import schema
from clitool_tools.database.sqlite.file import File
from clitool_tools.database.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from sqlite3 import Connection as Handle
    from typing import Any, NoReturn

    from clitool.tool import Deadline
    from clitool_tools.database.engine import Bounds, Selection, Statement
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.sqlite.schema import SqliteTable
    from clitool_tools.database.table import Column, Sort, Unique
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node


class Database:
    """The engine interface (see `clitool_tools.database.interface.Engine`) on one SQLite file."""

    def __init__(self, connection: Connection, deadline: Deadline) -> None:
        self.connection = connection
        self.file = File(connection, deadline)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def tables(self) -> list[Table]:
        """Return the allowed tables and views; those that hold a full-text index only if they are listed by name."""
        from clitool_tools.database.sqlite.objects import names

        handle = self.file.reader()
        with self.file.faults():
            found = names(handle)
        return [
            Table(name, (), is_view=type_ == "view")
            for name, type_, _ in found
            if self.connection.allows(name) and (type_ != "shadow" or self.connection.tables is not None)
        ]

    def table(self, name: str, *, change: bool = False) -> SqliteTable:
        """Return an allowed table, or raise: it does not exist (not_found), or cannot change (table_not_allowed)."""
        handle = self.file.writer() if change else self.file.reader()
        with self.file.faults():
            found = schema.find(handle, name)
        if found is None or not self.connection.allows(found.name):
            raise self._missing(handle, name)
        if change and found.type in ("view", "shadow"):
            kind = "a view" if found.is_view else "part of a virtual table"
            raise InvalidParams(f"{shown(found.name)} is {kind}; change the table behind it", "table_not_allowed")
        return found

    def _missing(self, handle: Handle, name: str) -> ExecutionError:
        from clitool_tools.database.sqlite.objects import names

        with self.file.faults():
            known = [each for each, _, _ in names(handle) if self.connection.allows(each)]
        return ExecutionError(f"the database has no table {shown(name)}{hint(name, known)}", "not_found")

    def describe(self, table: Table) -> Mapping[str, Any]:
        """Return columns, indexes, foreign keys and base tables."""
        from clitool_tools.database.sqlite.description import describe

        return describe(self, _own(table))

    def order(self, table: Table) -> Sequence[Sort] | None:
        """Return the primary key or another order in which every row has its own place, or None."""
        with self.file.faults():
            return schema.order(self.file.reader(), _own(table))

    def uniques(self, table: Table) -> Sequence[Unique]:
        """Return the unique indexes over plain columns and all rows."""
        with self.file.faults():
            return list(schema.uniques(self.file.writer(), _own(table)))

    def select(self, selection: Selection) -> Iterator[Sequence[Any]]:
        """Yield the rows of a structured query."""
        from clitool_tools.database.sqlite.selecting import select

        return select(self.file, _own(selection.table), selection)

    def statement(self, sql: str, params: Sequence[Stored] | Mapping[str, Stored]) -> Statement:
        """Admit a SELECT of the caller's."""
        from clitool_tools.database.sqlite.statement import admit

        return admit(self.file, self.connection, sql, params)

    def aggregate(self, table: Table, pipeline: Sequence[Any], limit: int, *, is_canonical: bool) -> NoReturn:
        """Refuse: `screen_pipeline` admits none."""
        raise NotImplementedError

    def insert(self, table: Table, rows: Sequence[Mapping[Column, Stored]]) -> Mapping[str, Any]:
        """Insert all rows or none."""
        from clitool_tools.database.sqlite.change import insert

        return insert(self, _own(table), rows)

    def upsert(self, table: Table, unique: Unique, rows: Sequence[Mapping[Column, Stored]]) -> Mapping[str, int]:
        """Update by key or insert, all rows or none."""
        from clitool_tools.database.sqlite.change import upsert

        return upsert(self, _own(table), unique, rows)

    def update(self, table: Table, where: Node, values: Mapping[Column, Stored], bounds: Bounds) -> int:
        """Update the matching rows; return how many match."""
        from clitool_tools.database.sqlite.change import update

        return update(self, _own(table), where, values, bounds)

    def delete(self, table: Table, where: Node, bounds: Bounds) -> int:
        """Delete the matching rows; return how many match."""
        from clitool_tools.database.sqlite.change import delete

        return delete(self, _own(table), where, bounds)


def _own(table: Table) -> SqliteTable:
    if not isinstance(table, schema.SqliteTable):
        raise TypeError("the table comes from another engine")
    return table
