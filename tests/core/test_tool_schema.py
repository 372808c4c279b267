"""What the input schema of a tool may look like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from schemas import SCHEMAS, closed

from clitool.schema import check, fits
from clitool.tool_schema import _ORDINARY, problems_of_schema

GOOD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "table": {"type": "string", "minLength": 1, "maxLength": 64, "description": "which", "pattern": "^[a-z]"},
        "columns": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 3, "uniqueItems": True},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
        "mode": {"enum": ["read", None, 1]},
        "kind": {"const": "row"},
        "where": {"type": "object"},
        "values": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}},
                "required": ["id"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["table"],
    "additionalProperties": False,
}


def test_an_ordinary_schema_is_good() -> None:
    assert problems_of_schema(GOOD) == []
    assert problems_of_schema(closed()) == []


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(
            closed(a={"$ref": "#/$defs/word"}) | {"$defs": {"word": {"type": "string"}}}, id="local reference"
        ),
        pytest.param(
            closed(a={"$ref": "#/$defs/word", "default": "x"}) | {"$defs": {"word": {"type": "string"}}},
            id="default behind a reference",
        ),
        pytest.param(closed(a={"type": "integer", "anyOf": [{"minimum": 5}, {"const": 1}]}), id="alternatives below"),
        pytest.param(closed(a={"type": "integer", "multipleOf": 5, "default": 10}), id="keyword that is not ordinary"),
        pytest.param(closed(a={"type": "string", "x-order": 1}), id="extension"),
        pytest.param(closed(a={"type": "integer", "default": 5.0}), id="whole float as default"),
        pytest.param(closed(a={"type": "integer", "minimum": -5, "exclusiveMaximum": 1.5}), id="bounds"),
        pytest.param(
            closed(
                a={"type": "object", "patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False}
            ),
            id="patterns below",
        ),
        pytest.param(closed(a={"type": "array", "prefixItems": [{"type": "string"}], "items": False}), id="tuple"),
        pytest.param(closed(match={"type": "string"}, type={"type": "string"}), id="soft keywords"),
        pytest.param({"$schema": "https://json-schema.org/draft/2020-12/schema", **closed()}, id="dialect"),
    ],
)
def test_what_is_unusual_but_safe_is_good(schema: Any) -> None:
    assert problems_of_schema(schema) == []


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        pytest.param(None, "the schema must be a dict of plain JSON values (no tuples, no sets, no NaN)", id="none"),
        pytest.param(True, "the schema must be a dict of plain JSON values (no tuples, no sets, no NaN)", id="true"),
        pytest.param(
            closed() | {"required": ()},
            "the schema must be a dict of plain JSON values (no tuples, no sets, no NaN)",
            id="tuple",
        ),
        pytest.param(
            closed(a={"enum": [float("nan")]}),
            "the schema must be a dict of plain JSON values (no tuples, no sets, no NaN)",
            id="nan",
        ),
        pytest.param(
            closed(a={"type": "object", "default": {1: 2}}),
            "the schema must be a dict of plain JSON values (no tuples, no sets, no NaN)",
            id="key that is no text",
        ),
        pytest.param(
            {"properties": {}, "additionalProperties": False},
            "the schema must say 'type': 'object' at the top",
            id="no type",
        ),
        pytest.param(
            closed() | {"type": ["object", "null"]},
            "the schema must say 'type': 'object' at the top",
            id="object or null",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": False},
            "the schema must list its parameters under 'properties', even if there are none",
            id="no properties",
        ),
        pytest.param(
            {"type": "object", "properties": {}},
            "the schema must say 'additionalProperties': False at the top",
            id="open",
        ),
        pytest.param(
            closed() | {"additionalProperties": {"type": "string"}},
            "the schema must say 'additionalProperties': False at the top",
            id="open for texts",
        ),
        pytest.param(
            closed() | {"additionalProperties": 0},
            "keyword 'additionalProperties' must be an object or true or false",
            id="zero instead of false",
        ),
        *[
            pytest.param(
                closed() | {keyword: value}, f"the schema must not use {keyword!r} at the top", id=f"top {keyword}"
            )
            for keyword, value in [
                ("allOf", [True]),
                ("anyOf", [True]),
                ("oneOf", [True]),
                ("not", {}),
                ("if", {}),
                ("then", {}),
                ("else", {}),
                ("dependentSchemas", {}),
                ("patternProperties", {}),
            ]
        ],
        pytest.param(
            closed() | {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
            "the schema must not use '$ref' at the top",
            id="top $ref",
        ),
        pytest.param(
            closed(name={"type": "string"}),
            "a parameter must not be called 'name': not every host can send it",
            id="name",
        ),
        pytest.param(
            closed(tool={"type": "string"}),
            "a parameter must not be called 'tool': not every host can send it",
            id="tool",
        ),
        pytest.param(
            closed(self={"type": "string"}),
            "a parameter must not be called 'self': 'execute' has it already",
            id="self",
        ),
        *[
            pytest.param(
                closed(**{name: {"type": "string"}}),
                f"the parameter {name!r} must be called by an ASCII identifier that is no keyword of Python",
                id=title,
            )
            for name, title in [
                ("from", "keyword"),
                ("None", "capital keyword"),
                ("a-b", "hyphen"),
                ("1a", "digit"),
                ("", "empty"),
                ("a b", "blank"),
                ("\ufb01le", "ligature"),
                ("a\n", "line end"),
                ("gr\xf6\xdfe", "umlaut"),
            ]
        ],
        pytest.param(closed(a={}), "the schema must give 'a' a type, an enum or a const", id="untyped"),
        pytest.param(closed(a=True), "the schema must give 'a' a type, an enum or a const", id="property true"),
        pytest.param(
            closed(a={"description": "x"}), "the schema must give 'a' a type, an enum or a const", id="described only"
        ),
        pytest.param(
            closed(a={"anyOf": [{"type": "string"}]}),
            "the schema must give 'a' a type, an enum or a const",
            id="type in an alternative",
        ),
        pytest.param(
            closed(a={"type": "object", "properties": {}}),
            "properties.a has properties and must say 'additionalProperties': False",
            id="open below",
        ),
        pytest.param(
            closed(a={"type": "array", "items": {"type": "object", "properties": {"b": {"type": "null"}}}}),
            "properties.a.items has properties and must say 'additionalProperties': False",
            id="open in items",
        ),
        pytest.param(
            closed(a={"type": ["object", "null"], "properties": {}, "additionalProperties": False}),
            "properties.a has properties and must say 'type': 'object'",
            id="object or null below",
        ),
        pytest.param(
            closed(a=closed(b={})), "properties.a must give 'b' a type, an enum or a const", id="untyped below"
        ),
        pytest.param(
            closed(a={"type": "integer", "anyOf": [{"type": "object", "properties": {}}]}),
            "properties.a.anyOf[0] has properties and must say 'additionalProperties': False",
            id="open in an alternative",
        ),
        pytest.param(
            closed() | {"$defs": {"a": {"type": "object", "properties": {}}}},
            "$defs.a has properties and must say 'additionalProperties': False",
            id="open in a definition",
        ),
        pytest.param(
            closed(a={"$ref": "#/$defs/a"}) | {"$defs": {"a": {}}},
            "the schema must give 'a' a type, an enum or a const",
            id="untyped definition",
        ),
        pytest.param(
            closed(a={"type": "string"}) | {"required": ["b"]},
            "the schema requires 'b', which is not among its properties",
            id="required",
        ),
        pytest.param(
            closed(a=closed() | {"required": ["b"]}),
            "properties.a requires 'b', which is not among its properties",
            id="required below",
        ),
        *[
            pytest.param(
                closed(a={"$ref": reference}) | {"$defs": {"a": {"type": "string"}}},
                "properties.a has a '$ref' that is not '#/$defs/' and a name from there",
                id=f"$ref {reference}",
            )
            for reference in [
                "#",
                "#/$defs/b",
                "#/properties/a",
                "http://127.0.0.1/x",
                "#a",
                "file:///x",
                "#/$defs/a/type",
                "#/$defs/",
                "x#/$defs/a",
            ]
        ],
        pytest.param(
            closed(a={"type": "string", "$id": "http://127.0.0.1/x"}), "properties.a must not use '$id'", id="$id"
        ),
        pytest.param(
            closed(a={"type": "string", "$dynamicRef": "#x"}),
            "properties.a must not use '$dynamicRef'",
            id="$dynamicRef",
        ),
        pytest.param(
            {"$schema": "http://json-schema.org/draft-07/schema#"} | closed(),
            "the schema must be of the dialect https://json-schema.org/draft/2020-12/schema",
            id="dialect",
        ),
        pytest.param(
            closed(a={"type": "string", "maxLenght": 5}),
            "properties.a has the unknown keyword 'maxLenght'; did you mean 'maxLength'?",
            id="misspelt keyword",
        ),
        pytest.param(
            closed(a={"type": "string", "pattern": "("}),
            "properties.a has a pattern that is not a regular expression",
            id="pattern",
        ),
        pytest.param(
            closed(a={"type": "object", "patternProperties": {"(": {}}}),
            "properties.a has a pattern that is not a regular expression",
            id="pattern of names",
        ),
        pytest.param(
            closed(a={"type": "integer", "default": "x"}),
            "properties.a has a default that does not fit it",
            id="default of another type",
        ),
        pytest.param(
            closed(a={"type": "integer", "default": None}),
            "properties.a has a default that does not fit it",
            id="null as default",
        ),
        pytest.param(
            closed(a={"type": "integer", "default": True}),
            "properties.a has a default that does not fit it",
            id="true as default",
        ),
        pytest.param(
            closed(a={"type": "integer", "maximum": 5, "default": 6}),
            "properties.a has a default that does not fit it",
            id="default beyond the bound",
        ),
        pytest.param(
            closed(a=closed(b={"type": "string", "default": 1})),
            "properties.a.properties.b has a default that does not fit it",
            id="default below",
        ),
        pytest.param(
            closed(a={"$ref": "#/$defs/word", "default": 1}) | {"$defs": {"word": {"type": "string"}}},
            "properties.a has a default that does not fit it",
            id="default behind a reference",
        ),
        pytest.param(
            closed(a={"type": "text"}),
            "keyword 'properties.a.type' must be one of: array, boolean, integer, null, number, object, string, "
            "or must be an array, not a string",
            id="unknown type",
        ),
        pytest.param(
            closed(a={"type": "string", "maxLength": -1}),
            "keyword 'properties.a.maxLength' must be at least 0",
            id="negative length",
        ),
        pytest.param(
            closed(a={"type": "string", "maxLength": "9"}),
            "keyword 'properties.a.maxLength' must be an integer, not a string",
            id="length in quotes",
        ),
        pytest.param(
            closed(a={"type": "string", "enum": "ab"}),
            "keyword 'properties.a.enum' must be an array, not a string",
            id="enum",
        ),
        pytest.param(closed() | {"properties": []}, "keyword 'properties' must be an object", id="properties as array"),
        pytest.param(
            closed() | {"required": ["a", "a"]},
            "keyword 'required' must not hold the same value twice",
            id="required twice",
        ),
        pytest.param(
            closed(a={"type": "array", "items": [{"type": "string"}]}),
            "keyword 'properties.a.items' must be an object or true or false",
            id="items of older drafts",
        ),
    ],
)
def test_a_schema_that_hosts_could_not_rely_on_is_refused(schema: Any, problem: str) -> None:
    """Rule: what a schema does not close, nobody closes."""
    assert problem in problems_of_schema(schema)


def test_every_problem_is_named() -> None:
    schema = {"type": "object", "properties": {"name": {}, "from": {"type": "string", "default": 1}}, "anyOf": [True]}
    assert len(problems_of_schema(schema)) == 6


def test_a_schema_that_contains_itself_is_refused() -> None:
    """Rule: a plugin's schema never ends in an unforeseen error."""
    schema = closed()
    schema["properties"]["a"] = schema
    assert problems_of_schema(schema) == ["the schema is nested too deeply"]


def test_no_schema_passes_that_the_metaschema_refuses() -> None:
    """Rule: the check by hand is never more lenient than the metaschema, and never ends in an error."""
    passed = 0

    @given(SCHEMAS)
    @settings(deadline=None, derandomize=True, max_examples=300, database=None)
    def agree(schema: Any) -> None:
        nonlocal passed
        below = {"type": "string"} | schema if isinstance(schema, dict) else schema
        for each in (schema, closed(a=below)):
            found = problems_of_schema(each)
            assert all(problem.isprintable() for problem in found)
            if fits(each, _ORDINARY) or not found:
                passed += 1
                assert is_schema(each)

    agree()
    assert passed >= 100


def is_schema(schema: Any) -> bool:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return error.validator == "format"  # a pattern; told by a rule of its own
    return True


def test_a_schema_that_passes_checks_its_own_defaults() -> None:
    assert check({"table": "t"}, GOOD) == {"table": "t", "limit": 100}
