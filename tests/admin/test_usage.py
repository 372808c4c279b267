"""The command line for people: help, version, wrong words, and what a shell does to a program."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from command import CLITOOL, PLUGINS, Result, environment, run

from clitool import arguments, cli

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = ["list", "verify", "call", "init", "check", "explain", "schema", "token", "resident"]
PAGES = [[], *([each] for each in COMMANDS), *(["token", each] for each in ("issue", "list", "revoke"))]
PAGES += [["resident", *each] for each in ([], ["start"], ["stop"], ["status"])]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="nothing"),
        pytest.param(["lst"], id="unknown command"),
        pytest.param(["token"], id="group without command"),
        pytest.param(["token", "make"], id="unknown command of a group"),
        pytest.param(["--pretty"], id="options only"),
        pytest.param(["--nothing", "check"], id="unknown global option"),
        pytest.param(["check", "--nothing"], id="unknown option"),
        pytest.param(["check", "too", "many"], id="words too many"),
        pytest.param(["check", "--clients", "x"], id="global option after the command"),
        pytest.param(["--json", "check"], id="json before the command"),
        pytest.param(["--clients"], id="no value"),
        pytest.param(["--timeout", "soon", "check"], id="timeout is no number"),
        pytest.param(["--timeout", "0", "check"], id="timeout zero"),
        pytest.param(["--timeout", "nan", "check"], id="timeout nan"),
        pytest.param(["--timeout", "1e9", "check"], id="timeout too long"),
        pytest.param(["init"], id="init without folder"),
        pytest.param(["init", ""], id="init with an empty name"),
        pytest.param(["schema"], id="schema of nothing"),
        pytest.param(["explain"], id="explain nothing"),
        pytest.param(["explain", "x"], id="explain for nobody"),
        pytest.param(["explain", "x", "--client", "a", "--token-stdin"], id="explain for two"),
        pytest.param(["token", "issue"], id="issue for nobody"),
        pytest.param(["token", "issue", "a", "--create"], id="create without scope"),
        pytest.param(["token", "issue", "a", "--scope", "a:b"], id="scope without create"),
        pytest.param(["token", "revoke", "a"], id="revoke nothing"),
        pytest.param(["\udcff\x1b[31m"], id="bytes that are no text"),
    ],
)
def test_a_wrong_command_line_is_told_to_people_and_to_programs(words: list[str]) -> None:
    result = run(*map(os.fsencode, words))
    assert result.status == 2
    assert result.document["ok"] is False
    assert (result.document["code"], result.document["details"]) == ("invalid_params", {"reason": "usage"})
    assert result.document["error"].isprintable()
    assert result.stderr.startswith(b"Usage: clitool ")
    assert b"\nError: " in result.stderr
    assert b"Traceback" not in result.stderr


def test_a_word_too_many_is_not_repeated() -> None:
    """A token that was pasted as an argument does not turn up in logs of the output."""
    result = run("check", "clt_secret")
    assert b"clt_secret" not in result.stdout + result.stderr


def test_a_misspelt_command_is_guessed() -> None:
    assert "'check'" in run("chekc").document["error"]


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_help_page_is_plain_text_of_80_columns(page: list[str], option: str) -> None:
    result = run(
        *page,
        option,
        env=environment(
            LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", COLUMNS="20", FORCE_COLOR="1", TYPER_USE_RICH="1"
        ),
    )
    assert (result.status, result.stderr) == (0, b"")
    text = result.stdout.decode("ascii")
    assert text.startswith("Usage: clitool")
    assert max(map(len, text.splitlines())) <= 80
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ([], ["token"], ["resident"])], ids=" ".join)
def test_every_command_shows_an_example_that_begins_with_itself(page: list[str]) -> None:
    text = run(*page, "--help").stdout.decode()
    assert "Example" in text
    examples = text[text.index("Example") :].splitlines()
    assert any(f"clitool {' '.join(page)}" in line.replace("--pretty ", "") for line in examples)


def test_the_overview_names_every_command_in_a_whole_line() -> None:
    text = run("--help").stdout.decode()
    lines = text[text.index("Commands:") :].splitlines()[1:]
    assert [line.split()[0] for line in lines] == COMMANDS
    assert all(line.endswith(".") and not line.endswith("...") for line in lines)


@pytest.mark.parametrize("command", arguments.COMMANDS)
def test_help_names_the_options_that_the_machine_door_reads(command: str) -> None:
    """The two readers of `list`, `verify` and `call` agree, so that help tells the truth."""
    known = {**arguments._GLOBAL, **arguments._LOCAL[command]}
    assert known.keys() <= options_of([]) | options_of([command])  # nothing that help keeps quiet about
    assert options_of([command]) - {"-h", "--help"} == arguments._LOCAL[command].keys()
    assert options_of([]) - {"-h", "--help", "--version"} == arguments._GLOBAL.keys()


def options_of(page: list[str]) -> set[str]:
    text = run(*page, "--help").stdout.decode()
    lines = text[text.index("Options:") :].partition("Commands:")[0].splitlines()
    first = [line[:28] for line in lines if line.startswith("  -")]
    return {option for line in first for option in re.findall(r"(?<= )--?[a-z][a-z-]*", line)}


def test_the_version() -> None:
    assert run("--version") == Result(0, b"clitool 0.1.0\n", b"")
    assert run("--version", "--json").document == {"name": "clitool", "version": "0.1.0"}


@pytest.mark.parametrize("words", [["--help"], ["call", "--help"], ["--version"], ["lst"]], ids=" ".join)
def test_neither_home_nor_terminal_nor_streams_are_needed(words: list[str]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', CLITOOL, *words], env={}, check=False, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (2 if words == ["lst"] else 0, b"", b"")


@pytest.mark.parametrize("words", [["--help"], ["check"], ["schema", "clients"], ["lst"], ["--version"]], ids=" ".join)
def test_a_reader_that_is_gone_is_no_reason_for_noise(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([CLITOOL, *words], stdout=writer, stderr=subprocess.PIPE, env=environment(), check=False)
    os.close(writer)
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr
    assert done.returncode in (0, 1, 2)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_quietly(number: signal.Signals, tmp_path: Path) -> None:
    """`explain` waits for its token here; the signal ends it without a traceback."""
    pipe = tmp_path / "token"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [CLITOOL, "explain", "x", "--token-file", str(pipe)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        writer = os.open(pipe, os.O_WRONLY)  # returns once the command reads
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        os.close(writer)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_help_loads_neither_tools_nor_parsers() -> None:
    program = (
        "import sys, io\nfrom clitool.cli import run\nstatus = run(['--help'])\n"
        "print(status, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, env=environment(), check=True)
    status, *modules = done.stderr.decode().split()
    assert status == "0"
    heavy = {
        "yaml",
        "ruamel",
        "jsonschema",
        "referencing",
        "rich",
        "pydantic",
        "sqlite3",
        "ssl",
        "socket",
        "asyncio",
        "json",
        "hashlib",
        "logging",
        "email",
        "concurrent",
        "clitool_tools",
        "importlib.metadata",
    }
    assert not heavy & {name for module in modules for name in (module, module.partition(".")[0])}
    own = {module for module in modules if module.startswith("clitool.")}
    assert own == {
        "clitool." + name
        for name in (
            "admin",
            "admin.answers",
            "admin.door",
            "admin.help_texts",
            "answer",
            "arguments",
            "cli",
            "errors",
            "lean",
            "machine",
        )
    }


@pytest.mark.parametrize(
    "words", [["list"], ["verify"], ["call", "nothing", "--token-stdin"], ["call"], ["list", "x"]], ids=" ".join
)
def test_both_doors_answer_a_machine_alike(words: list[str]) -> None:
    """What Typer declares hands over to the reader that the entry asks first."""
    program = f"""if True:
        import os
        from clitool.cli import _hand_over, _Session
        class Context:
            obj = _Session({words!r})
        os._exit(_hand_over(Context()))
    """
    one = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, input=b"t\n", env=environment(), check=False
    )
    two = run(*words, stdin=b"t\n")
    assert (one.returncode, one.stdout, one.stderr) == (two.status, two.stdout, two.stderr)


def test_whatever_happens_in_a_command_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """An unforeseen error shows neither a traceback nor its text, which may hold a secret; the log has both."""

    def fail(**_: bool) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(cli.answers, "version", fail)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("LOGS_DIRECTORY", raising=False)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        assert cli.run(["--version"]) == 1
        out, err = capfd.readouterr()
        assert cli.run(["-v", "--version"]) == 1
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    assert "clitool: Traceback" in capfd.readouterr().err, "who asks for it sees where it comes from"
    assert out == ""
    assert err.startswith("clitool: internal error: RuntimeError; the log has it under ")
    assert "hunter2" not in err
    assert err.count("\n") == 1
    logs = list(tmp_path.rglob("core.log"))
    assert len(logs) == 1
    assert "hunter2" in logs[0].read_text()


def test_a_plugin_that_prints_does_not_disturb_a_document() -> None:
    result = run("check", "--json", env=environment(PYTHONPATH=PLUGINS))
    assert json.loads(result.stdout)["ok"] is False
    assert result.stdout.count(b"\n") == 1
