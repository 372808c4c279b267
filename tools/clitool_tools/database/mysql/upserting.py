"""Rows that may exist already: each is locked by its key and updated, or inserted if there is none."""

from __future__ import annotations

from clitool.errors import ClitoolError, ExecutionError
from clitool_tools.database.mysql import condition, effects
from clitool_tools.database.mysql.change import require_transactions, transaction
from clitool_tools.database.mysql.faults import is_transient
from clitool_tools.database.mysql.inserting import batches, insert_one, insert_statement
from clitool_tools.database.mysql.literal import quoted
from clitool_tools.database.mysql.table import MysqlColumn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.mysql.session import Session
    from clitool_tools.database.mysql.table import MysqlTable
    from clitool_tools.database.table import Column, Unique
    from clitool_tools.database.values import Stored

    Row = Mapping[Column, Stored]

_MOST_ROWS = 100  # in one statement


def upsert(database: Database, table: MysqlTable, unique: Unique, rows: Sequence[Row]) -> dict[str, int]:
    """Update the row with the same key, or insert; count what happened.

    Not by ON DUPLICATE KEY UPDATE: that would update a row with another unique key in common, and refuse an update
    that leaves out a column which must not be null. READ COMMITTED locks no gaps between rows, in which two who look
    for a row that is not there would stand in each other's way.
    """
    reached = effects.check(
        database, table, ["INSERT", "UPDATE"], {column: None for row in rows for column in _rest(unique, row)}
    )
    if len(rows) > 1:
        require_transactions(database, reached, "several rows")
    session = database.session
    session.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
    collided: set[object] = set()

    def run() -> dict[str, int]:
        counts = {"inserted": 0, "updated": 0, "unchanged": 0}
        for first, batch in batches(rows, None, _MOST_ROWS):
            for done in _upsert(session, table, unique, first, batch):
                counts[done] += 1
        return counts

    while True:
        try:
            return transaction(database, run)
        except ExecutionError as error:
            # Perhaps another process has just inserted the same key: the second time it is found. But if it is not the
            # key that is there already, the row is refused again.
            row = error.details.get("row")
            if error.reason != "duplicate_key" or row in collided:
                raise
            collided.add(row)


def _upsert(session: Session, table: MysqlTable, unique: Unique, first: int, batch: Sequence[Row]) -> Sequence[str]:
    """Return what was done with each row of a batch: with all at once if that goes well, else one by one."""
    if len(batch) > 1:
        session.run("SAVEPOINT batch")
        try:
            done = _all_at_once(session, table, unique, batch)
        except ClitoolError as error:
            if "vendor_code" not in error.details or is_transient(error):
                raise
            session.run("ROLLBACK TO SAVEPOINT batch")
        else:
            if done:
                return done
    return [_one(session, table, unique, row, position) for position, row in enumerate(batch, first)]


def _all_at_once(session: Session, table: MysqlTable, unique: Unique, batch: Sequence[Row]) -> Sequence[str]:
    """Return what was done with each row; nothing, and nothing was done, if two of them have one key."""
    probes = [f"({_probe(table, unique, row, f'{position}, ')})" for position, row in enumerate(batch)]
    found = session.run(" UNION ALL ".join(probes)).all()
    if len({row[2:] for row in found}) < len(found):
        return ()
    same = {int(position or 0): is_same == b"1" for position, is_same, *_ in found}
    new = [row for position, row in enumerate(batch) if position not in same]
    if new:
        session.run(insert_statement(table, new))
    for position, is_same in same.items():
        if not is_same:
            session.run(_update(table, unique, batch[position]))
    return [_DONE[same.get(position)] for position in range(len(batch))]


_DONE = {None: "inserted", False: "updated", True: "unchanged"}


def _one(session: Session, table: MysqlTable, unique: Unique, row: Row, position: int) -> str:
    found = session.run(_probe(table, unique, row), row=position).all()
    if not found:
        insert_one(session, table, row, position)
        return "inserted"
    if found[0][0] == b"1":
        return "unchanged"
    session.run(_update(table, unique, row), row=position)
    return "updated"


def _probe(table: MysqlTable, unique: Unique, row: Row, place: str = "") -> str:
    """Return the statement that locks the row with the same key, and says whether all of it is stored already."""
    is_same = " AND ".join([_same(column, row[column]) for column in _rest(unique, row)]) or "TRUE"
    key = ", ".join([quoted(column.name) for column in unique.columns])
    return f"SELECT {place}{is_same}, {key} FROM {quoted(table.name)} WHERE {_key(unique, row)} FOR UPDATE"  # noqa: S608 - names of the live schema, literals


def _update(table: MysqlTable, unique: Unique, row: Row) -> str:
    assigned = ", ".join([f"{quoted(column.name)} = {condition.written(row[column])}" for column in _rest(unique, row)])
    return f"UPDATE {quoted(table.name)} SET {assigned} WHERE {_key(unique, row)}"  # noqa: S608 - as above


def _key(unique: Unique, row: Row) -> str:
    return " AND ".join([f"{quoted(column.name)} = {condition.written(row[column])}" for column in unique.columns])


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
