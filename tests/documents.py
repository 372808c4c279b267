"""The project's documents as data: fenced blocks, tables, headings, links; and what the core says of itself."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACEHOLDER = "…"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line that it begins on."""

    document: str
    language: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


@dataclass(frozen=True)
class Step:
    """A command of a console block and what it prints."""

    command: str
    output: str
    line: int


class Document:
    def __init__(self, name: str) -> None:
        self.name = name
        self.path = ROOT / name
        self.text = self.path.read_text(encoding="utf-8")

    def __str__(self) -> str:
        return self.name

    @cached_property
    def blocks(self) -> list[Block]:
        found: list[Block] = []
        fence = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)
        for match in fence.finditer(self.text):
            line = self.text.count("\n", 0, match.start()) + 2
            found.append(Block(self.name, match[1], match[2], line))
        return found

    @cached_property
    def prose(self) -> str:
        """The text without its fenced blocks."""
        return re.sub(r"^```.*\n(?:.*\n)*?^```$", "", self.text, flags=re.MULTILINE)

    def tables(self, *header: str) -> list[list[list[str]]]:
        """The tables whose first row begins with `header`; without it all of them. Each row is a list of cells."""
        found = []
        for match in re.finditer(r"(?:^\|.*\|\n)+", self.prose + "\n", re.MULTILINE):
            rows = [_cells(line) for line in match[0].splitlines()]
            if rows[0][: len(header)] == list(header):
                found.append(rows[2:])
        return found

    @cached_property
    def anchors(self) -> set[str]:
        """What a link may name after `#`."""
        headings = re.findall(r"^#+ (.+)$", self.prose, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    @cached_property
    def links(self) -> list[str]:
        return re.findall(r"\]\(([^)\s]+)\)", self.prose)


def steps(block: Block) -> list[Step]:
    """The commands of a console block: `$ ` begins one, `> ` goes on with it, everything else is output."""
    found: list[Step] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            found.append(Step(line[2:], "", number))
        elif line.startswith("> ") and not found[-1].output:
            found[-1] = Step(f"{found[-1].command}\n{line[2:]}", "", found[-1].line)
        else:
            found[-1] = Step(found[-1].command, f"{found[-1].output}{line}\n", found[-1].line)
    return found


def fits(expected: str, real: str) -> bool:
    """Whether `real` is what the document shows: `…` in a line is any text, a line of only `…` any lines."""
    pattern = ""
    for line in expected.splitlines():
        if line.strip() == PLACEHOLDER:
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(map(re.escape, line.split(PLACEHOLDER))) + r"\n"
    return re.fullmatch(pattern, real) is not None


def code_words(cell: str) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.removeprefix("|").removesuffix("|"))]


NAMES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", *sorted(f"docs/{name}" for name in os.listdir(ROOT / "docs")))
DOCUMENTS = {name: Document(name) for name in NAMES}
README = DOCUMENTS["README.md"]


def environment_variables() -> set[str]:
    """What the core looks up in the environment: `environment.get("X")`, `environment["X"]`, a constant VARIABLE."""
    found = set()
    for path in (ROOT / "clitool").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("environment.get", "_systemd"):
                found |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "VARIABLE":
                found.add(ast.literal_eval(node.value))
    return {str(name) for name in found if name}
