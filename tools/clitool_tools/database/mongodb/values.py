"""Extended JSON from a caller: what may stand for a value, and nothing else.

The forms are those of MongoDB's Extended JSON v2, relaxed and canonical
(https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md), and one of our own:
``{"$literal": {…}}`` is a document whose keys are taken as they are, for keys that begin with a dollar sign.
Whatever else begins with one is refused: it would be stored as something other than what the caller meant.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.forms import BINARY_USAGE, FORMS, LARGEST, malformed
from clitool_tools.database.names import hint, shown
from clitool_tools.database.values import is_unicode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_DEPTH = 100  # documents and arrays in one another, as MongoDB documents it
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
    if isinstance(value, int) and abs(value) > LARGEST[64] and value != -LARGEST[64] - 1:
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
        raise malformed(LITERAL, _LITERAL_USAGE)
    return _fields(content, depth)


def _reference(document: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """Return a DBRef as the document that it is; its keys have one order."""
    texts = [document[key] for key in ("$ref", "$db") if key in document]
    if "$id" not in document or not all(isinstance(text, str) for text in texts):
        raise malformed("$ref", '{"$ref": "collection", "$id": …} and perhaps "$db": "database"')
    return {key: decode(document[key], depth + 1) for key in _REFERENCE if key in document}


_LITERAL_USAGE = '{"$literal": {…}}'
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
    "$type": f"write {BINARY_USAGE}",
    "$id": 'write {"$ref": "collection", "$id": …}',
    "$db": 'write {"$ref": "collection", "$id": …, "$db": "database"}',
}


def _bad(message: str) -> InvalidParams:
    return InvalidParams(message, "bad_value")
