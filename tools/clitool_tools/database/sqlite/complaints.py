"""What SQLite says against a caller's statement, told without what it knows about tables that are not allowed."""

from __future__ import annotations

from clitool.errors import ClitoolError, ExecutionError, InvalidParams
from clitool.lean import sqlite3
from clitool_tools.database.names import column_hint, listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clitool_tools.database.settings import Connection
    from clitool_tools.database.sqlite.file import Faults

_MISSING = {
    "no such function": ("the function {} does not exist or is not allowed", "function_not_allowed"),
    "no such column": ("no table of the statement has the column {}", "column_unknown"),
}
_LONGEST = 300  # characters of SQLite's own sentence


def complaint(
    error: BaseException, connection: Connection, faults: Faults, columns: Callable[[], Iterable[str]] = tuple
) -> ClitoolError:
    """Return what to raise for an error about a statement that the caller wrote.

    Args:
        error: what SQLite says.
        connection: the settings, for the sentence of a refusal.
        faults: for what is not about the statement.
        columns: gives names that may be offered in place of a column that does not exist.
    """
    message = str(error)[:_LONGEST]
    if getattr(error, "sqlite_errorcode", 0) not in (0, sqlite3.SQLITE_ERROR) or isinstance(error, MemoryError):
        return faults.translated(error)
    what, _, name = message.partition(": ")
    if what == "no such table":
        return forbidden_table(connection, name.removeprefix("main."))
    if what in _MISSING:
        sentence, reason = _MISSING[what]
        offer = column_hint(name, columns()) if reason == "column_unknown" else ""
        return InvalidParams(sentence.format(shown(name)) + offer, reason)
    if "one statement at a time" in message:
        return InvalidParams("only one statement can be run", "statement_not_allowed")
    if isinstance(error, sqlite3.ProgrammingError):
        return InvalidParams(f"the params do not fit the statement: {message}", "bad_value")
    return InvalidParams(f"SQLite does not accept the statement: {message}", "bad_statement")


def forbidden_table(connection: Connection, name: str) -> ClitoolError:
    """Return the refusal of a table; the same whether it exists or not, unless it is allowed."""
    if connection.allows(name):
        return ExecutionError(f"the database has no table {shown(name)}", "not_found")
    allowed = "" if connection.tables is None else f": {listed(connection.tables.values())}"
    return InvalidParams(
        f"the statement reads {shown(name)}, which is not in allowed_tables{allowed}", "table_not_allowed"
    )
