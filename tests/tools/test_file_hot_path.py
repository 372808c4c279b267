"""What a call on files imports: a list, not a stopwatch. Whoever makes it longer says so here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from family_imports import imports_of

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = {"clitool_tools", "file", "file.policy"}
JAIL = {"clitool.jail", "clitool.location", "clitool.root", "errno", "file.extensions"}
ENTRY = {"clitool.jail_entry", "fcntl", "file.content", "file.digest"}


@pytest.fixture
def loaded(tmp_path: Path) -> Any:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a\n")
    settings = {"root_path": "files", "allow_write": True}
    return lambda tool, **params: imports_of(tmp_path, "file", tool, settings, **params)


def test_the_family_alone_imports_no_tool(loaded: Any) -> None:
    assert loaded("") == FAMILY


@pytest.mark.parametrize(
    ("tool", "params", "more"),
    [
        ("file_read", {"path": "a.txt"}, {"file.read", "file.digest", "file.lines", "file.near_miss", "file.part"}),
        ("file_list", {}, {"file.list", "file.near_miss", "file.walk"}),
        ("file_write", {"path": "b.txt", "content": "b"}, {*ENTRY, "file.write"}),
    ],
    ids=["file_read", "file_list", "file_write"],
)
def test_a_call_imports_what_it_needs(loaded: Any, tool: str, params: dict[str, Any], more: set[str]) -> None:
    assert loaded(tool, **params) == FAMILY | JAIL | more
