"""Generated JSON values and JSON Schemas, ordinary and odd, now and then malformed."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

SCALARS = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        1,
        1.0,
        -0.0,
        1.5,
        -1,
        2,
        2**53,
        2**53 + 1,
        float(2**53),
        10**400,
        1e308,
        float("inf"),
        "",
        "a",
        "b",
        "ab",
        "é",
        "e\u0301",
        "\U0001f600",
        "\ud800",
        "1",
    ]
)
NAMES = st.sampled_from(["a", "b", "c", ""])
VALUES = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=3), max_leaves=6
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
NUMBERS = st.sampled_from([-1, 0, 1, 1.0, 1.5, 2**53, float(2**53), 10**400, 1e308])
COUNTS = st.integers(0, 3)


def keywords(below: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Return for each keyword what it may be given in a valid schema."""
    return {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, max_size=4),
        "const": VALUES,
        **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], NUMBERS),
        **dict.fromkeys(["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"], COUNTS),
        "pattern": st.sampled_from(["^a", "b$", "", "^.$", "[0-9]"]),
        "items": below,
        "uniqueItems": st.booleans(),
        "properties": st.dictionaries(NAMES, below, max_size=3),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": below,
        "propertyNames": below,
        "anyOf": st.lists(below, min_size=1, max_size=2),
        "allOf": st.lists(below, min_size=1, max_size=2),
        "default": VALUES,
        "description": st.just("words"),
        # What the small checker must leave alone.
        "oneOf": st.lists(below, min_size=1, max_size=2),
        "not": below,
        "if": below,
        "then": below,
        "prefixItems": st.lists(below, min_size=1, max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["a", "^b"]), below, min_size=1, max_size=1),
        "contains": below,
        "dependentRequired": st.just({"a": ["b"]}),
        "multipleOf": st.sampled_from([1, 2, 3]),
        "$ref": st.sampled_from(["#", "#/properties/a", "http://127.0.0.1:9/schema.json"]),
        "$dynamicRef": st.just("#none"),
        "unheardOf": VALUES,
    }


@st.composite
def schema_dicts(draw: st.DrawFn, below: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Draw a schema of up to four keywords; now and then one is malformed."""
    table = keywords(below)
    names = draw(st.lists(st.sampled_from(list(table)[:24]) | st.sampled_from(list(table)), max_size=4, unique=True))
    return {name: draw(VALUES if draw(st.integers(0, 19)) == 0 else table[name]) for name in names}


SCHEMAS = st.recursive(st.booleans() | schema_dicts(st.booleans()), schema_dicts, max_leaves=5)


def closed(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties, none of them required."""
    return {"type": "object", "properties": properties, "additionalProperties": False}
