r"""The filter language: from the caller's JSON to a checked tree that means the same on every engine.

``{"col": value}`` or ``{"col": {"$gt": 3, "$lt": 9}}``, several columns are all required, combined by ``$and``, ``$or``
(lists of filters) and ``$not`` (one filter). The tree has two truth values only:

- null equals null: ``{"col": null}``, ``{"col": {"$null": true}}``, and as a member of ``$in``;
- `$ne`, `$nin` and `$not` are plain negations, so they include null (and a missing field);
- equality and ranges match stored values of the same family as the given one (number, text, bytes) and nothing else;
- equality, ranges and `$like` of text follow the column's collation: a pattern without wildcards matches what `$eq`
  matches;
- in a pattern ``%`` is any text, ``_`` any one character, and ``\`` makes the next character literal.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.kinds import comparable
from clitool_tools.database.names import hint, shown
from clitool_tools.database.values import FORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Any, TypeAlias

    from clitool_tools.database.table import Column, Table
    from clitool_tools.database.values import Stored

    Node: TypeAlias = "Group | Negation | Null | Comparison | Membership | Like"

MAX_DEPTH = 16  # of $and, $or and $not in one another
MAX_TERMS = 300  # comparisons in one filter; SQLite allows a thousand levels in an expression
MAX_VALUES = 10_000  # in the lists of $in and $nin together; SQLite binds 32766
MAX_PATTERN = 1000  # characters


class Group:
    """All (``AND``) or any (``OR``) of the parts; at least one."""

    __slots__ = ("parts", "word")

    def __init__(self, word: str, parts: Sequence[Node]) -> None:
        self.word = word
        self.parts = parts


class Negation:
    """True where `part` is not."""

    __slots__ = ("part",)

    def __init__(self, part: Node) -> None:
        self.part = part


class Null:
    """The column is null or missing."""

    __slots__ = ("column",)

    def __init__(self, column: Column) -> None:
        self.column = column


class Comparison:
    """The column's value is of the family of `value` and stands in this relation (``= < <= > >=``) to it."""

    __slots__ = ("column", "operator", "value")

    def __init__(self, column: Column, operator: str, value: Stored) -> None:
        self.column = column
        self.operator = operator
        self.value = value


class Membership:
    """The column's value is one of `values`, all of one family; none of them is null; perhaps there are none."""

    __slots__ = ("column", "values")

    def __init__(self, column: Column, values: Sequence[Stored]) -> None:
        self.column = column
        self.values = values


class Like:
    """The column's value is a text that fits the pattern: literal texts, and ``True`` for `%`, ``False`` for `_`."""

    __slots__ = ("column", "pattern")

    def __init__(self, column: Column, pattern: Sequence[str | bool]) -> None:
        self.column = column
        self.pattern = pattern


def parse(document: Mapping[str, Any], table: Table) -> Node:
    """Return the checked filter.

    Raises:
        InvalidParams: malformed (bad_filter), a column the table has not (column_unknown), or a value that does not
            fit its column (bad_value).
    """
    return _Parser(table).filter(document, 0)


def family(value: Stored) -> str:
    """Return the family of a value that is not null: ``number``, ``text`` or ``bytes``."""
    if isinstance(value, (int, float)):
        return "number"
    return "text" if isinstance(value, str) or type(value) is not bytes else "bytes"


class _Parser:
    def __init__(self, table: Table) -> None:
        self.table = table
        self.terms = 0
        self.values = 0

    def filter(self, document: Any, depth: int) -> Node:  # noqa: ANN401 - whatever the caller wrote there
        if not isinstance(document, dict) or not document:
            raise _bad('a filter is an object with at least one column, for example {"id": 7}')
        if depth > MAX_DEPTH:
            raise _bad(f"the filter is nested more than {MAX_DEPTH} levels deep")
        if len({self.table.fold(key) for key in document}) < len(document):
            raise _bad("the filter names a column twice; combine the conditions in one object or with $and")
        return _all([self.entry(key, value, depth) for key, value in document.items()])

    def entry(self, key: str, value: Any, depth: int) -> Node:  # noqa: ANN401 - as above
        if key in ("$and", "$or"):
            if not isinstance(value, list) or not value:
                raise _bad(f"{key} needs a list of at least one filter")
            return Group(key[1:].upper(), [self.filter(part, depth + 1) for part in value])
        if key == "$not":
            return Negation(self.filter(value, depth + 1))
        if key.startswith("$") and not self.table.has(key):
            raise _misplaced(key)
        return self.column(self.table.column(key), value)

    def column(self, column: Column, test: Any) -> Node:  # noqa: ANN401 - as above
        if isinstance(test, list):
            raise _bad(f'column {shown(column.name)}: a list needs $in, as in {{"$in": [1, 2]}}')
        if not isinstance(test, dict) or (len(test) == 1 and not _forms(column).isdisjoint(test)):
            return self.equal(column, test)
        if not test:
            raise _bad(f"column {shown(column.name)} has an empty condition")
        return _all([self.operator(column, word, value) for word, value in test.items()])

    def operator(self, column: Column, word: str, value: Any) -> Node:  # noqa: ANN401 - as above
        method = _OPERATORS.get(word)
        if method is None:
            raise _unknown(self.table, column, word)
        return method(self, column, word, value)

    def count(self, values: int = 0) -> None:
        self.terms += 1
        self.values += values
        if self.terms > MAX_TERMS or self.values > MAX_VALUES:
            raise _bad(f"the filter has more than {MAX_TERMS} conditions or {MAX_VALUES} listed values")

    def value(self, column: Column, value: object) -> Stored:
        if isinstance(value, list) or (isinstance(value, dict) and _forms(column).isdisjoint(value)):
            raise _bad(f"column {shown(column.name)} can be compared with one value only, not an array or object")
        if column.kind == "json" and value is not None:
            raise _bad(f"column {shown(column.name)} holds JSON documents; a filter can only ask for $null")
        return comparable(column, value)

    def equal(self, column: Column, value: object) -> Node:
        self.count()
        stored = self.value(column, value)
        return Null(column) if stored is None else Comparison(column, "=", stored)

    def unequal(self, column: Column, _: str, value: object) -> Node:
        return Negation(self.equal(column, value))

    def range(self, column: Column, word: str, value: object) -> Node:
        self.count()
        stored = self.value(column, value)
        if stored is None:
            raise _bad(f"{word} cannot compare with null; use $null")
        return Comparison(column, _RANGES[word], stored)

    def member(self, column: Column, word: str, values: object) -> Node:
        if not isinstance(values, list):
            raise _bad(f"{word} needs a list of values")
        self.count(len(values))
        by_family: dict[str, list[Stored]] = {}
        for value in values:
            stored = self.value(column, value)
            by_family.setdefault("" if stored is None else family(stored), []).append(stored)
        nulls: list[Node] = [Null(column)] if by_family.pop("", None) else []
        return _any([*nulls, *(Membership(column, some) for some in by_family.values())] or [Membership(column, [])])

    def no_member(self, column: Column, word: str, values: object) -> Node:
        return Negation(self.member(column, word, values))

    def null(self, column: Column, word: str, value: object) -> Node:
        self.count()
        if not isinstance(value, bool):
            raise _bad(f"{word} needs true or false")
        return Null(column) if value else Negation(Null(column))

    def like(self, column: Column, word: str, value: object) -> Node:
        self.count()
        if not isinstance(value, str) or len(value) > MAX_PATTERN or "\0" in value:
            raise _bad(f"{word} needs a pattern of at most {MAX_PATTERN} characters without NUL")
        if column.kind not in ("text", "any"):
            raise _bad(f"{word} works on text; column {shown(column.name)} is of kind {column.kind}")
        comparable(column, value)
        return Like(column, _pattern(value))


_RANGES = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_OPERATORS: dict[str, Callable[[_Parser, Column, str, Any], Node]] = {
    "$eq": lambda parser, column, _, value: parser.equal(column, value),
    "$ne": _Parser.unequal,
    "$in": _Parser.member,
    "$nin": _Parser.no_member,
    "$like": _Parser.like,
    "$null": _Parser.null,
    **dict.fromkeys(_RANGES, _Parser.range),
}
_COMBINING = ("$and", "$or", "$not")
_INSTEAD = {"$regex": "$like", "$exists": "$null"}  # what is tried because MongoDB has it, and what there is


def _forms(column: Column) -> AbstractSet[str]:
    return FORMS.keys() if column.domain is None else frozenset(column.domain.forms)


def _pattern(text: str) -> list[str | bool]:
    """Split a pattern into literal texts, True for `%` and False for `_`."""
    tokens: list[str | bool] = []
    literal = ""
    characters = iter(text)
    for character in characters:
        if character in "%_":
            tokens += [literal, character == "%"] if literal else [character == "%"]
            literal = ""
            continue
        escaped = next(characters, "") if character == "\\" else character
        if not escaped:
            raise _bad("the pattern ends in a single backslash; write two for a backslash itself")
        literal += escaped
    return [*tokens, literal] if literal else tokens


def _all(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Group("AND", parts)


def _any(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Group("OR", parts)


def _misplaced(word: str) -> InvalidParams:
    if word in _OPERATORS:
        return _bad(f'{word} belongs below a column, as in {{"id": {{"{word}": …}}}}')
    return _bad(f"unknown operator {shown(word)}{hint(word, _COMBINING) or '; here are $and, $or, $not'}")


def _unknown(table: Table, column: Column, word: str) -> InvalidParams:
    if word in _COMBINING:
        return _bad(f"{word} stands above columns, not below {shown(column.name)}")
    near = f"; use {_INSTEAD[word]}" if word in _INSTEAD else hint(word, _OPERATORS)
    if table.is_open and not near and not word.startswith("$"):
        inner = shown(f"{column.name}.{word}")
        return _bad(f"column {shown(column.name)} cannot be compared with an object; name the field inside, {inner}")
    known = near or f"; known are {', '.join(_OPERATORS)}"
    return _bad(f"unknown operator {shown(word)} below column {shown(column.name)}{known}")


def _bad(message: str) -> InvalidParams:
    return InvalidParams(message, "bad_filter")
