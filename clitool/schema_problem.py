"""What is wrong with a value that the small checker was not sure of: jsonschema decides, we tell."""

from __future__ import annotations

from itertools import chain, islice

from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from clitool.quick_schema import is_type
from clitool.schema_words import either, json_path, subject, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from jsonschema.exceptions import ValidationError

    Path = tuple[str | int, ...]

_MOST = 100  # problems: a hostile array may have millions, and each of jsonschema's errors holds a copy of its value

_Validator = extend(  # type: ignore[no-untyped-call]  # the stubs leave its parameters open
    Draft202012Validator,
    # jsonschema takes NaN, Infinity, Decimal and complex for numbers; JSON has none of them.
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("number", lambda _, value: is_type(value, "number")),
)


class Problem:
    """One thing that is wrong with a value.

    Attributes:
        path: keys and indices down to the place; the last one is the missing or unknown key itself, if it is that.
        keyword: the keyword of JSON Schema that failed; `false` for a schema that nothing fits, `nesting` and
            `number` for a value that is too deep or too large to be checked.
        message: one printable line of at most 300 characters: the place and what is expected, never the value.
    """

    __slots__ = ("keyword", "message", "path")

    def __init__(self, path: Path, keyword: str, message: str) -> None:
        self.path = path
        self.keyword = keyword
        self.message = message

    @property
    def json_path(self) -> str:
        """The path as JSONPath (RFC 9535), printable and bounded."""
        return json_path(self.path)


def misfits(value: object, schema: Any, word: str) -> list[Problem]:  # noqa: ANN401 - a mapping, true or false
    """Return what is wrong with `value`, best first (see `clitool.schema.problems`).

    Raises `RecursionError` if the value is nested too deeply.
    """
    try:
        errors = list(islice(_Validator(schema, registry=Registry()).iter_errors(value), _MOST))
    except Unresolvable:
        return [Problem((), "$ref", f"the {word}s cannot be checked: their schema refers to something outside itself")]
    except (OverflowError, ValueError):  # an int that is too long for a float or for its digits
        return [Problem((), "number", f"the {word}s hold a number that is too large")]
    return list(islice(_problems(errors, word), _MOST))


def _problems(errors: Iterable[ValidationError], word: str) -> Iterator[Problem]:
    """Yield each problem once: shallow before deep, on one level an unknown key first as it explains a missing one."""
    ranks = {"additionalProperties": 0, "required": 1, "anyOf": 3, "oneOf": 3, "not": 3}
    best_first = sorted(errors, key=lambda error: (len(error.absolute_path), ranks.get(str(error.validator), 2)))
    seen = set()
    for problem in chain.from_iterable(_told(error, word) for error in best_first):
        if (problem.path, problem.message) not in seen:
            seen.add((problem.path, problem.message))
            yield problem


def _told(error: ValidationError, word: str) -> Iterator[Problem]:
    if error.context:
        yield from _told_alternatives(error, word)
    else:
        keyword = str(error.validator or "false")
        yield from (Problem(path, keyword, message) for path, message in told(error, word))


def _told_alternatives(error: ValidationError, word: str) -> Iterator[Problem]:
    """Yield the problems of the alternative that the value is nearest to, or one that names all equally near ones."""
    nearest = _nearest(error.context or (), word)
    if len(nearest) == 1:
        yield from nearest[0]
    else:
        path = tuple(error.absolute_path)
        message = either([problems[0].message for problems in nearest], subject(path, word))
        yield Problem(path, str(error.validator), message)


def _nearest(context: Iterable[ValidationError], word: str) -> list[list[Problem]]:
    """Return the problems of each alternative that is of the value's kind and has the fewest of them."""
    branches: dict[object, list[ValidationError]] = {}
    for error in context:
        branches.setdefault(next(iter(error.relative_schema_path), None), []).append(error)
    by_distance: dict[tuple[bool, int], list[list[Problem]]] = {}
    for branch in branches.values():
        problems = list(islice(_problems(branch, word), _MOST))
        by_distance.setdefault((any(map(_is_other_kind, branch)), len(problems)), []).append(problems)
    return by_distance[min(by_distance)]


def _is_other_kind(error: ValidationError) -> bool:
    """Return whether the alternative is for another type of value, or for another one of a constant ("type: mysql")."""
    choices: Any = error.validator_value
    if error.validator == "type":
        return not error.relative_path
    return error.validator == "const" or (error.validator == "enum" and len(choices) == 1)
