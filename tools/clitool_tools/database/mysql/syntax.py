"""A caller's statement as sqlglot's tree, if every part of the tree is one that is known to be harmless.

Only imported where a caller's own SQL is judged: sqlglot takes a fifth of a second to load. The tree is never run, it
only tells what the statement does; what runs is the caller's own text.
"""

from __future__ import annotations

import logging

from sqlglot import ParseError, TokenType, exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.parsers.mysql import MySQLParser

from clitool.errors import InvalidParams
from clitool_tools.database.mysql.functions import ALLOWED
from clitool_tools.database.mysql.nodes import NODES, PARTS
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import Token as Piece

    from clitool_tools.database.mysql.lexer import Source, Token

logging.getLogger("sqlglot").disabled = True  # it would warn on standard error

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)
_CALLED = ALLOWED | {"ROW"}  # which only makes a row of values
_STRINGS = (TokenType.STRING, TokenType.NATIONAL_STRING)
_STEPS = 5000  # of the parser, and four for each token: nested types make it try in vain, twice as often for each level


class _Parser(MySQLParser):
    """The parser with a bound on its work; VALUES is a query to it, not the function of INSERT."""

    FUNC_TOKENS = MySQLParser.FUNC_TOKENS - {TokenType.VALUES}
    steps = _STEPS

    def _advance(self, times: int = 1) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise RecursionError
        super()._advance(times)


def parse(source: Source) -> exp.Expr:
    """Return the tree of one query.

    Raises:
        InvalidParams: sqlglot does not understand it, or not as the servers do (bad_statement), or it is no query
            (statement_not_allowed).
    """
    trees = _trees(source)
    if len(trees) != 1 or not isinstance(trees[0], _QUERIES):
        raise InvalidParams("the statement must be one SELECT", "statement_not_allowed")
    if isinstance(trees[0], exp.Select) and not trees[0].expressions:
        raise InvalidParams("the statement selects nothing", "bad_statement")
    return trees[0]


def check_parts(tree: exp.Expr, source: Source) -> None:
    """Raise `InvalidParams` for the first part of the tree that is not known to be harmless.

    A word of the grammar that sqlglot takes for a function unknown to it may be one to a server, too.
    """
    for node in tree.walk():
        what = _harm(node)
        if what:
            raise InvalidParams(
                f"the statement has a part that is not allowed here: {shown(what)} ({_place(node, source)})",
                "statement_not_allowed",
            )
        if isinstance(node, exp.Anonymous) and node.name.upper() not in _CALLED:
            raise InvalidParams(
                f"the function {shown(node.name)} ({_place(node, source)}) is not allowed", "function_not_allowed"
            )


def start_of(node: exp.Expr) -> int | None:
    """Return where a name stands in the statement, or None if sqlglot does not tell."""
    start: int | None = node.meta.get("start")
    return start


def _trees(source: Source) -> Sequence[exp.Expr | None]:
    text = source.skeleton()
    dialect = MySQL()
    parser = _Parser(dialect=dialect)
    try:
        pieces = dialect.tokenize(text)
        _hide_strings(pieces)
        parser.steps += 4 * len(pieces)
        trees = parser.parse(pieces, text)
    except RecursionError:
        raise InvalidParams("the statement is nested too deeply, or too complicated", "statement_not_allowed") from None
    except ParseError as error:
        raise _not_understood(error) from None
    except Exception as error:
        raise _not_understood(ParseError("")) from error  # whatever its faults raise, it did not understand
    if not _is_same(source.tokens, pieces):
        raise _not_understood(ParseError(""))
    return trees


def _hide_strings(pieces: Sequence[Piece]) -> None:
    """Show the parser no string: what is in some of them it reads, for minutes if they are written for that.

    Of an interval's it also makes words of the statement, which no server does.
    """
    for piece in pieces:
        if piece.token_type in _STRINGS:
            piece.text = "x"


def _is_same(tokens: Sequence[Token], pieces: Sequence[Piece]) -> bool:
    """Return whether sqlglot cuts the statement as the servers do; it takes words, or signs, together."""
    begins = {token.start: position for position, token in enumerate(tokens)}
    ends = {_end(token): position for position, token in enumerate(tokens)}
    covered = 0
    for piece in pieces:
        first, last = begins.get(piece.start), ends.get(piece.end + 1)
        if first is None or last is None or first != covered:
            return False
        if not _is_one(tokens[first : last + 1], piece):
            return False
        covered = last + 1
    return covered == len(tokens)


def _is_one(tokens: Sequence[Token], piece: Piece) -> bool:
    """Return whether tokens make a piece: a single one, or only words, or only signs.

    A word in other letters than ASCII is none of SQL's, though its capitals may look like one.
    """
    if not all(token.text.isascii() for token in tokens if token.kind == "word"):
        return piece.token_type == TokenType.VAR and len(tokens) == 1
    return len(tokens) == 1 or all(token.kind == tokens[0].kind in ("word", "sign") for token in tokens)


def _end(token: Token) -> int:
    """Return where a token ends in the skeleton, where every place of a value is one character."""
    return token.start + 1 if token.kind == "value" else token.end


def _not_understood(error: ParseError) -> InvalidParams:
    where = "".join(f" near line {each['line']}, column {each['col']}" for each in error.errors[:1])
    return InvalidParams(
        f"the statement has an error{where}, or is written in a way that is not understood here", "bad_statement"
    )


def _harm(node: exp.Expr) -> str:
    """Return what sqlglot calls a part that is not allowed, or nothing."""
    name = type(node).__name__
    if name not in NODES:
        return name
    allowed = PARTS.get(name)
    extra = [part for part, value in node.args.items() if value and allowed is not None and part not in allowed]
    return f"{name} with {extra[0]}" if extra else ""


def _place(node: exp.Expr, source: Source) -> str:
    starts = (start_of(each) for each in node.walk())
    return source.place(next((start for start in starts if start is not None), 0))
