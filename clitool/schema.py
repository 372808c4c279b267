"""Values against JSON Schema: the parameters of a call, and the settings of a client."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool.quick_schema import fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool.schema_problem import Problem

LOCAL = "#/$defs/"  # how the one permitted kind of reference begins
_NONE = object()


def check(params: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `params` as the tool gets them: missing ones with their defaults, whole floats as int for an integer.

    Both happen below `properties`, `additionalProperties`, `items` and references into `$defs`, after validation;
    a schema's alternatives (`anyOf` and its like) only accept or refuse. Neither argument is changed, and a default
    is a copy of its own; a part that the schema does not describe is returned as it came.

    Raises:
        InvalidParams: (schema) with the best of the problems; details `path` (JSON path) and `keyword`.
    """
    found = problems(params, schema)
    if found:
        raise _refusal(found[0])
    try:
        normal: dict[str, Any] = _normal(params, schema, schema)
    except RecursionError:  # a default that leads to itself
        raise _refusal(_too_deep("parameter")) from None
    return normal


def problems(value: object, schema: Mapping[str, Any] | bool, word: str = "parameter") -> list[Problem]:
    """Return what is wrong with `value`, best first, at most a hundred; an empty list means that it fits.

    Args:
        value: JSON value; numbers that are not finite never fit a `type`.
        schema: well formed, draft 2020-12; what it refers to must be inside it, nothing is ever fetched.
        word: what the messages call a part of the value: ``parameter`` or ``setting``.
    """
    try:
        if fits(value, schema):
            return []
        from clitool.schema_problem import misfits

        return misfits(value, schema, word)
    except RecursionError:
        return [_too_deep(word)]


def _too_deep(word: str) -> Problem:
    from clitool.schema_problem import Problem

    return Problem((), "nesting", f"the {word}s are nested too deeply")


def _refusal(problem: Problem) -> InvalidParams:
    return InvalidParams(problem.message, "schema", path=problem.json_path, keyword=problem.keyword)


def _normal(value: Any, schema: Any, root: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    if not isinstance(schema, dict):
        return value
    if "$ref" in schema:
        value = _normal(value, _target(schema["$ref"], root), root)
    if isinstance(value, dict):
        return _normal_object(value, schema, root)
    if isinstance(value, list):
        start = len(schema.get("prefixItems", ()))
        return value[:start] + [_normal(each, schema.get("items"), root) for each in value[start:]]
    if isinstance(value, float) and value.is_integer() and _only_integer(schema.get("type")):
        return int(value)
    return value


def _normal_object(value: dict[str, Any], schema: dict[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    rest = None if "patternProperties" in schema else schema.get("additionalProperties")
    normal = {name: _normal(each, properties.get(name, rest), root) for name, each in value.items()}
    for name, below in properties.items():
        default = _NONE if name in normal else _default(below, root)
        if default is not _NONE:
            normal[name] = _normal(_copy(default), below, root)
    return normal


def _only_integer(types: object) -> bool:
    if isinstance(types, list):
        return "integer" in types and "number" not in types
    return types == "integer"


def _default(schema: Any, root: Mapping[str, Any]) -> object:  # noqa: ANN401 - true, false or a mapping
    if not isinstance(schema, dict) or "default" in schema or "$ref" not in schema:
        return schema.get("default", _NONE) if isinstance(schema, dict) else _NONE
    return _default(_target(schema["$ref"], root), root)


def _target(reference: str, root: Mapping[str, Any]) -> object:
    return root.get("$defs", {}).get(reference.removeprefix(LOCAL))


def _copy(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {name: _copy(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_copy(each) for each in value]
    return value
