"""What a column takes from the caller's JSON, by its kind: for storing it, and for comparing with it."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.names import shown
from clitool_tools.database.values import BINARY, INFINITY, LARGEST, RawText, decode, is_unicode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from clitool_tools.database.table import Column, Domain
    from clitool_tools.database.values import Stored

EXACT = 2**53  # a double holds every integer up to here
DIGITS = 15  # and every decimal number of so many digits
_SMALLEST = 1e-290  # below, it has fewer


def accept(column: Column, value: object) -> Stored:
    """Return what to store in `column` for a caller's JSON value.

    Raises:
        InvalidParams: the value is not of the column's kind, or would not come back as it is (bad_value).
    """
    return _converted(column, value, _WRITTEN)


def comparable(column: Column, value: object) -> Stored:
    """Return what to compare `column` with for a caller's JSON value; a whole number column also takes fractions.

    Raises:
        InvalidParams: the value is not of the column's kind (bad_value).
    """
    return _converted(column, value, _COMPARED)


def parameter(value: object) -> Stored:
    """Return what to bind for a parameter of a caller's SQL; raises `InvalidParams` (bad_value)."""
    decoded = decode(value)
    bound = None if decoded is None else _anything(decoded)
    if isinstance(bound, RawText):
        raise InvalidParams(
            "a parameter cannot be '$rawText'; send '$binary', and have the statement make a text of it", "bad_value"
        )
    if bound is None and decoded is not None:
        raise InvalidParams(f"a parameter of the statement cannot be {_described(decoded)}", "bad_value")
    return bound


def looks_numeric(text: str) -> bool:
    """Return whether SQLite would store `text` as a number in a column of numeric affinity."""
    bare = text.strip(" \t\n\v\f\r")
    if not bare or bare.strip("0123456789+-.eE"):
        return False
    try:
        float(bare)
    except ValueError:
        return False
    return True


def _converted(column: Column, value: object, kinds: dict[str, tuple[str, Callable[[Any], Stored]]]) -> Stored:
    if column.domain is not None:
        return _in_domain(column, column.domain, value, is_written=kinds is _WRITTEN)
    decoded = decode(value)
    if decoded is None:
        return None
    if column.numeric and column.kind == "any" and kinds is _WRITTEN and _loses_its_kind(decoded):
        raise InvalidParams(
            f"column {shown(column.name)} would store this string as a number; send a number", "bad_value"
        )
    expected, convert = kinds[column.kind]
    stored = convert(decoded)
    if stored is None:
        raise _does_not_fit(column, expected, decoded)
    return stored


def _in_domain(column: Column, domain: Domain, value: object, *, is_written: bool) -> Stored:
    if value is None:
        return None
    stored = (domain.write if is_written else domain.compare)(value)
    if stored is None:
        raise _does_not_fit(column, domain.expected, value)
    return stored


def _does_not_fit(column: Column, expected: str, value: object) -> InvalidParams:
    return InvalidParams(f"column {shown(column.name)} takes {expected}, not {_described(value)}", "bad_value")


def _loses_its_kind(value: object) -> bool:
    return isinstance(value, str) and looks_numeric(value)


# Each of these returns what to bind, or None if the value does not fit.


def _whole(value: object) -> int | None:
    if isinstance(value, int):
        return int(value) if -LARGEST - 1 <= value <= LARGEST else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= EXACT else None
    return _digits(value) if isinstance(value, str) else None


def _digits(text: str) -> int | None:
    """Return the integer that `text` spells the way we show large ones: no sign but minus, no leading zeros."""
    bare = text.removeprefix("-")
    if not (bare.isascii() and bare.isdecimal()) or len(bare) > 19 or (bare[0] == "0" and text != "0"):
        return None
    return _whole(int(text))


def _real(value: object) -> float | None:
    if isinstance(value, int):
        return float(value) if abs(value) <= LARGEST and float(value) == value else None
    return _not_nan(value) if isinstance(value, float) else None


def _decimal(value: object) -> int | float | None:
    if isinstance(value, str):
        return _digits(value) if _digits(value) is not None else _fraction(value)
    return _number(value) if value not in (INFINITY, -INFINITY) else None


def _fraction(text: str) -> float | None:
    """Return the double for a decimal number as text, if it keeps every digit."""
    if not looks_numeric(text) or text != text.strip():
        return None
    mantissa = text.lower().partition("e")[0].lstrip("+-").replace(".", "").strip("0")
    value = float(text)
    is_kept = len(mantissa) <= DIGITS and (_SMALLEST < abs(value) < INFINITY or not mantissa)
    return value if is_kept else None


def _number(value: object) -> int | float | None:
    return _whole(value) if isinstance(value, int) else _not_nan(value) if isinstance(value, float) else None


def _compared_whole(value: object) -> int | float | None:
    return _digits(value) if isinstance(value, str) else _number(value)


def _not_nan(value: float) -> float | None:
    return value if value == value else None  # noqa: PLR0124 - NaN, which JSON has not, is unequal to itself


def _text(value: object) -> str | RawText | None:
    return value if isinstance(value, (str, RawText)) else None


def _binary(value: object) -> bytes | None:
    return value if isinstance(value, bytes) and not isinstance(value, RawText) else None


def _anything(value: object) -> Stored:
    return value if isinstance(value, (str, bytes)) else _number(value)


def _document(value: object) -> Stored:
    if isinstance(value, (bool, bytes)):
        return None
    if isinstance(value, (int, float)):
        return _number(value) if abs(value) < INFINITY else None
    from clitool_tools.database.documents import written

    text = written(value)
    return text if text is not None and is_unicode(text) else None


_NUMBER = "a number"
_ANY = "a number, a string or {'$binary': …}"

_WRITTEN: dict[str, tuple[str, Callable[[Any], Stored]]] = {
    "integer": ("a whole number of at most 64 bits, also as a string of digits", _whole),
    "real": ("a number that a double can hold exactly", _real),
    "decimal": (f"a number, also as a string, of at most {DIGITS} digits", _decimal),
    "text": ("a string", _text),
    "binary": (BINARY, _binary),
    "json": ("an object, an array or a string that is a JSON text", _document),
    "any": (_ANY, _anything),
}
_COMPARED: dict[str, tuple[str, Callable[[Any], Stored]]] = {
    **_WRITTEN,
    "integer": ("a number, or a whole number as a string of digits", _compared_whole),
    "real": (_NUMBER, _number),
}


_DESCRIBED: dict[type, str] = {
    bool: "true or false",
    int: "this number",
    float: "this number",
    str: "this string",
    bytes: "bytes",
    RawText: "a text that is not UTF-8",
    list: "an array",
    dict: "an object",
}


def _described(value: object) -> str:
    """Say what kind of value it is; never the value itself, which may be long or secret."""
    return _DESCRIBED.get(type(value), "this")
