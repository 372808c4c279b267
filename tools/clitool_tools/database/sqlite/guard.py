"""SQLite's authorizer as an exact whitelist: asked for each table, function and action when a statement is compiled.

The fifth argument of the callback says through which view or trigger something is reached, but a common table
expression of the caller's can bear any name there: no rule below grants anything because of it.
"""

from __future__ import annotations

from clitool.errors import ClitoolError, InvalidParams
from clitool.lean import sqlite3
from clitool_tools.database.names import fold, shown
from clitool_tools.database.sqlite.schema import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection as Handle

    from clitool_tools.database.table import Table

HARMLESS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)

FUNCTION_TABLES = ("json_each", "json_tree")  # tables of SQLite's that are functions of their arguments


class Guard:
    """Base of the authorizers: refuses everything, and keeps the first refusal as the error to raise."""

    __slots__ = ("refusal",)

    def __init__(self) -> None:
        self.refusal: ClitoolError | None = None

    def __call__(self, action: int, first: str | None, second: str | None, _: str | None, source: str | None) -> int:
        """Answer SQLite (https://www.sqlite.org/c3ref/set_authorizer.html)."""
        refusal = self._judge(action, first or "", second or "", source)
        if refusal is None:
            return sqlite3.SQLITE_OK
        self.refusal = self.refusal or refusal
        return sqlite3.SQLITE_DENY

    def _judge(self, action: int, first: str, second: str, source: str | None) -> ClitoolError | None:
        """Return why the action is refused, or None if it is permitted.

        Args:
            action: one of SQLite's authorizer codes.
            first: a table for most of them.
            second: a column, or the function.
            source: the view, trigger or common table expression that leads there; None at the top.
        """
        raise NotImplementedError


class ReadGuard(Guard):
    """For a query that we built: only its table. A view or virtual table is its own grant and reads what it reads."""

    __slots__ = ("table",)

    def __init__(self, table: Table, *, is_plain: bool) -> None:
        super().__init__()
        self.table = fold(table.name) if is_plain else None

    def _judge(self, action: int, first: str, second: str, source: str | None) -> ClitoolError | None:  # noqa: ARG002 - the base's
        if action in HARMLESS or (self.table is None and is_version_check(action, first, second)):
            return None
        if action == sqlite3.SQLITE_FUNCTION:
            return function_of_schema(second)
        if action == sqlite3.SQLITE_READ and self.table in (fold(first), None) and not is_internal(first):
            return None
        return InvalidParams(f"the query would reach {shown(first)}", "table_not_allowed")


def is_internal(name: str) -> bool:
    """Return whether a table belongs to SQLite itself, or tells about the database instead of holding rows."""
    return fold(name).startswith((b"sqlite_", b"pragma_"))


def is_version_check(action: int, first: str, second: str) -> bool:
    """Return whether this is ``PRAGMA data_version``, which full-text tables ask while they are read."""
    return action == sqlite3.SQLITE_PRAGMA and first == "data_version" and not second


def function_of_schema(name: str) -> ClitoolError | None:
    """Return why a view, trigger or generated column may not call a function, or None."""
    if name == "typeof":  # every condition of ours has it; it is on the list
        return None
    from clitool_tools.database.sqlite.functions import ALLOWED_IN_SCHEMA

    if name.lower() in ALLOWED_IN_SCHEMA:
        return None
    return InvalidParams(
        f"a view or trigger of the database calls the function {shown(name)}, which is not allowed",
        "function_not_allowed",
    )


def open_virtual_tables(handle: Handle, names: Iterable[str]) -> None:
    """Let virtual tables set themselves up before a guard is installed: they do so by statements of their own."""
    for name in names:
        try:
            handle.execute(f"SELECT 1 FROM {quoted(name)} LIMIT 0")  # noqa: S608 - a quoted name
        except sqlite3.OperationalError:  # its module is missing; whoever needs the table will be told so
            continue
