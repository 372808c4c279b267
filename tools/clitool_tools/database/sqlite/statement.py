"""A SELECT of the caller's own: admitted twice, in a copy of the schema without other tables and by an authorizer.

The copy is empty, in memory, and holds the allowed tables and views only. There SQLite itself tells the name of a
common table expression from that of a table, and its errors say the same about tables that are not allowed as about
ones that do not exist.
"""

from __future__ import annotations

from clitool.errors import ClitoolError, InvalidParams
from clitool.lean import sqlite3
from clitool_tools.database.engine import Statement
from clitool_tools.database.names import fold
from clitool_tools.database.sqlite.complaints import complaint, forbidden_table
from clitool_tools.database.sqlite.file import limit
from clitool_tools.database.sqlite.functions import ALLOWED
from clitool_tools.database.sqlite.guard import (
    FUNCTION_TABLES,
    Guard,
    is_internal,
    is_version_check,
    open_virtual_tables,
)
from clitool_tools.database.sqlite.objects import names, owner
from clitool_tools.database.sqlite.screening import screen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from sqlite3 import Connection as Handle
    from typing import Any

    from clitool_tools.database.settings import Connection
    from clitool_tools.database.sqlite.file import File
    from clitool_tools.database.values import Stored

    Params = Sequence[Stored] | Mapping[str, Stored]
    Objects = Sequence[tuple[str, str, str]]  # name, type and SQL of tables and views

_CREATION = ("virtual", "table", "shadow", "view")  # a virtual table makes the tables of its content itself


class StatementGuard(Guard):
    """For a caller's SELECT: the allowed tables by name, and the functions of the allow list.

    Args:
        connection: the settings, for the sentence of a refusal.
        tables: folded names of what may be read.
        contents: folded names of the tables that hold the content of virtual tables. These read them while they run;
            for the caller's statement itself they do not exist.
        is_running: whether the statement runs, or is only compiled to be admitted.
    """

    __slots__ = ("connection", "contents", "is_running", "reached", "tables")

    def __init__(self, connection: Connection, tables: set[bytes], contents: set[bytes], *, is_running: bool) -> None:
        super().__init__()
        self.connection = connection
        self.tables = tables
        self.contents = contents
        self.is_running = is_running
        self.reached: dict[str, None] = {}

    def _judge(self, action: int, first: str, second: str, source: str | None) -> ClitoolError | None:  # noqa: ARG002 - the base's
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return None
        if action == sqlite3.SQLITE_READ:
            return self._read(first, second)
        if action == sqlite3.SQLITE_FUNCTION and second.lower() in ALLOWED:
            return None
        if self.is_running and is_version_check(action, first, second):
            return None
        return _refusal(action, first, second)

    def _read(self, table: str, column: str) -> ClitoolError | None:
        if fold(table) in self.tables:
            self.reached[table] = None
            return None
        if fold(table) in self.contents:
            return None if self.is_running else forbidden_table(self.connection, table)
        # SQLite also reports a common table expression whose columns nobody uses, as a table with an empty column.
        # In the copy of the schema that is the only thing it can be, and what runs has been admitted there.
        return forbidden_table(self.connection, table) if column or is_internal(table) else None


def admit(file: File, connection: Connection, sql: str, params: Params) -> Statement:
    """Return a caller's SELECT that may run; it starts when its names or rows are asked for."""
    screen(sql)
    handle = file.reader()
    try:
        guard = _admitted(file, connection, handle, sql, params)
    except BaseException:
        handle.rollback()
        raise
    return Statement(guard.reached, _rows(file, connection, handle, guard, sql, params))


def _admitted(file: File, connection: Connection, handle: Handle, sql: str, params: Params) -> StatementGuard:
    """Begin a transaction, which gives one view of schema and rows, and return the guard under which to run."""
    with file.faults():
        handle.execute("BEGIN")
        objects = names(handle)
    tables = _readable(connection, objects)
    contents = _contents(objects, tables)
    running = StatementGuard(connection, tables, contents, is_running=True)
    if connection.tables is not None:
        guard = StatementGuard(connection, tables, contents, is_running=False)
        _admit(file, connection, objects, guard, sql, params)
        running.reached = guard.reached
    with file.faults():
        open_virtual_tables(handle, [name for name, type_, _ in objects if type_ == "virtual" and fold(name) in tables])
        _open_function_tables(handle, tables)
    if connection.tables is None:  # nothing is hidden, but what is read is to be known before it is
        _compile(file, connection, handle, running, sql, params)
    return running


def _readable(connection: Connection, objects: Objects) -> set[bytes]:
    existing = {fold(name) for name, _, _ in objects}
    allowed = {fold(name) for name, _, _ in objects if connection.allows(name)}
    return allowed | ({fold(name) for name in FUNCTION_TABLES} - existing)


def _contents(objects: Objects, tables: set[bytes]) -> set[bytes]:
    """Return the tables that hold the content of readable virtual tables, which read them while the statement runs."""
    return {fold(name) for name, type_, _ in objects if type_ == "shadow" and owner(name) in tables} - tables


def _admit(
    file: File, connection: Connection, objects: Objects, guard: StatementGuard, sql: str, params: Params
) -> None:
    """Compile the statement where nothing but allowed tables exists; raise what SQLite or the guard says against it."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        limit(copy, connection.max_bytes)
        file.start_clock(copy)
        for name, _, text in sorted(objects, key=lambda each: _CREATION.index(each[1])):
            if connection.allows(name):
                _create(copy, text)
        _open_function_tables(copy, guard.tables)
        _compile(file, connection, copy, guard, sql, params)
    finally:
        copy.close()


def _compile(
    file: File, connection: Connection, handle: Handle, guard: StatementGuard, sql: str, params: Params
) -> None:
    """Compile the statement without running it; raise what SQLite or the guard says against it."""
    faults = file.faults()  # now, because it holds the seconds that the statement has
    try:
        handle.set_authorizer(guard)
        handle.execute(f"EXPLAIN {sql}", params).close()
    except (sqlite3.Error, sqlite3.Warning, MemoryError) as error:
        handle.set_authorizer(None)
        raise guard.refusal or complaint(error, connection, faults, lambda: _columns(handle)) from error
    finally:
        handle.set_authorizer(None)


def _columns(handle: Handle) -> dict[str, None]:
    """Return the names of the columns of all tables and views there; they are all allowed."""
    from contextlib import suppress

    found: dict[str, None] = {}
    for name, type_, _ in names(handle):
        with suppress(sqlite3.Error):  # a view of a table that is not there
            rows = handle.execute("SELECT name FROM pragma_table_info(?)", (name,)) if type_ != "shadow" else ()
            found.update((column, None) for (column,) in rows)
    return found


def _create(copy: Handle, text: str) -> None:
    try:
        copy.execute(text)
    except sqlite3.Error as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_ERROR_MISSING_COLLSEQ:  # another program's; nothing compares here
            copy.create_collation(str(error).rpartition(": ")[2], lambda *_: 0)
            _create(copy, text)
        # Else a module that only another program has, or a table that a virtual one made already.


def _open_function_tables(handle: Handle, tables: set[bytes]) -> None:
    open_virtual_tables(handle, [name for name in FUNCTION_TABLES if fold(name) in tables])


def _rows(
    file: File, connection: Connection, handle: Handle, guard: Guard, sql: str, params: Params
) -> Generator[Any, None, None]:
    """Yield the list of column names, then the rows; the guard stays until the last one."""
    try:
        faults = file.faults()
        handle.set_authorizer(guard)
        cursor = handle.execute(sql, params)
        yield [column[0] for column in cursor.description]
        yield from file.checked(cursor)
    except (sqlite3.Error, sqlite3.Warning, MemoryError) as error:
        raise guard.refusal or complaint(error, connection, faults) from error
    finally:
        handle.set_authorizer(None)
        handle.rollback()


def _refusal(action: int, first: str, second: str) -> ClitoolError:
    if action == sqlite3.SQLITE_FUNCTION:
        return InvalidParams(f"the function {second!r} is not allowed here", "function_not_allowed")
    if is_internal(first):  # also how SQLite reports that it sets up a virtual table
        return InvalidParams(
            "the statement uses a table that tells about the database itself; use database_tables or database_describe",
            "table_not_allowed",
        )
    return InvalidParams("the statement must be one SELECT that changes nothing", "statement_not_allowed")
