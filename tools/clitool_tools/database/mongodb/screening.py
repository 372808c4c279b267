"""One look at a caller's pipeline: how large it is, which collections it names, and what in it is plain data.

The look takes the pipeline apart and puts it together again, so that what runs is what was seen. It fails closed: a
stage, an operator, an option or a variable that is not listed is refused, also one that a newer server brings.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.operators import REFUSED
from clitool_tools.database.mongodb.values import FORMS, decode
from clitool_tools.database.names import hint, listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any, TypeAlias

    from clitool_tools.database.settings import Connection

    Rule: TypeAlias = Callable[["Screening", str, Any], Any]  # (the look, where, what is there) -> what to send instead

MAX_STAGES = 100  # with those of all pipelines inside
MAX_PIPELINES = 5  # one in another
MAX_DEPTH = 60  # objects and arrays in one another
MAX_SIZE = 1_000_000  # characters and values
_LONGEST = 200  # characters of a place in one sentence


class Screening:
    """What the look knows so far.

    Attributes:
        connection: whose collections may be named.
        tables: the collections that are named.
        stages: how many there are.
        pipelines: how many lie around the place that is looked at.
    """

    __slots__ = ("connection", "pipelines", "stages", "tables")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.tables: dict[str, None] = {}
        self.stages = 0
        self.pipelines = 0

    def name(self, at: str, table: object) -> str:
        """Return the collection that a stage reads; raises `InvalidParams` unless it is allowed."""
        if not isinstance(table, str) or not table or "\0" in table:
            raise refusal(at, "the name of a collection is needed here")
        try:
            self.connection.require(table)
        except InvalidParams as error:
            raise InvalidParams(f"{at}: {error}", error.reason) from None
        self.tables[table] = None
        return table


def refusal(at: str, message: str) -> InvalidParams:
    """Return what to raise for something at a place of the pipeline."""
    return InvalidParams(f"{at}: {message}", "pipeline_not_allowed")


def unknown(at: str, what: str, word: str, known: Collection[str]) -> InvalidParams:
    """Return what to raise for a word that is not listed, with the nearest one that is."""
    if word in REFUSED:
        return refusal(at, f"{word} is not allowed: {REFUSED[word]}")
    offer = hint(word, known) or (f"; known here: {listed(sorted(known))}" if known else "")
    return refusal(at, f"the {what} {shown(word)} is not allowed{offer}")


def below(at: str, key: str) -> str:
    """Return the place of a key, short however long the keys are."""
    return f"{at}.{key}"[:_LONGEST]


def element(at: str, index: int) -> str:
    """Return the place of an element of a list."""
    return f"{at}[{index}]"[:_LONGEST]


def require_size(pipeline: object) -> None:
    """Raise `InvalidParams` for a pipeline that is too large or too deep to look at."""
    size = _size(pipeline, 0)
    if size > MAX_SIZE:
        raise InvalidParams(f"the pipeline is larger than {MAX_SIZE} characters and values", "too_large")


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


def _size(value: object, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise InvalidParams(f"the pipeline is nested more than {MAX_DEPTH} levels deep", "pipeline_not_allowed")
    if isinstance(value, dict):
        return 1 + sum(len(key) + _size(each, depth + 1) for key, each in value.items())
    if isinstance(value, list):
        return 1 + sum(_size(each, depth + 1) for each in value)
    return 1 + (len(value) if isinstance(value, str) else 0)
