"""Parameters and settings against their schema: what is refused, in which words, and what a tool gets."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable
from schemas import SCHEMAS, VALUES, closed

from clitool.errors import InvalidParams
from clitool.schema import check, problems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUERY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "table": {"type": "string", "minLength": 1, "maxLength": 64},
        "columns": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 3},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
        "mode": {"type": "string", "enum": ["read", "write"]},
        "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "deep": {"type": "boolean", "default": False},
        "rows": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "default": []}},
                "required": ["id"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["table"],
    "additionalProperties": False,
}


def refusal(params: Any, schema: Any) -> InvalidParams:
    with pytest.raises(InvalidParams) as caught:
        check(params, schema)
    return caught.value


@pytest.mark.parametrize(
    ("params", "message", "path", "keyword"),
    [
        pytest.param({}, "parameter 'table' is missing", "$.table", "required", id="missing"),
        pytest.param(
            {"tabel": "t"},
            "unknown parameter 'tabel'; did you mean 'table'?",
            "$.tabel",
            "additionalProperties",
            id="unknown with a near one",
        ),
        pytest.param(
            {"table": "t", "zzz": 1},
            "unknown parameter 'zzz'; known here: table, columns, limit, mode, ratio, deep, rows",
            "$.zzz",
            "additionalProperties",
            id="unknown without",
        ),
        pytest.param(
            {"table": "t", "limit": 1001}, "parameter 'limit' must be at most 1000", "$.limit", "maximum", id="maximum"
        ),
        pytest.param(
            {"table": "t", "limit": 0}, "parameter 'limit' must be at least 1", "$.limit", "minimum", id="minimum"
        ),
        pytest.param(
            {"table": "t", "limit": 1.5}, "parameter 'limit' must be an integer", "$.limit", "type", id="fraction"
        ),
        pytest.param(
            {"table": "t", "limit": True},
            "parameter 'limit' must be an integer",
            "$.limit",
            "type",
            id="true for an integer",
        ),
        pytest.param(
            {"table": "t", "limit": "5"},
            "parameter 'limit' must be an integer, not a string",
            "$.limit",
            "type",
            id="digits in quotes",
        ),
        pytest.param(
            {"table": "t", "deep": "false"},
            "parameter 'deep' must be true or false, not a string",
            "$.deep",
            "type",
            id="false in quotes",
        ),
        pytest.param({"table": None}, "parameter 'table' must be a string, not null", "$.table", "type", id="null"),
        pytest.param({"table": ""}, "parameter 'table' must not be empty", "$.table", "minLength", id="empty text"),
        pytest.param(
            {"table": "x" * 65},
            "parameter 'table' must have at most 64 characters",
            "$.table",
            "maxLength",
            id="long text",
        ),
        pytest.param(
            {"table": "t", "mode": "x"}, "parameter 'mode' must be one of: read, write", "$.mode", "enum", id="choice"
        ),
        pytest.param(
            {"table": "t", "columns": 5},
            "parameter 'columns' must be an array or null",
            "$.columns",
            "type",
            id="two types",
        ),
        pytest.param(
            {"table": "t", "columns": list("abcd")},
            "parameter 'columns' must have at most 3 items",
            "$.columns",
            "maxItems",
            id="many items",
        ),
        pytest.param(
            {"table": "t", "columns": ["a", 2]},
            "parameter 'columns[1]' must be a string",
            "$.columns[1]",
            "type",
            id="item",
        ),
        pytest.param(
            {"table": "t", "ratio": 1},
            "parameter 'ratio' must be less than 1",
            "$.ratio",
            "exclusiveMaximum",
            id="exclusive maximum",
        ),
        pytest.param(
            {"table": "t", "ratio": 0.0},
            "parameter 'ratio' must be more than 0",
            "$.ratio",
            "exclusiveMinimum",
            id="exclusive minimum",
        ),
        pytest.param(
            {"table": "t", "rows": []}, "parameter 'rows' must not be empty", "$.rows", "minItems", id="no items"
        ),
        pytest.param(
            {"table": "t", "rows": [{"id": 1}, {}]},
            "parameter 'rows[1].id' is missing",
            "$.rows[1].id",
            "required",
            id="missing below",
        ),
        pytest.param(
            {"table": "t", "rows": [{"id": 1, "tag": 2}]},
            "unknown parameter 'rows[0].tag'; did you mean 'tags'?",
            "$.rows[0].tag",
            "additionalProperties",
            id="unknown below",
        ),
        pytest.param([], "the parameters must be an object", "$", "type", id="array"),
        pytest.param("x", "the parameters must be an object, not a string", "$", "type", id="text"),
        pytest.param(None, "the parameters must be an object, not null", "$", "type", id="null for all"),
    ],
)
def test_a_refusal_names_the_place_and_what_is_expected(params: Any, message: str, path: str, keyword: str) -> None:
    error = refusal(params, QUERY)
    assert (str(error), error.reason, error.details) == (message, "schema", {"path": path, "keyword": keyword})


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        pytest.param({"const": "all"}, "some", "must be all", id="const"),
        pytest.param({"enum": ["one"]}, "two", "must be one", id="one choice"),
        pytest.param({"enum": [None, 1, "a b", "", True]}, 5, 'must be one of: null, 1, "a b", "", true', id="choices"),
        pytest.param({"enum": [f"choice_{n:03}" for n in range(500)]}, 5, "", id="many choices"),
        pytest.param({"pattern": "^[a-z]+$"}, "A", "must match the pattern ^[a-z]+$", id="pattern"),
        pytest.param({"pattern": "^(" + "a" * 5000 + ")$"}, "A", "", id="long pattern"),
        pytest.param({"multipleOf": 5}, 3, "must be a multiple of 5", id="multiple"),
        pytest.param({"minLength": 2}, "a", "must have at least 2 characters", id="length"),
        pytest.param({"maxLength": 1}, "ab", "must have at most 1 character", id="one character"),
        pytest.param({"uniqueItems": True}, [1, 1], "must not hold the same value twice", id="unique"),
        pytest.param({"items": False}, [1], "must have fewer items", id="no items"),
        pytest.param({"contains": {"const": 1}}, [2], "must hold an item of the expected kind", id="contains"),
        pytest.param(
            {"contains": {"const": 1}, "minContains": 2},
            [1],
            "must hold at least 2 items of the expected kind",
            id="contains more",
        ),
        pytest.param(
            {"contains": {"const": 1}, "maxContains": 1},
            [1, 1],
            "must hold at most 1 items of the expected kind",
            id="contains fewer",
        ),
        pytest.param({"minProperties": 1}, {}, "must not be empty", id="no entries"),
        pytest.param({"maxProperties": 1}, {"a": 1, "b": 2}, "must have at most 1 entry", id="entries"),
        pytest.param({"not": {"const": 1}}, 1, "must not be of a kind that its schema excludes", id="not"),
        pytest.param(
            {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
            1,
            "must fit exactly one of the alternatives of its schema",
            id="both of one",
        ),
        pytest.param(
            {"anyOf": [{"type": "string"}, {"type": "array"}]},
            1,
            "must be a string, or must be an array",
            id="alternatives",
        ),
        pytest.param(
            {"unevaluatedProperties": False},
            {"x": 1},
            "must not hold keys that its schema does not describe",
            id="unevaluated keys",
        ),
        pytest.param(
            {"unevaluatedItems": False},
            [1],
            "must not hold items that its schema does not describe",
            id="unevaluated items",
        ),
        pytest.param(
            {"type": ["null", "array", "object"]},
            "x",
            "must be null, an array or an object, not a string",
            id="three types",
        ),
    ],
)
def test_each_keyword_has_words_of_its_own(schema: Any, value: Any, message: str) -> None:
    text = str(refusal({"x": value}, closed(x=schema)))
    assert text.startswith("parameter 'x' must ")
    assert text.removeprefix("parameter 'x' ") == message or not message
    assert len(text) <= 300


@pytest.mark.parametrize(
    ("schema", "value", "message", "path"),
    [
        pytest.param(
            {"propertyNames": {"maxLength": 3}},
            {"abcd": 1},
            "a key of setting 'x' must have at most 3 characters",
            ("x",),
            id="key of a map",
        ),
        pytest.param(
            {"properties": {"propertyNames": {"type": "null"}}},
            {"propertyNames": 1},
            "setting 'x.propertyNames' must be null",
            ("x", "propertyNames"),
            id="a setting called propertyNames",
        ),
        pytest.param(
            {"dependentRequired": {"user": ["password"]}},
            {"user": 1},
            "setting 'x.password' is missing; 'user' needs it",
            ("x", "password"),
            id="companion",
        ),
        pytest.param(
            {"dependentSchemas": {"user": {"required": ["port"]}}},
            {"user": 1},
            "setting 'x.port' is missing",
            ("x", "port"),
            id="dependent schema",
        ),
        pytest.param(
            {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
            {"a": 1},
            "setting 'x.b' is missing",
            ("x", "b"),
            id="if then",
        ),
        pytest.param(
            {"additionalProperties": False},
            {"a": 1},
            "unknown setting 'x.a'; there are no settings here",
            ("x", "a"),
            id="nothing is known",
        ),
        pytest.param(
            {"properties": {"port": {}}, "patternProperties": {"^x-": {}}, "additionalProperties": False},
            {"x-a": 1, "prot": 1},
            "unknown setting 'x.prot'; did you mean 'port'?",
            ("x", "prot"),
            id="beside patterns",
        ),
    ],
)
def test_a_message_about_a_key_names_the_key(schema: Any, value: Any, message: str, path: Any) -> None:
    (problem,) = problems({"x": value}, closed(x=schema), word="setting")
    assert (problem.message, problem.path) == (message, path)


CONNECTION = {
    "oneOf": [
        {
            "type": "object",
            "properties": {
                "type": {"const": "sqlite"},
                "path": {"type": "string"},
                "tables": {"type": "array", "minItems": 1},
            },
            "required": ["type", "path", "tables"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "type": {"enum": ["mysql"]},
                "host": {"type": "string"},
                "port": {"type": "integer", "maximum": 65535},
            },
            "required": ["type", "host"],
            "additionalProperties": False,
        },
        {"type": "string"},
    ],
}


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        pytest.param(
            {"type": "mysql", "hots": "h"},
            ["unknown setting 'hots'; did you mean 'host'?", "setting 'host' is missing"],
            id="misspelt in the second",
        ),
        pytest.param(
            {"type": "sqlite", "path": "p", "tables": []},
            ["setting 'tables' must not be empty"],
            id="empty list in the first",
        ),
        pytest.param(
            {"type": "mysql", "host": "h", "port": 70000},
            ["setting 'port' must be at most 65535"],
            id="bound in the second",
        ),
        pytest.param(
            {"type": "oracle", "host": "h"}, ["setting 'type' must be sqlite, or must be mysql"], id="no known kind"
        ),
        pytest.param(5, ["the settings must be an object, or must be a string"], id="no known type"),
    ],
)
def test_of_alternatives_the_one_that_is_nearest_is_told(value: Any, messages: list[str]) -> None:
    assert [problem.message for problem in problems(value, CONNECTION, word="setting")] == messages


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param("orders", "setting 'tables' must be all, or must be an array, not a string", id="text"),
        pytest.param(["orders", 5], "setting 'tables[1]' must be a string", id="wrong item"),
        pytest.param([], "setting 'tables' must not be empty", id="no items"),
        pytest.param(None, "setting 'tables' must be all, or must be an array, not null", id="null"),
    ],
)
def test_a_word_or_a_list_is_told_as_such(value: Any, message: str) -> None:
    schema = closed(tables={"anyOf": [{"const": "all"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]})
    (problem,) = problems({"tables": value}, schema, word="setting")
    assert problem.message == message


def test_equally_near_alternatives_are_told_together() -> None:
    schema = closed(uri={"type": "string"}, socket={"type": "string"}) | {
        "anyOf": [{"required": ["uri"]}, {"required": ["socket"]}]
    }
    (problem,) = problems({}, schema, word="setting")
    assert problem.message == "setting 'uri' is missing, or setting 'socket' is missing"


def test_all_problems_are_told_best_first() -> None:
    found = problems({"tabel": "t", "limit": 0, "rows": [{"id": "x"}, {"idd": 1}], "mode": "?"}, QUERY, word="setting")
    assert [(problem.path, problem.keyword) for problem in found] == [
        (("tabel",), "additionalProperties"),
        (("table",), "required"),
        (("limit",), "minimum"),
        (("mode",), "enum"),
        (("rows", 1, "idd"), "additionalProperties"),
        (("rows", 1, "id"), "required"),
        (("rows", 0, "id"), "type"),
    ]


def test_each_problem_is_told_once() -> None:
    schema = closed(a={"type": "null"}, b={"type": "null"}) | {"required": ["a", "b"]}
    assert [problem.path for problem in problems({"x": 1, "y": 2}, schema)] == [("x",), ("y",), ("a",), ("b",)]


def test_the_number_of_problems_is_bounded() -> None:
    """Rule: a hostile array of wrong items costs no more than a hundred messages."""
    schema = closed(a={"type": "array", "items": {"type": "integer"}}, b={"additionalProperties": False})
    assert len(problems({"a": ["x"] * 10_000}, schema)) == 100
    assert len(problems({"b": {f"k{n}": n for n in range(10_000)}}, schema)) == 100


HOSTILE_NAMES = [
    pytest.param("a\nb\x1b[31mred\x00", id="control characters"),
    pytest.param("\u202egnp.exe", id="right to left"),
    pytest.param("k" * 10_000, id="ten thousand characters"),
    pytest.param("\n" * 10_000, id="ten thousand line ends"),
    pytest.param("\U000e0001" * 70, id="characters with the longest escapes"),
    pytest.param("\ud800", id="lone surrogate"),
    pytest.param("'; drop 'x\"\\", id="quotes"),
    pytest.param("", id="empty"),
    pytest.param("limit\u200b", id="zero width"),
    pytest.param("__proto__", id="proto"),
    pytest.param("{0.__class__}%s", id="format directives"),
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_hostile_name_is_shown_short_and_escaped(name: str) -> None:
    """Rule: what a caller calls a parameter can neither flood nor forge a line."""
    for params, schema in [
        ({name: 1, "table": "t"}, QUERY),
        ({"m": {name: "x"}}, closed(m={"additionalProperties": {"type": "integer"}})),
        (
            {"m": {name: {name: {name: {name: "x"}}}}},
            closed(
                m={
                    "additionalProperties": {
                        "additionalProperties": {"additionalProperties": {"additionalProperties": {"type": "integer"}}}
                    }
                }
            ),
        ),
    ]:
        error = refusal(params, schema)
        for text in (str(error), error.details["path"]):
            assert isinstance(text, str)
            assert text.isprintable()
            assert len(text) <= 320
            json.dumps(text).encode("ascii")


def is_well_formed(schema: Any) -> bool:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return True


def jsonschema_accepts(value: Any, schema: Any) -> bool:
    try:
        return bool(Draft202012Validator(schema, registry=Registry()).is_valid(value))
    except (Unresolvable, RecursionError, OverflowError, ValueError):
        return False


def test_of_a_long_name_the_beginning_is_shown() -> None:
    assert str(refusal({"k" * 10_000: 1}, closed(a={"type": "null"}))) == (
        f"unknown parameter '{'k' * 59}…'; known here: a"
    )


SECRET = "correct-horse-battery"
SECRETS = st.recursive(
    st.sampled_from([SECRET, None, True, 1, 1.5]),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["table", "columns", "limit", "rows", "id", "zz"]), below, max_size=4)
    ),
    max_leaves=8,
)


@given(SECRETS)
@settings(deadline=None, derandomize=True, max_examples=100, database=None)
def test_no_message_holds_a_value(value: Any) -> None:
    """Rule: a value may be a secret, and is never repeated."""
    for schema in (QUERY, CONNECTION, closed(limit={"const": 1}, rows={"contains": {"const": 2}}, zz={"not": {}})):
        for problem in problems(value, schema):
            assert SECRET not in problem.message
            assert SECRET not in problem.json_path


@pytest.mark.parametrize(
    ("params", "schema", "normal"),
    [
        pytest.param({"table": "t"}, QUERY, {"table": "t", "limit": 100, "deep": False}, id="missing ones"),
        pytest.param(
            {"table": "t", "limit": 7, "deep": True},
            QUERY,
            {"table": "t", "limit": 7, "deep": True},
            id="given ones stay",
        ),
        pytest.param(
            {"table": "t", "rows": [{"id": 1}, {"id": 2, "tags": [1]}]},
            QUERY,
            {"table": "t", "rows": [{"id": 1, "tags": []}, {"id": 2, "tags": [1]}], "limit": 100, "deep": False},
            id="inside items",
        ),
        pytest.param(
            {},
            closed(a=closed(b={"type": "integer", "default": 1}) | {"default": {}}),
            {"a": {"b": 1}},
            id="inside a default",
        ),
        pytest.param(
            {"a": {}}, closed(a=closed(b={"type": "integer", "default": 1})), {"a": {"b": 1}}, id="inside an object"
        ),
        pytest.param({}, closed(a=closed(b={"type": "integer", "default": 1})), {}, id="no object, no default"),
        pytest.param(
            {"a": None}, closed(a={"type": ["integer", "null"], "default": 1}), {"a": None}, id="null is given"
        ),
        pytest.param(
            {"m": {"k": {}}},
            closed(m={"type": "object", "additionalProperties": closed(b={"default": 2})}),
            {"m": {"k": {"b": 2}}},
            id="inside a map",
        ),
        pytest.param(
            {"a": {}},
            closed(a={"$ref": "#/$defs/p"}) | {"$defs": {"p": closed(b={"default": 3})}},
            {"a": {"b": 3}},
            id="behind a reference",
        ),
        pytest.param(
            {},
            closed(a={"$ref": "#/$defs/p"}) | {"$defs": {"p": {"type": "integer", "default": 4.0}}},
            {"a": 4},
            id="default behind a reference",
        ),
        pytest.param({}, closed(a={"default": None}), {"a": None}, id="null as default"),
    ],
)
def test_defaults_are_filled_in(params: Any, schema: Any, normal: Any) -> None:
    assert check(params, schema) == normal


@pytest.mark.parametrize(
    ("schema", "value", "kind"),
    [
        pytest.param({"type": "integer"}, 5.0, int, id="integer"),
        pytest.param({"type": ["integer", "null"]}, 5.0, int, id="integer or null"),
        pytest.param({"type": ["integer", "string"]}, 5.0, int, id="integer or string"),
        pytest.param({"type": ["integer", "number"]}, 5.0, float, id="number as well"),
        pytest.param({"type": "number"}, 5.0, float, id="number"),
        pytest.param({"type": "number"}, 5, int, id="int for a number"),
        pytest.param({"enum": [5]}, 5.0, float, id="no type"),
        pytest.param({"type": "integer", "enum": [5]}, 5.0, int, id="choice of integers"),
        pytest.param({"type": "integer", "maximum": 5}, 5.0, int, id="at the bound"),
        pytest.param({"type": "integer"}, 1e300, int, id="huge"),
        pytest.param({"type": "integer", "default": 5.0}, 5.0, int, id="as default"),
        pytest.param({"$ref": "#/$defs/whole"}, 5.0, int, id="behind a reference"),
    ],
)
def test_a_whole_float_becomes_an_int_where_only_an_integer_is_allowed(schema: Any, value: Any, kind: type) -> None:
    result = check({"x": value}, closed(x=schema) | {"$defs": {"whole": {"type": "integer"}}})
    assert result == {"x": value}
    assert type(result["x"]) is kind


def test_whole_floats_below_arrays_maps_and_objects_become_ints() -> None:
    whole = {"type": "integer"}
    schema = closed(
        a={"type": "array", "items": whole},
        m={"type": "object", "additionalProperties": whole},
        t={"type": "array", "prefixItems": [{"type": "number"}], "items": whole},
    )
    result = check({"a": [1.0, 2], "m": {"k": 3.0}, "t": [1.0, 2.0]}, schema)
    assert repr(result) == "{'a': [1, 2], 'm': {'k': 3}, 't': [1.0, 2]}"


def test_a_key_that_a_pattern_describes_is_left_as_it_came() -> None:
    schema = {"patternProperties": {"^x": {"type": "number"}}, "additionalProperties": {"type": "integer"}}
    assert repr(check({"x": 5.0}, schema)) == "{'x': 5.0}"


def test_minus_zero_becomes_zero() -> None:
    assert repr(check({"x": -0.0}, closed(x={"type": "integer", "minimum": 0}))) == "{'x': 0}"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"type": "integer", "maximum": 2**53}, 2**53 + 1, id="just above"),
        pytest.param({"type": "integer", "maximum": float(2**53)}, 2**53 + 1, id="just above a float"),
        pytest.param({"type": "number", "maximum": 1e308}, 10**400, id="beyond every float"),
        pytest.param({"type": "integer", "multipleOf": 0.5}, 10**400, id="an int that no float can hold"),
        pytest.param({"type": "string"}, 10**5000, id="an int with too many digits to be written"),
        pytest.param({"type": "number"}, float("nan"), id="nan"),
        pytest.param({"type": "number", "maximum": 5}, float("-inf"), id="infinity"),
        pytest.param({"maximum": 5}, float("inf"), id="infinity against a bound alone"),
    ],
)
def test_numbers_at_the_edge_are_refused_without_a_traceback(schema: Any, value: Any) -> None:
    """Rule: no number, however odd, gets past a bound or ends in an unforeseen error."""
    assert "parameter" in str(refusal({"x": value}, closed(x=schema)))


@given(SCHEMAS.filter(is_well_formed), st.lists(VALUES, min_size=5, max_size=5))
@settings(deadline=None, derandomize=True, max_examples=200, database=None)
def test_for_every_schema_there_is_a_result_or_a_refusal(schema: Any, values: list[Any]) -> None:
    """Rule: we refuse exactly what jsonschema refuses or cannot resolve, and nothing ends in another error."""
    for value in values:
        before = repr((schema, value))
        message = ""
        try:
            check(value, schema)
        except InvalidParams as error:
            message = str(error)
        assert (message == "") == jsonschema_accepts(value, schema)
        assert message.isprintable()
        assert len(message) <= 300
        assert repr((schema, value)) == before


def test_neither_parameters_nor_schema_are_changed() -> None:
    """Rule: the schema belongs to the tool class, and serves every call."""
    schema = closed(
        a={"type": "array", "default": [{"b": []}]}, n={"type": "integer"}, rows=QUERY["properties"]["rows"]
    )
    params = {"n": 5.0, "rows": [{"id": 1.0}]}
    before = copy.deepcopy((schema, params))
    first = check(params, schema)
    first["a"][0]["b"].append("changed by the tool")
    first["rows"][0]["tags"].append("changed by the tool")
    assert (schema, params) == before
    assert repr(params) == "{'n': 5.0, 'rows': [{'id': 1.0}]}"
    assert check(params, schema)["a"] == [{"b": []}]


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


NODE = {"$ref": "#/$defs/node"}
TREE = closed(x=NODE) | {"$defs": {"node": {"type": ["array", "string"], "items": NODE}}}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(closed(x={"type": "string"}), id="another type"),
        pytest.param(closed(x={"const": nested(100_000)}), id="equally deep constant"),
        pytest.param(closed(x={"enum": [1, nested(99_999)]}), id="almost equally deep choice"),
        pytest.param(closed(x={"type": "array", "uniqueItems": True, "items": False}), id="unique items"),
        pytest.param(TREE, id="recursive schema"),
        pytest.param(closed(), id="unknown parameter"),
    ],
)
def test_deep_nesting_is_refused_without_a_traceback(schema: Any) -> None:
    """Rule: the depth of a value never ends in an unforeseen error."""
    error = refusal({"x": nested(100_000)}, schema)
    assert str(error) == "the parameters are nested too deeply" or "'x'" in str(error)


@pytest.mark.parametrize("frames", range(40))
def test_so_it_is_wherever_the_stack_ends(frames: int) -> None:
    """Rule: the same, as what jsonschema is built on panics if it is interrupted at the wrong place."""
    if frames:
        test_so_it_is_wherever_the_stack_ends(frames - 1)
    else:
        assert str(refusal({"x": nested(100_000)}, TREE)) == "the parameters are nested too deeply"


@pytest.mark.parametrize(("levels", "fits"), [(97, True), (98, True), (99, False), (300, False)])
def test_a_recursive_schema_is_followed_for_a_hundred_levels(levels: int, fits: bool) -> None:
    params = {"x": nested(levels)}
    if fits:
        assert check(params, TREE) == params
    else:
        assert str(refusal(params, TREE)) == "the parameters are nested too deeply"


def test_what_the_schema_leaves_open_may_be_as_deep_as_the_parser_allows() -> None:
    value = nested(100_000)
    assert check({"x": value}, closed(x={"type": "array"}))["x"][0] is value[0]


def test_a_tree_of_sensible_depth_fits_a_recursive_schema() -> None:
    assert check({"x": nested(20)}, TREE) == {"x": nested(20)}


def test_a_default_that_leads_to_itself_is_refused() -> None:
    """Rule: even a schema that passed by mistake ends in a refusal."""
    schema = closed(a=NODE) | {"$defs": {"node": closed(child=NODE | {"default": {}})}}
    assert str(refusal({"a": {}}, schema)) == "the parameters are nested too deeply"


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """Give the address of a server that would serve the schema `true`, and the list of what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"true")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/schema.json", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_remote_reference_is_refused_and_never_fetched(listener: tuple[str, list[str]], keyword: str) -> None:
    """Rule: a schema reaches nothing outside itself."""
    address, asked = listener
    for schema in (closed(x={keyword: address}), closed(x={"$id": address, "allOf": [{keyword: "other.json"}]})):
        error = refusal({"x": 1}, schema)
        assert error.details["keyword"] == "$ref"
    assert asked == []


@pytest.mark.parametrize("reference", ["#/$defs/none", "#none", "none.json", "urn:none", "#/properties/y"])
def test_a_reference_that_leads_nowhere_is_refused(reference: str) -> None:
    """Rule: what cannot be resolved accepts nothing."""
    assert refusal({"x": 1}, closed(x={"$ref": reference})).details["keyword"] == "$ref"


def test_a_reference_to_a_file_is_refused(tmp_path: Path) -> None:
    """Rule: a schema reads no file."""
    (tmp_path / "true.json").write_text("true")
    assert refusal({"x": 1}, closed(x={"$ref": f"file://{tmp_path}/true.json"})).details["keyword"] == "$ref"


def imported_by(code: str) -> set[str]:
    """Return the modules that `code` imports in a fresh interpreter."""
    script = f"import sys; before = set(sys.modules)\n{code}\nprint(*(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_ordinary_parameters_are_checked_without_jsonschema() -> None:
    imported = imported_by(
        "from clitool.schema import check, problems\n"
        f"from clitool.tool_schema import problems_of_schema\nschema = {QUERY!r}\n"
        "assert problems_of_schema(schema) == []\n"
        "assert check({'table': 't', 'rows': [{'id': 1.0}], 'limit': 5.0}, schema)['limit'] == 5\n"
        "assert problems({'table': 't'}, schema, word='setting') == []"
    )
    assert imported == {
        "__future__",
        "keyword",
        "clitool",
        "clitool.errors",
        "clitool.schema",
        "clitool.tool_schema",
    }


def test_only_a_pattern_costs_the_import_of_re() -> None:
    imported = imported_by(
        "from clitool.schema import check\n"
        "check({'a': 'x'}, {'properties': {'a': {'type': 'string', 'pattern': '^x'}}})"
    )
    assert "re" in imported
    assert "jsonschema" not in imported
