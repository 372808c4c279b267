"""The documents: every command in them runs and prints what they show, every other block is what its reader accepts."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sysconfig
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import CLITOOL, environment, run
from documents import DOCUMENTS, README, ROOT, Document, environment_variables, steps
from jsonschema import Draft202012Validator
from shell_session import ShellSession, perform

from clitool import __version__
from clitool.admin.clients_schema import clients_schema
from clitool.arguments import parse as parse_words
from clitool.catalog import Catalog
from clitool.clients_yaml import parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from documents import Block

ALL = [pytest.param(document, id=name) for name, document in DOCUMENTS.items()]
BLOCKS = [block for document in DOCUMENTS.values() for block in document.blocks]
BIN = os.path.dirname(CLITOOL)
PATH = f"{BIN}:/usr/bin:/bin"
DEMO = str(ROOT / "scripts" / "demo")
EXAMPLE_PLUGIN = {"notes"}  # the family that docs/writing-a-tool.md shows


def blocks(*languages: str) -> list[Any]:
    return [pytest.param(block, id=str(block)) for block in BLOCKS if block.language in languages]


# --- commands


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    here = {"console", "yaml", "ini", "json", "dockerfile"}
    elsewhere = {"python", "toml", "text"}  # tests/test_docs_plugin.py, but for the wrapper for hosts
    assert {block.language for block in BLOCKS} <= here | elsewhere
    assert {block.document for block in BLOCKS if block.language in ("toml", "text")} <= {"docs/writing-a-tool.md"}


def test_every_console_block_begins_with_a_command() -> None:
    assert [str(block) for block in BLOCKS if block.language == "console" and not block.text.startswith("$ ")] == []


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What somebody has who cloned the repository, without its tests."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "__pycache__", "tests", "bench", "dist"))
    return folder


def test_the_readme_can_be_followed_from_the_installation_on(clone: Path) -> None:
    # The dependencies are those of this environment, so that the test needs no network.
    offline = {
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    with ShellSession(clone, PATH, **offline) as session:
        for block in README.blocks:
            if block.language != "console":
                continue
            for step in steps(block):
                if "pip install" in step.command:
                    lend_dependencies(clone / ".venv")
                perform(session, block.document, [step])
        assert session.run("command -v clitool")[0] == f"{clone}/.venv/bin/clitool\n"


def lend_dependencies(environment: Path) -> None:
    [packages] = environment.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


@pytest.mark.parametrize(
    "document", [pytest.param(document, id=name) for name, document in DOCUMENTS.items() if name.startswith("docs/")]
)
def test_the_commands_of_a_document_print_what_it_shows(document: Document, tmp_path: Path) -> None:
    with ShellSession(tmp_path, PATH) as session:
        for block in document.blocks:
            if block.language == "console":
                perform(session, block.document, steps(block))


def test_the_wrapper_for_hosts_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [block] = [block for block in BLOCKS if block.language == "python" and block.document == "docs/hosts.md"]
    with ShellSession(tmp_path, PATH) as session:
        session.run("clitool init demo")
        token, _ = session.run("echo clt_…")
    monkeypatch.setenv("PATH", PATH)
    monkeypatch.setenv("CLITOOL_CLIENTS", str(tmp_path / "demo" / "clients.yaml"))
    wrapper: dict[str, Any] = {}
    exec(compile(block.text, str(block), "exec"), wrapper)

    assert "file_read" in {tool["name"] for tool in wrapper["tools"]()}
    assert wrapper["call"]("calculator", {"function": "add", "a": 1, "b": 2}, token) == (True, {"value": 3})
    assert wrapper["call"]("file_delete", {"path": "notes.md"}, token) == (False, "the scope 'file:delete' is missing")
    assert wrapper["call"]("file_read", {"path": "notes.md"}, f"wrong\n{token}")[0] is False


def test_the_demo_shows_what_it_promises_and_leaves_nothing_behind(tmp_path: Path) -> None:
    env = environment(TMPDIR=str(tmp_path))

    done = subprocess.run(["/bin/sh", DEMO, BIN], cwd="/", env=env, capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")
    for code in ("invalid_params", "scope_denied", "auth_failed"):
        assert f'"code":"{code}"'.encode() in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_demo_can_keep_its_sample(tmp_path: Path) -> None:
    env = environment(DEMO_DIR="kept")

    done = subprocess.run(["/bin/sh", DEMO, BIN], cwd=tmp_path, env=env, check=False, stdout=subprocess.DEVNULL)

    assert done.returncode == 0
    assert (tmp_path / "kept" / "clients.yaml").exists()


def test_the_demo_fails_if_an_answer_is_not_the_expected_one(tmp_path: Path) -> None:
    program = tmp_path / "clitool"
    program.write_text(f'#!/bin/sh\ncase $1 in call) echo "{{}}" ;; *) exec {CLITOOL} "$@" ;; esac\n')
    program.chmod(0o755)

    done = subprocess.run(
        ["/bin/sh", DEMO, tmp_path],
        cwd="/",
        env=environment(TMPDIR=str(tmp_path)),
        capture_output=True,
        check=False,
    )

    assert done.returncode == 1
    assert b"expected exit status 0" in done.stderr


# --- other blocks

LOGMCP: dict[str, Any] = {
    "auth": {"authenticator": {"command": str, "timeout_seconds": int}},
    "extensions": {"clitool": [{"name": str, "command": str, "timeout_seconds": int}]},
}
COMPOSE = {"services", "volumes", "secrets"}
COMPOSE_SERVICE = {"build", "read_only", "cap_drop", "security_opt", "volumes", "secrets"}
SYSTEMD = {
    "Unit": {"Description"},
    "Service": {
        "Type", "User", "ExecStart", "StandardInput", "StandardOutput", "LogsDirectory", "LogsDirectoryMode",
        "StateDirectory", "StateDirectoryMode", "ProtectSystem", "ReadWritePaths", "ProtectHome", "PrivateTmp",
        "NoNewPrivileges", "KillMode", "TimeoutStopSec", "Restart",
    },
    "Timer": {"OnCalendar"},
    "Install": {"WantedBy"},
}  # fmt: skip


@pytest.mark.parametrize("block", blocks("yaml"))
def test_a_yaml_block_is_what_its_reader_accepts(block: Block, tmp_path: Path) -> None:
    value = yaml.safe_load(block.text)

    if "clients" in value:
        check_clients(block.text)
    elif "extensions" in value:
        check_shape(value, {key: LOGMCP[key] for key in value})
        for command in commands_in(value):
            assert usable([*command.split()[1:], "list"]), command
    elif "services" in value:
        assert set(value) <= COMPOSE
        assert all(set(service) <= COMPOSE_SERVICE for service in value["services"].values())
    else:
        assert set(value) == {"name", "on", "jobs"}, "a kind of YAML that nothing tests"
        check_job(value, tmp_path)


def check_clients(text: str) -> None:
    value = parse(text.encode(), "/etc/clitool/clients.yaml").document.value
    for client in value["clients"].values():
        for family in EXAMPLE_PLUGIN & set(client.get("tools", {})):
            del client["tools"][family]
    assert [error.message for error in Draft202012Validator(clients_schema(Catalog())).iter_errors(value)] == []


def check_shape(value: Any, shape: Any) -> None:
    if isinstance(shape, dict):
        assert set(value) <= set(shape)
        for key in value:
            check_shape(value[key], shape[key])
    elif isinstance(shape, list):
        for item in value:
            check_shape(item, shape[0])
    else:
        assert isinstance(value, shape)


def commands_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "command":
                yield item
            else:
                yield from commands_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from commands_in(item)


def usable(words: list[str]) -> bool:
    """Whether our own reader takes a command line, as far as that can be said without running it."""
    return parse_words(words) is not None


def check_job(job: Any, folder: Path) -> None:
    with ShellSession(folder, PATH) as session:
        session.run("clitool init demo; export CLITOOL_CLIENTS=$PWD/demo/clients.yaml")
        for step in job["jobs"]["report"]["steps"]:
            for variable in step["env"]:
                session.run(f"export {variable}=clt_…")
            output, status = session.run(step["run"])
            assert (output, status) == ("", 0)
        assert json.loads((folder / "orders.json").read_text())["ok"]


@pytest.mark.parametrize("block", blocks("ini"))
def test_a_unit_has_known_settings_and_starts_a_command_that_is_understood(block: Block) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # as the documentation of configparser has it
    unit.read_string(block.text)

    for section in unit.sections():
        assert set(unit[section]) <= SYSTEMD[section]
        if "ExecStart" in unit[section]:
            words = unit[section]["ExecStart"].split()[1:]
            assert usable(words) or run(*words, "--help").status == 0, words


@pytest.mark.parametrize("block", blocks("dockerfile"))
def test_an_image_has_known_instructions_and_an_entry_point_that_is_understood(block: Block) -> None:
    instructions = dict(line.split(" ", 1) for line in block.text.splitlines())

    assert set(instructions) == {"FROM", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT"}
    assert usable([*json.loads(instructions["ENTRYPOINT"])[1:], "list"])
    assert {word.partition("=")[0] for word in instructions["ENV"].split()} <= environment_variables()


@pytest.mark.parametrize("block", blocks("json"))
def test_a_json_block_is_json(block: Block) -> None:
    assert isinstance(json.loads(block.text), dict)


# --- links, and what must not be there


@pytest.mark.parametrize("document", ALL)
def test_every_link_leads_somewhere(document: Document) -> None:
    for link in document.links:
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (document.path.parent / path).resolve() if path else document.path
        assert target.exists(), link
        if anchor:
            assert anchor in Document(str(target.relative_to(ROOT))).anchors, link


@pytest.mark.parametrize("document", ALL)
def test_no_document_knows_somebodys_own_folders(document: Document) -> None:
    assert re.findall(r"\S*/(?:root|home|Users)/\S*", document.text) == []


def test_every_document_is_reachable_from_the_readme() -> None:
    reached = {link.partition("#")[0] for link in README.links}

    assert set(DOCUMENTS) - {"README.md"} <= reached


def test_the_changelog_names_the_version() -> None:
    assert __version__ in DOCUMENTS["CHANGELOG.md"].text
