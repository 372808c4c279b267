"""Values against JSON Schema: the parameters of a call, and the settings of a client.

Two checkers share the work: a small one here, which says yes only when it is sure, and jsonschema for every doubt.
"""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sized
    from typing import Any, TypeGuard

    from clitool.schema_problem import Problem

    # (value, argument of the keyword, the schema around it) -> whether the value surely fits.
    Rule = Callable[[Any, Any, dict[str, Any]], bool]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
LOCAL = "#/$defs/"  # how the one permitted kind of reference begins
_NONE = object()
_INFINITY = float("inf")


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


def fits(value: object, schema: object) -> bool:
    """Return whether `value` surely fits `schema` (draft 2020-12); False means "no, or not sure".

    A keyword that is not in the table below, a malformed argument and a number that is not finite are all "not sure".
    Raises `RecursionError` if both go deeper than the interpreter does.
    """
    if not isinstance(schema, dict):
        return schema is True
    for keyword, argument in schema.items():
        rule = _RULES.get(keyword)
        if rule is None or not rule(value, argument, schema):
            return False
    return True


def same(one: object, two: object) -> bool:
    """Return whether two JSON values are equal: 1 and 1.0 are, 1 and true are not, at any depth."""
    if isinstance(one, dict) and isinstance(two, dict):
        return len(one) == len(two) and all(key in two and same(each, two[key]) for key, each in one.items())
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    return one == two


def is_number(value: object) -> TypeGuard[float]:
    """Return whether `value` is an int or float; a bool is neither in JSON."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_type(value: object, name: str) -> bool:
    """Return whether `value` is of the JSON type `name`; an unknown name is nobody's type."""
    kind = _TYPES.get(name)
    return kind is not None and kind(value)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": lambda value: is_number(value) and -_INFINITY < value < _INFINITY,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _type(value: object, names: object, _: object) -> bool:
    known = [names] if isinstance(names, str) else names
    if not isinstance(known, list) or not all(isinstance(name, str) and name in _TYPES for name in known):
        return False
    return any(is_type(value, name) for name in known)


def _required(value: object, names: object, _: object) -> bool:
    if not isinstance(value, dict):
        return True
    return isinstance(names, list) and all(isinstance(name, str) and name in value for name in names)


def _properties(value: object, properties: object, _: object) -> bool:
    if not isinstance(value, dict):
        return True
    if not isinstance(properties, dict):
        return False
    return all(fits(value[name], schema) for name, schema in properties.items() if name in value)


def _additional_properties(value: object, rest: object, around: dict[str, Any]) -> bool:
    if not isinstance(value, dict):
        return True
    known = around.get("properties", {})
    return isinstance(known, dict) and all(fits(each, rest) for name, each in value.items() if name not in known)


def _unique_items(value: object, unique: object, _: object) -> bool:
    if not isinstance(value, list) or unique is False:
        return True
    return all(isinstance(each, str) for each in value) and len(set(value)) == len(value)


def _pattern(value: object, pattern: object, _: object) -> bool:
    if not isinstance(value, str):
        return True
    import re

    try:
        return isinstance(pattern, str) and re.search(pattern, value) is not None
    except re.error:
        return False


def _any_of(value: object, schemas: object, _: object) -> bool:
    return isinstance(schemas, list) and any(fits(value, schema) for schema in schemas)


def _all_of(value: object, schemas: object, _: object) -> bool:
    return isinstance(schemas, list) and all(fits(value, schema) for schema in schemas)


def _at_least(kind: type[Sized]) -> Rule:
    return lambda value, limit, _: not isinstance(value, kind) or (is_number(limit) and len(value) >= limit)


def _at_most(kind: type[Sized]) -> Rule:
    return lambda value, limit, _: not isinstance(value, kind) or (is_number(limit) and len(value) <= limit)


_RULES: dict[str, Rule] = {
    "type": _type,
    "enum": lambda value, choices, _: isinstance(choices, list) and any(same(value, each) for each in choices),
    "const": lambda value, expected, _: same(value, expected),
    "minimum": lambda value, limit, _: not is_number(value) or (is_number(limit) and value >= limit),
    "maximum": lambda value, limit, _: not is_number(value) or (is_number(limit) and value <= limit),
    "exclusiveMinimum": lambda value, limit, _: not is_number(value) or (is_number(limit) and value > limit),
    "exclusiveMaximum": lambda value, limit, _: not is_number(value) or (is_number(limit) and value < limit),
    "minLength": _at_least(str),
    "maxLength": _at_most(str),
    "pattern": _pattern,
    "items": lambda value, each, _: not isinstance(value, list) or all(fits(item, each) for item in value),
    "minItems": _at_least(list),
    "maxItems": _at_most(list),
    "uniqueItems": _unique_items,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional_properties,
    "propertyNames": lambda value, names, _: not isinstance(value, dict) or all(fits(name, names) for name in value),
    "minProperties": _at_least(dict),
    "maxProperties": _at_most(dict),
    "anyOf": _any_of,
    "allOf": _all_of,
    "$schema": lambda _value, dialect, _: dialect == DIALECT,
    # These say nothing about the value. `format` is one of them in this draft.
    "title": lambda *_: True,
    "description": lambda *_: True,
    "default": lambda *_: True,
    "examples": lambda *_: True,
    "deprecated": lambda *_: True,
    "readOnly": lambda *_: True,
    "writeOnly": lambda *_: True,
    "format": lambda *_: True,
    "$comment": lambda *_: True,
    "$defs": lambda *_: True,
}
