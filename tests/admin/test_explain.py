"""`clitool explain`: the steps of a call, in its order and with its verdict, but without its effect."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from command import PLUGINS, TOKEN, Result, client, digest, environment, run, write_clients

from clitool import tokens

if TYPE_CHECKING:
    from pathlib import Path

STEPS = ["clients file", "token", "tool", "scope", "parameters", "settings", "policy"]
EXPIRED, LATER, OFF, GONE, ISSUED = "expired-token", "later-token", "off-token", "gone-token", tokens.issue()
MISTYPED = ISSUED[:9] + ("y" if ISSUED[9] == "x" else "x") + ISSUED[10:]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    settings = {
        "file": {"root_path": "files", "allow_write": True, "allowed_extensions": [".txt"]},
        "database": {"type": "sqlite", "connection_string": "sqlite:///shop.db", "allowed_tables": ["orders"]},
    }
    listed = [
        {"id": "good", "sha256": digest(TOKEN)},
        {"id": "old", "sha256": digest(EXPIRED), "expires": "2020-01-01"},
        {"id": "next", "sha256": digest(LATER), "not_before": "2999-01-01"},
        {"id": "off", "sha256": digest(OFF), "disabled": True},
    ]
    path = write_clients(
        tmp_path / "c",
        {
            "clients": {
                "anna": {
                    "tokens": listed,
                    "tools": settings,
                    "scopes": ["file:read", "file:write", "database:*", "calculator:use", "trouble:use"],
                },
                "ben": client("*", token="bens-token"),
                "gone": client("*", token=GONE, disabled=True),
                "host": {"scopes": ["calculator:use"], "empty_token": True},
                "torn": client("*", token="torn-token", tools={"file": {"root_path": "${NOPE}"}}),
            },
            "tools": {"disabled": ["database_sql"]},
            "log": {"directory": "log"},
            "state": {"directory": "state"},
        },
    )
    (path.parent / "files").mkdir()
    (path.parent / "files" / "a.txt").write_text("text")
    with closing(sqlite3.connect(path.parent / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT)")
        connection.execute("CREATE TABLE staff (id INTEGER PRIMARY KEY)")
        connection.execute("INSERT INTO orders VALUES (1, 'open')")
    return path


def explain(
    path: Path, tool: str, /, *words: str, token: str = TOKEN, before: tuple[str, ...] = (), **params: Any
) -> Result:
    text = ["--params", json.dumps(params)] if params else []
    return run(
        "--clients",
        str(path),
        *before,
        "explain",
        tool,
        "--token-stdin",
        "--json",
        *text,
        *words,
        stdin=token.encode(),
        env=environment(PYTHONPATH=PLUGINS),
    )


def call(path: Path, tool: str, token: str = TOKEN, /, **params: Any) -> Result:
    text = ["--params", json.dumps(params)] if params else []
    return run(
        "--clients",
        str(path),
        "call",
        tool,
        "--token-stdin",
        *text,
        stdin=token.encode(),
        env=environment(PYTHONPATH=PLUGINS),
    )


# What is called, and the step that refuses it; without one the call is made.
CALLS = [
    pytest.param("calculator", {"function": "add", "a": 1, "b": 2}, TOKEN, None, id="calculator"),
    pytest.param("file_read", {"path": "a.txt"}, TOKEN, None, id="read"),
    pytest.param("file_write", {"path": "b.txt", "content": "x"}, TOKEN, None, id="write"),
    pytest.param("file_write", {"path": "a.txt", "content": "x", "overwrite": True}, TOKEN, None, id="overwrite"),
    pytest.param("file_edit", {"path": "a.txt", "old_text": "text", "new_text": "x"}, TOKEN, None, id="edit"),
    pytest.param("database_query", {"table": "orders"}, TOKEN, None, id="query"),
    pytest.param("database_insert", {"table": "orders", "rows": [{"id": 2}]}, TOKEN, None, id="insert"),
    pytest.param(
        "database_update", {"table": "orders", "where": {"id": 1}, "values": {"status": "x"}}, TOKEN, None, id="update"
    ),
    pytest.param("database_delete", {"table": "orders", "where": {"id": 1}}, TOKEN, None, id="delete rows"),
    pytest.param("calculator", {"function": "add"}, "no-such-token", "token", id="unknown token"),
    pytest.param("calculator", {"function": "add"}, EXPIRED, "token", id="expired"),
    pytest.param("calculator", {"function": "add"}, LATER, "token", id="not yet valid"),
    pytest.param("calculator", {"function": "add"}, OFF, "token", id="disabled"),
    pytest.param("calculator", {"function": "add"}, GONE, "token", id="client disabled"),
    pytest.param("calculator", {"function": "add"}, "", "token", id="empty"),
    pytest.param("calculater", {}, TOKEN, "tool", id="unknown tool"),
    pytest.param("x_calculator", {}, TOKEN, "tool", id="prefix of a host"),
    pytest.param("database_sql", {"sql": "SELECT 1"}, TOKEN, "tool", id="switched off"),
    pytest.param("file_delete", {"path": "a.txt"}, TOKEN, "scope", id="no scope"),
    pytest.param("file_delete", {"nonsense": 1}, TOKEN, "scope", id="no scope, wrong parameters"),
    pytest.param("file_read", {}, TOKEN, "parameters", id="parameter missing"),
    pytest.param("file_read", {"path": 1}, TOKEN, "parameters", id="wrong kind"),
    pytest.param("file_read", {"path": "a.txt", "x": 1}, TOKEN, "parameters", id="unknown parameter"),
    pytest.param("database_query", {"table": "orders"}, "bens-token", "settings", id="not configured"),
    pytest.param("file_read", {"path": "a.txt"}, "torn-token", "settings", id="settings not usable"),
    pytest.param("file_read", {"path": "../clients.yaml"}, TOKEN, "policy", id="outside"),
    pytest.param("file_read", {"path": "/etc/passwd"}, TOKEN, "policy", id="absolute"),
    pytest.param("file_write", {"path": "x.sh", "content": "x"}, TOKEN, "policy", id="extension"),
    pytest.param("database_query", {"table": "staff"}, TOKEN, "policy", id="table"),
    pytest.param("database_delete", {"table": "staff", "where": {"id": 1}}, TOKEN, "policy", id="rows of a table"),
]


@pytest.mark.parametrize(("tool", "params", "token", "step"), CALLS)
def test_the_verdict_is_that_of_the_call(path: Path, tool: str, params: Any, token: str, step: str | None) -> None:
    """Same code, same reason, at the step that is expected; and the world is as it was."""
    before = snapshot(path.parent)
    result = explain(path, tool, token=token, **params)
    explanation = result.document
    assert snapshot(path.parent) == before
    answer = call(path, tool, token, **params).document
    passed = [each["step"] for each in explanation["steps"] if each["ok"]]
    refused = [each["step"] for each in explanation["steps"] if not each["ok"]]
    if step is None:
        assert (result.status, explanation["ok"], answer["ok"]) == (0, True, True), answer
        assert (passed, refused) == (STEPS, [])
    else:
        assert (result.status, explanation["ok"], answer["ok"]) == (1, False, False)
        assert (passed, refused) == (STEPS[: STEPS.index(step)], [step])
        assert (explanation["code"], explanation["details"]["reason"]) == (answer["code"], answer["details"]["reason"])


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        pytest.param(EXPIRED, "the token 'old' of client 'anna': expired", id="expired"),
        pytest.param(LATER, "the token 'next' of client 'anna': not yet valid", id="later"),
        pytest.param(OFF, "the token 'off' of client 'anna': disabled", id="disabled"),
        pytest.param(GONE, "the token 't' of client 'gone': client disabled", id="client disabled"),
        pytest.param("", "the token is empty", id="empty"),
        pytest.param(f" {TOKEN}", "there are blanks around it", id="blank before"),
        pytest.param(f"{TOKEN}\r ", "there are blanks around it", id="blank after"),
        pytest.param(ISSUED, "no client has this token", id="unknown"),
        pytest.param(ISSUED[:-1], "it was not copied whole", id="cut"),
        pytest.param(MISTYPED, "it was not copied whole", id="mistyped"),
        pytest.param("x" * 9000, "no client has this token", id="long"),
    ],
)
def test_it_says_why_a_token_is_not_valid(path: Path, token: str, sentence: str) -> None:
    """The owner of the clients file learns what a caller never does; the token itself is not repeated."""
    result = explain(path, "calculator", token=token)
    assert result.document["steps"][-1]["message"].endswith(sentence)
    assert not token or token.encode() not in result.stdout


def test_a_switched_off_tool_is_told_apart_from_one_that_does_not_exist(path: Path) -> None:
    assert "switched off" in explain(path, "database_sql").document["error"]
    assert "there is no tool" in explain(path, "database_sq").document["error"]


def test_a_client_can_be_named_instead_of_a_token(path: Path) -> None:
    result = run("--clients", str(path), "explain", "file_read", "--client", "anna", "--params", '{"path": "a.txt"}')
    lines = result.stdout.decode().splitlines()
    assert result.status == 0
    assert [line.split()[0] for line in lines[: len(STEPS)]] == ["ok"] * len(STEPS)
    assert (
        lines[-1] == "The call would be made; what it meets there (whether a file or row exists) only the call shows."
    )


def test_the_text_for_people_ends_with_the_verdict(path: Path) -> None:
    result = run("--clients", str(path), "explain", "file_delete", "--client", "anna")
    assert result.status == 1
    assert result.stdout.decode().splitlines()[-3:] == [
        "refused  scope         the scope 'file:delete' is missing",
        "",
        "The call would be refused: scope_denied (scope_missing).",
    ]


@pytest.mark.parametrize("name", ["nobody", "gone"])
def test_a_client_that_cannot_call_is_refused(path: Path, name: str) -> None:
    result = run("--clients", str(path), "explain", "calculator", "--client", name, "--json")
    assert (result.status, result.document["steps"][-1]["step"]) == (1, "token")


def test_an_empty_token_can_stand_for_a_client(path: Path) -> None:
    result = explain(path, "calculator", token="", before=("--empty-token-client", "host"))
    assert result.document["steps"][1]["message"] == "it is empty, which stands for the client 'host'"
    assert explain(path, "calculator", token="", before=("--empty-token-client", "anna")).status == 1


def test_parameters_come_from_where_a_call_takes_them(path: Path, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"path": "../x"}')
    words = ["--clients", str(path), "explain", "file_read", "--json"]
    from_file = run(*words, "--client", "anna", "--params", f"@{tmp_path}/p.json").document
    from_stdin = run(*words, "--client", "anna", "--params", "@-", stdin=b'{"path": "../x"}').document
    after_token = run(*words, "--token-stdin", "--params", "@-", stdin=f'{TOKEN}\n{{"path": "../x"}}'.encode()).document
    assert {each["details"]["reason"] for each in (from_file, from_stdin, after_token)} == {"outside_root"}


def test_a_stranger_cannot_have_a_file_opened(path: Path, tmp_path: Path) -> None:
    """As in a call, nothing is read before the scope is there."""
    pipe = tmp_path / "missing.json"
    result = explain(path, "file_delete", "--params", f"@{pipe}")
    assert result.document["steps"][-1]["step"] == "scope"


def test_an_audit_line_that_is_required_is_a_step(tmp_path: Path) -> None:
    for directory, status in (("log", 0), ("/dev/null/log", 1)):
        path = write_clients(
            tmp_path / "c",
            {"clients": {"a": client("calculator:use")}, "log": {"directory": directory, "audit": "required"}},
        )
        result = explain(path, "calculator", function="add", a=1, b=2)
        assert result.status == status
        assert "audit" in [each["step"] for each in result.document["steps"]]
        assert call(path, "calculator", function="add", a=1, b=2).status == status


def test_a_file_with_faults_is_told_in_full(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", "clients:\n  a: {}\n  b: {}\n")
    result = explain(path, "calculator")
    assert [each["message"] for each in result.document["steps"]] == [
        f"{path}:{line}: clients.{name}.scopes: must be a list of at least one scope, for example [file:read]"
        for line, name in ((2, "a"), (3, "b"))
    ]


PLUGIN = """\
import os, time
from clitool.errors import InvalidParams
from clitool.family import Family

class Ask:
    name = description = "ask"
    required_scope, effect, idempotent = "ask:do", "read", True
    input_schema = {"type": "object", "properties": {"how": {"type": "string"}}, "additionalProperties": False}
    def __init__(self, context): self.context = context
    def execute(self, how): os.mkdir("/executed")
    def decide(self, how):
        if how == "prints": print("printed"); os.write(1, b"written"); os.write(2, b"written")
        if how == "refuses": raise InvalidParams("not this", "bad_value")
        if how == "fails": raise RuntimeError("password=hunter2")
        if how == "leaves": raise SystemExit(0)
        if how == "exits": os._exit(0)
        if how == "hangs": time.sleep(600)
        return {"how": how, "lines": "two\\nlines", "nothing": ""}

family = Family(name="ask", tools=(Ask,))
"""


@pytest.mark.parametrize(
    ("how", "code", "reason"),
    [
        pytest.param("prints", "", "", id="prints"),
        pytest.param("refuses", "invalid_params", "bad_value", id="refuses"),
        pytest.param("fails", "execution_error", "internal", id="fails"),
        pytest.param("leaves", "execution_error", "internal", id="leaves"),
        pytest.param("exits", "execution_error", "crashed", id="exits"),
        pytest.param("hangs", "execution_error", "timeout", id="hangs"),
    ],
)
def test_whatever_a_tool_does_when_it_is_asked_there_is_one_document(
    tmp_path: Path, how: str, code: str, reason: str
) -> None:
    """Code of plugins runs in a worker that is supervised; nothing of an unforeseen error is repeated."""
    site = tmp_path / "site-packages"
    (site / "ask-1.0.dist-info").mkdir(parents=True)
    (site / "ask-1.0.dist-info" / "entry_points.txt").write_text("[clitool.families]\nask = ask:family\n")
    (site / "ask.py").write_text(PLUGIN)
    path = write_clients(tmp_path / "c", {"clients": {"a": client("ask:do")}})
    result = run(
        "--clients",
        str(path),
        "--timeout",
        "2",
        "explain",
        "ask",
        "--client",
        "a",
        "--json",
        "--params",
        json.dumps({"how": how}),
        env=environment(PYTHONPATH=str(site)),
    )
    document = result.document
    assert b"hunter2" not in result.stdout + result.stderr
    assert document["ok"] is not bool(code)
    if code:
        assert (result.status, document["code"], document["details"]["reason"]) == (1, code, reason)
    else:
        assert document["touches"] == {"how": how, "lines": "two\nlines", "nothing": ""}
        assert document["steps"][-1]["message"] == "it would touch how: prints, lines: two\\nlines"


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(each): (each.stat().st_mtime_ns, each.read_bytes() if each.is_file() else b"")
        for each in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        ("SELECT id FROM orders", "orders"),
        ("WITH orders AS (SELECT salary FROM staff) SELECT * FROM orders", "'staff'"),
        ("SELECT load_extension('x')", "load_extension"),
    ],
)
def test_of_a_statement_the_database_is_asked_and_nothing_runs(tmp_path: Path, sql: str, verdict: str) -> None:
    """Which tables a SELECT reads only the database can tell; it compiles, and does not start."""
    run("init", str(tmp_path / "demo"))
    words = (
        "--clients",
        str(tmp_path / "demo" / "clients.yaml"),
        "explain",
        "database_sql",
        "--client",
        "demo",
        "--json",
        "--params",
        json.dumps({"sql": sql}),
    )

    result = run(*words)

    assert result.status == (0 if verdict == "orders" else 1)
    assert verdict in json.dumps(json.loads(result.stdout)["steps"][-1])
