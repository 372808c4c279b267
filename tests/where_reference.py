"""What a filter means, in plain Python, and filters to hold the engines against it.

A row is a dictionary of what is stored; missing fields are None. `collate` says what of a text its column compares.
"""

from __future__ import annotations

import base64
import operator
import re
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    Collate = Callable[[str, str], str]  # column, text

INFINITY = float("inf")
PATTERNS = st.text(st.sampled_from("aAb %_*?[]é"), max_size=4)
RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "$eq": operator.eq,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}

_ORDERED = ("$gt", "$gte", "$lt", "$lte")


def as_json(value: object) -> object:
    """Return the JSON that stands for a value in a filter."""
    if isinstance(value, bytes):
        return {"$binary": {"base64": base64.b64encode(value).decode(), "subType": "00"}}
    if value in (INFINITY, -INFINITY):
        return {"$numberDouble": "Infinity" if value == INFINITY else "-Infinity"}
    return value


def filters(
    values: Mapping[str, st.SearchStrategy[Any]], texts: Collection[str], unordered: Collection[str] = ()
) -> st.SearchStrategy[Any]:
    """Return filters over columns.

    Args:
        values: the columns with what to compare them with.
        texts: those that are also compared with patterns.
        unordered: those that are only asked whether they are equal.
    """

    def condition(name: str) -> st.SearchStrategy[Any]:
        test = _condition(values[name], is_text=name in texts, is_ordered=name not in unordered)
        return test.map(lambda test: {name: test})

    conditions = st.sampled_from(sorted(values)).flatmap(condition)
    return st.recursive(
        conditions,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$and": parts}),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$or": parts}),
            inner.map(lambda part: {"$not": part}),
            st.tuples(inner, inner).map(lambda pair: {**pair[0], **pair[1]}),
        ),
        max_leaves=6,
    )


def _condition(plain: st.SearchStrategy[Any], *, is_text: bool, is_ordered: bool) -> st.SearchStrategy[Any]:
    values = plain.map(as_json)
    nullable = st.one_of(st.none(), values)
    operators: dict[str, st.SearchStrategy[Any]] = {
        "$eq": nullable,
        "$ne": nullable,
        **(dict.fromkeys(_ORDERED, values) if is_ordered else {}),
        "$in": st.lists(nullable, max_size=4),
        "$nin": st.lists(nullable, max_size=4),
        "$null": st.booleans(),
    }
    if is_text:
        operators["$like"] = PATTERNS
    some = st.sampled_from(sorted(operators)).flatmap(lambda word: operators[word].map(lambda value: {word: value}))
    return st.one_of(nullable, some, st.tuples(some, some).map(lambda pair: {**pair[0], **pair[1]}))


def matches(where: Mapping[str, Any], row: Mapping[str, object], collate: Collate) -> bool:
    """Say whether a row fits a filter."""
    return all(_entry(key, value, row, collate) for key, value in where.items())


def _entry(key: str, value: Any, row: Mapping[str, object], collate: Collate) -> bool:
    if key == "$and":
        return all(matches(part, row, collate) for part in value)
    if key == "$or":
        return any(matches(part, row, collate) for part in value)
    if key == "$not":
        return not matches(value, row, collate)
    is_value = not isinstance(value, dict) or not value.keys().isdisjoint({"$binary", "$numberDouble"})
    tests = {"$eq": value} if is_value else value
    return all(_holds(word, operand, row[key], lambda text: collate(key, text)) for word, operand in tests.items())


def _holds(word: str, operand: Any, stored: object, collate: Callable[[str], str]) -> bool:
    if word in ("$ne", "$nin"):
        return not _holds({"$ne": "$eq", "$nin": "$in"}[word], operand, stored, collate)
    if word == "$null":
        return (stored is None) == operand
    if word == "$in":
        return any(_compare(operator.eq, stored, value, collate) for value in operand)
    if word == "$like":
        return isinstance(stored, str) and _like(collate(operand), collate(stored))
    return _compare(RELATIONS[word], stored, operand, collate)


def _compare(relation: Callable[[Any, Any], Any], stored: object, value: object, collate: Callable[[str], str]) -> bool:
    one, two = _key(stored, collate), _key(_from_json(value), collate)
    return one[0] == two[0] and bool(relation(one[1], two[1]))


def _from_json(value: Any) -> object:
    if isinstance(value, dict):
        return base64.b64decode(value["$binary"]["base64"]) if "$binary" in value else float(value["$numberDouble"])
    return value


def _key(value: object, collate: Callable[[str], str]) -> tuple[str, Any]:
    """Return the family of a value and what to compare within it."""
    if value is None:
        return "null", 0
    if isinstance(value, str):
        return "text", collate(value).encode()
    return ("bytes" if isinstance(value, bytes) else "number"), value


def _like(pattern: str, text: str) -> bool:
    wildcards = {"%": ".*", "_": "."}
    expression = "".join(wildcards.get(letter, re.escape(letter)) for letter in pattern)
    return re.fullmatch(expression, text, re.DOTALL) is not None
