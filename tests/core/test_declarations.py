"""What is compiled into the wheel is what the tools declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clitool import declarations
from clitool.catalog import OWN_DISTRIBUTION, Catalog
from clitool.entry_points import EntryPoint, declared
from clitool.family import Family, load_target

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CATALOG = Catalog()


def compile_into(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile the built-in families where this catalogue then looks for them."""
    families = [
        (load_target(entry.target), entry.target) for entry in declared() if entry.distribution == OWN_DISTRIBUTION
    ]
    for name, content in declarations.compile_families(families).items():
        (folder / name).write_text(content)
    monkeypatch.setattr(declarations, "FOLDER", str(folder))


def test_what_is_compiled_is_listed_like_what_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "FOLDER", str(tmp_path / "none"))
    imported = Catalog()
    entries, scopes = imported.entries(), imported.scopes()

    compile_into(tmp_path, monkeypatch)

    assert Catalog().entries() == entries
    assert Catalog().scopes() == scopes
    assert Catalog().scopes(["file"]) == {scope for scope in scopes if scope.startswith("file:")}


def test_a_tool_of_another_distribution_is_never_taken_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a foreign family declares is checked at every start; no file speaks for it."""
    compile_into(tmp_path, monkeypatch)
    for name in (declarations.FILE, declarations.ENTRIES):
        file = tmp_path / name
        file.write_text(file.read_text().replace("calculator:use", "calculator:misuse"))
    target = "clitool_tools.calculator:family"

    own = Catalog([EntryPoint("calculator", target, OWN_DISTRIBUTION)])
    foreign = Catalog([EntryPoint("calculator", target, "somebody-else")])

    assert own.scopes() == {"calculator:misuse"}
    assert '"calculator:misuse"' in own.entries()[0]
    assert foreign.scopes() == {"calculator:use"}
    assert '"calculator:use"' in foreign.entries()[0]


def test_a_family_that_the_file_does_not_have_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_into(tmp_path, monkeypatch)
    for name in (declarations.FILE, declarations.ENTRIES):
        file = tmp_path / name
        file.write_text(file.read_text().partition("\n")[2])

    assert len(Catalog().entries()) == len(CATALOG.tools())


def test_a_family_may_name_its_tools_and_imports_only_the_one_that_is_asked_for() -> None:
    family = Family(name="x", tools={"x_join": "posixpath:join", "x_broken": "no_such_module:Tool"})

    import posixpath

    assert family.tool_names == ("x_join", "x_broken")
    assert family.tool("x_join") is posixpath.join
