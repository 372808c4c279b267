"""What tools declare, as `list` shows it; that of this distribution's own is compiled when its wheel is built.

So `list` and `verify` import none of them. An installation without the file (an editable one, a copy of the sources)
imports the tools instead, with the same answers.
"""

from __future__ import annotations

import os

from clitool import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from clitool.family import Family
    from clitool.tool import Tool

FOLDER = os.path.dirname(__file__)
# There, written by hatch_build.py; a line for each tool. Two files, since a call needs no entries.
FILE = "declarations.txt"  # family, target of the family, tool, scope
ENTRIES = "entries.txt"  # tool, its part of the answer to `list`


class Compiled:
    """A family in the files: where it is (`module:attribute`), and the scope of each tool by the tool's name."""

    __slots__ = ("scopes", "target")

    def __init__(self, target: str) -> None:
        self.target = target
        self.scopes: dict[str, str] = {}


def entry_of(tool: type[Tool]) -> str:
    """Return the tool's part of the answer to `list`, one line of ASCII-only JSON."""
    return answer.encode(_entry(tool)).decode().rstrip()


def _entry(tool: type[Tool]) -> dict[str, object]:
    """Return what `list` says about a tool; the first four keys are the convention's."""
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "requiredScope": tool.required_scope,
        "annotations": {
            "readOnlyHint": tool.effect == "read",
            "destructiveHint": tool.effect in ("write", "delete"),
            "idempotentHint": tool.idempotent,
        },
    }


def compiled() -> dict[str, Compiled]:
    """Return the families in the files; none where there are no files. They were checked when it was written."""
    found: dict[str, Compiled] = {}
    for line in _lines(FILE):
        family, target, tool, scope = line.split(" ")
        found.setdefault(family, Compiled(target)).scopes[tool] = scope
    return found


def compiled_entries() -> dict[str, str]:
    """Return the entry of each tool in the files by its name."""
    return dict(line.split(" ", 1) for line in _lines(ENTRIES))


def compile_families(families: Iterable[tuple[Family, str]]) -> dict[str, str]:
    """Return the files by their names, each with its content.

    Args:
        families: free of `clitool.registration.problems`; each with its target as in its entry point.
    """
    every = [(family.name, target, tool) for family, target in families for tool in family.tools]
    return {
        FILE: "".join(f"{family} {target} {tool.name} {tool.required_scope}\n" for family, target, tool in every),
        ENTRIES: "".join(f"{tool.name} {entry_of(tool)}\n" for _, _, tool in every),
    }


def _lines(name: str) -> list[str]:
    try:
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []
