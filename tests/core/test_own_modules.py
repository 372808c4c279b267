"""The short way to the program's own modules ends where Python's way ends."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from typing import TYPE_CHECKING, Any

import pytest
from command import environment

from clitool.own_modules import OwnModules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Compiled = Callable[..., Path]

SOURCE = '"""A module."""\nvalue = 1\n\n\ndef where():\n    return __file__\n'


@pytest.fixture
def compiled(tmp_path: Path) -> Compiled:
    """Return a function that writes a module below the package `clitool_tools` and has Python compile it."""
    package = tmp_path / "clitool_tools"
    package.mkdir()
    (package / "__init__.py").write_text("")

    def write(name: str = "one.py", text: str = SOURCE) -> Path:
        path = package / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        program = "import compileall, sys; compileall.compile_dir(sys.argv[1], quiet=2)"
        subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, env=environment())
        return path

    return write


def spec_of(name: str, folder: Path) -> Any:
    return OwnModules().find_spec(name, [str(folder)])


@pytest.mark.parametrize(
    ("name", "file"),
    [("clitool_tools.one", "one.py"), ("clitool_tools.two", "two/__init__.py")],
    ids=["a module", "a package"],
)
def test_it_finds_what_python_finds(compiled: Compiled, name: str, file: str) -> None:
    folder = compiled(file).parents[file.count("/")]

    short, long = spec_of(name, folder), PathFinder.find_spec(name, [str(folder)])

    assert long is not None
    assert isinstance(long.loader, SourceFileLoader)
    for attribute in ("name", "origin", "cached", "parent", "submodule_search_locations", "has_location"):
        assert getattr(short, attribute) == getattr(long, attribute), attribute
    assert marshal.dumps(short.loader_state) == marshal.dumps(long.loader.get_code(name))


def damaged(path: Path, change: Callable[[bytes], bytes]) -> None:
    [cached] = (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc")
    cached.write_bytes(change(cached.read_bytes()))


DAMAGE = [
    pytest.param(lambda path: path.write_text(SOURCE + "\n"), id="the source is longer"),
    pytest.param(lambda path: os.utime(path, (1, 1)), id="the source has another time"),
    pytest.param(lambda path: path.unlink(), id="there is no source"),
    pytest.param(lambda path: damaged(path, lambda data: b"\0\0" + data[2:]), id="another Python compiled it"),
    pytest.param(lambda path: damaged(path, lambda data: data[:4] + b"\1" + data[5:]), id="it goes by a hash"),
    pytest.param(lambda path: damaged(path, lambda data: data[:-9]), id="it ends in the middle"),
    pytest.param(lambda path: damaged(path, lambda data: data[:5]), id="it ends in its header"),
    pytest.param(lambda path: damaged(path, lambda data: data[:16] + b"?" * 9), id="it is no code"),
    pytest.param(lambda path: damaged(path, lambda _: b""), id="it is empty"),
]


@pytest.mark.parametrize("change", DAMAGE)
def test_what_was_compiled_from_anything_else_is_left_to_python(
    compiled: Compiled, change: Callable[[Path], None]
) -> None:
    """What runs is always what the source says."""
    path = compiled()
    assert spec_of("clitool_tools.one", path.parent) is not None

    change(path)

    assert spec_of("clitool_tools.one", path.parent) is None


@pytest.mark.parametrize("name", ["json", "os.path", "sqlite3", "yaml", "evil.clitool"])
def test_nobody_elses_modules_are_looked_for(name: str, tmp_path: Path) -> None:
    assert spec_of(name, tmp_path) is None
    assert OwnModules().find_spec(name) is None


def test_a_package_that_lies_in_several_places_is_left_to_python(compiled: Compiled, tmp_path: Path) -> None:
    folder = compiled().parent

    assert OwnModules().find_spec("clitool_tools.one", [str(folder), str(tmp_path)]) is None


@pytest.mark.parametrize(
    ("flags", "variables"),
    [
        pytest.param(["-O"], {}, id="-O"),
        pytest.param(["-OO"], {}, id="-OO"),
        pytest.param([], {"PYTHONPYCACHEPREFIX": "/nowhere"}, id="another place for what is compiled"),
    ],
)
def test_where_python_compiles_in_another_way_everything_is_left_to_it(
    flags: list[str], variables: dict[str, str]
) -> None:
    program = "import sys; from clitool import own_modules; own_modules.install(); print(len(sys.meta_path))"
    plain = [sys.executable, *flags, "-c", "import sys, clitool; print(len(sys.meta_path))"]
    words = [sys.executable, *flags, "-c", program]

    found = [
        subprocess.run(each, check=True, capture_output=True, env=environment(**variables)).stdout
        for each in (plain, words)
    ]

    assert found[0] == found[1]


def test_a_module_that_came_the_short_way_is_like_any_other(compiled: Compiled, tmp_path: Path) -> None:
    path = compiled()
    program = (
        "import sys\nfrom clitool import own_modules\nown_modules.install()\nimport clitool_tools.one as one\n"
        "assert type(one.__loader__).__name__ == 'OwnModules', one.__loader__\n"
        "import importlib, inspect\n"
        "print(one.where(), one.__name__, one.__package__, inspect.getsource(one.where).count('return'))\n"
        "one.value = 2\nassert importlib.reload(one).value == 1\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, env=environment(PYTHONPATH=str(tmp_path))
    )

    assert done.stdout.decode().split() == [str(path), "clitool_tools.one", "clitool_tools", "1"], done.stderr
