"""`clitool schema`: a tool's parameters, and the clients file for editors; the example holds every key there is."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import PLUGINS, environment, run, write_clients
from jsonschema import Draft202012Validator, FormatChecker

from clitool.admin.clients_schema import clients_schema
from clitool.catalog import Catalog
from clitool.clients_rules import problems
from clitool.clients_yaml import parse
from clitool.family import Family
from clitool.strict_yaml import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = Path(__file__).parents[2] / "clients.yaml.example"
SCHEMA = clients_schema(Catalog())
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FormatChecker(["date"]))
TOKEN = {"id": "t", "sha256": "a" * 64}


def good(**client_keys: Any) -> dict[str, Any]:
    return {"clients": {"anna": {"scopes": ["file:read"], **client_keys}}}


def token(**keys: Any) -> dict[str, Any]:
    return good(tokens=[{**TOKEN, **keys}])


def top(**keys: Any) -> dict[str, Any]:
    return {**good(), **keys}


GOOD = [
    pytest.param(good(), id="smallest"),
    pytest.param(token(), id="token"),
    pytest.param(token(sha256="A" * 64), id="capital digits"),
    pytest.param(token(expires="2027-06-30", not_before="2027-01-01", disabled=True), id="token with everything"),
    pytest.param(good(tokens=[]), id="no tokens"),
    pytest.param(good(empty_token=True), id="empty token"),
    pytest.param(good(empty_token=True, tokens=[]), id="empty token, no tokens"),
    pytest.param(good(empty_token=False, tokens=[TOKEN]), id="no empty token"),
    pytest.param(good(disabled=True, tools={}), id="disabled"),
    pytest.param(good(scopes=["*", "file:*", "logmcp:read", "a.b-c_d:E"]), id="scopes"),
    pytest.param({"clients": {"A.b-c_1": {"scopes": ["x:y"]}, "x" * 64: {"scopes": ["x:y"]}}}, id="names"),
    pytest.param({"roles": {"r": ["x:y"]}, "clients": {"a": {"scopes": ["role:r"]}}}, id="role"),
    pytest.param(top(tools={}, log={}, state={}, roles={}), id="empty sections"),
    pytest.param(top(tools={"disabled": []}), id="nothing disabled"),
    pytest.param(top(tools={"disabled": ["calculator", "file_read"]}), id="disabled tools"),
    pytest.param(top(log={"directory": "logs", "keep_days": 1, "audit": "required"}), id="log"),
    pytest.param(top(state={"directory": "/s"}), id="state"),
    pytest.param(top(state={"directory": "a~"}), id="tilde inside"),
]

BAD = [
    pytest.param([], id="list"),
    pytest.param(None, id="nothing"),
    pytest.param({}, id="empty"),
    pytest.param({"clients": {}}, id="no clients"),
    pytest.param({"clients": []}, id="clients as list"),
    pytest.param({"clients": None}, id="clients null"),
    pytest.param({"clients": {"a": None}}, id="client null"),
    pytest.param({"clients": {"a": {}}}, id="no scopes"),
    pytest.param({"clients": {"a b": {"scopes": ["x:y"]}}}, id="blank in a name"),
    pytest.param({"clients": {"": {"scopes": ["x:y"]}}}, id="empty name"),
    pytest.param({"clients": {"é": {"scopes": ["x:y"]}}}, id="accent in a name"),
    pytest.param({"clients": {"x" * 65: {"scopes": ["x:y"]}}}, id="long name"),
    pytest.param(good(scopes=[]), id="empty scopes"),
    pytest.param(good(scopes="file:read"), id="scopes as text"),
    pytest.param(good(scopes=None), id="scopes null"),
    *(
        pytest.param(good(scopes=[scope]), id=f"scope {scope!r}")
        for scope in ("", "read", ":", "a:", ":b", "*:read", "a:b:c", "a:b c", "**", "é:b", 1, None, True, ["a:b"])
    ),
    pytest.param(good(color="red"), id="unknown key of a client"),
    pytest.param(good(token=[TOKEN]), id="misspelt key"),
    pytest.param(good(tokens=None), id="tokens null"),
    pytest.param(good(tokens={}), id="tokens as mapping"),
    pytest.param(good(tokens=["x"]), id="token as text"),
    pytest.param(token(id=None), id="id null"),
    pytest.param(token(id=1), id="id number"),
    pytest.param(token(id="a b"), id="blank in an id"),
    pytest.param(token(sha256="a" * 63), id="short digest"),
    pytest.param(token(sha256="a" * 65), id="long digest"),
    pytest.param(token(sha256="g" * 64), id="digest of other letters"),
    pytest.param(token(sha256=0), id="digest number"),
    pytest.param(token(secret="x"), id="unknown key of a token"),
    pytest.param(good(tokens=[{"id": "t"}]), id="no digest"),
    pytest.param(good(tokens=[{"sha256": "a" * 64}]), id="no id"),
    *(
        pytest.param(token(expires=day), id=f"date {day!r}")
        for day in ("2027-6-30", "20270630", "2027-02-30", "2027-13-01", "soon", "", 20270630, "2027-06-30T00:00")
    ),
    pytest.param(token(not_before="tomorrow"), id="first day"),
    pytest.param(token(expires=None), id="last day null"),
    pytest.param(token(disabled="true"), id="disabled as text"),
    pytest.param(good(disabled=1), id="disabled as number"),
    pytest.param(good(empty_token="false"), id="empty token as text"),
    pytest.param(good(empty_token=True, tokens=[TOKEN]), id="empty token with tokens"),
    pytest.param(good(tools=None), id="settings null"),
    pytest.param(good(tools=[]), id="settings as list"),
    pytest.param(top(roles=None), id="roles null"),
    pytest.param(top(roles={"r": []}), id="empty role"),
    pytest.param(top(roles={"r": ["role:r"]}), id="role in a role"),
    pytest.param(top(tools=None), id="tools null"),
    pytest.param(top(tools={"disable": []}), id="misspelt disabled"),
    pytest.param(top(tools={"disabled": "file"}), id="disabled tool as text"),
    pytest.param(top(tools={"disabled": [""]}), id="disabled tool without a name"),
    pytest.param(top(log=None), id="log null"),
    pytest.param(top(log={"directory": ""}), id="no folder"),
    pytest.param(top(log={"directory": None}), id="folder null"),
    pytest.param(top(log={"directory": "${LOGS}"}), id="folder by reference"),
    pytest.param(top(state={"directory": "~/state"}), id="folder with a tilde"),
    pytest.param(top(log={"keep_days": 0}), id="no days"),
    pytest.param(top(log={"keep_days": 40000}), id="too many days"),
    pytest.param(top(log={"keep_days": "30"}), id="days as text"),
    pytest.param(top(log={"keep_days": True}), id="days as boolean"),
    pytest.param(top(log={"audit": "always"}), id="unknown audit"),
    pytest.param(top(log={"level": "debug"}), id="unknown key of log"),
    pytest.param(top(state={"directory": 1}), id="state folder number"),
    pytest.param(top(state={"folder": "s"}), id="unknown key of state"),
    pytest.param(top(version=1), id="unknown top key"),
]

SETTINGS = [
    pytest.param({"calculator": {}}, True, id="calculator"),
    pytest.param({"calculator": {"x": 1}}, False, id="unknown setting"),
    pytest.param({"calculators": {}}, False, id="unknown family"),
    pytest.param({"file": {"root_path": "files", "allow_write": True}}, True, id="file"),
    pytest.param({"file": {"root_path": "${HOME}/files"}}, True, id="reference"),
    pytest.param({"file": {"allow_write": True}}, False, id="setting missing"),
    pytest.param({"file": {"root_path": "files", "allow_write": "${W}"}}, False, id="reference where no text belongs"),
    pytest.param(
        {"database": {"type": "sqlite", "connection_string": "sqlite:///x", "allowed_tables": "all"}},
        True,
        id="database",
    ),
    pytest.param(
        {"database": {"type": "${KIND:-sqlite}", "connection_string": "${file:db}", "allowed_tables": ["x"]}},
        True,
        id="references where a choice belongs",
    ),
    pytest.param(
        {"database": {"type": "oracle", "connection_string": "x", "allowed_tables": "all"}}, False, id="unknown engine"
    ),
    pytest.param(
        {
            "database": {
                "connections": {"a b": {"type": "sqlite", "connection_string": "sqlite:///x", "allowed_tables": "all"}}
            }
        },
        False,
        id="name of a connection",
    ),
    pytest.param(
        {
            "database": {
                "connections": {"${x}": {"type": "sqlite", "connection_string": "sqlite:///x", "allowed_tables": "all"}}
            }
        },
        False,
        id="reference as a name",
    ),
]


@pytest.mark.parametrize("document", GOOD)
def test_what_the_core_accepts_the_schema_accepts(document: Any) -> None:
    assert list(problems(document)) == []
    assert list(VALIDATOR.iter_errors(document)) == []


@pytest.mark.parametrize("document", BAD)
def test_what_the_core_refuses_the_schema_refuses(document: Any) -> None:
    assert list(problems(document)) != []
    assert list(VALIDATOR.iter_errors(document)) != []


@pytest.mark.parametrize(("settings", "fits"), SETTINGS)
def test_the_settings_of_each_family_are_part_of_it(settings: Any, fits: bool) -> None:
    assert (list(VALIDATOR.iter_errors(good(tools=settings))) == []) is fits


def test_a_disabled_name_that_means_nothing_is_refused() -> None:
    assert list(VALIDATOR.iter_errors(top(tools={"disabled": ["fiel"]})))


def test_the_schema_is_a_schema_and_leads_nowhere_else() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    references = [part["$ref"] for part in parts(SCHEMA) if "$ref" in part]
    assert references
    assert all(reference.startswith("#/$defs/") for reference in references)


def test_every_key_has_a_description() -> None:
    for path, schema in keys(SCHEMA):
        assert schema.get("description", "").strip(), path


def test_a_familys_own_references_lead_into_its_part() -> None:
    """Two families may use the same name under `$defs`."""

    def family(name: str, kind: str) -> Family:
        schema = {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/x"}},
            "additionalProperties": False,
            "$defs": {"x": {"type": kind, "description": "x"}},
        }
        return Family(name=name, tools=(), settings_schema=schema)

    class Two(Catalog):
        def names(self) -> list[str]:
            return ["one", "two"]

        def family(self, name: str) -> Family:
            return family(name, "integer" if name == "one" else "string")

    before = copy.deepcopy(family("one", "integer").settings_schema)
    validator = Draft202012Validator(clients_schema(Two([])))
    assert validator.is_valid(good(tools={"one": {"x": 1}, "two": {"x": "1"}}))
    assert not validator.is_valid(good(tools={"one": {"x": "1"}}))
    assert not validator.is_valid(good(tools={"two": {"x": 1}}))
    assert family("one", "integer").settings_schema == before


def test_the_command_prints_it() -> None:
    result = run("schema", "clients")
    assert (result.status, result.stderr) == (0, b"")
    assert result.stdout.startswith(b'{\n  "$schema": "https://json-schema.org/draft/2020-12/schema"')


@pytest.mark.parametrize("name", ["calculator", "file_read", "database_query"])
def test_the_schema_of_a_tool_is_the_one_that_list_shows(name: str) -> None:
    tools = {tool["name"]: tool["inputSchema"] for tool in run("list").document}
    assert json.loads(run("schema", name).stdout) == tools[name]


def test_an_unknown_tool_is_told_with_the_nearest_one() -> None:
    result = run("schema", "file_raed")
    assert (result.status, result.stdout) == (1, b"")
    assert b"did you mean 'file_read'?" in result.stderr


def test_a_plugin_that_is_installed_is_part_of_it() -> None:
    assert b'"trouble"' in run("schema", "clients", env=environment(PYTHONPATH=PLUGINS)).stdout


def test_the_example_is_valid_as_it_stands() -> None:
    clients = parse(EXAMPLE.read_bytes(), "/etc/clitool/clients.yaml")
    assert list(clients.by_name) == ["analyst", "crm-bot", "host", "retired"]
    assert list(VALIDATOR.iter_errors(Document(EXAMPLE.read_bytes()).value)) == []


def test_the_settings_of_the_example_can_be_used(tmp_path: Path) -> None:
    """Nothing but the folders and databases that do not exist here is wrong with it."""
    path = write_clients(tmp_path, EXAMPLE.read_text())
    findings = run("--clients", str(path), "check", "--json").document["findings"]
    errors = [finding["message"] for finding in findings if finding["level"] == "error"]
    assert all("does not exist" in error or "no file" in error or "not found" in error for error in errors), errors


def test_the_example_holds_every_key_there_is() -> None:
    document = Document(EXAMPLE.read_bytes()).value
    present = set(paths(document))
    for path, _ in keys(SCHEMA):
        assert spellings(path) & present, path


def test_the_example_begins_with_a_line_for_editors() -> None:
    assert EXAMPLE.read_text().startswith("# yaml-language-server: $schema=clients.schema.json\n")


def test_no_line_of_the_example_is_too_long() -> None:
    assert max(map(len, EXAMPLE.read_text().splitlines())) <= 120


def spellings(path: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The paths that a setting may have: one of several connections has the settings of a single one."""
    family, rest = path[:4], path[4:]
    if path[:3] != ("clients", "*", "tools") or not rest or rest == ("connections",):
        return {path}
    single = rest[2:] if rest[0] == "connections" else rest
    return {family + single, (*family, "connections", "*", *single)}


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for part in schema.values():
            yield from parts(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from parts(part)


def keys(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every key that the schema knows, with its path; `*` stands for names that are free and for places in lists."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    for name, below in schema.get("properties", {}).items():
        yield (*path, name), below if "$ref" not in below else {"description": "of the family"}
        yield from keys(below, (*path, name))
    for free in ("additionalProperties", "items"):
        if isinstance(schema.get(free), dict):
            yield from keys(schema[free], (*path, "*"))


def paths(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every path of a document, in all spellings with `*` in the place of a name or index."""
    if isinstance(value, dict):
        for key, below in value.items():
            for name in (key, "*"):
                yield (*path, name)
                yield from paths(below, (*path, name))
    elif isinstance(value, list):
        for below in value:
            yield from paths(below, (*path, "*"))
