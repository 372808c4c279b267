"""The forms of Extended JSON that stand for a single value: an object with one key, strictly read."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.driver import bson
from clitool_tools.database.values import is_unicode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LARGEST = {32: 2**31 - 1, 64: 2**63 - 1}
BINARY_USAGE = '{"$binary": {"base64": "…", "subType": "00"}}'
_DATE_USAGE = '{"$date": "2024-01-31T10:00:00Z"}, {"$date": "2024-01-31"} for midnight UTC, or milliseconds since 1970'


def _object_id(content: object) -> Any:  # noqa: ANN401 - a type of the driver's
    if not isinstance(content, str) or not is_hexadecimal(content, 24):
        raise malformed("$oid", '{"$oid": "…"} with 24 hexadecimal digits')
    return bson.ObjectId(content)


def is_hexadecimal(text: str, length: int) -> bool:
    """Return whether `text` is so many hexadecimal digits."""
    return len(text) == length and not text.strip("0123456789abcdefABCDEF")


def _integer(content: object, word: str, bits: int) -> int:
    usage = f'{{"{word}": "…"}} with a whole number of {bits} bits in quotes'
    if not isinstance(content, str) or len(content) > 20:
        raise malformed(word, usage)
    digits = content.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or (digits[0] == "0" and content != "0"):
        raise malformed(word, usage)
    if not -LARGEST[bits] - 1 <= int(content) <= LARGEST[bits]:
        raise malformed(word, usage)
    return int(content)


def _int(content: object) -> int:
    return _integer(content, "$numberInt", 32)


def _long(content: object) -> Any:  # noqa: ANN401 - as above
    return bson.Int64(_integer(content, "$numberLong", 64))


def _double(content: object) -> float:
    usage = '{"$numberDouble": "1.5"}, "Infinity", "-Infinity" or "NaN"'
    if content in ("Infinity", "-Infinity", "NaN"):
        return float(str(content))
    if not isinstance(content, str) or not _is_number(content):
        raise malformed("$numberDouble", usage)
    value = float(content)
    if value - value != 0:
        raise malformed("$numberDouble", usage)
    return value


def _decimal(content: object) -> Any:  # noqa: ANN401 - as above
    usage = '{"$numberDecimal": "1.10"} with at most 34 digits, "Infinity", "-Infinity" or "NaN"'
    if not isinstance(content, str) or not (_is_number(content) or content in ("Infinity", "-Infinity", "NaN")):
        raise malformed("$numberDecimal", usage)
    try:
        return bson.Decimal128(content)
    except ArithmeticError:  # it would be rounded
        raise malformed("$numberDecimal", usage) from None


def _is_number(text: str) -> bool:
    import re

    return re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) is not None


def _binary(content: object) -> Any:  # noqa: ANN401 - as above
    if not isinstance(content, dict) or not {"base64"} <= content.keys() <= {"base64", "subType"}:
        raise malformed("$binary", BINARY_USAGE)
    subtype = content.get("subType", "00")
    if not isinstance(subtype, str) or not any(is_hexadecimal(subtype, length) for length in (1, 2)):
        raise malformed("$binary", BINARY_USAGE)
    return binary(_base64(content["base64"]), int(subtype, 16))


def binary(data: bytes, subtype: int) -> Any:  # noqa: ANN401 - as above
    """Return bytes of a subtype; those of the general one are plain `bytes`."""
    return bson.Binary(data, subtype) if subtype else data


def _base64(text: object) -> bytes:
    from binascii import a2b_base64

    try:
        return a2b_base64(text, strict_mode=True)  # type: ignore[arg-type]  # the TypeError is caught
    except (ValueError, TypeError):
        raise malformed("$binary", BINARY_USAGE) from None


def _uuid(content: object) -> Any:  # noqa: ANN401 - as above
    parts = content.split("-") if isinstance(content, str) else []
    if [len(part) for part in parts] != [8, 4, 4, 4, 12] or not is_hexadecimal("".join(parts), 32):
        raise malformed("$uuid", '{"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}')
    return bson.Binary(bytes.fromhex("".join(parts)), 4)


def _date(content: object) -> Any:  # noqa: ANN401 - as above
    from clitool_tools.database.mongodb.dates import milliseconds

    if isinstance(content, dict) and content.keys() == {"$numberLong"}:
        content = _integer(content["$numberLong"], "$numberLong", 64)
    if isinstance(content, bool) or not isinstance(content, (int, str)):
        raise malformed("$date", _DATE_USAGE)
    found = milliseconds(content) if isinstance(content, str) else content
    if found is None or not -LARGEST[64] - 1 <= found <= LARGEST[64]:
        raise malformed("$date", _DATE_USAGE)
    return bson.DatetimeMS(found)


def _timestamp(content: object) -> Any:  # noqa: ANN401 - as above
    usage = '{"$timestamp": {"t": seconds, "i": number}}, both from 0 to 4294967295'
    if not isinstance(content, dict) or content.keys() != {"t", "i"}:
        raise malformed("$timestamp", usage)
    for number in content.values():
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**32:
            raise malformed("$timestamp", usage)
    return bson.Timestamp(content["t"], content["i"])


def _regular_expression(content: object) -> Any:  # noqa: ANN401 - as above
    usage = '{"$regularExpression": {"pattern": "…", "options": "…"}}; options are letters of "ilmsux" in this order'
    if not isinstance(content, dict) or content.keys() != {"pattern", "options"}:
        raise malformed("$regularExpression", usage)
    pattern, options = content["pattern"], content["options"]
    if not isinstance(pattern, str) or not isinstance(options, str) or "\0" in pattern or not is_unicode(pattern):
        raise malformed("$regularExpression", usage)
    if options != "".join(letter for letter in "ilmsux" if letter in options):
        raise malformed("$regularExpression", usage)
    return bson.Regex(pattern, options)


def _edge(word: str) -> Callable[[object], Any]:
    def edge(content: object) -> Any:  # noqa: ANN401 - as above
        if isinstance(content, bool) or content != 1:
            raise malformed(word, f'{{"{word}": 1}}')
        return bson.MinKey() if word == "$minKey" else bson.MaxKey()

    return edge


FORMS: dict[str, Callable[[object], Any]] = {
    "$oid": _object_id,
    "$date": _date,
    "$numberInt": _int,
    "$numberLong": _long,
    "$numberDouble": _double,
    "$numberDecimal": _decimal,
    "$binary": _binary,
    "$uuid": _uuid,
    "$timestamp": _timestamp,
    "$regularExpression": _regular_expression,
    "$minKey": _edge("$minKey"),
    "$maxKey": _edge("$maxKey"),
}
"""Keys of the objects with one key that stand for a single value, with what decodes them."""


def malformed(word: str, usage: str) -> InvalidParams:
    """Return what to raise for a form that is not written as it should be (bad_value)."""
    return InvalidParams(f"{word!r} is malformed; write {usage}", "bad_value")
