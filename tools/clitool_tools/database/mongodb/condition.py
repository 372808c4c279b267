"""Filters for MongoDB, built anew from the checked tree: no operator and no object of the caller's reaches the server.

MongoDB compares within the family of the given value only (numbers, text, dates …), as the tree demands. A field with
an array matches where one of its elements does. Text is compared byte by byte, whatever the collection's collation.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.driver import bson
from clitool_tools.database.mongodb.forms import is_hexadecimal
from clitool_tools.database.names import listed, shown
from clitool_tools.database.where import Comparison, Group, Membership, Negation, Null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from clitool_tools.database.where import Node

SIMPLE = {"locale": "simple"}  # the collation that compares bytes
_RANGES = {">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte"}


def condition(node: Node) -> dict[str, Any]:
    """Return the filter that MongoDB understands.

    Raises:
        InvalidParams: a range of values that MongoDB orders differently, or not within their family (bad_filter).
    """
    if isinstance(node, Group):
        return {f"${node.word.lower()}": [condition(part) for part in node.parts]}
    if isinstance(node, Negation):
        return {"$nor": [condition(node.part)]}
    if isinstance(node, Null):
        return {node.column.name: {"$eq": None}}
    if isinstance(node, Comparison):
        return {node.column.name: _comparison(node)}
    if isinstance(node, Membership):
        return {node.column.name: {"$in": list(node.values)}}
    return {node.column.name: {"$regex": bson.Regex(_expression(node.pattern), "s")}}


def _comparison(node: Comparison) -> dict[str, Any]:
    if node.operator == "=":
        return {"$eq": node.value}
    if isinstance(node.value, (bytes, bson.MinKey, bson.MaxKey)):
        raise InvalidParams(
            f"column {shown(node.column.name)}: MongoDB orders bytes by their number first, and MinKey and MaxKey"
            " apart from all; a filter can only ask whether they are equal",
            "bad_filter",
        )
    return {_RANGES[node.operator]: node.value}


def _expression(pattern: Sequence[str | bool]) -> str:
    r"""Return the regular expression for a pattern.

    A piece between two ``%`` is taken where it occurs first and never tried elsewhere, as an atomic group: a later
    place could not match more. So the time is bounded by the length of the text times that of the pattern.
    """
    pieces = [""]
    for token in pattern:
        if token is True:
            pieces.append("")
        else:
            pieces[-1] += _escaped(token) if isinstance(token, str) else "."
    first, *rest = pieces
    if not rest:
        return rf"\A{first}\z"
    *middle, last = rest
    return rf"\A{first}" + "".join(f"(?>.*?{piece})" for piece in middle if piece) + rf".*{last}\z"


def _escaped(text: str) -> str:
    """Return `text` for a regular expression, so that the server can still use an index for its beginning."""
    return "".join(
        character if character.isalnum() or not character.isascii() else "\\" + character for character in text
    )


def advice(node: Node) -> str | None:
    """Return the hint for a filter without matches that compares with text that looks like an ObjectId, or None."""
    names = listed(dict.fromkeys(_suspects(node)))
    if not names:
        return None
    return (
        f"nothing matched, and {names} was compared with a string of 24 hexadecimal digits; if the field holds an"
        ' ObjectId, write {"$oid": "…"} instead of the string'
    )


def _suspects(node: Node) -> Iterator[str]:
    if isinstance(node, Group):
        for part in node.parts:
            yield from _suspects(part)
    elif isinstance(node, Negation):
        yield from _suspects(node.part)
    elif isinstance(node, (Comparison, Membership)):
        values = node.values if isinstance(node, Membership) else [node.value]
        if any(isinstance(value, str) and is_hexadecimal(value, 24) for value in values):
            yield node.column.name
