"""A MongoDB database: the engine's methods, each handed to the module that does it."""

from __future__ import annotations

from weakref import ref

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.database.mongodb import schema
from clitool_tools.database.mongodb.session import Session
from clitool_tools.database.mongodb.table import MongoTable
from clitool_tools.database.names import hint, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    from clitool.tool import Deadline
    from clitool_tools.database.engine import Bounds, Selection
    from clitool_tools.database.mongodb.session import Documents
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.table import Column, Sort, Table, Unique
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node


class Database:
    """The engine interface (see `clitool_tools.database.interface.Engine`) on one MongoDB database."""

    def __init__(self, connection: Connection, deadline: Deadline) -> None:
        self.connection = connection
        self.session = Session(connection, deadline)
        self._given: list[ref[Documents]] = []

    def park(self) -> bool:
        """End a call: end what it left half read; return whether another call can have the client."""
        given = [documents for each in self._given if (documents := each()) is not None]
        self._given.clear()
        return self.session.park(given)

    def resume(self, deadline: Deadline) -> bool:
        """Begin another call; return whether the server is there for it as for a new client."""
        return self.session.resume(deadline)

    def close(self) -> None:
        """Close the connection."""
        self.session.close()

    def tables(self) -> list[Table]:
        """Return the allowed collections and views."""
        found = schema.collections(self.session)
        return [MongoTable(name, found[name]) for name in sorted(found) if self.connection.allows(name)]

    def table(self, name: str, *, change: bool = False) -> MongoTable:
        """Return an allowed collection; raises: there is none (not_found), or it cannot change (table_not_allowed)."""
        found = schema.find(self.session, name) if self.connection.allows(name) else None
        if found is None:
            known = [table.name for table in self.tables()]
            raise ExecutionError(f"the database has no table {shown(name)}{hint(name, known)}", "not_found")
        if change and found.is_view:
            raise InvalidParams(f"{shown(name)} is a view; change the collection behind it", "table_not_allowed")
        return found

    def describe(self, table: Table) -> Mapping[str, Any]:
        """Return the fields that a sample of the documents has, the indexes, and for a view what it reads."""
        from clitool_tools.database.mongodb.description import describe

        return describe(self, _own(table))

    def order(self, table: Table) -> Sequence[Sort] | None:
        """Return the order by `_id`, or None where that is not unique."""
        return schema.order(_own(table))

    def uniques(self, table: Table) -> Sequence[Unique]:
        """Return the unique indexes over all documents, `_id` first."""
        return list(schema.uniques(self.session, _own(table)))

    def select(self, selection: Selection) -> Documents:
        """Yield the documents of a structured query."""
        from clitool_tools.database.mongodb.selecting import select

        return self._give(select(self.session, selection))

    def statement(self, sql: str, params: Sequence[Stored] | Mapping[str, Stored]) -> NoReturn:
        """Refuse: `screen` admits none."""
        raise NotImplementedError

    def aggregate(self, table: Table, pipeline: Sequence[Any], limit: int, *, is_canonical: bool) -> Documents:
        """Yield the documents of a pipeline."""
        from clitool_tools.database.mongodb.aggregation import aggregate

        return self._give(aggregate(self.session, _own(table), pipeline, limit, is_canonical=is_canonical))

    def _give(self, documents: Documents) -> Documents:
        """Note what is read as it comes: until that is closed, a cursor is open, and the driver's clock is running."""
        self._given.append(ref(documents))
        return documents

    def insert(self, table: Table, rows: Sequence[Mapping[Column, Stored]]) -> Mapping[str, Any]:
        """Insert all documents or none."""
        from clitool_tools.database.mongodb.change import insert

        return insert(self.session, _own(table), rows)

    def upsert(self, table: Table, unique: Unique, rows: Sequence[Mapping[Column, Stored]]) -> Mapping[str, int]:
        """Update by key or insert, all documents or none."""
        from clitool_tools.database.mongodb.change import upsert

        return upsert(self.session, _own(table), unique, rows)

    def update(self, table: Table, where: Node, values: Mapping[Column, Stored], bounds: Bounds) -> int:
        """Update the matching documents; return how many match."""
        from clitool_tools.database.mongodb.change import update

        return update(self.session, _own(table), where, values, bounds)

    def delete(self, table: Table, where: Node, bounds: Bounds) -> int:
        """Delete the matching documents; return how many match."""
        from clitool_tools.database.mongodb.change import delete

        return delete(self.session, _own(table), where, bounds)


def _own(table: Table) -> MongoTable:
    if not isinstance(table, MongoTable):
        raise TypeError("the table comes from another engine")
    return table
