"""A caller's statement as it runs: with literals in the places that it has for values, and nothing else of theirs."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mysql.lexer import tokens
from clitool_tools.database.mysql.literal import literal
from clitool_tools.database.names import hint, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool_tools.database.mysql.lexer import Source, Token
    from clitool_tools.database.values import Stored

    Params = Sequence[Stored] | Mapping[str, Stored]

NO_NAMES: Mapping[int, str] = {}


def bind(source: Source, params: Params, names: Mapping[int, str] = NO_NAMES) -> str:
    """Return the statement with a literal for each ``?`` or ``:name``; nothing else of it changes but some names.

    Args:
        source: the statement.
        params: the values.
        names: what to write in place of names, by their positions.

    Raises:
        InvalidParams: the values are not those that the statement asks for, or MySQL has no such value (bad_value); a
            place touches what would change the value (bad_statement).
    """
    _check_neighbours(source)
    places = [token for token in source.tokens if token.kind == "value"]
    literals = map(literal, _values(places, params))
    new = {**names, **{place.start: text for place, text in zip(places, literals, strict=True)}}
    pieces = []
    end = 0
    for token in source.tokens:
        pieces += [source.sql[end : token.start], new.get(token.start, token.text)]
        end = token.end
    bound = "".join([*pieces, source.sql[end:]])
    _check_tokens(source, new, bound)
    return bound


def _values(places: Sequence[Token], params: Params) -> list[Stored]:
    if isinstance(params, dict):
        return [_named(place, params) for place in places]
    return _in_order(places, list(params))


def _in_order(places: Sequence[Token], params: Sequence[Stored]) -> list[Stored]:
    for place in places:
        if place.text != "?":
            raise _no_fit(f"the statement has {place.text}, which takes its value from an object")
    if len(places) != len(params):
        raise _no_fit(f"the statement takes {len(places)} of them, and there are {len(params)}")
    return list(params)


def _named(place: Token, params: Mapping[str, Stored]) -> Stored:
    if place.text == "?":
        raise _no_fit("the statement has ?, which takes its value from a list")
    name = place.text[1:]
    if name not in params:
        raise _no_fit(f"the object has no {shown(name)}{hint(name, params)}")
    return params[name]


def _check_neighbours(source: Source) -> None:
    """Refuse a place beside a string, to which a value would be added, and behind the name of a character set."""
    for before, after in zip(source.tokens, source.tokens[1:], strict=False):
        kinds = (before.kind, after.kind)
        if "value" in kinds and (set(kinds) <= {"value", "string"} or before.text.startswith("_")):
            raise InvalidParams(
                f"there must be a comma or an operator between values ({source.place(after.start)})", "bad_statement"
            )


def _check_tokens(source: Source, new: Mapping[int, str], bound: str) -> None:
    """Prove that nothing new has run into what stands beside it: the text has the tokens of its parts."""
    expected = []
    for token in source.tokens:
        text = new.get(token.start)
        expected += [token.text] if text is None else [each.text for each in tokens(text)]
    try:
        found = [token.text for token in tokens(bound)]
    except InvalidParams:  # it would name a place in a text that the caller does not know
        found = []
    if found != expected:
        raise InvalidParams("put blanks around the ? and :name of the statement", "bad_statement")


def _no_fit(why: str) -> InvalidParams:
    return InvalidParams(f"the params do not fit the statement: {why}", "bad_value")
