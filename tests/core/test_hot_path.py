"""What each canonical call imports: a list, not a stopwatch. Whoever makes it longer says so here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command import TOKEN, client, environment, write_clients
from indexed import write_index

if TYPE_CHECKING:
    from collections.abc import Callable

    Loaded = Callable[..., set[str]]

PROGRAM = str(Path(__file__).parents[1] / "loaded_modules.py")

# Too heavy for a process that lives for a hundredth of a second (tenths of a call each, jsonschema several calls).
HEAVY = {
    "argparse",
    "asyncio",
    "attr",
    "attrs",
    "click",
    "concurrent",
    "ctypes",
    "dataclasses",
    "decimal",
    "difflib",
    "email",
    "importlib.metadata",
    "inspect",
    "jsonschema",
    "logging",
    "pathlib",
    "pydantic",
    "referencing",
    "rich",
    "ruamel",
    "secrets",
    "shutil",
    "socket",
    "sqlglot",
    "ssl",
    "statistics",
    "subprocess",
    "tempfile",
    "traceback",
    "typer",
    "typing",
    "typing_extensions",
    "urllib",
    "uuid",
    "zipfile",
}

# What PyYAML, json, hashlib and hmac bring along on the supported Pythons.
SHARED = {
    "base64",
    "binascii",
    "collections",
    "copyreg",
    "cython_runtime",
    "datetime",
    "enum",
    "fcntl",
    "functools",
    "gc",
    "hashlib",
    "hmac",
    "itertools",
    "json",
    "keyword",
    "math",
    "operator",
    "re",
    "reprlib",
    "resource",
    "select",
    "signal",
    "struct",
    "types",
    "warnings",
    "yaml",
    "zoneinfo",
    "copy",
    "weakref",
    "__future__",
    "errno",
    "grp",
    "pwd",
}

READ = {
    "answer",
    "access",
    "arguments",
    "client_index",
    "clients",
    "clients_file",
    "errors",
    "lean",
    "log",
    "machine",
    "scopes",
    "tokens",
    "channel",
    "supervisor",
    "worker",
}
TOOLS = {"catalog", "entry_points", "family", "quick_schema", "registration", "schema", "tool_schema"}
PIPELINE = {"family", "pipeline", "places", "references", "settings", "tool"}
CALL = READ | TOOLS | PIPELINE | {"calling", "journal", "params"}


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Return what `clitool WORDS` has imported when it answers, without what the bare interpreter has."""
    settings = {"calculator": {}, "file": {"root_path": str(tmp_path / "files")}}
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("calculator:use", "file:read", tools=settings)}})
    write_index(path)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")

    def modules(*words: str) -> set[str]:
        report = tmp_path / "modules"
        done = subprocess.run(
            [sys.executable, "-P", PROGRAM, "--clients", str(path), *words],
            input=TOKEN.encode(),
            capture_output=True,
            env=environment(LOADED_MODULES=str(report)),
            check=False,
        )
        assert done.returncode == 0, done
        return set(report.read_text().split()) - bare()

    return modules


def bare() -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, check=True, env=environment()
    )
    return set(done.stdout.decode().split())


def own(names: set[str]) -> set[str]:
    return {name.partition(".")[2] for name in names if name.startswith("clitool.")} - {"__main__"}


def foreign(names: set[str]) -> set[str]:
    tops = {name.partition(".")[0] for name in names}
    return {top for top in tops if not top.startswith(("_", "clitool", "importlib"))}


def heavy(names: set[str]) -> set[str]:
    return {name for name in names if name in HEAVY or name.partition(".")[0] in HEAVY}


def test_verify_imports_what_it_needs(loaded: Loaded) -> None:
    names = loaded("verify")

    assert own(names) == READ | PIPELINE | {"verification"}
    assert foreign(names) <= SHARED
    assert not heavy(names)


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("verify",),
        ("call", "calculator", "--token-stdin", "--params", '{"function": "add", "a": 1, "b": 2}'),
        ("call", "file_read", "--token-stdin", "--params", '{"path": "a.txt"}'),
    ],
    ids=lambda words: words[:2][-1],
)
def test_where_there_is_an_index_nothing_is_imported_that_reads_yaml(loaded: Loaded, words: tuple[str, ...]) -> None:
    assert not {"yaml", "_yaml", "clitool.clients_yaml", "clitool.clients_rules", "clitool.strict_yaml"} & loaded(
        *words
    )


def test_list_imports_the_declarations_but_no_driver(loaded: Loaded) -> None:
    names = loaded("list")

    assert own(names) - {"jail"} <= READ | TOOLS | {"listing", "tool"}
    assert not heavy(names)
    assert not {"sqlite3", "_sqlite3"} & names


def test_calculator_imports_its_own_family_only(loaded: Loaded) -> None:
    names = loaded("call", "calculator", "--token-stdin", "--params", '{"function": "add", "a": 1, "b": 2}')

    assert own(names) <= CALL | {"log_days", "private_folder"}
    assert all(
        f"{name}.".startswith("clitool_tools.calculator.") for name in names if name.startswith("clitool_tools.")
    )
    assert foreign(names) <= SHARED
    assert not heavy(names)


def test_file_read_imports_no_database(loaded: Loaded) -> None:
    names = loaded("call", "file_read", "--token-stdin", "--params", '{"path": "a.txt"}')

    assert not heavy(names)
    assert not {name for name in names if "sqlite" in name or name.startswith("clitool_tools.database")}


@pytest.mark.parametrize("words", [("list",), ("verify",)], ids=str)
def test_no_command_of_a_machine_imports_typer(loaded: Loaded, words: tuple[str, ...]) -> None:
    assert not {name for name in loaded(*words) if name.partition(".")[0] == "typer" or name == "clitool.cli"}
