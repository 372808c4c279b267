"""The documents: every command in them runs and prints what they show, every table agrees with the code."""

from __future__ import annotations

import ast
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import CLITOOL, environment
from documents import ROOT, Document, code_words, steps
from jsonschema import Draft202012Validator
from shell_session import ShellSession, perform

from clitool import answer, arguments, clients_rules, errors, log, params, references, registration, state, tokens
from clitool.catalog import Catalog
from clitool.clients import parse
from clitool.clients_schema import clients_schema
from clitool.errors import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from documents import Block

    from clitool.family import Family
    from clitool.tool import Tool

NAMES = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").iterdir()),
]
DOCUMENTS = {name: Document(name) for name in NAMES}
README, CONVENTION, TOOLS = DOCUMENTS["README.md"], DOCUMENTS["docs/convention.md"], DOCUMENTS["docs/tools.md"]
ALL = [pytest.param(document, id=name) for name, document in DOCUMENTS.items()]
BLOCKS = [block for document in DOCUMENTS.values() for block in document.blocks]
CATALOG = Catalog()
BIN = os.path.dirname(CLITOOL)
PATH = f"{BIN}:/usr/bin:/bin"
DEMO = str(ROOT / "scripts" / "demo")
EXAMPLE_PLUGIN = {"notes"}  # the family that docs/writing-a-tool.md shows


def blocks(*languages: str) -> list[Any]:
    return [pytest.param(block, id=str(block)) for block in BLOCKS if block.language in languages]


# --- commands


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    assert {block.language for block in BLOCKS} <= {"console", "yaml", "ini", "json", "dockerfile", "python", "toml"}


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
                perform(session, str(block), [step])
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
                perform(session, str(block), steps(block))


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
        "NoNewPrivileges",
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
    assert [error.message for error in Draft202012Validator(clients_schema(CATALOG)).iter_errors(value)] == []


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
    return arguments.parse(words) is not None


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
            assert usable(unit[section]["ExecStart"].split()[1:])


@pytest.mark.parametrize("block", blocks("dockerfile"))
def test_an_image_has_known_instructions_and_an_entry_point_that_is_understood(block: Block) -> None:
    instructions = dict(line.split(" ", 1) for line in block.text.splitlines())

    assert set(instructions) == {"FROM", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT"}
    assert usable([*json.loads(instructions["ENTRYPOINT"])[1:], "list"])
    assert {word.partition("=")[0] for word in instructions["ENV"].split()} <= environment_variables()


@pytest.mark.parametrize("block", blocks("json"))
def test_a_json_block_is_json(block: Block) -> None:
    assert isinstance(json.loads(block.text), dict)


# --- tables against code


def the_table(document: Document, *header: str) -> dict[str, list[str]]:
    """The one table that begins with `header`, as first cell without backticks -> the other cells."""
    [rows] = document.tables(*header)
    found = {row[0].strip("`"): row[1:] for row in rows}
    assert len(found) == len(rows)
    return found


def test_the_table_of_reasons_is_that_of_the_code() -> None:
    shown = [tuple(cell.strip("`") for cell in row) for row in CONVENTION.tables("reason", "code")[0]]
    real = [(reason, code, meaning) for reason, (code, meaning) in REASONS.items()]

    missing = "\n".join(f"| `{reason}` | `{code}` | {meaning} |" for reason, code, meaning in real)
    assert shown == real, f"docs/convention.md should say:\n{missing}"


@pytest.mark.parametrize("document", [README, CONVENTION], ids=str)
def test_the_codes_are_shown(document: Document) -> None:
    assert set(the_table(document, "code", "meaning")) == {code for code, _ in REASONS.values()}


@pytest.mark.parametrize("document", [README, TOOLS], ids=str)
def test_the_table_of_tools_is_that_of_the_code(document: Document) -> None:
    shown = the_table(document, "tool", "scope", "effect")
    real = {tool.name: tool for _, tool in CATALOG.tools()}

    assert {name: (row[0].strip("`"), row[1]) for name, row in shown.items()} == {
        name: (tool.required_scope, tool.effect) for name, tool in real.items()
    }
    if document is TOOLS:
        assert {name: row[2] for name, row in shown.items()} == {
            name: "yes" if tool.idempotent else "no" for name, tool in real.items()
        }


def parameter_rows() -> dict[str, str]:
    return {row[0].strip("`"): row[1] for rows in TOOLS.tables("tool", "parameters") for row in rows}


@pytest.mark.parametrize("tool", [pytest.param(tool, id=tool.name) for _, tool in CATALOG.tools()])
def test_the_parameters_of_a_tool_are_shown_with_their_defaults(tool: type[Tool]) -> None:
    cell = parameter_rows()[tool.name]
    shown = {}
    for part in cell.split(", "):
        bold, name, default = re.fullmatch(r"(\*\*)?`(\w+)`(?:\*\*)?(?: (.+))?", part).groups()  # type: ignore[union-attr]  # a misfit is a failure
        shown[name] = "required" if bold else default

    required = tool.input_schema.get("required", ())
    assert shown == {
        name: "required" if name in required else spelt(schema["default"]) if "default" in schema else None
        for name, schema in tool.input_schema["properties"].items()
    }


def spelt(default: object) -> str:
    return default if isinstance(default, str) else json.dumps(default)


def test_no_tool_is_shown_that_does_not_exist() -> None:
    assert set(parameter_rows()) == {tool.name for _, tool in CATALOG.tools()}


def families() -> list[Any]:
    every = [CATALOG.family(name) for name in CATALOG.names()]
    return [pytest.param(family, id=family.name) for family in every if family and family.settings_schema["properties"]]


@pytest.mark.parametrize("family", families())
def test_the_settings_of_a_family_are_shown_with_their_defaults(family: Family) -> None:
    properties = family.settings_schema["properties"]
    [shown] = [
        rows
        for rows in ({row[0].strip("`"): row[1] for row in table} for table in TOOLS.tables("setting", "default"))
        if set(rows) == set(properties)
    ]

    for name, schema in properties.items():
        if "default" in schema:
            assert shown[name] == f"`{spelt(schema['default'])}`", name
        else:
            assert not shown[name].startswith("`"), name
    [row] = [row for row in README.tables("family", "required")[0] if row[0] == family.name]
    assert {*code_words(row[1]), *code_words(row[2])} == set(properties)


def test_the_keys_of_the_clients_file_are_shown() -> None:
    shown = the_table(README, "key", "meaning")

    client = {f"clients.*.{key}" for key in clients_rules.CLIENT_KEYS}
    assert set(shown) == {*clients_rules.TOP_KEYS, *client}
    assert set(clients_rules.TOKEN_KEYS) <= set(code_words(shown["clients.*.tokens"][0]))
    assert {"directory", "keep_days", "audit", "best_effort", "required"} == set(code_words(shown["log"][0]))


def test_the_functions_of_the_calculator_are_shown() -> None:
    [calculator] = [tool for _, tool in CATALOG.tools(["calculator"])]
    section = TOOLS.text.partition("## calculator")[2].partition("\n| ")[0]

    assert code_words(section) == calculator.input_schema["properties"]["function"]["enum"]


def test_the_options_for_all_commands_are_shown() -> None:
    [rows] = CONVENTION.tables("option", "meaning")
    shown = {word.split()[0] for row in rows for word in code_words(row[0])}

    assert shown == set(arguments._GLOBAL)
    for option in (*arguments._LOCAL["call"], *arguments._LOCAL["verify"]):
        assert option in CONVENTION.text


def test_the_commands_for_people_are_shown() -> None:
    import typer

    from clitool.cli import app

    [rows] = README.tables("command", "what it does")
    shown = {" ".join(re.findall(r"^clitool ((?:token )?\w+)", code_words(row[0])[0])) for row in rows} - {""}
    group = typer.main.get_command(app)
    real = {name for name in group.commands if name not in ("list", "verify", "call", "token")}  # type: ignore[attr-defined]  # it is a group
    real |= {f"token {name}" for name in group.commands["token"].commands}  # type: ignore[attr-defined]  # as above

    assert shown == real


def environment_variables() -> set[str]:
    """What the core looks up in the environment: `environment.get("X")`, `environment["X"]`, a constant VARIABLE."""
    found = set()
    for path in (ROOT / "clitool").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("environment.get", "_systemd"):
                found |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "VARIABLE":
                found.add(ast.literal_eval(node.value))
    return {str(name) for name in found if name}


def test_the_environment_variables_are_shown() -> None:
    [rows] = CONVENTION.tables("variable", "meaning")

    assert {word for row in rows for word in code_words(row[0])} == environment_variables()
    assert "CLITOOL_CLIENTS" in environment_variables()


LIMITS = [
    pytest.param(f"{tokens.MAX_BYTES} bytes", id="token"),
    pytest.param(f"{tokens.READ_SECONDS:g} seconds", id="time for the token"),
    pytest.param(f"{params.MAX_BYTES >> 20} MiB, {params.MAX_DEPTH} levels", id="parameters"),
    pytest.param(f"{arguments.DEFAULT_TIMEOUT:g} seconds", id="deadline"),
    pytest.param(f"at most {arguments.MAX_TIMEOUT:g}", id="longest deadline"),
    pytest.param(f"less than {answer.MAX_BYTES >> 20} MiB", id="answer"),
    pytest.param(f"{registration.MAX_NAME} characters", id="tool name"),
    pytest.param(f"{references.MAX_FILE_BYTES} bytes", id="file reference"),
    pytest.param(f"{log.MAX_LINE >> 10} KiB, {log.MAX_AUDIT_LINE >> 10} KiB", id="log lines"),
    pytest.param(f"{state.MAX_KEY} characters, {state.MAX_VALUE >> 20} MiB", id="state"),
]


@pytest.mark.parametrize("limit", LIMITS)
def test_the_limits_are_those_of_the_code(limit: str) -> None:
    [rows] = CONVENTION.tables("what", "limit")

    assert [row for row in rows if limit in row[1]]


def test_an_audit_line_is_described_key_by_key() -> None:
    [rows] = DOCUMENTS["docs/deployment.md"].tables("key of an audit line", "content")

    assert {word for row in rows for word in code_words(row[0])} == {"time", *log._AUDIT_FIELDS, "touched"}


def test_the_make_targets_are_described() -> None:
    phony = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    shown = the_table(DOCUMENTS["CONTRIBUTING.md"], "command", "what it does")

    assert phony
    assert {name.removeprefix("make ") for name in shown} == set(phony[1].split())


# --- the convention and its tests

ROWS = {"T": 14, "L": 11, "V": 9, "C": 36}
IDS = {f"{letter}{number}" for letter, count in ROWS.items() for number in range(1, count + 1)}
# Rows whose tests do not bear their id.
SHOWN_BY = {
    "T13": "test_a_file_that_others_could_touch_is_refused_with_the_command_that_mends_it",
    "T14": "test_only_the_same_bytes_match",
    "L3": "test_a_broken_family_is_left_out_and_takes_nothing_else_down",
    "L5": "test_a_broken_family_is_left_out_and_takes_nothing_else_down",
    "V7": "test_v8_wildcards_are_expanded_and_never_cover_the_host",
    "V9": "test_verify_reads_the_token_in_the_same_way",
    "C19": "test_every_reason_is_used_and_goes_with_a_code_of_the_convention",
    "C20": "test_a_tool_that_goes_on_is_stopped_at_the_deadline",
    "C21": "test_every_reason_is_used_and_goes_with_a_code_of_the_convention",
    "C25": "test_a_tool_that_ends_badly_is_one_execution_error",
    "C26": "test_a_signal_ends_the_call_with_a_document",
    "C27": "test_what_a_tool_prints_is_not_part_of_the_answer",
    "C29": "test_values_that_json_lacks_are_converted_as_documented",
    "C30": "test_a_tool_that_ends_badly_is_one_execution_error",
    "C33": "test_call_takes_the_token_from_the_first_line",
}
# Rows about hosts, or about what is not there.
STATEMENTS = {"L10", "V6", "C13", "C34"}


def test_each_row_of_the_convention_is_answered_once() -> None:
    rows = [row[0] for table in CONVENTION.tables("id") for row in table]

    assert sorted(rows) == sorted(IDS)


def test_each_row_of_the_convention_has_a_test() -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)
    )
    bearing = {found.upper() for found in re.findall(r"(?:\b|_)([TLVCtlvc]\d{1,2})(?=\b|_)", text)} & IDS

    assert bearing | set(SHOWN_BY) | STATEMENTS == IDS
    assert [name for name in SHOWN_BY.values() if f"def {name}(" not in text] == []


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
def test_no_document_knows_the_machine_it_was_written_on(document: Document) -> None:
    for trace in (str(ROOT), str(Path.home()), sys.prefix, os.path.dirname(ROOT)):
        assert trace == "/" or f"{trace}/" not in document.text


def test_every_document_is_reachable_from_the_readme() -> None:
    reached = {link.partition("#")[0] for link in README.links}

    assert {name for name in NAMES if name != "README.md"} <= reached


def test_the_changelog_names_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["version"] in DOCUMENTS["CHANGELOG.md"].text


def test_every_error_code_class_is_documented() -> None:
    classes = {
        value.code
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.ClitoolError) and value.code
    }

    assert classes == set(the_table(CONVENTION, "code", "meaning"))
