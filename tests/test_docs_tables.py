"""The tables of the documents agree with the code: tools, settings, reasons, options, limits, the convention."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from documents import DOCUMENTS, README, ROOT, Document, code_words, environment_variables

from clitool import answer, arguments, clients_rules, errors, log, params, references, registration, state, tokens
from clitool.catalog import Catalog
from clitool.reasons import REASONS

if TYPE_CHECKING:
    from clitool.family import Family
    from clitool.tool import Tool

CONVENTION, TOOLS = DOCUMENTS["docs/convention.md"], DOCUMENTS["docs/tools.md"]
CATALOG = Catalog()


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
    tables = [{row[0].strip("`"): row[1] for row in table} for table in TOOLS.tables("setting", "default")]
    shown = max(tables, key=lambda table: len(set(table) & set(properties)))

    assert set(shown) == set(properties)
    for name, schema in properties.items():
        if "default" in schema:
            assert shown[name] == f"`{spelt(schema['default'])}`", name
        else:
            assert not shown[name].startswith("`"), name
    [row] = [row for row in README.tables("family", "required")[0] if row[0] == family.name]
    assert {*code_words(row[1]), *code_words(row[2])} == set(properties)


def after(text: str) -> str:
    """The paragraph or entry of docs/tools.md that begins with `text`."""
    return TOOLS.text.partition(text)[2].partition("\n- ")[0].partition("\n\n")[0]


def test_the_options_of_connection_strings_are_shown() -> None:
    from clitool_tools.database.mongodb import options
    from clitool_tools.database.mysql import connection_string

    mysql, mongodb = (after(f"- Options: `{first}`") for first in ("ssl-mode", "tls"))

    assert {"ssl-mode", *code_words(mysql)} == set(connection_string.OPTIONS)
    safe = {name for name, rule in options._RULES.items() if not isinstance(rule, options._Only)}
    assert safe <= {"tls", *code_words(mongodb)}


def test_the_modes_of_mysql_are_shown() -> None:
    from clitool_tools.database.mysql import address, server

    assert set(the_table(TOOLS, "`ssl_mode`", "encrypted")) == set(address._MODES)
    assert {*server._MODES, server._OWNERS_CHOICE} <= set(code_words(after("- Every session is set")))


def test_an_entry_of_allowed_extensions_allows_what_is_shown() -> None:
    from clitool_tools.file.extensions import Extensions

    for entry, (allowed, refused) in the_table(TOOLS, "entry", "allows").items():
        for word in code_words(f"`{entry}`"):
            extensions = Extensions([word.strip("'")])
            assert [name for name in code_words(allowed) if not extensions.permit(name)] == [], entry
            assert [name for name in code_words(refused) if extensions.permit(name)] == [], entry


def test_a_pattern_of_allowed_recipients_allows_what_is_shown() -> None:
    from clitool_tools.mail.address import parse
    from clitool_tools.mail.recipients import Recipients

    for pattern, (allowed, refused) in the_table(TOOLS, "address or pattern", "allows").items():
        for word in code_words(f"`{pattern}`"):
            recipients = Recipients([word], allow_subaddress=False)
            assert [text for text in code_words(allowed) if not recipients.permit(parse(text))] == [], pattern
            assert [text for text in code_words(refused) if recipients.permit(parse(text))] == [], pattern


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
    shown = {" ".join(re.findall(r"^clitool ((?:(?:token|resident) )?\w+)", code_words(row[0])[0])) for row in rows} - {
        ""
    }
    group = typer.main.get_command(app)
    real = {name for name in group.commands if name not in ("list", "verify", "call", "token", "resident")}  # type: ignore[attr-defined]  # it is a group
    for inner in ("token", "resident"):
        real |= {f"{inner} {name}" for name in group.commands[inner].commands}  # type: ignore[attr-defined]  # as above

    assert shown == real


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


def test_each_row_of_the_convention_is_answered_once() -> None:
    rows = [row[0] for table in CONVENTION.tables("id") for row in table]

    assert sorted(rows) == sorted(IDS)


def test_each_row_of_the_convention_has_a_test() -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)
    )
    bearing = {found.upper() for found in re.findall(r"(?:\b|_)([TLVCtlvc]\d{1,2})(?=\b|_)", text)} & IDS

    assert bearing == IDS


def test_every_error_code_class_is_documented() -> None:
    classes = {
        value.code
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.ClitoolError) and value.code
    }

    assert classes == set(the_table(CONVENTION, "code", "meaning"))
