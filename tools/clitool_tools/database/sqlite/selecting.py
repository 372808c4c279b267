"""Structured queries: SQL that we build, run under a guard that permits their one table."""

from __future__ import annotations

from clitool_tools.database.sqlite.guard import ReadGuard
from clitool_tools.database.sqlite.schema import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from sqlite3 import Connection as Handle
    from typing import Any

    from clitool_tools.database.engine import Selection
    from clitool_tools.database.sqlite.file import File
    from clitool_tools.database.sqlite.schema import SqliteTable


def select(file: File, table: SqliteTable, selection: Selection) -> Iterator[Sequence[Any]]:
    """Yield the selected columns and the sort values of at most ``limit + 1`` rows."""
    handle = file.reader()
    with file.faults():
        sql, values = _statement(handle, table, selection)
    guard = ReadGuard(table, is_plain=table.type in ("table", "shadow"))
    with file.faults(guard):
        handle.set_authorizer(guard)
        try:
            yield from file.checked(handle.execute(sql, values))
        finally:  # not earlier: virtual tables read the tables of their content while they are stepped through
            handle.set_authorizer(None)


def _statement(handle: Handle, table: SqliteTable, selection: Selection) -> tuple[str, list[Any]]:
    name = quoted(table.name)
    columns = [*selection.columns, *(sort.column for sort in selection.order)]
    shown = ", ".join([f"{name}.{quoted(column.name)}" for column in columns])
    plain = selection.where is None and not selection.order
    clauses, values = ("", []) if plain else _clauses(handle, table, selection)
    return f"SELECT {shown} FROM main.{name}{clauses} LIMIT {selection.limit + 1:d}", values  # noqa: S608 - quoted names


def _clauses(handle: Handle, table: SqliteTable, selection: Selection) -> tuple[str, list[Any]]:
    from clitool_tools.database.sqlite.condition import Condition

    condition = Condition(handle, table)
    tests = [condition.where(selection.where)] if selection.where is not None else []
    if selection.after is not None:
        tests.append(condition.after(selection.order, selection.after))
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    order = f" ORDER BY {condition.order(selection.order)}" if selection.order else ""
    return where + order, condition.values
