"""What clients.yaml may say; everything else is refused, with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import digest
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.clients_file import ClientsFileError
from clitool.clients_yaml import parse

if TYPE_CHECKING:
    from clitool.clients_yaml import ParsedClients

D1, D2 = digest("one"), digest("two")


def clients(text: str) -> ParsedClients:
    return parse(text.encode(), "/etc/clitool/clients.yaml")


GOOD = f"""
clients:
  anna:
    tokens:
      - {{id: laptop, sha256: "{D1}", expires: 2027-06-30}}
    scopes: [file:read, role:reader]
    tools:
      file: {{root_path: /srv}}
  crm-bot: {{tokens: [], scopes: ["*"]}}
  host: {{scopes: [a:b], empty_token: true}}
roles: {{reader: [database:read]}}
tools: {{disabled: [database_sql]}}
log: {{directory: log, keep_days: 7, audit: required}}
state: {{directory: /var/lib/clitool}}
"""


def test_a_good_file_becomes_values() -> None:
    found = clients(GOOD)
    anna = found.by_name["anna"]

    assert anna.scopes == ("file:read", "database:read")
    assert anna.settings == {"file": {"root_path": "/srv"}}
    assert anna.tokens[0].expires == "2027-06-30"
    assert found.find(D1) == (anna, anna.tokens[0])
    assert found.find(D2) is None
    assert found.disabled == {"database_sql"}
    assert (found.log.directory, found.log.keep_days, found.log.audit) == ("/etc/clitool/log", 7, "required")
    assert found.state_directory == "/var/lib/clitool"


def entry(**changes: Any) -> str:
    """A file with one client whose entry, or top level if the key is `top`, is changed; None takes a key out."""
    one: dict[str, Any] = {"tokens": [{"id": "t", "sha256": D1}], "scopes": ["file:read"]}
    document: dict[str, Any] = {"clients": {"anna": one}}
    document.update(changes.pop("top", {}))
    one.update(changes)
    return yaml.safe_dump(document)


def token(**changes: Any) -> str:
    return entry(tokens=[{"id": "t", "sha256": D1, **changes}])


BAD = [
    pytest.param("", "must be a mapping", id="empty"),
    pytest.param("- a", "must be a mapping", id="a list"),
    pytest.param("clients:", "at least one client", id="no clients, null"),
    pytest.param("clients: {}", "at least one client", id="no clients"),
    pytest.param("clients: [a]", "at least one client", id="clients as a list"),
    pytest.param(entry(top={"client": {}}), "did you mean 'clients'?", id="misspelt top key"),
    pytest.param(entry(scope=["a:b"]), "did you mean 'scopes'?", id="misspelt client key"),
    pytest.param(token(expire="2027-01-01"), "did you mean 'expires'?", id="misspelt token key"),
    pytest.param(entry(top={"log": {"dir": "x"}}), "unknown key", id="misspelt log key"),
    pytest.param(entry(top={"state": {"path": "x"}}), "unknown key", id="misspelt state key"),
    pytest.param(entry(top={"tools": {"disable": []}}), "did you mean 'disabled'?", id="misspelt tools key"),
    pytest.param("clients: {anna: null}", "must be a mapping", id="a client that is null"),
    pytest.param(entry(scopes=[]), "at least one scope", id="empty scopes"),
    pytest.param(entry(scopes=None), "at least one scope", id="scopes null"),
    pytest.param(entry(scopes="file:read"), "at least one scope", id="scopes as text"),
    pytest.param(entry(scopes=["file:read,mail:read"]), "is written", id="two scopes in one text"),
    pytest.param(entry(scopes=["file"]), "is written", id="a scope without an action"),
    pytest.param(entry(scopes=["fi*:read"]), "is written", id="a wildcard in the middle"),
    pytest.param(entry(scopes=["*:read"]), "is written", id="a wildcard family"),
    pytest.param(entry(scopes=["file:re*"]), "is written", id="half a wildcard"),
    pytest.param(entry(scopes=[""]), "is written", id="an empty scope"),
    pytest.param(entry(scopes=[1]), "is written", id="a number as a scope"),
    pytest.param(entry(scopes=["${SCOPES}"]), "is written", id="a reference as a scope"),
    pytest.param(entry(scopes=["role:admin"]), "no role 'admin'", id="a role that is not defined"),
    pytest.param(entry(scopes=["role:*"], top={"roles": {"*": ["x:y"]}}), "is written", id="a wildcard role"),
    pytest.param(entry(top={"roles": {"a": ["role:b"], "b": ["x:y"]}}), "cannot contain a role", id="a role in a role"),
    pytest.param(entry(top={"roles": {"a": []}}), "at least one scope", id="an empty role"),
    pytest.param(entry(top={"roles": ["a"]}), "must be a mapping", id="roles as a list"),
    pytest.param(entry(tokens="x"), "must be a list", id="tokens as text"),
    pytest.param(entry(tokens=None), "must be a list", id="tokens null"),
    pytest.param(entry(tokens=["x"]), "must be a mapping", id="a token as text"),
    pytest.param(token(sha256="abc"), "64 hexadecimal", id="a short digest"),
    pytest.param(token(sha256=D1[:-1] + "g"), "64 hexadecimal", id="a digest with a g"),
    pytest.param(token(sha256=10**63), "64 hexadecimal", id="a digest without quotes"),
    pytest.param(token(id=""), "token's id", id="an empty id"),
    pytest.param(token(id="a b"), "token's id", id="an id with a blank"),
    pytest.param(token(expires="tomorrow"), "a date like", id="not a date"),
    pytest.param(token(expires="2027-02-30"), "a date like", id="no such day"),
    pytest.param(token(expires="20270630"), "a date like", id="another form of date"),
    pytest.param(token(expires=2027), "a date like", id="a year"),
    pytest.param(token(expires=None), "a date like", id="an end that was left empty"),
    pytest.param(token(not_before=None), "a date like", id="a beginning that was left empty"),
    pytest.param(token(expires="2027-06-30T12:00:00"), "a date like", id="a time"),
    pytest.param(token(disabled="false"), "without quotes", id="a boolean as text"),
    pytest.param(entry(disabled="no"), "without quotes", id="a disabled client as text"),
    pytest.param(entry(empty_token=1), "without quotes", id="a number for a boolean"),
    pytest.param(entry(empty_token=True), "no tokens of its own", id="an empty-token client with tokens"),
    pytest.param(entry(tools=["file"]), "family names", id="tools as a list"),
    pytest.param(entry(top={"tools": {"disabled": "file"}}), "list of tools", id="disabled as text"),
    pytest.param(entry(top={"log": {"audit": "always"}}), "best_effort or required", id="unknown audit mode"),
    pytest.param(entry(top={"log": {"keep_days": 0}}), "whole number", id="no days"),
    pytest.param(entry(top={"log": {"keep_days": True}}), "whole number", id="days as a boolean"),
    pytest.param(entry(top={"log": {"directory": ""}}), "path of a folder", id="an empty folder"),
    pytest.param(entry(top={"log": {"directory": "${LOGS}"}}), "written out", id="a folder with a reference"),
    pytest.param(entry(top={"state": {"directory": "~/state"}}), "written out", id="a folder with a tilde"),
    pytest.param(entry(top={"log": None}), "must be a mapping", id="log null"),
    pytest.param(
        entry(tokens=[{"id": "a", "sha256": D1}, {"id": "b", "sha256": D1.upper()}]),
        "same digest",
        id="one digest twice",
    ),
    pytest.param(entry(tokens=[{"id": "a", "sha256": D1}, {"id": "a", "sha256": D2}]), "same id", id="one id twice"),
    pytest.param(
        entry(
            top={
                "clients": {
                    "a": {"tokens": [{"id": "t", "sha256": D1}], "scopes": ["x:y"]},
                    "b": {"tokens": [{"id": "t", "sha256": D1}], "scopes": ["x:y"]},
                }
            }
        ),
        "same digest",
        id="one digest under two clients",
    ),
    pytest.param("clients: {'a b': {scopes: [x:y]}}", "client's name", id="a client's name with a blank"),
    pytest.param("clients: {a: {scopes: [x:y]}, a: {scopes: [x:z]}}", "stands here twice", id="a client twice"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_what_is_wrong_is_refused_with_its_line(text: str, message: str) -> None:
    """Fail closed: nothing unknown, empty or mistyped ever means \"allow\"."""
    with pytest.raises(ClientsFileError) as caught:
        clients(text)

    assert any(message in problem for problem in caught.value.problems), caught.value.problems
    assert all(problem.startswith("/etc/clitool/clients.yaml:") for problem in caught.value.problems)


def test_a_problem_names_client_key_and_line() -> None:
    with pytest.raises(ClientsFileError) as caught:
        clients("clients:\n  anna:\n    scopes: [a:b]\n    tokns: []\n  ben:\n    scopes: 'x'\n")

    needs_a_scope = "must be a list of at least one scope, for example [file:read]"
    assert caught.value.problems == [
        "/etc/clitool/clients.yaml:4: clients.anna.tokns: unknown key; did you mean 'tokens'?",
        f"/etc/clitool/clients.yaml:6: clients.ben.scopes: {needs_a_scope}",
    ]


VALIDITY = [
    ({}, True),
    ({"expires": "2027-06-30"}, True),
    ({"expires": "2027-06-29"}, False),
    ({"not_before": "2027-06-30"}, True),
    ({"not_before": "2027-07-01"}, False),
    ({"disabled": True}, False),
]


@pytest.mark.parametrize(("more", "valid"), VALIDITY, ids=str)
def test_a_token_is_valid_through_its_last_day(more: dict[str, Any], valid: bool) -> None:
    [one] = clients(token(**more)).by_name["anna"].tokens

    assert one.is_valid("2027-06-30") is valid


@settings(deadline=None, derandomize=True)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_document_is_read_or_refused_but_never_crashes(document: Any) -> None:
    for text in (
        yaml.safe_dump(document),
        yaml.safe_dump({"clients": {"a": document}}),
        yaml.safe_dump({"clients": {"a": {"scopes": ["a:b"], "tokens": [document]}}, "roles": document}),
    ):
        try:
            clients(text)
        except ClientsFileError as error:
            assert error.problems
