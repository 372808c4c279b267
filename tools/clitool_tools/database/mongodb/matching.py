"""Filters in MongoDB's own language, as `$match` takes them: conditions on fields, and nothing that runs code."""

from __future__ import annotations

from clitool_tools.database.mongodb.expressions import computed
from clitool_tools.database.mongodb.rules import (
    a_list,
    an_object,
    data,
    flag,
    is_extended,
    is_reference,
    number,
    options,
    scalar,
    text,
    whole,
)
from clitool_tools.database.mongodb.screening import below, element, refusal, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool_tools.database.mongodb.screening import Rule, Screening


def condition(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - what Extended JSON stands for
    """Return a filter as the server shall get it."""
    return {key: _rule(at, key)(look, below(at, key), value) for key, value in an_object(at, given).items()}


def _rule(at: str, key: str) -> Rule:
    if not key.startswith("$"):
        return _test
    if key not in _ABOVE_FIELDS:
        raise unknown(at, "operator", key, _ABOVE_FIELDS)
    return _ABOVE_FIELDS[key]


def _test(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return what a field is compared with: operators if there are any, otherwise data."""
    if not isinstance(given, dict) or is_extended(given) or is_reference(given):
        return data(look, at, given)
    if any(key.startswith("$") for key in given):
        return _operators(look, at, given)
    return data(look, at, given)


def _operators(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    document = an_object(at, given)
    for word in document:
        if word.startswith("$") and word not in _BELOW_FIELDS:
            raise unknown(at, "operator", word, _BELOW_FIELDS)
    if not document.keys() <= _BELOW_FIELDS.keys():
        raise refusal(at, "an object has either operators or fields")
    return {word: _BELOW_FIELDS[word](look, below(at, word), value) for word, value in document.items()}


def _computed(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    look.expressions += 1
    return computed(look, at, given)


def _conditions(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return [condition(look, element(at, index), each) for index, each in enumerate(a_list(at, given))]


def _values(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return data(look, at, a_list(at, given))


def _every(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return [_element(look, element(at, index), each) for index, each in enumerate(a_list(at, given))]


def _element(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    if isinstance(given, dict) and given.keys() == {"$elemMatch"}:
        return _operators(look, at, given)
    return data(look, at, given)


def _member(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return what one element of an array must fulfil: operators on it itself, or a filter on its fields."""
    document = an_object(at, given)
    on_itself = bool(document) and document.keys() <= _BELOW_FIELDS.keys()
    return _operators(look, at, document) if on_itself else condition(look, at, document)


def _negated(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return scalar(at, given) if _is_pattern(given) else _operators(look, at, given)


def _is_pattern(given: object) -> bool:
    return isinstance(given, dict) and given.keys() == {"$regularExpression"}


def _pattern(_: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    if not isinstance(given, str) and not _is_pattern(given):
        raise refusal(at, "a regular expression is needed here, as a string")
    return scalar(at, given)


def _types(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    if not isinstance(given, (str, int, float, list)):
        raise refusal(at, "the name of a type, or a list of them, is needed here")
    return data(look, at, given)


def _exists(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return given if isinstance(given, bool) else number(look, at, given)


def _schema(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return data(look, at, an_object(at, given))


def _area(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return options(look, at, given, dict.fromkeys(("$geometry", "$box", "$center", "$centerSphere", "$polygon"), data))


def _text_search(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {
        "$search": text,
        "$language": text,
        "$caseSensitive": flag,
        "$diacriticSensitive": flag,
    }
    return options(look, at, given, known, ["$search"])


_ABOVE_FIELDS: dict[str, Rule] = {
    "$and": _conditions,
    "$or": _conditions,
    "$nor": _conditions,
    "$expr": _computed,
    "$text": _text_search,
    "$jsonSchema": _schema,
    "$sampleRate": number,
    "$comment": text,
}
_BELOW_FIELDS: dict[str, Rule] = {
    **dict.fromkeys(("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), data),
    **dict.fromkeys(("$bitsAllClear", "$bitsAllSet", "$bitsAnyClear", "$bitsAnySet"), data),
    **dict.fromkeys(("$in", "$nin", "$mod"), _values),
    **dict.fromkeys(("$geoWithin", "$geoIntersects"), _area),
    "$all": _every,
    "$elemMatch": _member,
    "$exists": _exists,
    "$not": _negated,
    "$options": text,
    "$regex": _pattern,
    "$size": whole,
    "$type": _types,
}
