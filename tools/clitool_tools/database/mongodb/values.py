"""Extended JSON from a caller: what may stand for a value, and nothing else.

The forms are those of MongoDB's Extended JSON v2, relaxed and canonical
(https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md), and one of our own:
``{"$literal": {…}}`` is a document whose keys are taken as they are, for keys that begin with a dollar sign.
Whatever else begins with one is refused: it would be stored as something other than what the caller meant.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.driver import bson
from clitool_tools.database.names import hint, shown
from clitool_tools.database.values import is_unicode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

MAX_DEPTH = 100  # documents and arrays in one another, as MongoDB documents it
_LARGEST = {32: 2**31 - 1, 64: 2**63 - 1}
LITERAL = "$literal"
_REFERENCE = ("$ref", "$id", "$db")


def decode(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - from any JSON value to any BSON value
    """Return what to store or compare with for a caller's JSON value.

    Raises:
        InvalidParams: an object with a key that begins with ``$`` and is no form, a malformed form, JavaScript, a
            whole number beyond 64 bits, a text that is no Unicode, or more than `MAX_DEPTH` levels (bad_value).
    """
    if isinstance(value, (dict, list)):
        if depth >= MAX_DEPTH:
            raise _bad(f"the value is nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, list):
            return [decode(item, depth + 1) for item in value]
        if any(key.startswith("$") for key in value):
            return _form(value, depth)
        return _fields(value, depth)
    return _scalar(value)


def _fields(document: Mapping[str, Any], depth: int) -> dict[str, Any]:
    return {_name(key): decode(value, depth + 1) for key, value in document.items()}


def _name(key: str) -> str:
    if "\0" in key or not is_unicode(key):
        raise _bad("a key holds NUL or half of a surrogate pair, which no key of MongoDB can")
    return key


def _scalar(value: Any) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, str) and not is_unicode(value):
        raise _bad("a string holds half of a surrogate pair, which is no character")
    if isinstance(value, int) and abs(value) > _LARGEST[64] and value != -_LARGEST[64] - 1:
        raise _bad('a whole number beyond 64 bits cannot be stored as such; write {"$numberDecimal": "…"}')
    if isinstance(value, float) and value - value != 0:
        raise _bad('the number is too large for a double; write {"$numberDouble": "Infinity"}')
    return value


def _form(document: Mapping[str, Any], depth: int) -> Any:  # noqa: ANN401 - as above
    if document.keys() <= set(_REFERENCE) and "$ref" in document:
        return _reference(document, depth)
    word = next(key for key in document if key.startswith("$"))
    known = {LITERAL, *FORMS, *_USAGE_OF_OTHERS}
    if len(document) > 1 and word in known - _USAGE_OF_OTHERS.keys():
        raise _bad(f"{word!r} stands alone in its object; to store such a key write {_LITERAL_USAGE}")
    if word == LITERAL:
        return _literal(document[word], depth)
    if word in FORMS:
        return FORMS[word](document[word])
    if word in _USAGE_OF_OTHERS:
        raise _bad(f"{word!r} is not accepted: {_USAGE_OF_OTHERS[word]}")
    raise _bad(f"{shown(word)} stands for no value{hint(word, known)}; to store such a key write {_LITERAL_USAGE}")


def _literal(content: object, depth: int) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise _malformed(LITERAL, _LITERAL_USAGE)
    return _fields(content, depth)


def _reference(document: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """Return a DBRef as the document that it is; its keys have one order."""
    texts = [document[key] for key in ("$ref", "$db") if key in document]
    if "$id" not in document or not all(isinstance(text, str) for text in texts):
        raise _malformed("$ref", '{"$ref": "collection", "$id": …} and perhaps "$db": "database"')
    return {key: decode(document[key], depth + 1) for key in _REFERENCE if key in document}


def _object_id(content: object) -> Any:  # noqa: ANN401 - a type of the driver's
    if not isinstance(content, str) or not is_hexadecimal(content, 24):
        raise _malformed("$oid", '{"$oid": "…"} with 24 hexadecimal digits')
    return bson.ObjectId(content)


def is_hexadecimal(text: str, length: int) -> bool:
    """Return whether `text` is so many hexadecimal digits."""
    return len(text) == length and not text.strip("0123456789abcdefABCDEF")


def _integer(content: object, word: str, bits: int) -> int:
    usage = f'{{"{word}": "…"}} with a whole number of {bits} bits in quotes'
    if not isinstance(content, str) or len(content) > 20:
        raise _malformed(word, usage)
    digits = content.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or (digits[0] == "0" and content != "0"):
        raise _malformed(word, usage)
    if not -_LARGEST[bits] - 1 <= int(content) <= _LARGEST[bits]:
        raise _malformed(word, usage)
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
        raise _malformed("$numberDouble", usage)
    value = float(content)
    if value - value != 0:
        raise _malformed("$numberDouble", usage)
    return value


def _decimal(content: object) -> Any:  # noqa: ANN401 - as above
    usage = '{"$numberDecimal": "1.10"} with at most 34 digits, "Infinity", "-Infinity" or "NaN"'
    if not isinstance(content, str) or not (_is_number(content) or content in ("Infinity", "-Infinity", "NaN")):
        raise _malformed("$numberDecimal", usage)
    try:
        return bson.Decimal128(content)
    except ArithmeticError:  # it would be rounded
        raise _malformed("$numberDecimal", usage) from None


def _is_number(text: str) -> bool:
    import re

    return re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) is not None


def _binary(content: object) -> Any:  # noqa: ANN401 - as above
    if not isinstance(content, dict) or not {"base64"} <= content.keys() <= {"base64", "subType"}:
        raise _malformed("$binary", _BINARY_USAGE)
    subtype = content.get("subType", "00")
    if not isinstance(subtype, str) or not any(is_hexadecimal(subtype, length) for length in (1, 2)):
        raise _malformed("$binary", _BINARY_USAGE)
    return binary(_base64(content["base64"]), int(subtype, 16))


def binary(data: bytes, subtype: int) -> Any:  # noqa: ANN401 - as above
    """Return bytes of a subtype; those of the general one are plain `bytes`."""
    return bson.Binary(data, subtype) if subtype else data


def _base64(text: object) -> bytes:
    from binascii import a2b_base64

    try:
        return a2b_base64(text, strict_mode=True)  # type: ignore[arg-type]  # the TypeError is caught
    except (ValueError, TypeError):
        raise _malformed("$binary", _BINARY_USAGE) from None


def _uuid(content: object) -> Any:  # noqa: ANN401 - as above
    parts = content.split("-") if isinstance(content, str) else []
    if [len(part) for part in parts] != [8, 4, 4, 4, 12] or not is_hexadecimal("".join(parts), 32):
        raise _malformed("$uuid", '{"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}')
    return bson.Binary(bytes.fromhex("".join(parts)), 4)


def _date(content: object) -> Any:  # noqa: ANN401 - as above
    from clitool_tools.database.mongodb.dates import milliseconds

    if isinstance(content, dict) and content.keys() == {"$numberLong"}:
        content = _integer(content["$numberLong"], "$numberLong", 64)
    if isinstance(content, bool) or not isinstance(content, (int, str)):
        raise _malformed("$date", _DATE_USAGE)
    found = milliseconds(content) if isinstance(content, str) else content
    if found is None or not -_LARGEST[64] - 1 <= found <= _LARGEST[64]:
        raise _malformed("$date", _DATE_USAGE)
    return bson.DatetimeMS(found)


def _timestamp(content: object) -> Any:  # noqa: ANN401 - as above
    usage = '{"$timestamp": {"t": seconds, "i": number}}, both from 0 to 4294967295'
    if not isinstance(content, dict) or content.keys() != {"t", "i"}:
        raise _malformed("$timestamp", usage)
    for number in content.values():
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**32:
            raise _malformed("$timestamp", usage)
    return bson.Timestamp(content["t"], content["i"])


def _regular_expression(content: object) -> Any:  # noqa: ANN401 - as above
    usage = '{"$regularExpression": {"pattern": "…", "options": "…"}}; options are letters of "ilmsux" in this order'
    if not isinstance(content, dict) or content.keys() != {"pattern", "options"}:
        raise _malformed("$regularExpression", usage)
    pattern, options = content["pattern"], content["options"]
    if not isinstance(pattern, str) or not isinstance(options, str) or "\0" in pattern or not is_unicode(pattern):
        raise _malformed("$regularExpression", usage)
    if options != "".join(letter for letter in "ilmsux" if letter in options):
        raise _malformed("$regularExpression", usage)
    return bson.Regex(pattern, options)


def _edge(word: str) -> Callable[[object], Any]:
    def edge(content: object) -> Any:  # noqa: ANN401 - as above
        if isinstance(content, bool) or content != 1:
            raise _malformed(word, f'{{"{word}": 1}}')
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

_LITERAL_USAGE = '{"$literal": {…}}'
_BINARY_USAGE = '{"$binary": {"base64": "…", "subType": "00"}}'
_DATE_USAGE = '{"$date": "2024-01-31T10:00:00Z"}, {"$date": "2024-01-31"} for midnight UTC, or milliseconds since 1970'
_NOT_WRITTEN = "such a value is shown, but can no longer be written"
_USAGE_OF_OTHERS = {
    "$code": "it is JavaScript, which no tool stores or runs",
    "$scope": "it is JavaScript, which no tool stores or runs",
    "$symbol": _NOT_WRITTEN,
    "$undefined": f"{_NOT_WRITTEN}; null or leaving the field out is what is meant today",
    "$dbPointer": f'{_NOT_WRITTEN}; write {{"$ref": "…", "$id": …}}',
    "$entries": f"{_NOT_WRITTEN}: it has a key twice, or one that is not UTF-8",
    "$rawText": f"{_NOT_WRITTEN}: its bytes are not UTF-8",
    "$regex": 'write {"$regularExpression": {"pattern": "…", "options": "…"}}',
    "$options": 'write {"$regularExpression": {"pattern": "…", "options": "…"}}',
    "$type": f"write {_BINARY_USAGE}",
    "$id": 'write {"$ref": "collection", "$id": …}',
    "$db": 'write {"$ref": "collection", "$id": …, "$db": "database"}',
}


def _malformed(word: str, usage: str) -> InvalidParams:
    return _bad(f"{word!r} is malformed; write {usage}")


def _bad(message: str) -> InvalidParams:
    return InvalidParams(message, "bad_value")
