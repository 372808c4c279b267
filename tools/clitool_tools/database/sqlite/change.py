"""Changes: SQL that we build, in one transaction each, under a guard for their one table and permitted side effects.

``OR ABORT`` stands everywhere: without it a table declared with ``ON CONFLICT REPLACE`` would delete rows in silence.
"""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.database.sqlite.change_guard import change_guard
from clitool_tools.database.sqlite.condition import Condition
from clitool_tools.database.sqlite.schema import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from sqlite3 import Connection as Handle
    from types import TracebackType
    from typing import Any

    from clitool_tools.database.engine import Bounds
    from clitool_tools.database.sqlite.database import Database
    from clitool_tools.database.sqlite.schema import SqliteTable
    from clitool_tools.database.table import Column, Unique
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node

    Row = Mapping[Column, Stored]


class Change:
    """One transaction on one table: all of it or nothing, and nothing of it if `dry_run`.

    It takes the lock for writing at its beginning, so that what it reads stays true until it is done.
    """

    def __init__(self, database: Database, table: SqliteTable, *, dry_run: bool = False) -> None:
        self._handle = database.file.writer()
        self._dry_run = dry_run
        with database.file.faults():
            self._guard = change_guard(self._handle, table, database.connection)
        self._faults = database.file.faults(self._guard)

    def __enter__(self) -> Handle:
        with self._faults:
            self._handle.execute("BEGIN IMMEDIATE")
        self._handle.set_authorizer(self._guard)
        return self._handle

    def each(self, rows: Sequence[Row]) -> Iterator[Row]:
        """Yield the rows; a constraint that refuses one of them names it."""
        for self._faults.row, row in enumerate(rows):
            yield row
        self._faults.row = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._handle.set_authorizer(None)
        with self._faults:
            try:
                if error is not None:
                    raise error
                if not self._dry_run:
                    self._handle.execute("COMMIT")
            finally:
                self._handle.rollback()


def insert(database: Database, table: SqliteTable, rows: Sequence[Row]) -> dict[str, Any]:
    """Insert all rows; count those that no trigger has ignored, and tell their numbers if these are the primary key."""
    change = Change(database, table)
    with change as handle:
        keys = [key for row in change.each(rows) if (key := _insert(handle, table, row)) is not None]
    return {"inserted": len(keys), **({"ids": keys} if table.generates_keys else {})}


def upsert(database: Database, table: SqliteTable, unique: Unique, rows: Sequence[Row]) -> dict[str, int]:
    """Update the row with the same key, or insert; count what happened.

    Not by ``ON CONFLICT DO UPDATE``: that would check the row to insert first, and refuse an update that leaves out a
    column which must not be null.
    """
    counts = {"inserted": 0, "updated": 0, "unchanged": 0}
    change = Change(database, table)
    with change as handle:
        for row in change.each(rows):
            counts[_upsert(handle, table, unique, row)] += 1
    return counts


def update(database: Database, table: SqliteTable, where: Node, values: Row, bounds: Bounds) -> int:
    """Update the rows that match; return how many do."""
    with Change(database, table, dry_run=bounds.dry_run) as handle:
        condition = Condition(handle, table)
        assigned = _assigned(condition, values)
        test = condition.where(where)
        _bound(handle, table, where, bounds)
        sql = f"UPDATE OR ABORT main.{quoted(table.name)} SET {assigned} WHERE {test}"  # noqa: S608 - as above
        return handle.execute(sql, condition.values).rowcount


def delete(database: Database, table: SqliteTable, where: Node, bounds: Bounds) -> int:
    """Delete the rows that match; return how many do."""
    with Change(database, table, dry_run=bounds.dry_run) as handle:
        condition = Condition(handle, table)
        test = condition.where(where)
        _bound(handle, table, where, bounds)
        sql = f"DELETE FROM main.{quoted(table.name)} WHERE {test}"  # noqa: S608 - names of the live schema, quoted
        return handle.execute(sql, condition.values).rowcount


def _insert(handle: Handle, table: SqliteTable, row: Row) -> int | None:
    """Insert a row; return its number, or None if a trigger ignores it."""
    condition = Condition(handle, table)
    names = ", ".join(quoted(column.name) for column in row)
    values = ", ".join([condition.bind(value) for value in row.values()])
    content = f"({names}) VALUES ({values})" if row else "DEFAULT VALUES"
    sql = f"INSERT OR ABORT INTO main.{quoted(table.name)} {content}"
    done = handle.execute(sql, condition.values)
    return done.lastrowid if done.rowcount else None


def _upsert(handle: Handle, table: SqliteTable, unique: Unique, row: Row) -> str:
    rest = {column: value for column, value in row.items() if column not in unique.columns}
    if rest:
        condition = Condition(handle, table)
        assigned = _assigned(condition, rest)
        test = f"{_same_key(condition, unique, row)} AND {_different(condition, rest)}"
        sql = f"UPDATE OR ABORT main.{quoted(table.name)} SET {assigned} WHERE {test}"  # noqa: S608 - as above
        if handle.execute(sql, condition.values).rowcount:
            return "updated"
    condition = Condition(handle, table)
    sql = f"SELECT 1 FROM main.{quoted(table.name)} WHERE {_same_key(condition, unique, row)}"  # noqa: S608 - as above
    if handle.execute(sql, condition.values).fetchone():
        return "unchanged"
    return "unchanged" if _insert(handle, table, row) is None else "inserted"


def _assigned(condition: Condition, values: Row) -> str:
    return ", ".join([f"{quoted(column.name)} = {condition.bind(value)}" for column, value in values.items()])


def _same_key(condition: Condition, unique: Unique, row: Row) -> str:
    return " AND ".join([f"{condition.sorted(sort)} = {condition.bind(row[sort.column])}" for sort in unique.sorts])


def _different(condition: Condition, values: Row) -> str:
    """Return the SQL for "one of the values is another one": to the byte, whatever the column's collation."""
    tests = [
        f"{condition.column(column)} COLLATE BINARY IS NOT {condition.bind(value)}" for column, value in values.items()
    ]
    return f"({' OR '.join(tests)})"


def _bound(handle: Handle, table: SqliteTable, where: Node, bounds: Bounds) -> None:
    """Raise `ExecutionError` (too_many_affected) if more rows match than the caller permits."""
    condition = Condition(handle, table)
    sql = (
        f"SELECT count(*) FROM (SELECT 1 FROM main.{quoted(table.name)} WHERE {condition.where(where)}"  # noqa: S608 - as above
        f" LIMIT {bounds.most + 1:d})"
    )
    if handle.execute(sql, condition.values).fetchone()[0] > bounds.most:
        raise ExecutionError(
            f"more than {bounds.most} rows match, which is max_affected; nothing was changed", "too_many_affected"
        )
