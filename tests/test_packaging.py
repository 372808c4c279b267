"""What is shipped: the exact files of the wheel, and the wheel at work in an environment of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command import TOKEN, Result, client, environment, run, write_clients

from clitool.catalog import OWN_DISTRIBUTION
from clitool.declarations import compile_families
from clitool.entry_points import declared
from clitool.family import load_target

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "tests" / "plugin"


def build(source: Path, folder: Path) -> Path:
    """Build a wheel with the backend that is installed, so without any network."""
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=source, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel; its dependencies are those of this one."""
    folder = tmp_path_factory.mktemp("env") / "venv"
    venv.create(folder)
    python = folder / "bin" / "python"
    install(python, wheel)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def install(python: Path, wheel: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", str(wheel)],
        check=True,
        env=environment(PIP_DISABLE_PIP_VERSION_CHECK="1"),
    )


def test_the_wheel_holds_the_two_packages_and_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        script = archive.read(next(name for name in names if name.endswith("/scripts/clitool")))

    sources = {
        str(path.relative_to(ROOT)) for path in (ROOT / "clitool").rglob("*") if path.suffix in (".py", ".typed")
    }
    tools = ROOT / "tools"
    sources |= {str(path.relative_to(tools)) for path in tools.rglob("*") if path.suffix in (".py", ".typed")}
    rest = {name.partition("/")[2] for name in names - sources}
    assert sources <= names
    metadata = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert rest == metadata | {"declarations.txt", "entries.txt", "scripts/clitool"}
    assert script.startswith(b"#!python")


def test_the_declarations_in_the_wheel_are_those_of_the_tools(wheel: Path) -> None:
    families = [
        (load_target(entry.target), entry.target) for entry in declared() if entry.distribution == OWN_DISTRIBUTION
    ]

    with zipfile.ZipFile(wheel) as archive:
        for name, content in compile_families(families).items():
            assert archive.read(f"clitool/{name}").decode() == content


def test_the_installed_wheel_runs_from_another_folder(python: Path, tmp_path: Path) -> None:
    """The working folder supplies no modules, also where it holds some with the right names."""
    for name in ("yaml.py", "json.py", "clitool.py", "hashlib.py"):
        (tmp_path / name).write_text("raise SystemExit('a module of the working folder was imported')")

    result = run("list", command=str(python.parent / "clitool"), cwd=str(tmp_path))

    assert {"calculator", "file_read", "database_query"} <= {tool["name"] for tool in result.document}
    assert result.stderr == b""


def test_the_module_can_be_run_isolated(python: Path) -> None:
    done = subprocess.run([python, "-I", "-m", "clitool", "list"], capture_output=True, check=True, env=environment())

    assert json.loads(done.stdout)


def test_the_wheel_says_its_version_and_dependencies(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("METADATA"))).decode()

    needed = {
        re.split("[<>=!]", line.split()[1])[0]
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist:") and "extra" not in line
    }
    assert needed == {"jsonschema", "pyyaml", "typer"}
    assert "License-Expression: MIT" in metadata


@pytest.fixture(scope="session")
def with_plugin(python: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command of an environment in which the example plugin is installed too."""
    install(python, build(PLUGIN, tmp_path_factory.mktemp("plugin")))
    return str(python.parent / "clitool")


@pytest.fixture
def notes(with_plugin: str, tmp_path: Path) -> Callable[..., Result]:
    """Call a tool of the example plugin through the installed command, as one of two clients."""
    settings = {"seal_key": "${SEAL_KEY}", "allow_write": True}
    document = {
        "clients": {
            "anna": client("notes:*", tools={"notes": settings}),
            "ben": client("notes:*", token="ben", tools={"notes": {"seal_key": "${SEAL_KEY}"}}),
            "eve": client("notes:*", token="eve"),
        },
        "state": {"directory": "state"},
    }
    path = write_clients(tmp_path / "c", document)

    def call(tool: str, token: str = TOKEN, **params: object) -> Result:
        return run(
            "--clients",
            str(path),
            "call",
            tool,
            "--token-stdin",
            "--params",
            json.dumps(params),
            stdin=token.encode(),
            env=environment(SEAL_KEY="a key of sixteen characters"),
            command=with_plugin,
        )

    return call


def test_an_installed_plugin_is_listed_and_called_like_a_built_in_family(
    with_plugin: str, notes: Callable[..., Result]
) -> None:
    listed = run("list", command=with_plugin)

    assert {"notes_read", "notes_write", "file_read"} <= {tool["name"] for tool in listed.document}
    assert listed.stderr == b""
    assert notes("notes_write", title="a", text="remember").document == {"ok": True, "result": {"title": "a"}}
    assert notes("notes_read", title="a").document["result"] == {"title": "a", "text": "remember"}
    assert notes("notes_write", title="a", text="other").verdict == ("execution_error", "exists")


def test_a_plugins_state_and_settings_belong_to_one_client(notes: Callable[..., Result]) -> None:
    """No client sees another one's state, right to write or settings."""
    notes("notes_write", title="a", text="of anna")

    assert notes("notes_read", token="ben", title="a").verdict == ("execution_error", "not_found")
    assert notes("notes_write", token="ben", title="a", text="x").verdict == ("scope_denied", "read_only")
    assert notes("notes_read", token="eve", title="a").verdict == ("scope_denied", "not_configured")
