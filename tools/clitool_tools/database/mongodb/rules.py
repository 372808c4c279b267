"""What stands in a pipeline beside stages and operators: options by name, texts, numbers, and plain data."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.forms import FORMS
from clitool_tools.database.mongodb.screening import below, element, refusal, unknown
from clitool_tools.database.mongodb.values import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from clitool_tools.database.mongodb.screening import Rule, Screening


def options(look: Screening, at: str, given: object, known: Mapping[str, Rule], required: Collection[str] = ()) -> Any:  # noqa: ANN401 - what the rules make of JSON
    """Return an object of options, each by its rule; raises `InvalidParams` for one that is not listed."""
    document = an_object(at, given)
    for key in document:
        if key not in known:
            raise unknown(at, "option", key, known)
    for key in required:
        if key not in document:
            raise refusal(at, f"{key!r} is missing")
    return {key: known[key](look, below(at, key), value) for key, value in document.items()}


def an_object(at: str, given: object) -> dict[str, Any]:
    """Return `given` if it is an object whose keys can be stored."""
    if not isinstance(given, dict):
        raise refusal(at, "an object is needed here")
    if any("\0" in key for key in given):
        raise refusal(at, "a name holds a NUL")
    return given


def a_list(at: str, given: object) -> list[Any]:
    """Return `given` if it is a list."""
    if not isinstance(given, list):
        raise refusal(at, "a list is needed here")
    return given


def text(_: Screening, at: str, given: object) -> str:
    """Return `given` if it is a string."""
    if not isinstance(given, str):
        raise refusal(at, "a string is needed here")
    scalar(at, given)
    return given


def texts(look: Screening, at: str, given: object) -> list[str]:
    """Return `given` if it is a list of strings."""
    return [text(look, element(at, index), each) for index, each in enumerate(a_list(at, given))]


def whole(look: Screening, at: str, given: object) -> int:
    """Return the whole number that `given` is, if it is not negative and fits 64 bits."""
    value = number(look, at, given)
    if not isinstance(value, (int, float)) or not 0 <= value < 2**63 or value != int(value):
        raise refusal(at, "a whole number that is not negative is needed here")
    return int(value)


def number(_: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - a number of JSON
    """Return `given` if it is a number."""
    if isinstance(given, bool) or not (isinstance(given, (int, float)) or _is_form(given)):
        raise refusal(at, "a number is needed here")
    return scalar(at, given)


def flag(_: Screening, at: str, given: object) -> bool:
    """Return `given` if it is true or false."""
    if not isinstance(given, bool):
        raise refusal(at, "true or false is needed here")
    return given


def data(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - what Extended JSON stands for
    """Return plain data of a filter: Extended JSON, and no other key that begins with a dollar sign."""
    if isinstance(given, list):
        return [data(look, element(at, index), each) for index, each in enumerate(given)]
    if not isinstance(given, dict) or is_extended(given) or is_reference(given):
        return scalar(at, given)
    for key in an_object(at, given):
        if key.startswith("$"):
            raise unknown(at, "operator", key, ())
    return {key: data(look, below(at, key), value) for key, value in given.items()}


def literal(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return what stands below ``$literal``, where the server looks for no operator: Extended JSON or any data."""
    if isinstance(given, list):
        return [literal(look, element(at, index), each) for index, each in enumerate(given)]
    if not isinstance(given, dict) or is_extended(given):
        return scalar(at, given)
    return {key: literal(look, below(at, key), value) for key, value in an_object(at, given).items()}


def scalar(at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return what a single value of JSON or Extended JSON stands for; raises `InvalidParams` (bad_value)."""
    try:
        return decode(given)
    except InvalidParams as error:
        raise InvalidParams(f"{at}: {error}", error.reason) from None


def is_extended(given: Mapping[str, Any]) -> bool:
    """Return whether an object of JSON stands for a single value."""
    return len(given) == 1 and not FORMS.keys().isdisjoint(given)


def _is_form(given: object) -> bool:
    return isinstance(given, dict) and is_extended(given) and next(iter(given)).startswith("$number")


def is_reference(given: Mapping[str, Any]) -> bool:
    """Return whether it is a DBRef: data that names a collection, which the server does not follow."""
    return "$ref" in given and given.keys() <= {"$ref", "$id", "$db"}
