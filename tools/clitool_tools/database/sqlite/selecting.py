"""Structured queries: SQL that we build, run under a guard that permits their one table."""

from __future__ import annotations

from clitool_tools.database.sqlite.guard import ReadGuard
from clitool_tools.database.sqlite.schema import SqliteTable, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from sqlite3 import Connection as Handle
    from typing import Any

    from clitool_tools.database.engine import Selection
    from clitool_tools.database.sqlite.file import File
    from clitool_tools.database.sqlite.guard import Guard
    from clitool_tools.database.table import Column, Table


def select(file: File, selection: Selection) -> Iterator[Sequence[Any]]:
    """Yield the selected columns and the sort values of at most ``limit + 1`` rows."""
    handle = file.reader()
    with file.faults():
        sql, values = _statement(handle, selection)
    table = selection.table
    is_plain = isinstance(table, SqliteTable) and table.type in ("table", "shadow")
    yield from guarded(file, handle, ReadGuard(table, is_plain=is_plain), sql, values)


def guarded(file: File, handle: Handle, guard: Guard, sql: str, values: Any) -> Iterator[Sequence[Any]]:  # noqa: ANN401 - a list or a dict
    """Yield the rows of a statement, its guard installed until the last one: some tables open others while stepping."""
    with file.faults(guard):
        handle.set_authorizer(guard)
        try:
            yield from file.checked(handle.execute(sql, values))
        finally:
            handle.set_authorizer(None)


def _statement(handle: Handle, selection: Selection) -> tuple[str, list[Any]]:
    table = quoted(selection.table.name)
    shown = [f"{table}.{quoted(column.name)}"
             for column in (*selection.columns, *(sort.column for sort in selection.order))]
    sql = f"SELECT {', '.join(shown)} FROM main.{table}"  # noqa: S608 - names of the live schema, quoted
    values: list[Any] = []
    if selection.where is not None or selection.order:
        clauses, values = _clauses(handle, selection)
        sql += clauses
    return f"{sql} LIMIT {selection.limit + 1:d}", values


def _clauses(handle: Handle, selection: Selection) -> tuple[str, list[Any]]:
    from clitool_tools.database.sqlite.condition import Condition

    condition = Condition(selection.table, lambda column: collation(handle, selection.table, column))
    tests = [condition.where(selection.where)] if selection.where is not None else []
    if selection.after is not None:
        tests.append(condition.after(selection.order, selection.after))
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    order = f" ORDER BY {condition.order(selection.order)}" if selection.order else ""
    return where + order, condition.values


def collation(handle: Handle, table: Table, column: Column) -> str:
    """Return the collation that comparisons with a column follow: BINARY, NOCASE, RTRIM, or another's name."""
    import sqlite3

    from clitool_tools.database.sqlite.condition import collation_query

    try:
        ignores_case, ignores_blanks = handle.execute(collation_query(table, column)).fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR_MISSING_COLLSEQ:
            raise
        return str(error).rpartition(": ")[2]
    return "NOCASE" if ignores_case else "RTRIM" if ignores_blanks else "BINARY"
