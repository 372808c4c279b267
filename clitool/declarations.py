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
        entry: the tool's part of the answer to `list`, one line of JSON.
    """

    __slots__ = ("entry", "name", "required_scope")

    def __init__(self, name: str, required_scope: str, entry: bytes) -> None:
        self.name = name
        self.required_scope = required_scope
        self.entry = entry


def declaration(tool: type[Tool]) -> Declaration:
    """Return what a tool class declares."""
    return Declaration(tool.name, tool.required_scope, answer.encode(_entry(tool)).rstrip())


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


def are_compiled() -> bool:
    """Say whether this installation has the file; then its families were checked when it was written."""
    return os.path.exists(_path())


def compiled() -> dict[str, list[Declaration]]:
    """Return the declarations by family; none where none are compiled."""
    found: dict[str, list[Declaration]] = {}
    if are_compiled():
        with open(_path(), "rb") as file:
            for line in file:
                family, name, scope, entry = line.rstrip().split(b" ", 3)
                found.setdefault(family.decode(), []).append(Declaration(name.decode(), scope.decode(), entry))
    return found


def compile_families(families: Iterable[Family]) -> bytes:
    """Return the content of the file for `families`, which must be free of `clitool.registration.problems`.

    A line for each tool: family, name, scope and entry, with a blank between them.
    """
    return b"".join(
        f"{family.name} {tool.name} {tool.required_scope} ".encode() + declaration(tool).entry + b"\n"
        for family in families
        for tool in family.tools
    )


def _path() -> str:
    return os.path.join(os.path.dirname(__file__), FILE)
