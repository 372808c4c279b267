"""What can be told about a caller's SQL from its text alone: one word at its beginning, and a bound on its length."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.names import shown

LONGEST = 100_000  # characters of a statement
_OPENING = ("SELECT", "VALUES", "WITH")
_INSTEAD = {
    "PRAGMA": "; database_describe and database_tables tell about tables",
    "INSERT": "; use database_insert",
    "REPLACE": "; use database_upsert",
    "UPDATE": "; use database_update",
    "DELETE": "; use database_delete",
}


def screen(sql: str) -> None:
    """Raise `InvalidParams` (statement_not_allowed) unless `sql` begins like a SELECT.

    That it is one statement, only reads, and only from allowed tables is decided by SQLite itself.
    """
    if len(sql) > LONGEST:
        raise InvalidParams(
            f"the statement is longer than {LONGEST} characters; bind long values as params", "statement_not_allowed"
        )
    if "\0" in sql or sql.encode("utf-8", "replace").decode() != sql:
        raise InvalidParams("the statement holds a NUL or half of a surrogate pair", "statement_not_allowed")
    bare = _uncommented(sql)
    word = _opening_word(bare).upper()
    if word not in _OPENING:
        found = f"begins with {shown(word or bare[0])}" if bare else "is empty"
        raise InvalidParams(
            f"the statement must be one SELECT (or WITH, VALUES), but it {found}{_INSTEAD.get(word, '')}",
            "statement_not_allowed",
        )


def _uncommented(sql: str) -> str:
    """Return `sql` without the blanks and comments at its beginning."""
    rest = sql
    while True:
        rest = rest.lstrip(" \t\n\f\r")
        if rest.startswith("--"):
            rest = rest.partition("\n")[2]
        elif rest.startswith("/*"):
            rest = rest[2:].partition("*/")[2]
        else:
            return rest


def _opening_word(sql: str) -> str:
    end = 0
    while end < len(sql) and sql[end].isascii() and sql[end].isalpha():
        end += 1
    return sql[:end]
