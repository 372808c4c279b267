"""Calls through the index: the same bytes as without it, and as fast with a hundred thousand clients."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from command import TOKEN, Result, client, digest, environment, run, write_clients
from conftest import DISABLED, DISABLED_CLIENT, EXPIRED, FUTURE, RAW_TOKEN
from indexed import write_index

from clitool.client_index import Index, IndexedClients
from clitool.clients import load

if TYPE_CHECKING:
    from pathlib import Path

TEXT = f"""\
tools: {{disabled: [mail]}}
clients:
  anna:
    tokens:
      - {{id: good, sha256: "{digest(TOKEN)}"}}
      - {{id: old, sha256: "{digest(EXPIRED)}", expires: 2020-01-01}}
      - {{id: new, sha256: "{digest(FUTURE)}", not_before: 2999-01-01}}
      - {{id: out, sha256: "{digest(DISABLED)}", disabled: true}}
      - {{id: raw, sha256: "{digest(RAW_TOKEN)}"}}
    scopes: [role:all]
    tools:
      calculator:
        colour: red
      file:
        root_path: ${{FOLDER}}
      database:
        type: sqlite
        allowed_tables:
          - a
          - 5
  gone: {{tokens: [{{id: t, sha256: "{digest(DISABLED_CLIENT)}"}}], scopes: ["*"], disabled: true}}
  host: {{scopes: [calculator:use], empty_token: true}}
roles: {{all: ["*", logmcp:read]}}
"""

TOKENS: dict[str, bytes] = {
    "good": TOKEN.encode(),
    "raw": RAW_TOKEN,
    "expired": EXPIRED.encode(),
    "not yet valid": FUTURE.encode(),
    "disabled": DISABLED.encode(),
    "of a disabled client": DISABLED_CLIENT.encode(),
    "unknown": b"unknown",
    "empty": b"",
    "too long": b"x" * 9000,
}
ADD = ("--params", '{"function": "add", "a": 1, "b": 2}')
WITH_ANY_TOKEN: list[tuple[str, ...]] = [
    ("verify",),
    ("call", "calculator", "--token-stdin", *ADD),
    ("--empty-token-client", "host", "call", "calculator", "--token-stdin", *ADD),
    ("explain", "file_list", "--token-stdin"),
]
WITH_A_GOOD_ONE: list[tuple[str, ...]] = [
    ("list",),
    ("call", "file_list", "--token-stdin", "--params", '{"path": ""}'),
    ("call", "database_tables", "--token-stdin"),
    ("call", "mail_list_folders", "--token-stdin"),
    ("call", "no_such_tool", "--token-stdin"),
    ("explain", "calculator", "--client", "anna", *ADD),
    ("explain", "calculator", "--client", "host", *ADD),
    ("explain", "calculator", "--client", "nobody", *ADD),
    ("token", "list"),
]
WITH_NONE: list[tuple[str, ...]] = [
    ("--empty-token-client", "anna", "call", "calculator", "--token-stdin", *ADD),
    ("--empty-token-client", "nobody", "call", "calculator", "--token-stdin", *ADD),
]


def every_call(path: Path) -> dict[str, Result]:
    env = environment(FOLDER=str(path.parent / "files"))
    calls = [(words, name) for words in WITH_ANY_TOKEN for name in TOKENS]
    calls += [(words, "good") for words in WITH_A_GOOD_ONE] + [(words, "empty") for words in WITH_NONE]
    return {
        " ".join((*words, name)): run("--clients", str(path), *words, stdin=TOKENS[name], env=env)
        for words, name in calls
    }


@pytest.mark.parametrize("disabled", ["mail", "no_such_family"])
def test_every_call_gives_the_same_bytes_with_and_without_an_index(tmp_path: Path, disabled: str) -> None:
    path = write_clients(tmp_path / "c", TEXT.replace("[mail]", f"[{disabled}]"))
    path.parent.joinpath("files").mkdir()
    os.utime(path, (4e9, 4e9))  # nothing makes an index meanwhile
    without = every_call(path)
    assert (b'"authenticated":true' in without["verify good"].stdout) is (disabled == "mail")
    assert not path.with_name("clients.yaml.index").exists()

    write_index(path)
    assert isinstance(load(str(path)), IndexedClients)

    assert every_call(path) == without


def test_a_lookup_reads_as_much_however_many_clients_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read does not grow, and so neither does the time."""
    reads: list[int] = []
    read = Index._read

    def count(index: Index, start: int, length: int) -> bytes:
        reads.append(length)
        return read(index, start, length)

    monkeypatch.setattr(Index, "_read", count)
    for number in (1, 2000):
        some = {f"client-{n}": client("x:y", token=f"token-{n}") for n in range(number)}
        path = write_clients(tmp_path / str(number), {"clients": {**some, "anna": client("x:y")}})
        write_index(path)
        clients = load(str(path))
        for token in (TOKEN, "unknown"):
            reads.clear()
            assert (clients.find(digest(token)) is None) == (token == "unknown")
            assert len(reads) <= 4
            assert sum(reads) < 4096


def large(path: Path, megabytes: int) -> Path:
    """Write a clients file that takes seconds to read."""
    lines = [f"  c{number}: {{scopes: [{', '.join(['a:b'] * 200)}]}}\n" for number in range(megabytes * 1000)]
    return write_clients(path, "clients:\n" + "".join(lines))


def test_a_file_too_large_for_a_call_is_an_error_that_names_the_way_out(tmp_path: Path) -> None:
    path = large(tmp_path / "c", 20)

    result = run("--timeout", "2", "--clients", str(path), "verify", stdin=TOKEN.encode())

    assert result.verdict == ("execution_error", "clients_file")
    assert b"too large to be read within the time of a call; run `clitool check`" in result.stderr


def test_the_list_of_tools_is_whole_where_the_file_is_too_large(tmp_path: Path) -> None:
    path = large(tmp_path / "c", 20)

    result = run("--timeout", "2", "--clients", str(path), "list")

    assert (result.status, result.stdout) == (0, run("list").stdout)
    assert b"too large" in result.stderr


@pytest.mark.parametrize("linked", [False, True], ids=["beside the file", "beside the target of a link"])
def test_no_tool_reaches_the_index(tmp_path: Path, linked: bool) -> None:
    """It holds what the clients file holds."""
    folder = tmp_path / ("real" if linked else "c")
    index = folder / "clients.yaml.index"
    settings = {
        "file": {"root_path": str(index)},
        "database": {"type": "sqlite", "connection_string": f"sqlite:///{index}", "allowed_tables": "all"},
    }
    target = write_clients(folder, {"clients": {"anna": client("*", tools=settings)}})
    write_index(target)
    path = tmp_path / "c" / "clients.yaml"
    if linked:
        path.parent.mkdir(mode=0o700)
        path.symlink_to(target)

    for tool in ("file_list", "database_tables"):
        result = run("--clients", str(path), "call", tool, "--token-stdin", stdin=TOKEN.encode())
        assert result.verdict == ("execution_error", "settings")
        found = run("--clients", str(path), "explain", tool, "--client", "anna").stdout
        assert b"reaches the clients file" in found or b"a file of clitool's own" in found, found
