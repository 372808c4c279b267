"""Which engine a database has, and the questions that are put to every one (see `interface`)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence
    from typing import Any

    from clitool_tools.database.interface import Module
    from clitool_tools.database.table import Column, Sort, Table
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node


class Selection:
    """A structured query, checked: nothing in it is the caller's text but bound values."""

    __slots__ = ("after", "columns", "is_canonical", "is_total", "limit", "order", "table", "where")

    def __init__(
        self,
        table: Table,
        columns: Sequence[Column],
        where: Node | None,
        order: Sequence[Sort],
        limit: int,
        *,
        is_total: bool,
    ) -> None:
        self.table = table
        self.columns = columns
        self.where = where
        self.order = order
        self.limit = limit
        self.is_total = is_total  # whether the order puts every row in its own place, so that a cursor can follow
        self.after: Sequence[Stored] | None = None  # sort values of the row before the first
        self.is_canonical = False  # whether documents are shown with the type of every value


class Statement:
    """A caller's SELECT that may run.

    Args:
        tables: the tables that it reads; where all are allowed, they are known only once it has started.
        rows: starts it; gives the names of its columns, as the database has them, then its rows. Closed, it ends.
    """

    __slots__ = ("rows", "tables")

    def __init__(self, tables: Collection[str], rows: Generator[Sequence[Any], None, None]) -> None:
        self.tables = tables
        self.rows = rows

    def names(self) -> Sequence[str]:
        """Start it and return the names of its columns, once; a name may stand there twice."""
        return next(self.rows)


class Bounds:
    """How far a change may go: at most so many rows (too_many_affected), and taken back at once if `dry_run`."""

    __slots__ = ("dry_run", "most")

    def __init__(self, most: int, *, dry_run: bool) -> None:
        self.most = most
        self.dry_run = dry_run


def module(kind: str) -> Module:
    """Return the engine for a `type` of the settings, imported at its first use."""
    if kind == "sqlite":
        from clitool_tools.database import sqlite

        return sqlite
    if kind == "mysql":
        from clitool_tools.database import mysql

        return mysql
    if kind == "mongodb":
        from clitool_tools.database import mongodb

        return mongodb
    raise LookupError(kind)
