"""New rows: many in one statement as long as all goes well, one by one to tell which of them does not."""

from __future__ import annotations

from clitool.errors import ClitoolError
from clitool_tools.database.mysql import condition, effects
from clitool_tools.database.mysql.change import require_transactions, transaction
from clitool_tools.database.mysql.faults import is_transient
from clitool_tools.database.mysql.literal import literal, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.mysql.session import Session
    from clitool_tools.database.mysql.table import MysqlTable
    from clitool_tools.database.table import Column
    from clitool_tools.database.values import Stored

    Row = Mapping[Column, Stored]

_MOST_ROWS = 1000  # in one statement
_MOST_CHARACTERS = 500_000  # servers take 4 MiB or more, unless their owner wants less


def insert(database: Database, table: MysqlTable, rows: Sequence[Row]) -> dict[str, Any]:
    """Insert all rows; return how many, and their numbers if the table gives them."""
    reached = effects.check(database, table, ["INSERT"])
    if len(rows) > 1:
        require_transactions(database, reached, "several rows")
    session = database.session
    numbering = _Numbering(session, table)
    most = 1 if numbering.is_meddled_with else _MOST_ROWS

    def run() -> list[Stored]:
        numbers: list[Stored] = []
        for first, batch in batches(rows, numbering.column, most):
            numbers += numbering.told(batch, _insert(session, table, first, batch, numbering.step))
        return numbers

    numbers = transaction(database, run)
    return {"inserted": len(rows), **({"ids": numbers} if numbering.column is not None else {})}


def insert_one(session: Session, table: MysqlTable, row: Row, position: int) -> int:
    """Insert one row; return the number that it was given, if any."""
    return session.run(insert_statement(table, [row]), row=position).last_id


class _Numbering:
    """How a table numbers its rows.

    In InnoDB, one statement takes the numbers of all its rows at once, each the server's step after the one before.

    Attributes:
        column: the AUTO_INCREMENT one, or None.
        step: from one number to the next.
        is_meddled_with: whether a trigger may give a row another number, so that each is to be asked for alone.
    """

    def __init__(self, session: Session, table: MysqlTable) -> None:
        self.column = next((column for column in table.all if column.is_numbered), None)
        self.is_meddled_with = False
        self.step = 1
        if self.column is not None:
            ((step, triggers),) = session.run(
                "SELECT @@session.auto_increment_increment, COUNT(*) FROM information_schema.TRIGGERS"  # noqa: S608 - a literal
                f" WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = {literal(table.name)}"
            ).all()
            self.step = int(step or 1)
            self.is_meddled_with = triggers != b"0" or table.engine.lower() != "innodb"

    def told(self, batch: Sequence[Row], numbers: Sequence[int]) -> Iterator[Stored]:
        """Yield the numbers of the rows of a batch: those that they have, else those that the server gave."""
        if self.column is not None:
            for row, number in zip(batch, numbers, strict=True):
                given = row.get(self.column)
                yield given if given is not None else number


def batches(rows: Sequence[Row], numbered: Column | None, most: int) -> Iterator[tuple[int, list[Row]]]:
    """Yield the place of a first row, and rows from there with the same columns, all or none of them with a number."""
    first, size = 0, 0
    batch: list[Row] = []
    shape: tuple[object, ...] = ()
    for position, row in enumerate(rows):
        kind = (*row, row.get(numbered) is None) if numbered is not None else (*row,)
        length = sum(map(_length, row.values()))
        if batch and (kind != shape or len(batch) == most or size + length > _MOST_CHARACTERS):
            yield first, batch
            first, batch, size = position, [], 0
        batch.append(row)
        shape, size = kind, size + length
    yield first, batch


def _length(value: Stored) -> int:
    return 2 * len(value) + 20 if isinstance(value, (str, bytes)) else 20


def _insert(session: Session, table: MysqlTable, first: int, batch: Sequence[Row], step: int) -> Sequence[int]:
    """Insert a batch; return the numbers that the server gave, if it gives any.

    If the server refuses it, it has taken back the statement but not the transaction. Then the rows go one by one, and
    the first that is refused is named.
    """
    if len(batch) > 1:
        try:
            last_id = session.run(insert_statement(table, batch)).last_id
        except ClitoolError as error:
            if "vendor_code" not in error.details or is_transient(error):
                raise
        else:
            return range(last_id, last_id + step * len(batch), step)
    return [insert_one(session, table, row, position) for position, row in enumerate(batch, first)]


def insert_statement(table: MysqlTable, rows: Sequence[Row]) -> str:
    """Return the statement that inserts rows with the same columns."""
    names = ", ".join([quoted(column.name) for column in rows[0]])
    values = ", ".join(["(" + ", ".join(map(condition.written, row.values())) + ")" for row in rows])
    return f"INSERT INTO {quoted(table.name)} ({names}) VALUES {values}"  # noqa: S608 - names of the live schema, literals
