"""Counts the instructions that a command executes, those of its children too; what servers execute is not counted."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from pathlib import Path

from measuring import Command, run

UNKILLED = str(Path(__file__).parent / "unkilled.py")
_VALGRIND = ("valgrind", "--tool=callgrind", "--quiet", "--trace-children=yes")
# At a fork what was counted so far is written and begins anew, or the child would count it once more.
_FORK = ("--dump-before=fork", "--dump-before=__libc_fork")
_TOTAL = re.compile(r"^totals: (\d+)$", re.MULTILINE)
_SECONDS = 20.0  # for a worker to write its count after its answer


def can_count() -> bool:
    """Say whether valgrind is there."""
    return shutil.which("valgrind") is not None


def instructions(command: Command) -> int:
    """Return how many instructions a run takes; from run to run that changes by a thousandth at most."""
    environment = {**command.environment, "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory() as name:
        words = [*_VALGRIND, *_FORK, f"--callgrind-out-file={name}/%p", *command.words]
        run(Command(words, command.stdin, environment, command.status))
        return sum(_counts(Path(name)))


def unkilled(python: Path, command: Command) -> Command:
    """Return a run of the installed command all of whose processes can be counted."""
    return Command([str(python), UNKILLED, *command.words], command.stdin, command.environment, command.status)


def _counts(folder: Path) -> list[int]:
    end = time.monotonic() + _SECONDS
    while True:
        texts = {path.name: path.read_text() for path in folder.iterdir()}
        found = [int(match[1]) for text in texts.values() for match in _TOTAL.finditer(text)]
        forks = sum("." in name for name in texts)
        # Each process leaves one file, and one more at each fork.
        if len(found) == len(texts) == 2 * forks + 1:
            return found
        if time.monotonic() > end:
            raise RuntimeError(f"a process ended before its instructions were counted: {sorted(texts)}")
        time.sleep(0.05)
