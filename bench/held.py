"""How much memory a program that stays holds, with all its processes; what they share is counted once."""

from __future__ import annotations

import re
from pathlib import Path


def held_megabytes(pid: int) -> float:
    """Return the memory of a process and of all that it started (on Linux)."""
    return sum(_own_megabytes(one) for one in [pid, *_descendants(pid)])


def _own_megabytes(pid: int) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(part) for part in re.findall(r"^Pss: +(\d+) kB", text, re.MULTILINE)) / 1024


def _descendants(pid: int) -> list[int]:
    children = [int(word) for path in Path(f"/proc/{pid}/task").glob("*/children") for word in path.read_text().split()]
    return children + [below for child in children for below in _descendants(child)]
