"""Structured queries: SQL that we build, read row by row as the server sends it."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mysql import condition
from clitool_tools.database.mysql.gap import Gap, Stranger
from clitool_tools.database.mysql.literal import quoted
from clitool_tools.database.mysql.table import MysqlColumn
from clitool_tools.database.mysql.values import readers, single
from clitool_tools.database.values import LARGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from clitool_tools.database.engine import Selection
    from clitool_tools.database.mysql.driver import Field
    from clitool_tools.database.mysql.session import Session
    from clitool_tools.database.mysql.values import Reader
    from clitool_tools.database.table import Column, Sort
    from clitool_tools.database.values import Stored

# Bytes of a text that decide its place. By itself the server takes 1024, so that texts which begin alike come in any
# order, and pages would lose some. A cursor holds less than this; fifteen keys must fit into the server's memory.
_SORTED = 65_536
_MEMORY = 16 * _SORTED
_SHORT = 100  # characters that 1024 bytes are surely enough for


def select(session: Session, selection: Selection) -> Iterator[Sequence[Any]]:
    """Yield the selected columns and the sort values of at most ``limit + 1`` rows."""
    session.read()
    sql = _statement(selection)
    long = sum(_is_long(sort.column) for sort in selection.order)
    if long:
        memory = f"GREATEST(@@session.sort_buffer_size, {long * _MEMORY})"
        session.run(f"SET SESSION max_sort_length = {_SORTED}, sort_buffer_size = {memory}")
    result = session.run(sql)
    try:
        reads = _readers(selection, result.fields)
        for row in result.rows():
            yield [None if raw is None else read(raw) for read, raw in zip(reads, row, strict=True)]
    finally:
        result.close()


def _statement(selection: Selection) -> str:
    columns = [*selection.columns, *(sort.column for sort in selection.order)]
    shown = ", ".join(map(_shown, columns))
    tests = [condition.where(selection.where)] if selection.where is not None else []
    if selection.after is not None:
        position = [_stored(sort, value) for sort, value in zip(selection.order, selection.after, strict=True)]
        tests.append(condition.after(selection.order, position))
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    order = f" ORDER BY {condition.order(selection.order)}" if selection.order else ""
    name = quoted(selection.table.name)
    return f"SELECT {shown} FROM {name}{where}{order} LIMIT {selection.limit + 1:d}"  # noqa: S608 - quoted names, literals


def _shown(column: Column) -> str:
    """Return what to select for a column; a FLOAT as a DOUBLE, since it is sent with six digits only."""
    return f"{quoted(column.name)} + 0e0" if _is_single(column) else quoted(column.name)


def _readers(selection: Selection, fields: Sequence[Field]) -> list[Reader]:
    found = readers(fields)
    width = len(selection.columns)
    columns = [*selection.columns, *(sort.column for sort in selection.order)]
    for position, column in enumerate(columns):
        if _is_single(column):
            found[position] = single
        elif position >= width and found[position] is not bytes:
            found[position] = _packable(found[position])
    return found


def _packable(read: Reader) -> Reader:
    """Return a reader for sort values: an integer that no cursor can hold as such is a text of digits there."""

    def packed(raw: bytes) -> Any:  # noqa: ANN401 - whatever the column has
        value = read(raw)
        return str(value) if type(value) is int and value > LARGEST else value

    return packed


def _stored(sort: Sort, value: Stored) -> Stored:
    """Return the sort value of a cursor as its column compares; raises `InvalidParams` (bad_cursor) if it is none."""
    domain = sort.column.domain
    if value is None:
        return None
    found = (value if isinstance(value, str) else None) if domain is None else domain.compare(value)
    if found is None or isinstance(found, (Gap, Stranger)):
        raise InvalidParams("the cursor is damaged; start again without one", "bad_cursor")
    return found


def _is_single(column: Column) -> bool:
    return isinstance(column, MysqlColumn) and column.base == "float"


def _is_long(column: Column) -> bool:
    return isinstance(column, MysqlColumn) and column.most > _SHORT
