"""`clitool check`: what would make calls fail, and what is odd; one line each, never a secret."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from command import TOKEN, client, environment, run, write_clients

from clitool.admin.checkup import check
from clitool.arguments import Request

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NO_INDEX_YET = (
    "there is none, so calls read the whole clients file: it changed less than 2 seconds ago, or in the future"
)
TODAY = datetime.now(UTC).date()
DIGEST = "c" * 64


def in_days(number: int) -> str:
    return (TODAY + timedelta(number)).isoformat()


def find(path: Path, env: Mapping[str, str] | None = None, *, connect: bool = False) -> list[tuple[str, str, str]]:
    request = Request()
    request.clients = str(path)
    remarks = check(request, env or {}, connect=connect)
    found = [(each.level, each.where.removeprefix(str(path)).lstrip(":"), each.message) for each in remarks.all]
    return [finding for finding in found if finding[1] != ".index"]


def trouble(path: Path, env: Mapping[str, str] | None = None) -> list[str]:
    return [f"{where} {level}: {message}" for level, where, message in find(path, env) if level != "ok"]


ALL = "clients:\n  a: {empty_token: true, scopes: ['*']}\n"
USE = "clients:\n  a:\n    scopes: [calculator:use]\n"
SETTINGS = "clients:\n  a:\n    empty_token: true\n    scopes: ['*']\n    tools:\n"

# The clients file, and a piece of the one finding that it gives.
ONE_FINDING = [
    pytest.param("clients: {}\n", "1 error: clients: must name at least one client", id="no clients"),
    pytest.param("clients: [\n", "2 error: not YAML", id="no YAML"),
    pytest.param(
        "clients:\n  a: {scopes: [calculator:use]}\n  a: {scopes: [calculator:use]}\n",
        "3 error: the key 'a' stands here twice",
        id="key twice",
    ),
    pytest.param(
        USE + "    empty_token: true\n    colour: red\n", "5 error: clients.a.colour: unknown key", id="unknown key"
    ),
    pytest.param(USE, "2 warning: nobody can be client 'a'", id="no token"),
    pytest.param(
        USE + f"    tokens:\n      - {{id: x, sha256: {DIGEST}, expires: {in_days(0)}}}\n",
        "5 warning: the token 'x' of client 'a' expires on",
        id="last day",
    ),
    pytest.param(
        USE + f"    tokens:\n      - {{id: x, sha256: {DIGEST}, expires: {in_days(14)}}}\n",
        "5 warning: the token 'x' of client 'a' expires",
        id="two weeks left",
    ),
    pytest.param(
        USE + f"    tokens:\n      - {{id: y, sha256: {'d' * 64}}}\n"
        f"      - {{id: x, sha256: {DIGEST}, expires: {in_days(-1)}}}\n",
        "6 warning: the token 'x' of client 'a' expired on",
        id="expired",
    ),
    pytest.param(
        "clients:\n  a: {empty_token: true, scopes: [calculator:use, calculator:usee]}\n",
        "2 warning: no tool requires the scope 'calculator:usee'; did you mean 'calculator:use'?",
        id="scope",
    ),
    pytest.param(
        "clients:\n  a: {empty_token: true, scopes: [calculator:use, 'mall:*']}\n",
        "2 warning: no tool requires the scope 'mall:*'",
        id="family of a scope",
    ),
    pytest.param(
        "clients:\n  a: {empty_token: true, scopes: ['*', calculator:use]}\ntools: {disabled: [calculator]}\n",
        "2 warning: the scope 'calculator:use' is only for tools that are switched off",
        id="switched off",
    ),
    pytest.param(
        "clients:\n  a: {empty_token: true, scopes: [calculator:use, file:read]}\n",
        "2 warning: client 'a' has scopes for file but no settings for it",
        id="not configured",
    ),
    pytest.param(
        USE + "    empty_token: true\n    tools:\n      file: {root_path: f}\n",
        "6 warning: client 'a' has settings for file but no scope for it",
        id="no scope",
    ),
    pytest.param(ALL + "roles:\n  r: [file:read]\n", "4 warning: no client has the role 'r'", id="role unused"),
    pytest.param(
        "clients:\n  a: {empty_token: true, scopes: ['*', 'role:r']}\nroles:\n  r: [file:raed]\n",
        "4 warning: no tool requires the scope 'file:raed'; did you mean 'file:read'?",
        id="scope of a role",
    ),
    pytest.param(
        ALL + "tools:\n  disabled:\n    - calculater\n",
        "5 error: 'calculater' is neither a tool nor a family; did you mean 'calculator'?",
        id="disabled",
    ),
    pytest.param(
        SETTINGS + "      flie: {}\n",
        "6 error: client 'a': there is no family 'flie'; did you mean 'file'?",
        id="unknown family",
    ),
    pytest.param(
        SETTINGS + "      calculator:\n        x: 1\n",
        "7 error: client 'a': calculator is not usable: clients.a.tools.calculator.x: unknown setting",
        id="unknown setting",
    ),
    pytest.param(
        SETTINGS + "      file:\n        root_path: f\n        allow_write: 'false'\n",
        "8 error: client 'a': file is not usable: clients.a.tools.file.allow_write: setting",
        id="text for a boolean",
    ),
    pytest.param(
        SETTINGS + "      file:\n        root_path: ${NOPE}\n",
        "7 error: client 'a': file is not usable: clients.a.tools.file.root_path: the environment variable",
        id="unset variable",
    ),
    pytest.param(
        SETTINGS + "      file: {root_path: .}\n",
        "6 error: client 'a': file is not usable: clients.a.tools.file.root_path: root_path reaches",
        id="root with the clients file",
    ),
    pytest.param(
        SETTINGS + "      file: {root_path: none}\n",
        "6 error: client 'a': file: the folder that root_path names does not exist",
        id="finding of a family",
    ),
    pytest.param(
        ALL + "log: {audit: required}\n",
        "3 error: audit is required but there is no folder for it",
        id="audit without a folder",
    ),
    pytest.param(
        ALL + "log: {audit: required, directory: /dev/null/log}\n",
        "3 error: this user can neither write in /dev/null/log nor make it; every call is refused",
        id="audit that cannot be written",
    ),
    pytest.param(
        ALL + "log: {directory: /dev/null/log}\n",
        "3 warning: this user can neither write in /dev/null/log nor make it; logs",
        id="log",
    ),
    pytest.param(
        ALL + "state: {directory: /dev/null/s}\n",
        "3 warning: this user can neither write in /dev/null/s nor make it; tools",
        id="state",
    ),
]


@pytest.mark.parametrize(("text", "expected"), ONE_FINDING)
def test_each_fault_is_found_at_its_line(tmp_path: Path, text: str, expected: str) -> None:
    path = write_clients(tmp_path / "c", text)
    (path.parent / "f").mkdir()
    found = trouble(path)
    assert len(found) == 1, found
    assert found[0].startswith(expected)


def test_a_file_without_faults_gives_only_good_news(tmp_path: Path) -> None:
    settings = {"file": {"root_path": "files"}, "calculator": {}}
    anna = {**client("file:read", "calculator:use", "logmcp:read", "role:r"), "tools": settings}
    path = write_clients(
        tmp_path / "c",
        {
            "clients": {"anna": anna},
            "roles": {"r": ["logmcp:write", "file:*"]},
            "log": {"directory": "log"},
            "state": {"directory": "state"},
        },
    )
    (path.parent / "files").mkdir()
    levels = {level for level, _, _ in find(path)}
    assert levels == {"ok"}
    assert find(path)[-1] == ("ok", "1", "client 'anna' can use calculator, file")
    assert sorted(each.name for each in path.parent.iterdir()) == ["clients.yaml", "files"], "check makes nothing"


def test_a_client_that_is_disabled_needs_no_token(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"a": {"scopes": ["calculator:use"], "disabled": True}}})
    assert find(path) == [("ok", "1", "client 'a' is disabled")]


def test_a_token_for_later_is_of_use(tmp_path: Path) -> None:
    tokens = [{"id": "x", "sha256": DIGEST, "not_before": in_days(30)}]
    path = write_clients(tmp_path / "c", {"clients": {"a": {"scopes": ["calculator:use"], "tokens": tokens}}})
    assert trouble(path) == []


@pytest.mark.parametrize(
    ("target", "mode", "expected"),
    [
        pytest.param("file", 0o644, "everyone may read it; run: chmod o-r", id="readable for all"),
        pytest.param("file", 0o660, "others may write it; run: chmod go-w", id="writable for the group"),
        pytest.param("folder", 0o777, "others may write in this folder; run: chmod go-w", id="folder writable for all"),
    ],
)
def test_permissions_that_calls_would_not_accept(tmp_path: Path, target: str, mode: int, expected: str) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"a": client("calculator:use")}})
    (path if target == "file" else path.parent).chmod(mode)
    result = run("--clients", str(path), "check")
    assert result.status == 1
    assert expected in result.stdout.decode()


def test_no_file_at_all() -> None:
    result = run("check", env=environment(HOME="/nowhere"))
    assert result.status == 1
    assert result.stdout.startswith(b"error: there is no clients file: give --clients PATH")
    assert result.stdout.endswith(b"1 error, 0 warnings\n")


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    result = run("--clients", f"{tmp_path}/none.yaml", "check", "--json")
    assert result.document == {
        "ok": False,
        "findings": [
            {
                "level": "error",
                "where": f"{tmp_path}/none.yaml",
                "message": "does not exist; `clitool init DIR` writes one to begin with",
            }
        ],
    }


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701])
def test_logs_that_others_may_read(tmp_path: Path, mode: int) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"a": client("calculator:use")}, "log": {"directory": "log"}})
    (path.parent / "log").mkdir()
    (path.parent / "log").chmod(mode)
    found = trouble(path)
    assert [("everyone may look into" in line) for line in found] == ([True] if mode & 0o007 else [])


def test_warnings_do_not_fail(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"a": {"scopes": ["calculator:use"]}}})
    result = run("--clients", str(path), "check")
    assert result.status == 0
    assert result.stdout.decode().splitlines() == [
        f"{path}:1: warning: nobody can be client 'a': it has no valid token (clitool token issue a)",
        f"{path}:1: ok: client 'a' can use calculator",
        f"{path}.index: ok: {NO_INDEX_YET}",
        "0 errors, 1 warning",
    ]


def test_a_plugin_that_is_left_out_is_named_with_its_distribution(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    broken = {
        "fails-1.0": ("fails = fails:family", "import no_such_module"),
        "squats-1.0": ("file = squats:family", ""),
        "exits-1.0": ("exits = exits:family", "raise SystemExit(0)"),
    }
    for name, (line, code) in broken.items():
        (site / f"{name}.dist-info").mkdir(parents=True)
        (site / f"{name}.dist-info" / "entry_points.txt").write_text(f"[clitool.families]\n{line}\n")
        (site / f"{name.partition('-')[0]}.py").write_text(code)
    path = write_clients(tmp_path / "c", {"clients": {"a": client("calculator:use", "fails:do")}})
    result = run("--clients", str(path), "check", env=environment(PYTHONPATH=str(site)))
    errors = [line for line in result.stdout.decode().splitlines() if line.startswith("error: ")]
    assert result.status == 1
    assert len(errors) == 3
    assert any("'fails' of fails is left out: ModuleNotFoundError" in line for line in errors)
    assert any("'file' of clitool-convention, squats is left out" in line for line in errors)
    assert any("'exits' of exits is left out: SystemExit" in line for line in errors)
    assert b"'fails:do'" not in result.stdout, "what a family that is left out requires is unknown"


PLUGIN = """\
import os, sys, time
from clitool.errors import ExecutionError, SettingsError
from clitool.family import Family, Finding

class Do:
    name = description = "odd"
    required_scope, effect, idempotent = "odd:do", "read", True
    input_schema = {"type": "object", "properties": {}, "additionalProperties": False}
    def __init__(self, context): pass
    def execute(self): pass

def parse(settings, origin):
    how = settings["how"].reveal()
    if how == "parse raises": raise ValueError(how)
    if how == "parse refuses": raise SettingsError("how", "it is wrong")
    return how

def check(how, probe):
    yield Finding("ok", "how", f"probe {probe}")
    if how == "prints": print("on stdout"); os.write(1, b"on descriptor 1")
    if how == "raises": raise RuntimeError(how)
    if how == "refuses": raise ExecutionError("the server is away", "unreachable")
    if how == "exits": os._exit(0)
    if how == "hangs": time.sleep(600)
    if how == "lines": yield Finding("warning", "", "two\\nlines \\x1b[31m")

family = Family(name="odd", tools=(Do,), parse=parse, check=check, settings_schema={"type": "object",
    "properties": {"how": {"type": "string", "writeOnly": True}}, "additionalProperties": False})
"""


@pytest.fixture
def odd(tmp_path: Path) -> str:
    """A folder with a family that does what its one setting says."""
    (tmp_path / "site-packages" / "odd-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "site-packages" / "odd-1.0.dist-info" / "entry_points.txt").write_text(
        "[clitool.families]\nodd = odd:family\n"
    )
    (tmp_path / "site-packages" / "odd.py").write_text(PLUGIN)
    return str(tmp_path / "site-packages")


@pytest.mark.parametrize(
    ("how", "status", "expected"),
    [
        pytest.param("works", 0, "ok: client 'a': odd: probe False", id="works"),
        pytest.param("prints", 0, "ok: client 'a': odd: probe False", id="prints"),
        pytest.param("raises", 1, "error: client 'a': odd: its own check failed: RuntimeError", id="raises"),
        pytest.param("refuses", 1, "error: client 'a': odd: the server is away", id="refuses"),
        pytest.param(
            "parse raises",
            1,
            "error: client 'a': odd is not usable: clients.a.tools.odd: the family cannot read them: ValueError",
            id="parse raises",
        ),
        pytest.param(
            "parse refuses",
            1,
            "error: client 'a': odd is not usable: clients.a.tools.odd.how: it is wrong",
            id="parse refuses",
        ),
        pytest.param("lines", 0, "warning: client 'a': odd: two\\nlines \\x1b[31m", id="lines"),
    ],
)
def test_whatever_a_family_does_its_line_is_there(
    tmp_path: Path, odd: str, how: str, status: int, expected: str
) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"a": client("odd:do", tools={"odd": {"how": how}})}})
    result = run("--clients", str(path), "check", env=environment(PYTHONPATH=odd))
    assert (result.status, result.stderr) == (status, b"")
    assert f"{path}:1: {expected}" in result.stdout.decode().splitlines()


@pytest.mark.parametrize(("how", "reason"), [("exits", "crashed"), ("hangs", "timeout")])
def test_a_family_that_ends_the_check_is_a_failure(tmp_path: Path, odd: str, how: str, reason: str) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"a": client("odd:do", tools={"odd": {"how": how}})}})
    result = run("--clients", str(path), "--timeout", "1", "check", "--json", env=environment(PYTHONPATH=odd))
    assert result.verdict == ("execution_error", reason)
    assert result.stderr.count(b"\n") == 1


def test_only_connect_probes(tmp_path: Path, odd: str) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"a": client("odd:do", tools={"odd": {"how": "works"}})}})
    text = run("--clients", str(path), "check", "--connect", env=environment(PYTHONPATH=odd)).stdout
    assert b"odd: probe True" in text


SECRET = "hunter2"


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"odd": {"how": SECRET, "x": SECRET}}, id="unknown setting beside it"),
        pytest.param({"odd": {"how": [SECRET]}}, id="wrong kind"),
        pytest.param({"odd": {"how": "${PASSWORD}", "y": 1}}, id="from the environment"),
        pytest.param({"odd": {"how": f"{SECRET}$"}}, id="stray dollar"),
        pytest.param({"odd": SECRET}, id="no mapping"),
        pytest.param(
            {"database": {"type": "sqlite", "connection_string": f"sqlite:///{SECRET}", "allowed_tables": "all"}},
            id="in a connection string",
        ),
        pytest.param(
            {"database": {"type": "sqlite", "connection_string": f"mysql://u:{SECRET}@h/d", "allowed_tables": "all"}},
            id="in a connection string of another engine",
        ),
    ],
)
def test_no_secret_is_printed(tmp_path: Path, odd: str, settings: Any) -> None:
    """Neither texts nor documents of `check` and `explain` hold what a setting holds, whatever is wrong with it."""
    path = write_clients(tmp_path / "c", {"clients": {"a": client("*", tools=settings)}})
    env = environment(PYTHONPATH=odd, PASSWORD=SECRET)
    for words in (
        ["check"],
        ["check", "--json"],
        ["check", "--connect"],
        ["explain", "odd", "--client", "a"],
        ["explain", "database_tables", "--client", "a", "--json"],
    ):
        result = run("--clients", str(path), *words, env=env)
        assert SECRET.encode() not in result.stdout + result.stderr
        assert TOKEN.encode() not in result.stdout + result.stderr


def test_a_database_is_opened_only_to_look(tmp_path: Path) -> None:
    database = {"type": "sqlite", "connection_string": "sqlite:///shop.db", "allowed_tables": ["t", "nope"]}
    settings = {"database": database}
    path = write_clients(tmp_path / "c", {"clients": {"a": client("database:read", tools=settings)}})
    with closing(sqlite3.connect(path.parent / "shop.db")) as connection:
        connection.execute("CREATE TABLE t (x)")
    before = (path.parent / "shop.db").read_bytes()
    found = [message for level, _, message in find(path, connect=True) if level != "ok"]
    assert len(found) == 1
    assert "nope" in found[0]
    assert (path.parent / "shop.db").read_bytes() == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["clients.yaml", "shop.db"]


def test_the_document_has_the_same_findings_as_the_text(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"a": {"scopes": ["nothing:x"]}, "b": client("calculator:use")}})
    text = run("--clients", str(path), "check").stdout.decode().splitlines()
    document = run("--clients", str(path), "check", "--json").document
    assert document["ok"] is True
    assert [f"{each['where']}: {each['level']}: {each['message']}" for each in document["findings"]] == text[:-1]
    pretty = run("--clients", str(path), "--pretty", "check", "--json").stdout
    assert json.loads(pretty) == document
    assert pretty.count(b"\n") > 5
