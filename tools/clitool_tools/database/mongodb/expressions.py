"""Expressions: what a stage computes from the document at hand. None of the operators listed here reads another one."""

from __future__ import annotations

from clitool_tools.database.mongodb.operators import ACCUMULATORS, META, OPERATORS, VARIABLES
from clitool_tools.database.mongodb.rules import an_object, is_extended, literal, number, scalar
from clitool_tools.database.mongodb.screening import below, element, refusal, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from clitool_tools.database.mongodb.screening import Screening

MAX_LOOPS = 2  # $map, $filter and $reduce in the body of one another
MAX_RANGE = 10_000  # numbers that a $range of written ends makes
_BODIES = ("in", "cond")


def expression(look: Screening, at: str, given: object, loops: int = 0) -> Any:  # noqa: ANN401 - what Extended JSON stands for
    """Return an expression as the server shall get it.

    Args:
        look: the screening.
        at: the place, for an error.
        given: a value, a path of fields (``$a.b``), a variable (``$$name``), an operator with its operands, or an array
            or object of these.
        loops: how many loops' bodies it stands in.
    """
    if isinstance(given, str):
        return _path(at, given)
    if isinstance(given, list):
        return [expression(look, element(at, index), each, loops) for index, each in enumerate(given)]
    if not isinstance(given, dict) or is_extended(given):
        return scalar(at, given)
    document = an_object(at, given)
    if any(key.startswith("$") for key in document):
        return {(word := operator(at, document)): _operand(look, below(at, word), word, document[word], loops)}
    return {key: expression(look, below(at, key), value, loops) for key, value in document.items()}


def computed(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return an expression that stands in no loop."""
    return expression(look, at, given)


def fields(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return an object of fields, each computed from the document."""
    return {key: expression(look, below(at, key), value) for key, value in plain(at, given).items()}


def plain(at: str, given: object) -> dict[str, Any]:
    """Return an object whose keys are names of fields."""
    document = an_object(at, given)
    for key in document:
        if key.startswith("$"):
            raise unknown(at, "name", key, ())
    return document


def order(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return an order: fields, each with 1, -1 or the score of a text search."""
    return {
        key: (expression if isinstance(value, dict) else number)(look, below(at, key), value)
        for key, value in plain(at, given).items()
    }


def accumulators(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return an object of fields, each computed from the documents of a group."""
    return {key: accumulator(look, below(at, key), value) for key, value in an_object(at, given).items()}


def accumulator(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return what is computed from the documents of a group."""
    word = operator(at, an_object(at, given), ACCUMULATORS)
    return {word: expression(look, below(at, word), given[word])}  # type: ignore[index]  # an object


def operator(at: str, document: dict[str, Any], known: frozenset[str] = OPERATORS) -> str:
    """Return the one key of an object, an operator; raises `InvalidParams` unless it is listed."""
    for word in document:
        if word.startswith("$") and word not in known:
            raise unknown(at, "operator", word, known)
    if len(document) != 1 or document.keys().isdisjoint(known):
        raise refusal(at, "an object with one operator, and nothing beside it, is needed here")
    return next(iter(document))


def _path(at: str, given: str) -> str:
    """Return a path of fields, or a text; a path never leaves the document at hand."""
    scalar(at, given)
    if given.startswith("$$"):
        name = given.partition(".")[0]
        is_own = name[2:3].islower() or not name[2:3].isascii()  # only these may $let and its like define
        if name not in VARIABLES and not is_own:
            raise unknown(at, "variable", name, VARIABLES)
    return given


def _operand(look: Screening, at: str, word: str, given: object, loops: int) -> Any:  # noqa: ANN401 - as above
    special = _SPECIAL.get(word)
    return expression(look, at, given, loops) if special is None else special(look, at, given, loops)


def _loop(look: Screening, at: str, given: object, loops: int) -> Any:  # noqa: ANN401 - as above
    """Return the operands of $map, $filter or $reduce: the server looks at its clock between documents only."""
    if loops == MAX_LOOPS:
        raise refusal(at, f"more than {MAX_LOOPS} loops in one another; use $unwind, which the time limit can stop")
    document = an_object(at, given)
    return {key: expression(look, below(at, key), value, loops + (key in _BODIES)) for key, value in document.items()}


def _range(look: Screening, at: str, given: object, loops: int) -> Any:  # noqa: ANN401 - as above
    ends = expression(look, at, given, loops)
    fixed = (
        [end for end, written in zip(ends, given, strict=True) if not _depends(written)]
        if isinstance(given, list)
        else []
    )
    if any(isinstance(end, bool) or not isinstance(end, (int, float)) for end in fixed):
        raise refusal(at, "an end of $range is a number, or it depends on the document")
    if fixed and len(fixed) == len(ends) > 1:
        start, end, step = (*fixed, 1)[:3]
        if abs(end - start) > MAX_RANGE * max(abs(step), 1):
            raise refusal(at, f"$range makes more than {MAX_RANGE} numbers")
    return ends


def _depends(given: object) -> bool:
    """Return whether the value may be another one for another document."""
    if isinstance(given, dict):
        return any(map(_depends, given.values()))
    return any(map(_depends, given)) if isinstance(given, list) else isinstance(given, str) and given.startswith("$")


def _literal(look: Screening, at: str, given: object, _: int) -> Any:  # noqa: ANN401 - as above
    return literal(look, at, given)


def _meta(look: Screening, at: str, given: object, _: int) -> str:
    """Return a word for how the server found a document: behind a view that tells, too, what the view leaves out."""
    if not isinstance(given, str) or given not in META:
        raise refusal(at, f"$meta can be one of {', '.join(META)}")
    if look.reads_view:
        raise refusal(at, "a pipeline that reads a view can have no $meta: it shows what the view leaves out")
    return given


_SPECIAL: dict[str, Callable[[Screening, str, Any, int], Any]] = {
    "$literal": _literal,
    "$meta": _meta,
    "$range": _range,
    "$map": _loop,
    "$filter": _loop,
    "$reduce": _loop,
}
