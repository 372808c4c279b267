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


def compile_into(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Compile the built-in families where this catalogue then looks for them."""
    families = [
        (load_target(entry.target), entry.target) for entry in declared() if entry.distribution == OWN_DISTRIBUTION
    ]
    file = folder / declarations.FILE
    file.write_text(declarations.compile_families(families))
    monkeypatch.setattr(declarations, "_path", lambda: str(file))
    return file


def test_what_is_compiled_is_listed_like_what_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "_path", lambda: str(tmp_path / "none"))
    imported = [tool.entry for tool in Catalog().declarations()]

    compile_into(tmp_path, monkeypatch)

    assert [tool.entry for tool in Catalog().declarations()] == imported


def test_a_tool_of_another_distribution_is_never_taken_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a foreign family declares is checked at every start; no file speaks for it."""
    file = compile_into(tmp_path, monkeypatch)
    file.write_text(file.read_text().replace('"Calculate', '"Miscalculate'))
    target = "clitool_tools.calculator:family"

    [own] = Catalog([EntryPoint("calculator", target, OWN_DISTRIBUTION)]).declarations()
    [foreign] = Catalog([EntryPoint("calculator", target, "somebody-else")]).declarations()

    assert '"Miscalculate' in own.entry
    assert '"Calculate' in foreign.entry


def test_a_family_that_the_file_does_not_have_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_into(tmp_path, monkeypatch).write_text("")

    assert [tool.name for tool in Catalog().declarations()] == [tool.name for _, tool in CATALOG.tools()]


def test_a_family_may_name_its_tools_and_imports_only_the_one_that_is_asked_for() -> None:
    family = Family(name="x", tools={"x_join": "posixpath:join", "x_broken": "no_such_module:Tool"})

    import posixpath

    assert family.tool_names == ("x_join", "x_broken")
    assert family.tool("x_join") is posixpath.join
