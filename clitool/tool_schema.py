"""What the input schema of a tool may look like: checked when the tool is registered, so that all can rely on it."""

from __future__ import annotations

from keyword import iskeyword

from clitool.schema import DIALECT, LOCAL, fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Schema = dict[str, Any]


_RESERVED = {
    "name": "not every host can send it",  # LogMCP's macros keep these two for themselves
    "tool": "not every host can send it",
    "self": "'execute' has it already",
}

# Keywords that would let alternatives or patterns decide what the parameters are, or change what a reference means.
_FORBIDDEN_AT_TOP = (
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "patternProperties",
    "$ref",
)
_FORBIDDEN = ("$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$vocabulary")

# Where schemas stand in a schema: one, a list of them, one for each name.
_ONE = (
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
)
_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs")
_OTHER = ("contentEncoding", "contentMediaType", "dependentRequired", "maxContains", "minContains", "multipleOf")

_JSON: Schema = {
    "type": ["null", "boolean", "number", "string", "array", "object"],
    "propertyNames": {"type": "string"},
}
_JSON |= {"items": _JSON, "additionalProperties": _JSON}

_TYPE = {"enum": ["null", "boolean", "integer", "number", "string", "array", "object"]}
_NAMES = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
_COUNT = {"type": "integer", "minimum": 0}
_ORDINARY: Schema = {"type": "object", "additionalProperties": False}
_ANY_ORDINARY = {"anyOf": [_ORDINARY, {"type": "boolean"}]}

# The ordinary keywords with what they take. A schema that fits this is valid without asking jsonschema.
_ORDINARY["properties"] = {
    "type": {"anyOf": [_TYPE, _NAMES | {"minItems": 1, "items": _TYPE}]},
    "properties": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": _ANY_ORDINARY},
    "required": _NAMES,
    "additionalProperties": _ANY_ORDINARY,
    "items": _ANY_ORDINARY,
    "enum": {"type": "array", "items": _JSON},
    "const": _JSON,
    "default": _JSON,
    "examples": {"type": "array", "items": _JSON},
    **{keyword: {"type": "number"} for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")},
    **{f"{bound}{what}": _COUNT for bound in ("min", "max") for what in ("Length", "Items", "Properties")},
    **{keyword: {"type": "string"} for keyword in ("title", "description", "format", "pattern", "$comment")},
    **{keyword: {"type": "boolean"} for keyword in ("uniqueItems", "deprecated", "readOnly", "writeOnly")},
    "$schema": {"const": DIALECT},
}


def problems_of_schema(schema: Any) -> list[str]:  # noqa: ANN401 - whatever a plugin declares
    """Return what is wrong with the input schema of a tool, one sentence each; an empty list means that it can be used.

    By hand, without jsonschema: that it is plain JSON and well formed as long as only ordinary keywords occur (the
    table above), and all rules that go beyond the metaschema. With jsonschema: the metaschema of draft 2020-12 where
    another keyword occurs, and a default that the small checker is not sure of.
    """
    try:
        return _malformed(schema) or [*_problems_at_top(schema), *_problems_below(schema)]
    except RecursionError:
        return ["the schema is nested too deeply"]


def _malformed(schema: Any) -> list[str]:  # noqa: ANN401 - whatever a plugin declares
    if fits(schema, _ORDINARY):
        return []
    if not isinstance(schema, dict) or not fits(schema, _JSON):
        return ["the schema must be a dict of plain JSON values (no tuples, no sets, no NaN)"]
    from jsonschema import Draft202012Validator

    from clitool.schema_problem import misfits

    return [problem.message for problem in misfits(schema, Draft202012Validator.META_SCHEMA, "keyword")]


def _problems_at_top(schema: Schema) -> Iterator[str]:
    if schema.get("type") != "object":
        yield "the schema must say 'type': 'object' at the top"
    if "properties" not in schema:
        yield "the schema must list its parameters under 'properties', even if there are none"
    if schema.get("additionalProperties") is not False:
        yield "the schema must say 'additionalProperties': False at the top"
    for keyword in _FORBIDDEN_AT_TOP:
        if keyword in schema:
            yield f"the schema must not use {keyword!r} at the top"
    for name in schema.get("properties", ()):
        yield from _problems_of_name(name)


def _problems_of_name(name: str) -> Iterator[str]:
    if name in _RESERVED:
        yield f"a parameter must not be called {name!r}: {_RESERVED[name]}"
    elif not (name.isascii() and name.isidentifier()) or iskeyword(name):
        yield f"the parameter {name!r} must be called by an ASCII identifier that is no keyword of Python"


def _problems_below(root: Schema) -> Iterator[str]:
    for place, schema in _schemas(root, ""):
        for rule in _RULES:
            for problem in rule(schema, root):
                yield f"{place or 'the schema'} {problem}"


def _schemas(schema: object, place: str) -> Iterator[tuple[str, Schema]]:
    """Yield the schema and all schemas below it with their places; true and false are left out."""
    if not isinstance(schema, dict):
        return
    yield place.removeprefix("."), schema
    for keyword in schema:
        if keyword in _ONE:
            yield from _schemas(schema[keyword], f"{place}.{keyword}")
        elif keyword in _LIST:
            for index, below in enumerate(schema[keyword]):
                yield from _schemas(below, f"{place}.{keyword}[{index}]")
        elif keyword in _NAMED:
            for name, below in schema[keyword].items():
                yield from _schemas(below, f"{place}.{keyword}.{name}")


def _closed(schema: Schema, root: Schema) -> Iterator[str]:
    if "properties" in schema and schema is not root:
        if schema.get("type") != "object":
            yield "has properties and must say 'type': 'object'"
        if schema.get("additionalProperties") is not False:
            yield "has properties and must say 'additionalProperties': False"


def _typed(schema: Schema, _: Schema) -> Iterator[str]:
    for keyword in ("properties", "$defs"):
        for name, below in schema.get(keyword, {}).items():
            if not isinstance(below, dict) or not below.keys() & {"type", "enum", "const", "$ref"}:
                yield f"must give {name!r} a type, an enum or a const"


def _required(schema: Schema, _: Schema) -> Iterator[str]:
    if "properties" in schema:
        for name in schema.get("required", ()):
            if name not in schema["properties"]:
                yield f"requires {name!r}, which is not among its properties"


def _default(schema: Schema, root: Schema) -> Iterator[str]:
    if "default" not in schema or fits(schema["default"], schema):
        return
    from clitool.schema_problem import misfits

    if misfits(schema["default"], {**schema, "$defs": root.get("$defs", {})}, "default"):
        yield "has a default that does not fit it"


def _keywords(schema: Schema, _: Schema) -> Iterator[str]:
    """Refuse unknown keywords: a misspelt one would be ignored in silence; `x-…` is left for extensions."""
    if schema.get("$schema", DIALECT) != DIALECT:
        yield f"must be of the dialect {DIALECT}"
    for keyword in schema:
        if keyword in _FORBIDDEN:
            yield f"must not use {keyword!r}"
        elif keyword not in _ORDINARY["properties"] and not keyword.startswith("x-") and keyword not in _known():
            from clitool.schema_words import instead

            yield f"has the unknown keyword {keyword!r}{instead(keyword, _known(), 'keyword')}"


def _known() -> tuple[str, ...]:
    return (*_ORDINARY["properties"], *_ONE, *_LIST, *_NAMED, *_OTHER, "$ref")


def _reference(schema: Schema, root: Schema) -> Iterator[str]:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(LOCAL)
        if f"{LOCAL}{name}" != schema["$ref"] or name not in root.get("$defs", {}):
            yield "has a '$ref' that is not '#/$defs/' and a name from there"


def _pattern(schema: Schema, _: Schema) -> Iterator[str]:
    patterns = [schema["pattern"]] if "pattern" in schema else []
    for pattern in [*patterns, *schema.get("patternProperties", ())]:
        import re

        try:
            re.compile(pattern)
        except re.error:
            yield "has a pattern that is not a regular expression"


_RULES: tuple[Callable[[Schema, Schema], Iterator[str]], ...] = (
    _closed,
    _typed,
    _required,
    _keywords,
    _reference,
    _pattern,
    _default,
)
