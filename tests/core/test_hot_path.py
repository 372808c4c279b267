"""What each canonical call imports: a list, not a stopwatch. Whoever makes it longer says so here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command import TOKEN, client, environment, write_clients
from indexed import write_index

from clitool.catalog import OWN_DISTRIBUTION
from clitool.declarations import compile_families
from clitool.entry_points import declared
from clitool.family import load_target

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

# Of the standard library, on every supported Python; private modules and what the interpreter has anyway not counted.
FOREIGN = {"fcntl", "gc", "marshal", "resource", "select"}
BUILT_IN = {"math", "signal", "operator", "hashlib", "hmac"}  # for the calculator; where private ones are missing

DOOR = {"answer", "arguments", "channel", "errors", "lean", "machine", "supervisor", "watch", "worker"}
SUPERVISOR = DOOR | {"frames", "listener"}  # these while the worker is at work
CLIENTS = {"access", "client_index", "clients", "clients_file", "places"}
AUTHENTICATION = {"pipeline", "scopes", "tokens"}
CATALOG = {"catalog", "declarations"}
VERIFY = DOOR | CLIENTS | AUTHENTICATION | {"verification"}
LIST = DOOR | CLIENTS | CATALOG | {"entry_points", "listing"}
TOOL = {"calling", "family", "journal", "log", "params", "schema", "settings", "tool"}
CALL = DOOR | CLIENTS | AUTHENTICATION | CATALOG | TOOL


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Return what `clitool WORDS` has imported when it answers, without what the bare interpreter has."""
    settings = {"calculator": {}, "file": {"root_path": str(tmp_path / "files")}}
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("calculator:use", "file:read", tools=settings)}})
    write_index(path)
    families = [
        (load_target(entry.target), entry.target) for entry in declared() if entry.distribution == OWN_DISTRIBUTION
    ]
    for name, content in compile_families(families).items():
        (tmp_path / name).write_text(content)
    compiled = {"LOADED_DECLARATIONS": str(tmp_path)}
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")

    def modules(*words: str) -> set[str]:
        report = tmp_path / "modules"
        done = subprocess.run(
            [sys.executable, "-P", PROGRAM, "--clients", str(path), *words],
            input=TOKEN.encode(),
            capture_output=True,
            env=environment(LOADED_MODULES=str(report), **({} if words == ("verify",) else compiled)),
            check=False,
        )
        assert done.returncode == 0, done
        supervisor = report.with_name("modules.supervisor")
        names = set(supervisor.read_text().split())
        assert own(names) - {"declarations"} == SUPERVISOR  # which the program itself loads
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


def test_verify_imports_what_authenticates(loaded: Loaded) -> None:
    names = loaded("verify")

    assert own(names) == VERIFY
    assert foreign(names) <= FOREIGN | BUILT_IN
    assert not {name for name in names if name.startswith("clitool_tools")}


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


def test_list_imports_no_tool(loaded: Loaded) -> None:
    names = loaded("list")

    assert own(names) == LIST
    assert foreign(names) <= FOREIGN | BUILT_IN
    assert not {name for name in names if name.startswith("clitool_tools")}


def test_calculator_imports_its_own_family_only(loaded: Loaded) -> None:
    names = loaded("call", "calculator", "--token-stdin", "--params", '{"function": "add", "a": 1, "b": 2}')

    assert own(names) == CALL
    assert {name for name in names if name.startswith("clitool_tools.")} == {
        "clitool_tools.calculator",
        "clitool_tools.calculator.arithmetic",
        "clitool_tools.calculator.calculation",
    }
    assert foreign(names) <= FOREIGN | BUILT_IN


def test_file_read_imports_no_database(loaded: Loaded) -> None:
    names = loaded("call", "file_read", "--token-stdin", "--params", '{"path": "a.txt"}')

    assert not heavy(names)
    assert not {name for name in names if "sqlite" in name or name.startswith("clitool_tools.database")}


@pytest.mark.parametrize("words", [("list",), ("verify",)], ids=str)
def test_no_command_of_a_machine_imports_typer(loaded: Loaded, words: tuple[str, ...]) -> None:
    assert not {name for name in loaded(*words) if name.partition(".")[0] == "typer" or name == "clitool.cli"}
