"""What the tools of this distribution declare, compiled when its wheel is built, so that nobody imports them to ask.

An installation without the file (an editable one, a copy of the sources) imports the tools instead: the same answers.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from clitool.family import Family
    from clitool.tool import Tool

FILE = "declarations.json"  # beside this module; written by hatch_build.py


class Declaration:
    """What a tool class says about itself (see `clitool.tool.Tool`), without the class."""

    __slots__ = ("description", "effect", "idempotent", "input_schema", "name", "required_scope")

    def __init__(self, tool: Mapping[str, Any]) -> None:
        self.name: str = tool["name"]
        self.description: str = tool["description"]
        self.required_scope: str = tool["required_scope"]
        self.effect: str = tool["effect"]
        self.idempotent: bool = tool["idempotent"]
        self.input_schema: Mapping[str, Any] = tool["input_schema"]


def are_compiled() -> bool:
    """Say whether this installation has the file; then its families were checked when it was written."""
    return os.path.exists(_path())


def compiled() -> dict[str, list[Declaration]]:
    """Return the declarations by family; none where none are compiled."""
    from clitool.lean import loads

    if not are_compiled():
        return {}
    with open(_path(), encoding="ascii") as file:
        return {family: [Declaration(tool) for tool in tools] for family, tools in loads(file.read()).items()}


def _path() -> str:
    return os.path.join(os.path.dirname(__file__), FILE)


def compile_families(families: Iterable[Family]) -> str:
    """Return the content of the file for `families`, which must be free of `clitool.registration.problems`."""
    from clitool.lean import dumps

    return dumps({family.name: [_declared(tool) for tool in family.tools] for family in families}) + "\n"


def _declared(tool: type[Tool]) -> dict[str, object]:
    return {attribute: getattr(tool, attribute) for attribute in Declaration.__slots__}
