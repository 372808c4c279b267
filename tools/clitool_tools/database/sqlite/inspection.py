"""What `clitool check` says about a SQLite database: whether it is there, and what the settings mean in it."""

from __future__ import annotations

import os

from clitool.errors import ClitoolError
from clitool.family import Finding
from clitool.tool import Deadline
from clitool_tools.database.names import fold, listed, shown
from clitool_tools.database.sqlite.schema import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection as Handle

    from clitool_tools.database.settings import Connection
    from clitool_tools.database.sqlite.schema import SqliteTable

_SECONDS = 5.0
_OTHERS_WRITE = 0o002


def inspect(connection: Connection, prefix: str, *, probe: bool) -> Iterator[Finding]:
    """Yield the findings; the database is opened, read-only, only if `probe` is true."""
    yield from _file(connection, prefix + "connection_string")
    if probe:
        try:
            yield from _content(connection, prefix)
        except ClitoolError as error:
            yield Finding("error", prefix + "connection_string", str(error))


def _file(connection: Connection, key: str) -> Iterator[Finding]:
    path = connection.address
    if not os.path.isfile(path):
        yield Finding("error", key, "the database file does not exist or cannot be reached")
        return
    for each, what in ((path, "file"), (os.path.dirname(path), "folder")):
        if os.stat(each).st_mode & _OTHERS_WRITE:
            yield Finding("warning", key, f"every user of this machine can write the database {what}; run: chmod o-w")
    if not os.access(path, os.R_OK):
        yield Finding("error", key, "the database file cannot be read by this user")


def _content(connection: Connection, prefix: str) -> Iterator[Finding]:
    from clitool_tools.database.sqlite.database import Database

    database = Database(connection, Deadline(_SECONDS))
    try:
        names = [table.name for table in database.tables()]
        yield Finding("ok", prefix + "connection_string", "the database can be read")
        yield from _missing(connection, names, prefix)
        handle = database.file.reader()
        for name in names:
            try:
                with database.file.faults():
                    yield from _table(handle, connection, database.table(name), prefix)
            except ClitoolError as error:
                yield Finding("error", prefix + "allowed_tables", f"{shown(name)} cannot be used: {error}")
    finally:
        database.close()


def _missing(connection: Connection, names: list[str], prefix: str) -> Iterator[Finding]:
    existing = set(map(fold, names))
    for folded, name in (connection.tables or {}).items():
        if folded not in existing:
            yield Finding("error", prefix + "allowed_tables", f"the database has no table {shown(name)}")


def _table(handle: Handle, connection: Connection, table: SqliteTable, prefix: str) -> Iterator[Finding]:
    from clitool_tools.database.sqlite.description import reads_of

    if table.is_view:
        behind = reads_of(handle, table.name)
        hidden = [name for name in behind if not connection.allows(name)]
        tail = f"; database_sql refuses it, because {listed(hidden)} is not in allowed_tables" if hidden else ""
        yield Finding("ok", prefix + "allowed_tables", f"the view {shown(table.name)} reads {listed(behind)}{tail}")
        return
    for action, statement in _changes(table):
        reached = _side_effect(handle, connection, table, statement)
        if reached:
            yield Finding(
                "warning",
                prefix + "allow_side_effects",
                f"{action} {shown(table.name)} is refused: a trigger or cascade reaches {shown(reached)}",
            )


def _changes(table: SqliteTable) -> Iterator[tuple[str, str]]:
    """Yield what a change does with statements to compile, never to run."""
    name = f"main.{quoted(table.name)}"
    yield "inserting into", f"INSERT INTO {name} DEFAULT VALUES"
    plain = [quoted(column.name) for column in table.columns if not column.generated]
    if plain:
        yield "updating", f"UPDATE {name} SET {', '.join(f'{column} = {column}' for column in plain)}"  # noqa: S608 - quoted
    yield "deleting from", f"DELETE FROM {name} WHERE 1"  # noqa: S608 - as above


def _side_effect(handle: Handle, connection: Connection, table: SqliteTable, statement: str) -> str:
    """Return the first table that the change would reach without permission, or nothing."""
    from clitool.lean import sqlite3
    from clitool_tools.database.sqlite.change_guard import change_guard

    guard = change_guard(handle, table, connection)
    handle.execute("PRAGMA foreign_keys=ON").fetchall()
    handle.set_authorizer(guard)
    try:
        handle.execute(f"EXPLAIN {statement}").fetchall()
    except sqlite3.Error:
        return str(guard.refusal.details.get("table", "")) if guard.refusal else ""
    finally:
        handle.set_authorizer(None)
    return ""
