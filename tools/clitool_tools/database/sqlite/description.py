"""What `database_describe` tells about a table, without the names of tables that the client may not reach."""

from __future__ import annotations

from clitool_tools.database.sqlite.collation import collation_of
from clitool_tools.database.sqlite.guard import Guard, is_internal
from clitool_tools.database.sqlite.schema import index_parts, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection as Handle
    from typing import Any

    from clitool.errors import ClitoolError
    from clitool_tools.database.sqlite.database import Database
    from clitool_tools.database.sqlite.schema import SqliteTable
    from clitool_tools.database.table import Column


def describe(database: Database, table: SqliteTable) -> dict[str, Any]:
    """Return columns, indexes, foreign keys and, for a view, the tables behind it."""
    handle = database.file.reader()
    with database.file.faults():
        described: dict[str, Any] = {
            "columns": [_column(handle, table, column) for column in table.columns],
            "indexes": [] if table.is_view else list(_indexes(handle, table)),
            "foreign_keys": [] if table.is_view else list(_foreign_keys(handle, database, table)),
        }
        if table.is_view:
            allowed = database.connection.allows
            described["base_tables"] = [name if allowed(name) else None for name in reads_of(handle, table.name)]
    return described


def _column(handle: Handle, table: SqliteTable, column: Column) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "kind": column.kind,
        "nullable": column.nullable,
        "default": column.default,
        "primary_key": column.key,
        "generated": column.generated,
    }
    if column.kind in ("text", "any"):
        described["collation"] = collation_of(handle, table, column)
    return described


def _indexes(handle: Handle, table: SqliteTable) -> Iterator[dict[str, Any]]:
    """Yield the indexes, the primary key first; an expression in one is shown as null."""
    if table.generates_keys and table.rowid is not None:
        yield {"name": None, "columns": [table.rowid.name], "unique": True, "primary_key": True, "partial": False}
    rows = handle.execute(f"PRAGMA main.index_list({quoted(table.name)})").fetchall()
    for _, name, unique, origin, partial in sorted(rows, key=lambda row: (row[3] != "pk", -row[0])):
        yield {
            "name": name,
            "columns": [column for column, _ in index_parts(handle, name)],
            "unique": bool(unique),
            "primary_key": origin == "pk",
            "partial": bool(partial),
        }


def _foreign_keys(handle: Handle, database: Database, table: SqliteTable) -> Iterator[dict[str, Any]]:
    """Yield the foreign keys; the table that one refers to, and its columns, only if that is allowed."""
    keys: dict[int, dict[str, Any]] = {}
    for number, _, other, column, its_column, on_update, on_delete, _ in handle.execute(
        f"PRAGMA main.foreign_key_list({quoted(table.name)})"
    ):
        allowed = database.connection.allows(other)
        key = keys.setdefault(
            number,
            {
                "columns": [],
                "table": other if allowed else None,
                "references": [],
                "on_update": on_update,
                "on_delete": on_delete,
            },
        )
        key["columns"].append(column)
        key["references"].append(its_column if allowed else None)
    yield from reversed(keys.values())  # SQLite lists the last one first


class _Recorder(Guard):
    """Permits everything and notes which tables are read."""

    __slots__ = ("reads",)

    def __init__(self) -> None:
        super().__init__()
        self.reads: dict[str, None] = {}

    def _judge(self, action: int, first: str, second: str, source: str | None) -> ClitoolError | None:  # noqa: ARG002 - the base's
        from clitool.lean import sqlite3

        if action == sqlite3.SQLITE_READ and not is_internal(first):
            self.reads[first] = None
        return None


def reads_of(handle: Handle, view: str) -> list[str]:
    """Return the tables and views that a view reads, by compiling a query on it."""
    recorder = _Recorder()
    handle.set_authorizer(recorder)
    try:
        handle.execute(f"EXPLAIN SELECT * FROM main.{quoted(view)}")  # noqa: S608 - a quoted name
    finally:
        handle.set_authorizer(None)
    known = {name for (name,) in handle.execute("SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')")}
    return sorted(recorder.reads.keys() & known - {view})
