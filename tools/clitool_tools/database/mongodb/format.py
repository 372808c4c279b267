"""Extended JSON for a caller: relaxed, which is easy to read, or canonical, which names every type.

What is shown can be sent back and is stored as the same value, in canonical format as the same bytes; relaxed drops
the width of whole numbers. Whole numbers that a double cannot hold are shown as ``$numberLong`` in both.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from clitool_tools.database.mongodb.driver import bson
from clitool_tools.database.mongodb.values import LITERAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_SAFE_INTEGER = 2**53 - 1
_COEFFICIENT = 2**113 - 1
_UNIT = 6176  # the exponent that stands for 10^0
_DIGITS = 34  # of a coefficient; a larger one is no number
_ZEROS = 6  # after the point, with which an exponent begins to be written
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the driver gives dates in UTC, without a zone
_MILLISECOND = timedelta(milliseconds=1)


class Format:
    """How BSON values are shown.

    Args:
        plain: types whose values JSON has, too.
        forms: for each other type but documents and arrays, what shows a value.
    """

    __slots__ = ("_forms", "_plain")

    def __init__(self, plain: tuple[type, ...], forms: Mapping[type, Callable[[Any], Any]]) -> None:
        self._plain = frozenset(plain)
        self._forms: dict[type, Callable[[Any], Any]] = {
            **forms,
            dict: self.document,
            list: self.array,
            bson.DBRef: self._reference,
            bson.Code: self._code,
        }

    def value(self, value: Any) -> Any:  # noqa: ANN401 - from any BSON value to any JSON value
        """Return the JSON for one value."""
        kind = type(value)
        return value if kind in self._plain else self._forms[kind](value)

    def fields(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON for the fields of a document."""
        plain, forms = self._plain, self._forms
        return {key: value if (kind := type(value)) in plain else forms[kind](value) for key, value in document.items()}

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON for a document inside of another one."""
        return as_document(self.fields(document))

    def array(self, array: list[Any]) -> list[Any]:
        """Return the JSON for an array."""
        return [self.value(item) for item in array]

    def _reference(self, reference: Any) -> dict[str, Any]:  # noqa: ANN401 - a type of the driver's
        return as_document(self.fields(reference.as_doc()))

    def _code(self, code: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
        scope = {} if code.scope is None else {"$scope": self.document(code.scope)}
        return {"$code": str(code), **scope}


def as_document(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an inner document as JSON that cannot be taken for the form of a value."""
    for key in fields:
        if key.startswith("$"):
            return fields if _is_reference(fields) else {LITERAL: fields}
    return fields


def _is_reference(fields: Mapping[str, Any]) -> bool:
    """Return whether it is a DBRef, whose keys have one order."""
    texts = [fields.get("$ref"), fields.get("$db", "")]
    return tuple(fields) in (("$ref", "$id"), ("$ref", "$id", "$db")) and all(isinstance(text, str) for text in texts)


def double(value: float) -> dict[str, str]:
    """Return the canonical form of a double."""
    if value - value == 0:
        return {"$numberDouble": repr(value)}
    return {"$numberDouble": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}  # noqa: PLR0124 - NaN


def binary(value: bytes) -> dict[str, Any]:
    """Return the canonical form of bytes."""
    from binascii import b2a_base64

    subtype = getattr(value, "subtype", 0)
    return {"$binary": {"base64": b2a_base64(value, newline=False).decode("ascii"), "subType": f"{subtype:02x}"}}


def decimal(value: Any) -> str:  # noqa: ANN401 - a type of the driver's
    """Return the digits of a decimal as the driver's `str` does, which takes many times as long for most of them.

    Bits from the left: sign, exponent (14), coefficient (113); in special values the first two of the exponent are set.
    """
    bits = int.from_bytes(value.bid, "little")
    digits = str(bits & _COEFFICIENT)
    scale = _UNIT - (bits >> 113 & 0x3FFF)
    if bits >> 125 & 3 == 3 or len(digits) > _DIGITS or not 0 <= scale < len(digits) + _ZEROS:
        return str(value)
    whole = digits.zfill(scale + 1)
    sign = "-" if bits >> 127 else ""
    return f"{sign}{whole[:-scale]}.{whole[-scale:]}" if scale else sign + whole


def regular_expression(pattern: str, options: str) -> dict[str, Any]:
    """Return the form of a regular expression."""
    return {"$regularExpression": {"pattern": pattern, "options": options}}


def _relaxed_double(value: float) -> float | dict[str, str]:
    return value if value - value == 0 else double(value)


def _relaxed_long(value: int) -> int | dict[str, str]:
    return int(value) if abs(value) <= _SAFE_INTEGER else {"$numberLong": str(int(value))}


def _relaxed_binary(value: bytes) -> dict[str, Any]:
    if getattr(value, "subtype", 0) != 4 or len(value) != 16:
        return binary(value)
    digits = value.hex()
    return {"$uuid": "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))}


def _relaxed_date(value: datetime) -> dict[str, Any]:
    if value.year < 1970:
        return _date(value)
    return {"$date": value.isoformat(timespec="milliseconds" if value.microsecond else "seconds") + "Z"}


def _date(value: datetime) -> dict[str, Any]:
    return _distant_date((value - _EPOCH) // _MILLISECOND)


def _distant_date(since: int) -> dict[str, Any]:
    return {"$date": {"$numberLong": str(int(since))}}


def _regex(value: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    options = "".join(letter for letter, flag in _OPTIONS if value.flags & flag)
    return regular_expression(value.pattern, options)


_OPTIONS = (("i", 2), ("l", 4), ("m", 8), ("s", 16), ("u", 32), ("x", 64))  # the flags of Python's `re`

_FORMS: dict[type, Callable[[Any], Any]] = {
    bson.ObjectId: lambda value: {"$oid": str(value)},
    bson.Decimal128: lambda value: {"$numberDecimal": decimal(value)},
    bson.Timestamp: lambda value: {"$timestamp": {"t": value.time, "i": value.inc}},
    bson.Regex: _regex,
    bson.MinKey: lambda _: {"$minKey": 1},
    bson.MaxKey: lambda _: {"$maxKey": 1},
    bson.DatetimeMS: _distant_date,  # what `datetime` cannot hold
}

RELAXED = Format(
    (str, int, bool, type(None)),
    {
        **_FORMS,
        float: _relaxed_double,
        bson.Int64: _relaxed_long,
        bytes: _relaxed_binary,
        bson.Binary: _relaxed_binary,
        datetime: _relaxed_date,
    },
)
CANONICAL = Format(
    (str, bool, type(None)),
    {
        **_FORMS,
        int: lambda value: {"$numberInt": str(value)},
        float: double,
        bson.Int64: lambda value: {"$numberLong": str(int(value))},
        bytes: binary,
        bson.Binary: binary,
        datetime: _date,
    },
)
