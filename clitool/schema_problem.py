"""What is wrong with a value that the small checker was not sure of: jsonschema decides, we tell."""

from __future__ import annotations

from itertools import chain, islice

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from clitool.schema import is_type
from clitool.schema_words import either, json_path, subject, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Path = tuple[str | int, ...]

_MOST = 100  # problems: a hostile array may have millions, and each of jsonschema's errors holds a copy of its value
_DEEPEST = 100  # levels: where the interpreter's stack ends, the hash tables below jsonschema panic instead of raising


def _type(validator: Any, types: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401 - theirs
    """Refuse NaN and Infinity, which jsonschema takes for numbers and JSON does not have."""
    if isinstance(value, float) and not is_type(value, "number"):
        yield ValidationError("not finite")
    else:
        yield from Draft202012Validator.VALIDATORS["type"](validator, types, value, schema)


_Validator = extend(  # type: ignore[no-untyped-call]  # the stubs leave its parameters open
    Draft202012Validator,
    {"type": _type},
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
    if _is_deep(value):
        raise RecursionError
    try:
        errors = list(islice(_Validator(schema, registry=Registry()).iter_errors(value), _MOST))
        return list(islice(_problems(errors, word), _MOST))
    except Unresolvable:
        return [Problem((), "$ref", f"the {word}s cannot be checked: their schema refers to something outside itself")]
    except (OverflowError, ValueError):  # an int that is too long for a float or for its digits
        return [Problem((), "number", f"the {word}s hold a number that is too large")]


def _is_deep(value: object) -> bool:
    """Return whether `value` goes deeper than jsonschema is sure to follow."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [part for whole in level for part in _parts(whole)]
        if not level:
            return False
    return True


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


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
        return
    best = [problems[0] for problems in nearest]
    paths = {problem.path for problem in best}
    common = subject(best[0].path, word) if len(paths) == 1 else ""
    yield Problem(tuple(error.absolute_path), str(error.validator), either([each.message for each in best], common))


def _nearest(context: Iterable[ValidationError], word: str) -> list[list[Problem]]:
    """Return the problems of each alternative that is of the value's kind and has the fewest of them.

    Where none is of its kind: what tells the kinds apart.
    """
    branches: dict[object, list[ValidationError]] = {}
    for error in context:
        branches.setdefault(next(iter(error.relative_schema_path), None), []).append(error)
    by_distance: dict[tuple[int, int], list[list[Problem]]] = {}
    for branch in branches.values():
        kind = max(map(_otherness, branch))
        telling = [error for error in branch if _otherness(error) == kind] if kind else branch
        problems = list(islice(_problems(telling, word), _MOST))
        by_distance.setdefault((kind, 0 if kind else len(problems)), []).append(problems)
    return by_distance[min(by_distance)]


def _otherness(error: ValidationError) -> int:
    """Return 2 if the alternative is for another value altogether, 1 for another constant in it ("type: mysql")."""
    choices: Any = error.validator_value
    if not error.relative_path:
        return 2 if error.validator in ("type", "const", "enum") else 0
    return int(error.validator == "const" or (error.validator == "enum" and len(choices) == 1))
