"""How texts compare: the collation of a column, and `$like` by it."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool.lean import sqlite3
from clitool_tools.database.sqlite.schema import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection as Handle

    from clitool_tools.database.sqlite.schema import SqliteTable
    from clitool_tools.database.table import Column


def like(text: str, collation: str, pattern: Sequence[str | bool]) -> tuple[str, str]:
    """Return the SQL for "this text fits the pattern" with a ``?``, and what to bind there.

    Raises:
        ExecutionError: the collation is not one of SQLite's own (database).
    """
    if collation == "NOCASE":
        return f"{text} LIKE ? ESCAPE '\\'", _like_pattern(pattern)
    if collation == "RTRIM":
        return f"rtrim({text}, ' ') GLOB ?", _glob_pattern(pattern).rstrip(" ")
    if collation == "BINARY":
        return f"{text} GLOB ?", _glob_pattern(pattern)
    raise ExecutionError("$like does not work here: the column's collation belongs to another program", "database")


def _like_pattern(pattern: Sequence[str | bool]) -> str:
    return "".join(("%" if token else "_") if isinstance(token, bool) else _escaped(token) for token in pattern)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _glob_pattern(pattern: Sequence[str | bool]) -> str:
    """Return the pattern for GLOB, which tells cases apart: wildcards in brackets are literal."""
    return "".join(("*" if token else "?") if isinstance(token, bool) else _bracketed(token) for token in pattern)


def _bracketed(text: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


def collation_of(handle: Handle, table: SqliteTable, column: Column) -> str:
    """Return the collation that comparisons with a column follow: BINARY, NOCASE, RTRIM, or another's name.

    SQLite tells it nowhere, for a view least of all. So it is asked whether ``a`` equals ``A``, and ``a`` with a blank:
    the column of a compound takes its collation from the first part, which has no rows here.
    """
    name = f"{quoted(table.name)}.{quoted(column.name)}"
    sql = (
        f"WITH probe (text) AS (SELECT {name} FROM main.{quoted(table.name)} WHERE 0 UNION ALL SELECT 'a')"  # noqa: S608 - quoted names
        " SELECT text = 'A', text = 'a ' FROM probe"
    )
    try:
        ignores_case, ignores_blanks = handle.execute(sql).fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR_MISSING_COLLSEQ:
            raise
        return str(error).rpartition(": ")[2]
    return "NOCASE" if ignores_case else "RTRIM" if ignores_blanks else "BINARY"
