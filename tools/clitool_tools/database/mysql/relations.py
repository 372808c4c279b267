"""Where a statement names tables, told from the words that every server reserves, without a parser.

A second opinion: the parser knows other dialects and more keywords than the servers do, and could take for an alias,
or for a word of the grammar, what a server takes for a table. Where the two do not find the same, nothing is run.
"""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar

    from clitool_tools.database.mysql.lexer import Source, Token

# What a pair of parentheses is about to hold, or holds:
_EXPRESSION = "expression"  # no query, or a query whose SELECT is still to come
_SELECTED = "selected"  # a query before its FROM
_TABLE = "table"  # the name of a table must come
_JOINED = "joined"  # a name of a table came; a comma or JOIN brings the next one
_FILTERED = "filtered"  # behind the FROM clause

_ENDS = ("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")


def relations(source: Source) -> set[int]:
    """Return where the names of tables begin, the last part of each name; common table expressions included.

    Raises:
        InvalidParams: it cannot be told (bad_statement).
    """
    return _Walk(source).places()


class _Walk:
    """One pass over the tokens.

    Attributes:
        states: of the parentheses that are open, the innermost last.
        found: where names of tables begin.
    """

    __slots__ = ("_source", "_tokens", "found", "states")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = source.tokens
        self.states = [_EXPRESSION]
        self.found: set[int] = set()

    def places(self) -> set[int]:
        position = 0
        while position < len(self._tokens):
            position = self._step(position)
        if len(self.states) != 1 or self.states[0] == _TABLE:
            raise self._unclear(self._tokens[-1])
        return self.found

    def _step(self, position: int) -> int:
        """Look at one token, or at all of a name; return the position of the next one."""
        token = self._tokens[position]
        if token.text == "(":
            self._open()
        elif token.text == ")":
            self._close(token)
        elif token.keyword in self._WORDS:
            self._WORDS[token.keyword](self, position)
        elif self.states[-1] == _TABLE:
            return self._table(position)
        elif token.text == "," and self.states[-1] == _JOINED:
            self.states[-1] = _TABLE
        return position + 1

    def _open(self) -> None:
        """Begin a list of tables or a query in place of a table, or else an expression."""
        if self.states[-1] == _TABLE:
            self.states[-1] = _JOINED
            self.states.append(_TABLE)
        else:
            self.states.append(_EXPRESSION)

    def _close(self, token: Token) -> None:
        if self.states.pop() == _TABLE or not self.states:
            raise self._unclear(token)

    def _table(self, position: int) -> int:
        """Read a name of up to three parts, or what may stand before a parenthesis in place of one."""
        token = self._tokens[position]
        after = position + 1
        if token.keyword in ("LATERAL", "JSON_TABLE") and self._text(after) == "(":
            self.states[-1] = _TABLE if token.keyword == "LATERAL" else _JOINED
            return after
        while token.kind in ("word", "name") and self._text(after) == ".":
            token = self._tokens[min(after + 1, len(self._tokens) - 1)]
            after += 2
        if token.kind not in ("word", "name") or self._text(after) == "(":
            raise self._unclear(token)
        self.found.add(token.start)
        self.states[-1] = _JOINED
        return after

    def _select(self, _: int) -> None:
        self.states[-1] = _SELECTED

    def _from(self, position: int) -> None:
        if self.states[-1] == _SELECTED:
            self.states[-1] = _TABLE
        elif self.states[-1] != _EXPRESSION:  # there it belongs to a function, like EXTRACT(DAY FROM x)
            raise self._unclear(self._tokens[position])

    def _join(self, position: int) -> None:
        if self.states[-1] == _JOINED and not self._is_for_hint(position):
            self.states[-1] = _TABLE
        elif self.states[-1] == _TABLE:
            raise self._unclear(self._tokens[position])

    def _end(self, position: int) -> None:
        if self._is_for_hint(position) or self._is_within(position):
            return
        if self.states[-1] == _TABLE:
            raise self._unclear(self._tokens[position])
        if self.states[-1] != _EXPRESSION:
            self.states[-1] = _FILTERED

    def _window(self, position: int) -> None:
        """End the FROM clause where MySQL has a word that MariaDB does not reserve: WINDOW name AS."""
        if self.states[-1] == _JOINED and self._text(position + 2).upper() == "AS":
            self.states[-1] = _FILTERED
        elif self.states[-1] == _TABLE:
            raise self._unclear(self._tokens[position])

    def _query(self, position: int) -> None:
        """Begin a query of another kind in place of a table, in parentheses: WITH, or VALUES."""
        if self.states[-1] == _TABLE:
            if self._text(position - 1) != "(":
                raise self._unclear(self._tokens[position])
            self.states[-1] = _EXPRESSION

    def _is_for_hint(self, position: int) -> bool:
        """Return whether a word belongs to an index hint: FOR JOIN, FOR ORDER BY, FOR GROUP BY."""
        return position > 0 and self._tokens[position - 1].keyword == "FOR"

    def _is_within(self, position: int) -> bool:
        """Return whether a word belongs to WITHIN GROUP (…), which orders the rows of an aggregate."""
        return self._tokens[position].keyword == "GROUP" and self._text(position + 1) == "("

    def _text(self, position: int) -> str:
        return self._tokens[position].text if position < len(self._tokens) else ""

    def _unclear(self, token: Token) -> InvalidParams:
        where = self._source.place(token.start)
        return InvalidParams(
            f"it is not clear which tables the statement reads ({where}); write it more plainly", "bad_statement"
        )

    _WORDS: ClassVar[dict[str, Callable[[_Walk, int], None]]] = {
        "SELECT": _select,
        "FROM": _from,
        "JOIN": _join,
        "STRAIGHT_JOIN": _join,
        "WINDOW": _window,
        "WITH": _query,
        "VALUES": _query,
        **dict.fromkeys(_ENDS, _end),
    }
