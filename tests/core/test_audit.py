"""One audit line per call, whatever becomes of it; never values, never secrets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import PLUGINS, TOKEN, Result, client, digest, environment, run, write_clients

if TYPE_CHECKING:
    from pathlib import Path


def call(
    folder: Path,
    how: str,
    *,
    token: str = TOKEN,
    tool: str = "trouble",
    log: dict[str, Any] | None = None,
    before: tuple[str, ...] = (),
) -> Result:
    document = {"clients": {"anna": client("trouble:use")}, "log": {"directory": "log"} | (log or {})}
    path = write_clients(folder / "c", document)
    params = json.dumps({"how": how})
    return run(
        "--clients",
        str(path),
        *before,
        "call",
        tool,
        "--token-stdin",
        "--params",
        params,
        stdin=token.encode(),
        env=environment(PYTHONPATH=PLUGINS),
    )


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in folder.glob("c/log/*/audit.jsonl") for line in file.read_text().splitlines()]


CASES = [
    pytest.param({"how": "ok"}, ("anna", "trouble", "ok", None), id="success"),
    pytest.param({"how": "refusal"}, ("anna", "trouble", "invalid_params", "bad_path"), id="a refusal"),
    pytest.param({"how": "raise"}, ("anna", "trouble", "execution_error", "internal"), id="an unforeseen error"),
    pytest.param(
        {"how": "forged facts"}, ("anna", "trouble", "execution_error", "crashed"), id="a crash with forged facts"
    ),
    pytest.param({"how": "exit"}, ("anna", "trouble", "execution_error", "crashed"), id="a crash"),
    pytest.param(
        {"how": "sleep", "before": ("--timeout", "1")},
        ("anna", "trouble", "execution_error", "timeout"),
        id="the deadline",
    ),
    pytest.param({"how": "ok", "token": ""}, (None, "trouble", "auth_failed", "token_missing"), id="no token"),
    pytest.param(
        {"how": "ok", "token": "wrong"}, (None, "trouble", "auth_failed", "token_rejected"), id="a wrong token"
    ),
    pytest.param(
        {"how": "ok", "tool": "no_such"}, ("anna", "no_such", "tool_not_found", "tool_unknown"), id="no such tool"
    ),
    pytest.param(
        {"how": "ok", "tool": "trouble_forbidden"},
        ("anna", "trouble_forbidden", "scope_denied", "scope_missing"),
        id="no scope",
    ),
    pytest.param({"how": "nonsense"}, ("anna", "trouble", "invalid_params", "schema"), id="wrong parameters"),
]


@pytest.mark.parametrize(("arguments", "expected"), CASES)
def test_each_call_leaves_one_line(tmp_path: Path, arguments: dict[str, Any], expected: tuple[Any, ...]) -> None:
    call(tmp_path, **arguments)

    [line] = lines(tmp_path)
    assert (line["client"], line["tool"], line["code"], line["reason"]) == expected
    assert line["phase"] == "outcome"
    assert {"time", "reference", "ms", "touched"} <= set(line)


def test_what_a_tool_touched_is_in_the_line(tmp_path: Path) -> None:
    call(tmp_path, "nothing")

    assert lines(tmp_path)[0]["touched"] == {"how": "nothing"}


def test_the_token_is_in_no_log(tmp_path: Path) -> None:
    """Neither the audit trail nor a traceback may hold what opens the door."""
    for how in ("ok", "raise", "nonsense", "print"):
        call(tmp_path, how)
    call(tmp_path, "ok", token="wrong-token-of-somebody")

    files = [*tmp_path.glob("c/log/*/*")]
    assert {file.name for file in files} == {"audit.jsonl", "core.log", "output.log"}
    for file in files:
        assert TOKEN not in file.read_text()
        assert "wrong-token" not in file.read_text()


def test_where_audit_is_required_an_attempt_comes_before_the_outcome(tmp_path: Path) -> None:
    call(tmp_path, "ok", log={"audit": "required"})

    assert [line["phase"] for line in lines(tmp_path)] == ["attempt", "outcome"]
    assert len({line["reference"] for line in lines(tmp_path)}) == 1


def test_where_audit_is_required_no_line_means_no_execution(tmp_path: Path) -> None:
    """What cannot be written down does not happen."""
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "log").write_text("a file where a folder should be")

    assert call(tmp_path, "ok", log={"audit": "required"}).verdict == ("execution_error", "audit")


def test_a_log_that_cannot_be_written_fails_no_call(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "log").write_text("a file where a folder should be")

    assert call(tmp_path, "ok").document["ok"]
    assert call(tmp_path, "raise").verdict == ("execution_error", "internal")


def test_without_any_folder_there_is_no_log_and_no_trouble(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("trouble:use")}})

    result = run(
        "--clients",
        str(path),
        "call",
        "trouble",
        "--token-stdin",
        "--params",
        '{"how": "ok"}',
        stdin=TOKEN.encode(),
        env=environment(PYTHONPATH=PLUGINS),
    )

    assert result.document["ok"]
    assert [entry.name for entry in (tmp_path / "c").iterdir()] == ["clients.yaml"]


def test_the_users_folder_serves_where_there_is_a_home(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("trouble:use")}})

    run(
        "--clients",
        str(path),
        "call",
        "trouble",
        "--token-stdin",
        "--params",
        '{"how": "ok"}',
        stdin=TOKEN.encode(),
        env=environment(PYTHONPATH=PLUGINS, HOME=str(tmp_path / "home")),
    )

    [audit] = (tmp_path / "home" / ".local" / "state" / "clitool" / "log").glob("*/audit.jsonl")
    assert audit.stat().st_mode & 0o777 == 0o600


REJECTED = [
    pytest.param("wrong", "no client has this token", id="unknown"),
    pytest.param("old", "the token 'old' of client 'anna': expired", id="expired"),
    pytest.param("new", "not yet valid", id="not yet valid"),
    pytest.param("off", "disabled", id="disabled"),
]


@pytest.mark.parametrize("command", ["call", "verify"])
@pytest.mark.parametrize(("token", "why"), REJECTED)
def test_v4_why_a_token_was_refused_stands_in_the_log_only(tmp_path: Path, command: str, token: str, why: str) -> None:
    """V4: the owner can find out, the caller cannot."""
    dates = {"old": {"expires": "2020-01-01"}, "new": {"not_before": "2999-01-01"}, "off": {"disabled": True}}
    tokens = [{"id": name, "sha256": digest(name), **more} for name, more in dates.items()]
    document = {"clients": {"anna": {"scopes": ["x:y"], "tokens": tokens}}, "log": {"directory": "log"}}
    path = write_clients(tmp_path / "c", document)
    words = ["call", "trouble", "--token-stdin"] if command == "call" else ["verify"]

    result = run("--clients", str(path), *words, stdin=token.encode())

    [log] = tmp_path.glob("c/log/*/core.log")
    assert why in log.read_text()
    assert why.encode() not in result.stdout + result.stderr
    assert b"anna" not in result.stdout + result.stderr


def test_what_would_be_touched_stands_in_the_attempt_already(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    document = {
        "clients": {"anna": client("file:read", tools={"file": {"root_path": str(files)}})},
        "log": {"directory": "log", "audit": "required"},
    }
    path = write_clients(tmp_path / "c", document)

    run(
        "--clients",
        str(path),
        "call",
        "file_read",
        "--token-stdin",
        "--params",
        '{"path": "no.txt"}',
        stdin=TOKEN.encode(),
    )

    attempt, outcome = lines(tmp_path)
    assert attempt["touched"]["path"] == outcome["touched"]["path"] == "no.txt"
