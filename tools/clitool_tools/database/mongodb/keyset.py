"""Where a page ends, and the filter for what comes after it in MongoDB's own order.

MongoDB sorts values of all types into one order (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/)
but `$gt` and `$lt` see one family only. So what lies above or below a value is said by its family's range and the list
of the other families. A field with an array sorts by its least element, downwards by its greatest; "no element lies
below" and "none lies above" say that exactly.
"""

from __future__ import annotations

import json

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.driver import bson
from clitool_tools.database.mongodb.format import CANONICAL
from clitool_tools.database.mongodb.reader import decoded, entries
from clitool_tools.database.mongodb.values import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeAlias

    from clitool_tools.database.table import Sort

    Place: TypeAlias = tuple[bytes, str]

KEY = "\x01sortKey"  # the field in which the server gives the values that it sorted a document by
_EMPTY = {"$undefined": True}  # what an array without elements sorts as: before null
_INFINITY = float("inf")

# The families in their order, each with its names for `$type`, and the Python types of its values.
_FAMILIES: tuple[tuple[tuple[str, ...], tuple[type, ...]], ...] = (
    (("minKey",), ()),
    (("undefined",), ()),
    (("null",), (type(None),)),
    (("int", "long", "double", "decimal"), (int, float, bson.Int64, bson.Decimal128)),
    (("string", "symbol"), (str,)),
    (("object",), (dict,)),
    (("array",), ()),
    (("binData",), (bytes, bson.Binary)),
    (("objectId",), (bson.ObjectId,)),
    (("bool",), (bool,)),
    (("date",), (bson.DatetimeMS,)),
    (("timestamp",), (bson.Timestamp,)),
    (("regex",), ()),
    (("dbPointer",), ()),
    (("javascript",), ()),
    (("javascriptWithScope",), ()),
    (("maxKey",), ()),
)
_RANKS = {type_: rank for rank, (_, types) in enumerate(_FAMILIES) for type_ in types}
_UNDEFINED, _NULL, _NUMBER = 1, 2, 3
_DOWNWARDS = {"$lt": "$gt", "$lte": "$gte"}


def packed(place: Place) -> str | None:
    """Return the sort values of a document from the server as canonical Extended JSON, or None if none can follow.

    None can follow a regular expression, JavaScript, an array in an array, MinKey or MaxKey.

    Args:
        place: the document as it came, and the field in which it has these values: `KEY`, ``_id``, or empty for none.
    """
    document, key = place
    found = _field(document, key)
    values = found if key == KEY else [found]
    if not key or not isinstance(values, list):  # servers before 4.4 say it in another way
        return None
    try:
        for value in values:
            _rank(_decoded(value))
    except (InvalidParams, LookupError):
        return None
    return json.dumps(values, separators=(",", ":"))


def _field(document: bytes, name: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the JSON of one field, the last one of its name; null if there is none."""
    found = decoded(document)
    if found is None:
        return {key: value for key, _, value in entries(document, CANONICAL) if key == name}.get(name)
    return CANONICAL.value(found[0].get(name))


def after(sorts: Sequence[Sort], text: str) -> dict[str, Any]:
    """Return the filter for documents that come after the one with these sort values.

    Raises:
        InvalidParams: the text is no such values (bad_cursor).
    """
    try:
        given = json.loads(text)
        values = [_decoded(value) for value in given]
        ranks = [_rank(value) for value in values]
    except (ValueError, TypeError, LookupError, RecursionError, InvalidParams):
        ranks = []
    if len(ranks) != len(sorts):
        raise InvalidParams("the cursor is damaged; start again without one", "bad_cursor")
    steps = [_Step(sort, value, rank) for sort, value, rank in zip(sorts, values, ranks, strict=True)]
    ways = [_one_way(steps[: position + 1]) for position in range(len(steps))]
    return {"$and": [*steps[0].not_beyond("$lt"), {"$or": ways}]}


def _decoded(value: Any) -> Any:  # noqa: ANN401 - from any JSON value to any BSON value
    if value == _EMPTY:
        return _Empty()
    found = decode(value)
    if isinstance(found, bson.Decimal128) and found.to_decimal().is_nan():
        return float("nan")  # which is the same to the server, and unequal to itself as that
    return found


class _Empty:
    """An array without elements."""


def _rank(value: object) -> int:
    return _UNDEFINED if isinstance(value, _Empty) else _RANKS[type(value)]


def _one_way(steps: Sequence[_Step]) -> dict[str, Any]:
    """Return the filter for documents that are equal but for the last step and come later by that."""
    *equal, last = steps
    return {"$and": [condition for step in equal for condition in step.same()] + last.later()}


class _Step:
    """One field of the order with the value of the document before."""

    def __init__(self, sort: Sort, value: Any, rank: int) -> None:  # noqa: ANN401 - any BSON value
        self.path = sort.column.name
        self.descending = sort.descending
        self.value = value
        self.rank = rank

    def same(self) -> list[dict[str, Any]]:
        """Return what holds for documents with the same value here."""
        return [{"$or": list(self._equal())}, {"$nor": list(self._passed())}]

    def later(self) -> list[dict[str, Any]]:
        """Return what holds for documents with a later value here."""
        return [*self.not_beyond("$lte"), {"$nor": [*self._equal(), *self._passed()]}]

    def not_beyond(self, operator: str) -> list[dict[str, Any]]:
        """Return what follows for the value's own family; said once more, in words for which the server uses an index.

        Args:
            operator: for an ascending order.
        """
        if self.rank <= _NULL or self.value != self.value:
            return []
        return [{self.path: {"$not": {_DOWNWARDS[operator] if self.descending else operator: self.value}}}]

    def _passed(self) -> Iterator[dict[str, Any]]:
        """Yield what holds for documents with an element that comes before the value."""
        ranks = range(self.rank + 1, len(_FAMILIES)) if self.descending else range(self.rank)
        yield from self._beyond("$gt" if self.descending else "$lt")
        names = [name for rank in ranks for name in _FAMILIES[rank][0]]
        if "array" in names:
            names.remove("array")
            yield {self.path: {"$elemMatch": {"$type": "array"}}}
        if "undefined" in names:
            yield {self.path: {"$size": 0}}
        if "null" in names:
            yield from self._null()
        if names:
            yield {self.path: {"$type": names}}

    def _beyond(self, operator: str) -> Iterator[dict[str, Any]]:
        """Yield what holds for documents with an element of the same family that lies above or below the value."""
        if self.rank <= _NULL:
            return
        if self.value != self.value:  # NaN lies below all numbers
            if operator == "$gt":
                yield {self.path: {"$gte": -_INFINITY}}
            return
        yield {self.path: {operator: self.value}}
        if operator == "$lt" and self.rank == _NUMBER:
            yield {self.path: {"$eq": float("nan")}}

    def _equal(self) -> Iterator[dict[str, Any]]:
        if isinstance(self.value, _Empty):
            yield {self.path: {"$size": 0}}
            yield {self.path: {"$type": "undefined"}}
        elif self.value is None:
            yield from self._null()
        else:
            yield {self.path: {"$eq": self.value}}

    def _null(self) -> Iterator[dict[str, Any]]:
        """Yield what holds for documents with null here, or nothing: also where the path ends in an array's element."""
        yield {self.path: {"$eq": None}}
        parts = self.path.split(".")
        for end in range(1, len(parts)):
            before = ".".join(parts[:end])
            yield {before: {"$size": 0}}
            yield {before: {"$elemMatch": {"$not": {"$type": "object"}}}}
