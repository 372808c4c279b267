"""A MySQL or MariaDB database: the engine's methods, each handed to the module that does it."""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.session import Session
from clitool_tools.database.mysql.table import MysqlTable
from clitool_tools.database.names import hint, listed, shown
from clitool_tools.database.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, NoReturn

    from clitool.errors import ClitoolError
    from clitool.tool import Deadline
    from clitool_tools.database.engine import Bounds, Selection, Statement
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.table import Column, Sort, Unique
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node


class Database:
    """The engine interface (see `clitool_tools.database.interface.Engine`) on one database of a server."""

    def __init__(self, connection: Connection, deadline: Deadline) -> None:
        self.connection = connection
        self.deadline = deadline
        self.session = Session(connection, deadline)

    def park(self) -> bool:
        """End a call, so that nothing of it remains; return whether another call can have the connection."""
        return self.session.park()

    def resume(self, deadline: Deadline) -> bool:
        """Begin another call; return whether the connection is as a new one would be."""
        self.deadline = deadline
        return self.session.resume(deadline)

    def close(self) -> None:
        """Take back what is open, and hang up."""
        self.session.close()

    def tables(self) -> list[Table]:
        """Return the allowed tables and views."""
        self.session.read()
        return [Table(name, (), is_view=is_view) for name, is_view in schema.names(self.session) if self.allows(name)]

    def allows(self, live: str) -> bool:
        """Return whether the table that the server calls so is allowed, by its exact name."""
        return schema.allows(self.session, self.connection, live)

    def table(self, name: str, *, change: bool = False) -> MysqlTable:
        """Return an allowed table, or raise: it does not exist (not_found), or cannot change (table_not_allowed)."""
        self.session.read()
        found = schema.find(self.session, name)
        if found is None or not self.allows(found.name):
            raise self._missing(name, found)
        if change and found.is_view:
            raise InvalidParams(f"{shown(found.name)} is a view; change the table behind it", "table_not_allowed")
        if change and not found.keeps_its_rows:
            raise InvalidParams(
                f"the engine {found.engine} of {shown(found.name)} keeps rows in other tables or places; change these",
                "table_not_allowed",
            )
        return found

    def _missing(self, name: str, found: MysqlTable | None) -> ClitoolError:
        known = [each for each, _ in schema.names(self.session) if self.allows(each)]
        if found is not None:  # in another spelling than the one allowed
            offer = listed(self.connection.listed_tables)
            return InvalidParams(f"the table {shown(name)} is not in allowed_tables: {offer}", "table_not_allowed")
        return ExecutionError(f"the database has no table {shown(name)}{hint(name, known)}", "not_found")

    def describe(self, table: Table) -> Mapping[str, Any]:
        """Return columns, indexes, foreign keys and base tables."""
        from clitool_tools.database.mysql.description import describe

        return describe(self, _own(table))

    def order(self, table: Table) -> Sequence[Sort] | None:
        """Return a unique index in which every row has its own place, or None."""
        return _own(table).order()

    def uniques(self, table: Table) -> Sequence[Unique]:
        """Return the unique indexes over whole columns."""
        return list(_own(table).uniques())

    def select(self, selection: Selection) -> Iterator[Sequence[Any]]:
        """Yield the rows of a structured query."""
        from clitool_tools.database.mysql.selecting import select

        return select(self.session, selection)

    def statement(self, sql: str, params: Sequence[Stored] | Mapping[str, Stored]) -> Statement:
        """Admit a SELECT of the caller's."""
        from clitool_tools.database.mysql.statement import admit

        return admit(self.session, self.connection, sql, params)

    def aggregate(self, table: Table, pipeline: Sequence[Any], limit: int, *, is_canonical: bool) -> NoReturn:
        """Refuse: `screen_pipeline` admits none."""
        raise NotImplementedError

    def insert(self, table: Table, rows: Sequence[Mapping[Column, Stored]]) -> Mapping[str, Any]:
        """Insert all rows or none."""
        from clitool_tools.database.mysql.inserting import insert

        return insert(self, _own(table), rows)

    def upsert(self, table: Table, unique: Unique, rows: Sequence[Mapping[Column, Stored]]) -> Mapping[str, int]:
        """Update by key or insert, all rows or none."""
        from clitool_tools.database.mysql.upserting import upsert

        return upsert(self, _own(table), unique, rows)

    def update(self, table: Table, where: Node, values: Mapping[Column, Stored], bounds: Bounds) -> int:
        """Update the matching rows; return how many match."""
        from clitool_tools.database.mysql.change import update

        return update(self, _own(table), where, values, bounds)

    def delete(self, table: Table, where: Node, bounds: Bounds) -> int:
        """Delete the matching rows; return how many match."""
        from clitool_tools.database.mysql.change import delete

        return delete(self, _own(table), where, bounds)


def _own(table: Table) -> MysqlTable:
    if not isinstance(table, MysqlTable):
        raise TypeError("the table comes from another engine")
    return table
