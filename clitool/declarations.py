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

FILE = "declarations.txt"  # beside this module; written by hatch_build.py


class Declaration:
    """What one tool says about itself.

    Attributes:
        name: the tool's.
        required_scope: what a caller must hold.
        entry: the tool's part of the answer to `list`, one line of ASCII-only JSON.
    """

    __slots__ = ("entry", "name", "required_scope")

    def __init__(self, name: str, required_scope: str, entry: str) -> None:
        self.name = name
        self.required_scope = required_scope
        self.entry = entry


class Compiled:
    """A family in the file: where it is (`module:attribute`), and the declarations of its tools by their names."""

    __slots__ = ("target", "tools")

    def __init__(self, target: str) -> None:
        self.target = target
        self.tools: dict[str, Declaration] = {}


def declaration(tool: type[Tool]) -> Declaration:
    """Return what a tool class declares."""
    return Declaration(tool.name, tool.required_scope, answer.encode(_entry(tool)).decode().rstrip())


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
    """Return the families in the file; none where there is no file. They were checked when it was written."""
    try:
        with open(_path(), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return {}
    found: dict[str, Compiled] = {}
    for line in lines:
        family, target, name, scope, entry = line.split(" ", 4)
        found.setdefault(family, Compiled(target)).tools[name] = Declaration(name, scope, entry)
    return found


def compile_families(families: Iterable[tuple[Family, str]]) -> str:
    """Return the content of the file: a line for each tool, `family target tool scope entry`.

    Args:
        families: free of `clitool.registration.problems`; each with its target as in its entry point.
    """
    return "".join(
        f"{family.name} {target} {tool.name} {tool.required_scope} {declaration(tool).entry}\n"
        for family, target in families
        for tool in family.tools
    )


def _path() -> str:
    return os.path.join(os.path.dirname(__file__), FILE)
