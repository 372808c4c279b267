"""The small checker never says yes where jsonschema says no, and says yes often enough to be worth having."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry
from schemas import SCHEMAS, VALUES

from clitool.schema import fits, problems, same

SUITE = Path(__file__).parents[1] / "data" / "json-schema-test-suite" / "draft2020-12"


def suite() -> list[tuple[str, Any, Any, bool]]:
    """Return (name, schema, value, valid) of every required case."""
    return [
        (f"{path.stem}: {group['description']}: {test['description']}", group["schema"], test["data"], test["valid"])
        for path in sorted(SUITE.glob("*.json"))
        for group in json.loads(path.read_text(encoding="utf-8"))
        for test in group["tests"]
    ]


def is_valid(value: Any, schema: Any) -> bool:
    return bool(Draft202012Validator(schema, registry=Registry()).is_valid(value))


def needs_the_network(schema: Any) -> bool:
    return "http://localhost:1234/" in json.dumps(schema)


def test_the_small_checker_says_no_wrong_yes_in_the_official_suite() -> None:
    """Rule: a value that breaks its schema is never accepted."""
    yes = [(name, valid) for name, schema, value, valid in suite() if fits(value, schema)]
    assert [name for name, valid in yes if not valid] == []


def test_the_small_checker_decides_half_of_the_valid_cases_of_the_suite_itself() -> None:
    valid = [(schema, value) for _, schema, value, valid in suite() if valid]
    assert len(valid) > 700
    assert sum(fits(value, schema) for schema, value in valid) >= 350


def test_with_jsonschema_behind_it_every_case_of_the_suite_comes_out_right() -> None:
    """Rule: beyond remote documents and vocabularies, we mean by a schema what the standard means."""
    wrong = [
        name
        for name, schema, value, valid in suite()
        if (not problems(value, schema)) != valid
        and not needs_the_network(schema)
        and not name.startswith("vocabulary")
    ]
    assert wrong == []


def test_a_case_of_the_suite_that_needs_a_remote_document_is_refused() -> None:
    """Rule: a schema that cannot be resolved accepts nothing, and no case that breaks its schema gets through."""
    assert [name for name, schema, value, valid in suite() if not valid and not problems(value, schema)] == []
    remote = [(schema, value) for name, schema, value, valid in suite() if valid and name.startswith("refRemote")]
    assert [problem.keyword for schema, value in remote for problem in problems(value, schema)] == ["$ref"] * 16


def test_the_small_checker_says_no_wrong_yes_on_generated_pairs() -> None:
    """Rule: as above, for schemas and values that nobody thought of, malformed schemas among them."""
    said_yes, pairs = 0, 0

    @given(SCHEMAS, st.lists(VALUES, min_size=10, max_size=10))
    @settings(deadline=None, derandomize=True, max_examples=200, database=None)
    def agree(schema: Any, values: list[Any]) -> None:
        nonlocal said_yes, pairs
        for value in values:
            pairs += 1
            if fits(value, schema):
                said_yes += 1
                assert is_valid(value, schema)

    agree()
    assert pairs >= 2000
    assert said_yes >= 400


def test_the_small_checker_decides_ordinary_parameters_itself() -> None:
    schema = {
        "type": "object",
        "properties": {
            "table": {"type": "string", "minLength": 1, "maxLength": 64, "description": "which"},
            "columns": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 100},
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
            "where": {"type": "object"},
            "mode": {"enum": ["read", "write"]},
        },
        "required": ["table"],
        "additionalProperties": False,
    }
    assert fits({"table": "t", "columns": ["a"], "limit": 5.0, "where": {"a": [1]}, "mode": "read"}, schema)
    assert fits({"table": "t", "columns": None}, schema)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        pytest.param(True, {"type": "integer"}, id="true is no integer"),
        pytest.param(False, {"type": "number"}, id="false is no number"),
        pytest.param(True, {"type": ["integer", "null"]}, id="true in a list of types"),
        pytest.param(1.5, {"type": "integer"}, id="fraction"),
        pytest.param(float("nan"), {"type": "number"}, id="nan"),
        pytest.param(float("inf"), {"type": "number"}, id="infinity"),
        pytest.param(float("inf"), {"type": "integer"}, id="infinity as integer"),
        pytest.param(float("nan"), {"minimum": 0}, id="nan against a bound"),
        pytest.param(2**53 + 1, {"maximum": float(2**53)}, id="an int just above a float"),
        pytest.param(10**400, {"maximum": 1e308}, id="an int beyond every float"),
        pytest.param(1, {"enum": [True]}, id="one is not true"),
        pytest.param(True, {"enum": [1]}, id="true is not one"),
        pytest.param([True], {"const": [1]}, id="nested true"),
        pytest.param({"a": {"b": 0}}, {"const": {"a": {"b": False}}}, id="nested false"),
        pytest.param({"a": 1, "b": 2}, {"const": {"a": 1}}, id="const with a key more"),
        pytest.param("ab", {"maxLength": 1}, id="too long"),
        pytest.param({}, {"required": ["a"]}, id="required without properties"),
        pytest.param([1], {"items": False}, id="items false"),
        pytest.param([], {"minItems": 1}, id="empty array"),
        pytest.param(["a", "a"], {"uniqueItems": True}, id="twice the same"),
        pytest.param([1, 1.0], {"uniqueItems": True}, id="twice the same number"),
        pytest.param({"b": 1}, {"properties": {"a": True}, "additionalProperties": False}, id="unknown key"),
        pytest.param(1, False, id="false"),
        pytest.param(1, None, id="no schema"),
        pytest.param(1, [], id="array as schema"),
        pytest.param("x", {"type": "text"}, id="unknown type"),
        pytest.param("x", {"type": ["string", "text"]}, id="unknown type beside a known one"),
        pytest.param("x", {"type": [["string"]]}, id="malformed type"),
        pytest.param("x", {"pattern": "("}, id="malformed pattern"),
        pytest.param("x", {"pattern": 5}, id="pattern of another type"),
        pytest.param("x", {"maxLength": "9"}, id="malformed bound"),
        pytest.param("x", {"maxLength": True}, id="true as bound"),
        pytest.param({"a": 1}, {"properties": [], "additionalProperties": True}, id="malformed properties"),
        pytest.param({"a": 1}, {"required": "a"}, id="malformed required"),
        pytest.param("x", {"maxLenght": 1}, id="unknown keyword"),
        pytest.param(1, {"$ref": "#/$defs/a", "$defs": {"a": True}}, id="reference"),
        pytest.param(1, {"$id": "http://127.0.0.1/x"}, id="identifier"),
        pytest.param(1, {"$schema": "http://json-schema.org/draft-04/schema#"}, id="another draft"),
        pytest.param([1], {"prefixItems": [True], "items": False}, id="items after a prefix"),
        pytest.param({"ax": 1}, {"patternProperties": {"^a": {}}, "additionalProperties": False}, id="patterns"),
    ],
)
def test_what_is_wrong_or_doubtful_is_never_a_yes(value: Any, schema: Any) -> None:
    """Rule: the small checker says yes only when it is sure."""
    assert not fits(value, schema)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        pytest.param(1.0, {"type": "integer"}, id="whole float is an integer"),
        pytest.param(10**400, {"type": "number"}, id="huge integer"),
        pytest.param(1.0, {"enum": [1]}, id="one is one"),
        pytest.param([{"a": 1.0}], {"const": [{"a": 1}]}, id="nested one is one"),
        pytest.param("\U0001f600", {"maxLength": 1}, id="length in code points"),
        pytest.param(5, {"maxLength": 1, "minItems": 2, "required": ["a"]}, id="keywords for other types"),
        pytest.param([], {"items": False}, id="items false, none there"),
        pytest.param("b", {"anyOf": [{"type": "null"}, {"enum": ["b"]}]}, id="one alternative"),
        pytest.param(
            {"shop": {"type": "x"}},
            {"additionalProperties": {"type": "object"}, "propertyNames": {"pattern": "^[a-z]+$"}},
            id="map of objects",
        ),
        pytest.param("not a date", {"type": "string", "format": "date"}, id="format is a remark"),
    ],
)
def test_what_is_surely_right_is_a_yes(value: Any, schema: Any) -> None:
    assert fits(value, schema)
    assert is_valid(value, schema)


@given(VALUES, VALUES)
@settings(deadline=None, derandomize=True, max_examples=200, database=None)
def test_two_values_are_the_same_if_jsonschema_says_so(one: Any, two: Any) -> None:
    assert same(one, two) == is_valid(one, {"const": two})
