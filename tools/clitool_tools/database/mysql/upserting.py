"""Rows that may exist already: each is locked by its key and updated, or inserted if there is none."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.database.mysql import condition, effects
from clitool_tools.database.mysql.change import require_transactions, transaction
from clitool_tools.database.mysql.inserting import insert_one
from clitool_tools.database.mysql.literal import quoted
from clitool_tools.database.mysql.schema import MysqlColumn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.mysql.schema import MysqlTable
    from clitool_tools.database.mysql.session import Session
    from clitool_tools.database.table import Column, Unique
    from clitool_tools.database.values import Stored

    Row = Mapping[Column, Stored]


def upsert(database: Database, table: MysqlTable, unique: Unique, rows: Sequence[Row]) -> dict[str, int]:
    """Update the row with the same key, or insert; count what happened.

    Not by ON DUPLICATE KEY UPDATE: that would update a row with another unique key in common, and refuse an update
    that leaves out a column which must not be null. READ COMMITTED locks no gaps between rows, in which two who look
    for a row that is not there would stand in each other's way.
    """
    effects.check(
        database, table, ["INSERT", "UPDATE"], {column: None for row in rows for column in _rest(unique, row)}
    )
    if len(rows) > 1:
        require_transactions(database, table, "several rows")
    session = database.session
    session.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
    collided: set[object] = set()

    def run() -> dict[str, int]:
        counts = {"inserted": 0, "updated": 0, "unchanged": 0}
        for position, row in enumerate(rows):
            counts[_upsert(session, table, unique, row, position)] += 1
        return counts

    while True:
        try:
            return transaction(database, run)
        except ExecutionError as error:
            # Perhaps another process has just inserted the same key: the second time it is found. But if it is not the
            # key that is there already, the row is refused again.
            if error.reason != "duplicate_key" or error.details["row"] in collided:
                raise
            collided.add(error.details["row"])


def _upsert(session: Session, table: MysqlTable, unique: Unique, row: Row, position: int) -> str:
    rest = _rest(unique, row)
    key = " AND ".join([f"{quoted(column.name)} = {condition.written(row[column])}" for column in unique.columns])
    is_same = " AND ".join([_same(column, row[column]) for column in rest]) or "TRUE"
    found = session.run(
        f"SELECT {is_same} FROM {quoted(table.name)} WHERE {key} FOR UPDATE",  # noqa: S608 - names of the live schema, literals
        row=position,
    ).all()
    if not found:
        insert_one(session, table, row, position)
        return "inserted"
    if found[0][0] == b"1":
        return "unchanged"
    assigned = ", ".join([f"{quoted(column.name)} = {condition.written(row[column])}" for column in rest])
    session.run(f"UPDATE {quoted(table.name)} SET {assigned} WHERE {key}", row=position)  # noqa: S608 - as above
    return "updated"


def _rest(unique: Unique, row: Row) -> list[Column]:
    return [column for column in row if column not in unique.columns]


def _same(column: Column, stored: Stored) -> str:
    """Return the SQL for "this is stored": to the byte, whatever the column's collation."""
    name, value = quoted(column.name), condition.written(stored)
    if stored is None or not isinstance(column, MysqlColumn):
        return f"{name} <=> {value}"
    if column.base == "json":
        return f"CAST({name} AS CHAR) <=> CAST(CAST({value} AS JSON) AS CHAR)"
    if column.charset:
        text = name if column.charset == "utf8mb4" else f"CONVERT({name} USING utf8mb4)"
        return f"CAST({text} AS BINARY) <=> CAST({value} AS BINARY)"
    return f"{name} <=> {value}"
