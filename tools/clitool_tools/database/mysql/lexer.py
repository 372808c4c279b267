"""A caller's statement cut into tokens exactly as MySQL and MariaDB cut it under the pinned SQL mode.

What the servers, or the parser that judges the statement, could cut in different ways is refused here: a number that
runs into a word, braces, variables, blanks that only some count as blanks. The rules are those of the servers' own
`sql_lex.cc` (https://github.com/MariaDB/server/blob/10.11/sql/sql_lex.cc) without ANSI_QUOTES, NO_BACKSLASH_ESCAPES
and IGNORE_SPACE.
"""

from __future__ import annotations

import re

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TOKEN = re.compile(
    r"""(?sx)
    (?P<gap> [ \t\r\n]++ | \#[^\n]*+ | --(?=[ \t\r\n]|\Z)[^\n]*+ | /\*.*?\*/ )
    | (?P<string> [nN]?'(?:[^'\\]|\\.|'')*+' | "(?:[^"\\]|\\.|"")*+" )
    | (?P<number> (?: 0x[0-9A-Fa-f]++ | 0b[01]++ | [xX]'(?:[0-9A-Fa-f]{2})*+' | [bB]'[01]*+'
        | \d++(?:\.\d*+)?(?:[eE][+-]?\d++)? ) (?![\w$.'"`@?:]) )
    | (?P<word> (?![xXbB]')[^\W\d][\w$]*+ )
    | (?P<name> `(?:[^`]|``)++` )
    | (?P<value> \? | :[A-Za-z_][A-Za-z0-9_]*+ )
    | (?P<sign> (?!/\*)[(),.;=<>+\-*/%&|^!~] )
    """
)
_UNENDED = {"'": "a string", '"': "a string", "`": "a name in backquotes", "/*": "a comment"}


class Token:
    """One piece of a statement.

    Attributes:
        kind: ``word``, ``name`` (in backquotes), ``string``, ``number``, ``value`` (the place of a parameter) or
            ``sign`` (one character).
        text: as it stands there.
        start, end: where.
        keyword: in capitals if it is a word that may be one of SQL's own; else empty. What touches a dot is a name.
    """

    __slots__ = ("end", "keyword", "kind", "start", "text")

    def __init__(self, kind: str, text: str, start: int, keyword: str) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = start + len(text)
        self.keyword = keyword


class Source:
    """A statement with its tokens; comments are none."""

    __slots__ = ("sql", "tokens")

    def __init__(self, sql: str, tokens: Iterable[Token]) -> None:
        self.sql = sql
        self.tokens = list(tokens)

    def place(self, start: int) -> str:
        """Return a position for a sentence."""
        return place(self.sql, start)

    def skeleton(self) -> str:
        """Return the statement in the same length with blanks for comments, and every place of a value as ``?``."""
        pieces = []
        end = 0
        for token in self.tokens:
            pieces.append(_blank(self.sql[end : token.start]))
            pieces.append("?".ljust(len(token.text)) if token.kind == "value" else token.text)
            end = token.end
        return "".join(pieces)


def tokens(sql: str) -> Iterator[Token]:
    """Yield the tokens of a statement; raises `InvalidParams` (bad_statement) at what cannot be told for sure."""
    start = 0
    while start < len(sql):
        found = _TOKEN.match(sql, start)
        if found is None:
            raise _unclear(sql, start)
        kind, end = str(found.lastgroup), found.end()
        if kind != "gap":
            _check_dot(sql, kind, start)
            yield Token(kind, found.group(), start, _keyword(sql, start, end) if kind == "word" else "")
        start = end


def name_of(token: Token) -> str:
    """Return the name that a word or a name in backquotes stands for."""
    return token.text[1:-1].replace("``", "`") if token.kind == "name" else token.text


def place(sql: str, start: int) -> str:
    """Return a position for a sentence."""
    line = sql.count("\n", 0, start) + 1
    column = start - sql.rfind("\n", 0, start)
    return f"line {line}, column {column}"


def _keyword(sql: str, start: int, end: int) -> str:
    before, after = sql[start - 1 : start], sql[end : end + 2]
    is_name = before == "." or (after[:1] == "." and re.match(r"[\w$]", after[1:]) is not None)
    text = sql[start:end]
    return "" if is_name or not text.isascii() else text.upper()


def _check_dot(sql: str, kind: str, start: int) -> None:
    """Refuse ``t.1``, where the servers see a name; ``.1`` alone is a sign and a number."""
    if kind == "number" and re.match(r"[\w$`]\.", sql[max(0, start - 2) : start]):
        raise _refused(sql, start, "a name that begins with a digit must stand in backquotes")


def _unclear(sql: str, start: int) -> InvalidParams:
    char = sql[start]
    if char == "@":
        return _refused(sql, start, "variables are not allowed; bind the value as a parameter", "statement_not_allowed")
    for mark, what in _UNENDED.items():
        if sql.startswith(mark, start):
            return _refused(sql, start, f"{what} is not ended")
    if char.isdecimal() or char in "xXbB.":
        return _refused(sql, start, "a number must stand apart; a name that begins with a digit, in backquotes")
    shown = char if " " < char <= "~" else f"U+{ord(char):04X}"
    return _refused(sql, start, f"the character {shown} cannot stand outside of strings and backquotes")


def _refused(sql: str, start: int, why: str, reason: str = "bad_statement") -> InvalidParams:
    return InvalidParams(f"{why} ({place(sql, start)})", reason)


def _blank(gap: str) -> str:
    return gap if not gap.strip(" \n") else "".join("\n" if char == "\n" else " " for char in gap)
