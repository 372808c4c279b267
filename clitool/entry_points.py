"""Families that installed distributions declare, read straight from their `entry_points.txt`.

`importlib.metadata` gives the same answer and costs as much as the rest of a call. The price of the short way: zipped
distributions and custom finders are not seen.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GROUP = "clitool.families"
_INSTALL_FOLDERS = ("site-packages", "dist-packages")


class EntryPoint:
    """One declared family: its name, `module:attribute`, and the distribution that declares it."""

    __slots__ = ("distribution", "name", "target")

    def __init__(self, name: str, target: str, distribution: str) -> None:
        self.name = name
        self.target = target
        self.distribution = distribution


def declared(roots: Iterable[str] | None = None) -> list[EntryPoint]:
    """Return what the distributions installed below `roots` declare; the first of two copies of one counts.

    Args:
        roots: folders that hold `*.dist-info`; by default those of `sys.path` that installers write to, and the one
            this package came from, so that a `*.dist-info` planted in a working folder is not honoured.
    """
    seen: set[str] = set()
    found: list[EntryPoint] = []
    for root in _roots() if roots is None else roots:
        for folder in _distributions(root):
            distribution = _normal(os.path.basename(folder).partition("-")[0])
            if distribution not in seen:
                seen.add(distribution)
                found += _read(folder, distribution)
    return found


def _roots() -> Iterator[str]:
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for root in dict.fromkeys(sys.path):
        if os.path.basename(root) in _INSTALL_FOLDERS or root == own:
            yield root


def _distributions(root: str) -> list[str]:
    try:
        names = os.listdir(root)
    except OSError:
        return []
    return [os.path.join(root, name) for name in sorted(names) if name.endswith(".dist-info")]


def _normal(name: str) -> str:
    return name.replace("_", "-").replace(".", "-").lower()


def _read(folder: str, distribution: str) -> Iterator[EntryPoint]:
    try:
        with open(os.path.join(folder, "entry_points.txt"), encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == GROUP and "=" in line and not line.startswith("#"):
            name, _, target = line.partition("=")
            yield EntryPoint(name.strip(), target.partition("[")[0].strip(), distribution)
