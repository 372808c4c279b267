"""One table of calls through every way there is: by hand and through Typer, cold and by the resident worker."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from command import TOKEN, Result, run
from resident_world import OTHER_TOKEN, World

if TYPE_CHECKING:
    from pathlib import Path

TYPER = "import sys; from clitool.cli import run; sys.exit(run(sys.argv[1:]))"
GOOD = TOKEN.encode() + b"\n"
HOW = '{"how": "%s"}'


def row(*words: str, stdin: bytes = GOOD, before: tuple[str, ...] = (), name: str) -> Any:
    return pytest.param(before, words, stdin, id=name)


def trouble(how: str) -> Any:
    return row("trouble", "--token-stdin", "--params", HOW % how, name=how)


CALLS = [
    row("calculator", "--token-stdin", "--params", '{"function": "add", "a": 1, "b": 2}', name="a result"),
    row(
        "calculator", "--token-stdin", "--params", '{"function":"add","a":1,"b":2}', before=("--pretty",), name="pretty"
    ),
    row("trouble_echo", "--token-stdin", name="no parameters"),
    row("trouble_echo", "--token-stdin", "--params", '{"text": "\u00e9 \U0001f600"}', name="characters beyond ASCII"),
    row("trouble_echo", "--token-stdin", "--params", "@params.json", name="a file beside the caller"),
    row("trouble_echo", "--token-stdin", "--params", "@-", stdin=GOOD + b'{"text": "x"}', name="the rest of stdin"),
    row("trouble_echo", "--token-stdin", "--params", "@-", stdin=GOOD, name="no rest of stdin"),
    row(
        "trouble_echo",
        "--token-stdin",
        "--params",
        "@-",
        stdin=GOOD + b'{"text": "' + b"x" * 5_000_000 + b'"}',
        name="5 MB",
    ),
    row("trouble_echo", "--token-stdin", "--params", "@-", stdin=GOOD + b" " * 10_485_761, name="10 MB and one byte"),
    row("trouble_echo", "--token-stdin", "--params", '{"text": "' + "x" * 130_000 + '"}', name="the longest argument"),
    row("trouble_echo", "--token-file", "token", "--params", "{}", stdin=b"", name="a token file beside the caller"),
    row("trouble_echo", "--token-file", "nothing", stdin=b"", name="no token file"),
    row("trouble_echo", "--token-stdin", "--params", "@nothing.json", name="no such file"),
    row("trouble_echo", "--token-stdin", "--params", "[]", name="no object"),
    row("trouble_echo", "--token-stdin", "--params", '{"n": -1}', name="against the schema"),
    row("trouble_echo", "--token-stdin", "--params", "{", name="no JSON"),
    row("trouble", "--token-stdin", "--token-file", "x", name="a wrong command line"),
    row("trouble", "--token-stdin", stdin=b"", name="no token"),
    row("trouble", "--token-stdin", stdin=b"\r\n", name="an empty token"),
    row("trouble", "--token-stdin", stdin=b"wrong\n", name="a wrong token"),
    row("trouble", "--token-stdin", stdin=b"old-token\n", name="an expired token"),
    row("trouble", "--token-stdin", stdin=b"x" * 20_000, name="a token that is too long"),
    row("trouble", "--token-stdin", "--params", HOW % "ok", stdin=TOKEN.encode()[:-1], name="half a token"),
    row("trouble", "--params", HOW % "nothing", stdin=b"", before=("--empty-token-client", "host"), name="a host"),
    row(
        "trouble",
        "--token-stdin",
        "--params",
        HOW % "nothing",
        stdin=b"\n",
        before=("--empty-token-client", "host"),
        name="a host that sends an empty line",
    ),
    row("trouble", stdin=b"", before=("--empty-token-client", "anna"), name="no client for that"),
    row("calculator", "--token-stdin", stdin=OTHER_TOKEN.encode(), name="no right"),
    row("trouble_forbidden", "--token-stdin", "--params", HOW % "ok", name="a right that nobody has"),
    row("no_such_tool", "--token-stdin", name="no such tool"),
    row("x_trouble", "--token-stdin", name="a tool with a prefix"),
    row("trouble", "--token-stdin", before=("--clients", "nowhere.yaml"), name="no clients file"),
    row("trouble_echo", "--token-stdin", before=("--clients", "clients/clients.yaml"), name="a relative clients file"),
    row("trouble", "--token-stdin", before=("--clients", ""), name="an empty path"),
    row("trouble", "--token-stdin", before=("--clients", "broken/clients.yaml"), name="a broken clients file"),
    row("trouble", "--token-stdin", before=("--clients", "open/clients.yaml"), name="a clients file for everybody"),
    row(
        "trouble_echo", "--token-stdin", before=("--trust-file", "--clients", "open/clients.yaml"), name="a trusted one"
    ),
    row("trouble", "--token-stdin", "--params", HOW % "raise", before=("-v",), name="an unforeseen error told in full"),
    row("trouble", "--token-stdin", "--params", HOW % "sleep", before=("--timeout", "1"), name="a deadline"),
    row("trouble_connected", "--token-stdin", "--params", HOW % "nothing", name="a connection"),
    *map(
        trouble,
        ("nothing", "print", "stdin", "raise", "sys.exit", "interrupt", "memory", "recurse", "nan", "object", "nested"),
    ),
    *map(trouble, ("exit", "crash", "orphan", "close everything", "garbage", "refusal", "trouble of the world")),
    *map(trouble, ("convertible", "big numbers", "surrogate", "megabytes", "too much", "core dump", "straggler")),
]


@pytest.fixture(scope="module")
def folder(shared_world: World) -> Path:
    """Where the callers stand."""
    folder = shared_world.folder
    (folder / "params.json").write_text('{"text": "from a file"}')
    (folder / "token").write_text(TOKEN)
    for name, mode, text in (("broken", 0o600, "clients: ["), ("open", 0o644, shared_world.clients.read_text())):
        (folder / name).mkdir()
        (folder / name / "clients.yaml").write_text(text)
        (folder / name / "clients.yaml").chmod(mode)
    return folder


@pytest.mark.parametrize(("before", "words", "stdin"), CALLS)
def test_every_way_gives_the_same_bytes(
    shared_world: World, folder: Path, before: tuple[str, ...], words: tuple[str, ...], stdin: bytes
) -> None:
    clients = [] if "--clients" in before else ["--clients", str(shared_world.clients)]
    line = [*clients, *before, "call", *words]
    nobody = {"XDG_RUNTIME_DIR": str(folder / "nowhere")}

    def answer(*, typer: bool, cold: bool) -> tuple[Any, ...]:
        program = [sys.executable, "-P", "-c", TYPER] if typer else []
        env = {**shared_world.env, **(nobody if cold else {}), "LOGS_DIRECTORY": str(folder / f"log-{typer}-{cold}")}
        with_command = {"command": program[0]} if typer else {}
        result = run(*program[1:], *line, stdin=stdin, env=env, cwd=str(folder), **with_command)
        return _comparable(result), _audited(folder / f"log-{typer}-{cold}")

    made = shared_world.status()["calls"]
    expected = answer(typer=False, cold=True)

    assert shared_world.status()["calls"] == made
    assert answer(typer=False, cold=False) == expected
    assert answer(typer=True, cold=True) == expected
    assert answer(typer=True, cold=False) == expected
    assert shared_world.status()["calls"] - made == (2 if _is_handed_over(words, before, stdin) else 0)


def _is_handed_over(words: tuple[str, ...], before: tuple[str, ...], stdin: bytes) -> bool:
    if "--token-stdin" in words and "--token-file" in words:
        return False
    if "--clients" in before and "" in before:
        return True
    return bool(stdin.strip()) or "--empty-token-client" in before or "token" in words


def _comparable(result: Result) -> tuple[int, bytes, bytes]:
    """The whole result, without the reference that names an unforeseen error."""
    stdout, stderr = result.stdout, result.stderr
    try:
        reference = json.loads(stdout)["details"]["reference"]
    except (ValueError, KeyError):
        return result.status, stdout, stderr
    return result.status, stdout.replace(reference.encode(), b"REFERENCE"), _without_lines(stderr)


def _without_lines(stderr: bytes) -> bytes:
    """What stderr says of a traceback, but for where the core's own frames are."""
    return b"\n".join(line for line in stderr.splitlines() if b"clitool/" not in line and b"  return " not in line)


def _audited(log: Path) -> list[dict[str, Any]]:
    """The audit lines of this call, and then no line any more."""
    found = []
    for file in log.glob("*/audit.jsonl"):
        found += [json.loads(line) for line in file.read_text().splitlines() if line]
        file.unlink()
    # A process that a tool left without a way to answer may still write its own line before it is ended.
    found = [line for line in found if line["touched"] != {"how": "close everything"}]
    return [{key: value for key, value in line.items() if key not in {"time", "reference", "ms"}} for line in found]
