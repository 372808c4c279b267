"""Values: what a column takes from the caller's JSON, and how stored values are shown in it.

Three objects stand for what JSON has no word for: ``{"$binary": {"base64": "…", "subType": "00"}}`` for bytes,
``{"$numberDouble": "Infinity"}`` (or ``-Infinity``), both as in MongoDB's Extended JSON v2, and
``{"$rawText": {"base64": "…"}}`` for a stored text whose bytes are not UTF-8.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from clitool_tools.database.table import Column

    # What an engine binds: the JSON scalars, bytes, and RawText.
    Stored = None | int | float | str | bytes

LARGEST = 2**63 - 1  # an integer column of SQLite and a BIGINT hold 64 bits
EXACT = 2**53  # a double holds every integer up to here
DIGITS = 15  # and every decimal number of so many digits


class RawText(bytes):
    """A text whose bytes are not UTF-8."""

    __slots__ = ()


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
    bound = scalar(value)
    if isinstance(bound, RawText):
        raise InvalidParams("a parameter cannot be '$rawText'; write CAST(? AS TEXT) and send '$binary'", "bad_value")
    return bound


def scalar(value: object) -> Stored:
    """Return what to bind for a value that belongs to no column; raises `InvalidParams` (bad_value)."""
    decoded = decode(value)
    bound = None if decoded is None else _anything(decoded)
    if bound is None and decoded is not None:
        raise InvalidParams(f"a parameter of the statement cannot be {_described(decoded)}", "bad_value")
    return bound


def decode(value: object) -> object:
    """Return the value that one of the three objects stands for, anything else as it is."""
    if isinstance(value, dict) and len(value) == 1:
        form, content = next(iter(value.items()))
        if form in FORMS:
            return FORMS[form](content)
    if isinstance(value, str) and not is_unicode(value):
        raise InvalidParams("a string holds half of a surrogate pair, which is no character", "bad_value")
    return value


def show(value: Any) -> Any:  # noqa: ANN401 - any stored value, any JSON value
    """Return the JSON value for a stored one; the inverse of `accept`.

    A text comes from the driver decoded as UTF-8 with `surrogateescape`, so that wrong bytes can be told.
    """
    if isinstance(value, bytes):
        return {"$binary": {"base64": _base64(value), "subType": "00"}}
    if isinstance(value, float) and value in (_INFINITY, -_INFINITY):
        return {"$numberDouble": "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, str) and not is_unicode(value):
        return {"$rawText": {"base64": _base64(value.encode("utf-8", "surrogateescape"))}}
    return value


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


_INFINITY = float("inf")
_SMALLEST = 1e-290  # below, a double has fewer digits


def _converted(column: Column, value: object, kinds: dict[str, tuple[str, Callable[[Any], Stored]]]) -> Stored:
    decoded = decode(value)
    if decoded is None:
        return None
    if column.numeric and column.kind == "any" and kinds is _WRITTEN and _loses_its_kind(decoded):
        raise InvalidParams(f"column {shown(column.name)} would store this string as a number; send a number",
                            "bad_value")
    expected, convert = kinds[column.kind]
    stored = convert(decoded)
    if stored is None:
        raise InvalidParams(f"column {shown(column.name)} takes {expected}, not {_described(decoded)}", "bad_value")
    return stored


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
    return _number(value) if value not in (_INFINITY, -_INFINITY) else None


def _fraction(text: str) -> float | None:
    """Return the double for a decimal number as text, if it keeps every digit."""
    if not looks_numeric(text) or text != text.strip():
        return None
    mantissa = text.lower().partition("e")[0].lstrip("+-").replace(".", "").strip("0")
    value = float(text)
    is_kept = len(mantissa) <= DIGITS and (_SMALLEST < abs(value) < _INFINITY or not mantissa)
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
        return _number(value) if abs(value) < _INFINITY else None
    from clitool_tools.database.documents import written

    text = written(value)
    return text if text is not None and is_unicode(text) else None


_NUMBER = "a number"
_BYTES = '{"$binary": {"base64": "…", "subType": "00"}}'
_ANY = "a number, a string or {'$binary': …}"

_WRITTEN: dict[str, tuple[str, Callable[[Any], Stored]]] = {
    "integer": ("a whole number of at most 64 bits, also as a string of digits", _whole),
    "real": ("a number that a double can hold exactly", _real),
    "decimal": (f"a number, also as a string, of at most {DIGITS} digits", _decimal),
    "text": ("a string", _text),
    "binary": (_BYTES, _binary),
    "json": ("an object, an array or a string that is a JSON text", _document),
    "any": (_ANY, _anything),
}
_COMPARED: dict[str, tuple[str, Callable[[Any], Stored]]] = {
    **_WRITTEN,
    "integer": ("a number, or a whole number as a string of digits", _compared_whole),
    "real": (_NUMBER, _number),
}


def _form_binary(content: object) -> bytes:
    if not isinstance(content, dict) or not {"base64"} <= content.keys() <= {"base64", "subType"}:
        raise _malformed("$binary", _BYTES)
    if content.get("subType", "00") != "00":
        raise InvalidParams("the subType of '$binary' must be \"00\"", "bad_value")
    return _bytes(content["base64"], "$binary", _BYTES)


def _form_raw_text(content: object) -> str | RawText:
    form = '{"$rawText": {"base64": "…"}}'
    if not isinstance(content, dict) or content.keys() != {"base64"}:
        raise _malformed("$rawText", form)
    data = _bytes(content["base64"], "$rawText", form)
    text = data.decode("utf-8", "surrogateescape")
    return text if is_unicode(text) else RawText(data)


def _form_double(content: object) -> float:
    if content not in ("Infinity", "-Infinity"):
        raise _malformed("$numberDouble", '{"$numberDouble": "Infinity"} or "-Infinity"')
    return _INFINITY if content == "Infinity" else -_INFINITY


FORMS: dict[str, Callable[[object], object]] = {
    "$binary": _form_binary,
    "$numberDouble": _form_double,
    "$rawText": _form_raw_text,
}


def _bytes(text: object, form: str, usage: str) -> bytes:
    from binascii import a2b_base64

    try:
        return a2b_base64(text, strict_mode=True)  # type: ignore[arg-type]  # the TypeError is caught
    except (ValueError, TypeError):
        raise _malformed(form, usage) from None


def _malformed(form: str, usage: str) -> InvalidParams:
    return InvalidParams(f"{form!r} is malformed; write {usage}", "bad_value")


def _base64(data: bytes) -> str:
    from binascii import b2a_base64

    return b2a_base64(data, newline=False).decode("ascii")


def is_unicode(text: str) -> bool:
    """Return whether `text` holds characters only: no half of a surrogate pair, which stands for a wrong byte."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_DESCRIBED: dict[type, str] = {
    bool: "true or false", int: "this number", float: "this number", str: "this string", bytes: "bytes",
    RawText: "a text that is not UTF-8", list: "an array", dict: "an object",
}


def _described(value: object) -> str:
    """Say what kind of value it is; never the value itself, which may be long or secret."""
    return _DESCRIBED.get(type(value), "this")
