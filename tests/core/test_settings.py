"""One client's settings for one family: a fault stops that family for that client, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import PLUGINS, TOKEN, client, environment, run, write_clients

from clitool.clients_yaml import parse
from clitool.errors import ScopeDenied, SettingsError
from clitool.family import Family, Origin, Secret
from clitool.settings import SettingsUnusable, load

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = {
    "type": "object",
    "properties": {
        "host": {"type": "string"},
        "port": {"type": "integer", "minimum": 1},
        "password": {"type": "string", "writeOnly": True},
        "connections": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {"url": {"type": "string", "writeOnly": True}},
                "additionalProperties": False,
            },
        },
    },
    "required": ["host"],
    "additionalProperties": False,
}


def settings(raw: Any, environment_: dict[str, str] | None = None, *, parse_: Any = None, required: bool = True) -> Any:
    tools = {} if raw is None else {"thing": raw}
    document = {"clients": {"anna": client("thing:use", tools=tools)}}
    clients = parse(json.dumps(document, indent=1).encode(), "/etc/clitool/clients.yaml")
    family = Family(name="thing", tools=[], settings_schema=SCHEMA, settings_required=required, parse=parse_)
    return load(clients, clients.by_name["anna"], family, environment_ or {}, ["/var/log"]).value


def test_settings_are_resolved_and_secrets_wrapped() -> None:
    """A secret hides itself wherever it is printed."""
    found = settings(
        {"host": "${HOST}", "password": "$$${PW}", "connections": {"a": {"url": "x"}}}, {"HOST": "h", "PW": "hunter2"}
    )

    assert found["host"] == "h"
    assert isinstance(found["password"], Secret)
    assert found["password"].reveal() == "$hunter2"
    assert isinstance(found["connections"]["a"]["url"], Secret)
    assert "hunter2" not in repr(found)


def test_a_family_that_needs_settings_is_denied_without_them() -> None:
    with pytest.raises(ScopeDenied) as caught:
        settings(None)

    assert caught.value.reason == "not_configured"


def test_a_family_that_needs_none_has_its_defaults_checked() -> None:
    family = Family(name="thing", tools=[])
    clients = parse(json.dumps({"clients": {"anna": client("thing:use")}}).encode(), "/c.yaml")

    assert load(clients, clients.by_name["anna"], family, {}, []).value == {}


BAD = [
    pytest.param({"hots": "x", "host": "h"}, "hots: unknown setting", id="unknown key"),
    pytest.param({}, "host", id="missing key"),
    pytest.param({"host": 1}, "host", id="wrong type"),
    pytest.param({"host": "h", "port": "1"}, "port", id="a number as text"),
    pytest.param({"host": "h", "port": 0}, "port", id="out of range"),
    pytest.param({"host": "${UNSET}"}, "UNSET is not set", id="unset variable"),
    pytest.param({"host": "h", "password": "${file:/nowhere}"}, "cannot be read", id="missing secret"),
    pytest.param({"host": "h", "connections": {"a": {"ur": "x"}}}, "connections.a.ur", id="unknown key inside"),
    pytest.param("text", "", id="text"),
    pytest.param([], "", id="list"),
]


@pytest.mark.parametrize(("raw", "message"), BAD)
def test_wrong_settings_are_named_with_client_key_and_line(raw: Any, message: str) -> None:
    """Fail closed: nothing unknown, unset or mistyped is passed over."""
    with pytest.raises(SettingsUnusable) as caught:
        settings(raw)

    assert any(message in problem for problem in caught.value.problems), caught.value.problems
    assert all(problem.startswith("/etc/clitool/clients.yaml:") for problem in caught.value.problems)
    assert all("clients.anna.tools.thing" in problem for problem in caught.value.problems)
    assert "/etc" not in str(caught.value)


def test_null_settings_are_not_the_same_as_none() -> None:
    document = b"clients: {anna: {scopes: [thing:use], tools: {thing: }}}"
    clients = parse(document, "/c.yaml")
    family = Family(name="thing", tools=[], settings_schema=SCHEMA)

    with pytest.raises(SettingsUnusable):
        load(clients, clients.by_name["anna"], family, {}, [])


def test_a_family_says_what_is_wrong_in_its_own_words() -> None:
    def complain(_: Any, __: Origin) -> None:
        raise SettingsError("connections.a.url", "must be another one")

    with pytest.raises(SettingsUnusable) as caught:
        settings({"host": "h"}, parse_=complain)

    assert caught.value.problems[0].endswith("clients.anna.tools.thing.connections.a.url: must be another one")


def test_a_family_learns_where_its_settings_come_from() -> None:
    origin = settings({"host": "h"}, parse_=lambda _, origin: origin)

    assert origin.folder == "/etc/clitool"
    assert set(origin.protected) == {"/etc/clitool/clients.yaml", "/etc/clitool/clients.yaml.index", "/var/log"}


def test_a_fault_in_one_clients_settings_stops_that_clients_family_only(tmp_path: Path) -> None:
    document = {
        "clients": {
            "anna": client("file:read", "trouble:use", tools={"file": {"root_pth": "x"}}),
            "ben": client("file:read", token="ben", tools={"file": {"root_path": str(tmp_path / "files")}}),
        }
    }
    (tmp_path / "files").mkdir()
    before = ("--clients", str(write_clients(tmp_path / "c", document)))
    env = environment(PYTHONPATH=PLUGINS)

    def call(tool: str, params: str, token: str) -> Any:
        return run(*before, "call", tool, "--token-stdin", "--params", params, stdin=token.encode(), env=env)

    refused = call("file_list", "{}", TOKEN)
    assert refused.verdict == ("execution_error", "settings")
    assert b"root_path" in refused.stderr  # the owner is told, the caller is not
    assert b"root_path" not in refused.stdout
    assert call("file_list", "{}", "ben").document["ok"]
    assert call("trouble", '{"how": "nothing"}', TOKEN).document["ok"]
    assert run(*before, "verify", stdin=TOKEN.encode()).document["authenticated"]
