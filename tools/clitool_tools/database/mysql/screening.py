"""What can be said against a caller's statement from its text and tokens alone, before a parser or a server sees it."""

from __future__ import annotations

import re

from clitool.errors import InvalidParams
from clitool_tools.database.mysql.lexer import Source, tokens
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.database.mysql.lexer import Token

LONGEST = 100_000  # characters of a statement
MOST_TOKENS = 20_000  # the parser needs about a second for so many
DEEPEST = 24  # parentheses inside each other; the parser recurses, some 25 calls for each

# Comments that one server or another obeys: /*! and /*+, on MariaDB /*M!, on TiDB /*T! and /*T[, on Vitess /*vt+.
_RUN_COMMENT = re.compile(r"/\*(?:\w{0,4}[!+]|T\[)", re.IGNORECASE | re.ASCII)

_OPENING = ("SELECT", "WITH", "VALUES")
_DESCRIBE = "; database_describe and database_tables tell about tables"
_INSTEAD = {
    "SHOW": _DESCRIBE,
    "DESCRIBE": _DESCRIBE,
    "DESC": _DESCRIBE,
    "EXPLAIN": _DESCRIBE,
    "ANALYZE": _DESCRIBE,
    "TABLE": "; write SELECT * FROM the table",
    "HANDLER": "; write SELECT * FROM the table",
    "INSERT": "; use database_insert",
    "LOAD": "; use database_insert",
    "REPLACE": "; use database_upsert",
    "UPDATE": "; use database_update",
    "DELETE": "; use database_delete",
    "TRUNCATE": "; use database_delete",
}

# Words of SQL that no permitted SELECT has; every server reserves them, so that they cannot be plain names.
_FORBIDDEN = {
    "INTO": "a query writes neither files nor variables; leave INTO out",
    "FOR": "FOR UPDATE, FOR SHARE, FOR SYSTEM_TIME and NEXT VALUE FOR are not allowed; leave it out",
    "LOCK": "a query locks no rows; leave LOCK IN SHARE MODE out",
    "PROCEDURE": "PROCEDURE is not allowed; leave it out",
    "TABLE": "write SELECT * FROM instead of TABLE",
    "HIGH_PRIORITY": "leave HIGH_PRIORITY out",
    "DELETE": "the statement must only read; use database_delete",
    "UPDATE": "the statement must only read; use database_update",
}
_CHANGES = {"INSERT": "database_insert", "REPLACE": "database_upsert"}  # also functions
_WHO = ("CURRENT_USER", "CURRENT_ROLE", "SESSION_USER", "SYSTEM_USER")  # functions, also without parentheses
_CUTTING = ("SUBSTRING", "SUBSTR", "MID")  # (text FROM position FOR length)


def screen(sql: str) -> Source:
    """Return the statement in tokens, without semicolons at its end.

    Raises:
        InvalidParams: it is not one SELECT that may be looked at further (statement_not_allowed, bad_statement,
            function_not_allowed).
    """
    _check_text(sql)
    found = tokens(sql)
    first = next(found, None)
    _check_opening(first)
    source = _one(Source(sql, [first, *found] if first else ()))
    if len(source.tokens) > MOST_TOKENS:
        raise _refused(f"the statement has more than {MOST_TOKENS} words and signs; bind long values as params")
    _check_words(source)
    return source


def _check_text(sql: str) -> None:
    if len(sql) > LONGEST:
        raise _refused(f"the statement is longer than {LONGEST} characters; bind long values as params")
    if "\0" in sql or sql.encode("utf-8", "replace").decode() != sql:
        raise _refused("the statement holds a NUL or half of a surrogate pair")
    found = _RUN_COMMENT.search(sql)
    if found is not None:
        place = Source(sql, ()).place(found.start())
        raise _refused(
            f"a server may run what follows {found.group()} ({place}); leave it out, or bind the text as a parameter"
        )


def _check_opening(first: Token | None) -> None:
    word = first.text.upper() if first else ""
    if word not in _OPENING and word != "(":
        found = f"begins with {shown(word)}" if word else "is empty"
        raise _refused(
            f"the statement must be one SELECT (or WITH, VALUES), but it {found}{_INSTEAD.get(word, '')}",
        )


def _one(source: Source) -> Source:
    """Return the one statement of a text."""
    found = source.tokens
    end = len(source.sql)
    while found[-1].text == ";":
        end = found.pop().start
    for token in found:
        if token.text == ";":
            raise _refused(f"only one statement can be run, and here begins another ({source.place(token.start)})")
    return Source(source.sql[:end], found)


def _check_words(source: Source) -> None:
    """Look at each word of SQL with what stands around it, and count how deep the parentheses are."""
    found = source.tokens
    openers: list[str] = []  # what stands before each parenthesis that is open
    for before, token, after in zip([None, *found], found, [*found[1:], None], strict=False):
        if token.text == "(":
            openers.append(before.keyword if before else "")
            if len(openers) > DEEPEST:
                raise _refused(f"the statement has more than {DEEPEST} levels of parentheses ({_at(source, token)})")
        elif token.text == ")" and openers:
            openers.pop()
        elif token.keyword == "FOR" and _is_no_lock(before, after, openers):
            continue
        elif token.keyword:
            _check_word(source, token, after)


def _is_no_lock(before: Token | None, after: Token | None, openers: list[str]) -> bool:
    """Return whether a FOR belongs to SUBSTRING, to an index hint or to JSON_TABLE."""
    if openers and openers[-1] in _CUTTING:
        return True
    return (before is not None and before.keyword in ("INDEX", "KEY")) or (
        after is not None and after.keyword == "ORDINALITY"
    )


def _check_word(source: Source, token: Token, after: Token | None) -> None:
    word = token.keyword
    if word in _WHO:
        raise InvalidParams(f"the function {shown(word)} ({_at(source, token)}) is not allowed", "function_not_allowed")
    why = _FORBIDDEN.get(word)
    if word in _CHANGES and (after is None or after.text != "("):
        why = f"the statement must only read; use {_CHANGES[word]}"
    if why:
        raise _refused(f"{why} ({_at(source, token)})")


def _at(source: Source, token: Token) -> str:
    return source.place(token.start)


def _refused(sentence: str) -> InvalidParams:
    return InvalidParams(sentence, "statement_not_allowed")
