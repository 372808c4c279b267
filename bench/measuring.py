"""Runs a command as a host does, a process of its own, and measures its time or its memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

BASE = "`python -c pass`"
ROW = b"customer "  # each row of the sample data has this once


@dataclass(frozen=True)
class Command:
    """What is run: its words, its standard input, and of the environment what it needs beside PATH.

    Attributes:
        status: the exit status of a good run.
        rows: how many rows of the sample data it must print, if it prints any.
    """

    words: Sequence[str]
    stdin: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)
    status: int = 0
    rows: int | None = None


def base(python: Path) -> Command:
    """Return what everything is a ratio to: the bare interpreter of the environment that is measured."""
    return Command([str(python), "-c", "pass"])


def run(command: Command) -> bytes:
    """Run it and return what it prints.

    Raises:
        RuntimeError: it ended in another way than it should.
    """
    done = subprocess.run(command.words, input=command.stdin, capture_output=True, env=variables(command), check=False)
    if done.returncode != command.status:
        said = (done.stderr + done.stdout)[-1000:].decode(errors="replace")
        raise RuntimeError(f"{' '.join(command.words)} ended with {done.returncode}: {said}")
    return done.stdout


def variables(command: Command) -> dict[str, str]:
    """Return the whole environment of a command: nothing of the shell that measures changes how it starts."""
    return {"PATH": os.environ["PATH"], **command.environment}


def check(command: Command) -> None:
    """Run it and see that it does what it is measured for; this also warms the disk's cache.

    Raises:
        RuntimeError: it printed other rows.
    """
    found = run(command).count(ROW)
    if command.rows is not None and found != command.rows:
        raise RuntimeError(f"{' '.join(command.words)} printed {found} rows instead of {command.rows}")


def seconds(command: Command) -> float:
    """Return the wall seconds of one run, until all that it prints is read."""
    started = time.perf_counter()
    run(command)
    return time.perf_counter() - started


# The system counts what a process holds before it becomes another program as memory of that program. So a small
# process starts it, not this one.
_PEAK = """
import os, resource, sys
pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
with open(sys.argv[1], "w") as report:
    report.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""


def peak_megabytes(command: Command, folder: Path) -> float:
    """Return the peak memory of the largest process of one run; the folder is for a report."""
    report = folder / "peak"
    words = [sys.executable, "-I", "-S", "-c", _PEAK, str(report), *command.words]
    run(Command(words, command.stdin, command.environment, command.status))
    return int(report.read_text()) / (1024 * 1024 if sys.platform == "darwin" else 1024)
