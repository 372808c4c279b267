"""What holds for every declared tool, built in or not."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from clitool.catalog import Catalog
from clitool.reasons import REASONS
from clitool.schema import check
from clitool.tool_schema import problems_of_schema

CATALOG = Catalog()
TOOLS = [pytest.param(family, tool, id=tool.name) for family, tool in CATALOG.tools()]
FAMILIES = [pytest.param(CATALOG.family(name), id=name) for name in CATALOG.names()]
SOURCE = Path(__file__).parents[1] / "tools" / "clitool_tools"


def test_every_family_in_the_source_is_declared_and_none_is_left_out() -> None:
    folders = {path.stem for path in SOURCE.iterdir() if not path.name.startswith("_") and path.suffix in ("", ".py")}

    assert set(CATALOG.names()) == folders, "install the project again after adding an entry point"
    assert CATALOG.warnings == []


@pytest.mark.parametrize(("family", "tool"), TOOLS)
def test_the_schema_is_the_signature(family: Any, tool: Any) -> None:
    """The schema is the security statement: what a reviewer reads is what runs."""
    schema = tool.input_schema
    parameters = dict(list(inspect.signature(tool.execute).parameters.items())[1:])
    defaults = {
        name: value.default for name, value in parameters.items() if value.default is not inspect.Parameter.empty
    }

    assert all(value.kind is inspect.Parameter.KEYWORD_ONLY for value in parameters.values())
    assert set(parameters) == set(schema["properties"])
    assert set(schema.get("required", [])) == set(parameters) - set(defaults)
    for name, default in defaults.items():
        assert schema["properties"][name].get("default") == default, name
        assert ("default" in schema["properties"][name]) == (default is not None), name


@pytest.mark.parametrize(("family", "tool"), TOOLS)
def test_decide_takes_what_execute_takes(family: Any, tool: Any) -> None:
    if hasattr(tool, "decide"):
        values = dict.fromkeys(tool.input_schema["properties"])
        inspect.signature(tool.decide).bind(None, **values)
        inspect.signature(tool.decide).bind(None, **dict.fromkeys(tool.input_schema.get("required", [])))


@pytest.mark.parametrize(("family", "tool"), TOOLS)
def test_the_declaration_is_complete(family: Any, tool: Any) -> None:
    assert problems_of_schema(tool.input_schema) == []
    assert tool.description.strip().endswith((".", ")"))
    assert tool.description.isprintable()
    for name, schema in tool.input_schema["properties"].items():
        assert schema.get("description"), f"{tool.name}.{name} has no description"


@pytest.mark.parametrize(("family", "tool"), TOOLS)
def test_defaults_fit_their_own_schema(family: Any, tool: Any) -> None:
    required = {name: _example(tool.input_schema["properties"][name]) for name in tool.input_schema.get("required", [])}

    values = check(required, tool.input_schema)

    assert set(required) <= set(values)


def _example(schema: Any) -> Any:
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    if "enum" in schema:
        return schema["enum"][0]
    return {
        "string": "x" * schema.get("minLength", 1),
        "integer": schema.get("minimum", 1),
        "number": 1,
        "boolean": True,
        "array": [_example(schema["items"])] * schema.get("minItems", 0) if "items" in schema else [],
        "object": {},
        "null": None,
    }[kind]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_settings_of_a_family_are_described_and_closed(family: Any) -> None:
    def visit(schema: Any, path: str) -> None:
        if schema.get("type") == "object" and "properties" in schema:
            assert schema.get("additionalProperties") is False, path
            for name, inner in schema["properties"].items():
                assert inner.get("description"), f"{path}.{name} has no description"
                visit(inner, f"{path}.{name}")
        if isinstance(schema.get("additionalProperties"), dict):
            visit(schema["additionalProperties"], f"{path}.*")

    visit(family.settings_schema, family.name)


def test_every_reason_is_used_and_goes_with_a_code_of_the_convention() -> None:
    """C19, C21."""
    source = "".join(
        path.read_text() for root in ("clitool", "tools") for path in (SOURCE.parents[1] / root).rglob("*.py")
    )
    codes = {"auth_failed", "scope_denied", "tool_not_found", "invalid_params", "execution_error"}

    for reason, (code, meaning) in REASONS.items():
        assert code in codes
        assert meaning
        assert source.count(f'"{reason}"') > 1, f"nothing raises {reason!r}"
