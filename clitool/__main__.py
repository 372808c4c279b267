"""The entry: canonical machine calls are answered at once, everything else goes to Typer."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process with its exit status."""
    _open_standard_descriptors()
    os._exit(_status(sys.argv[1:]))  # nothing is left to finalise, and hosts wait for the process to be gone


def _status(words: list[str]) -> int:
    from clitool.arguments import UsageError, parse
    from clitool.machine import refuse, run

    try:
        request = parse(words)
    except UsageError as problem:
        return refuse(problem)
    if request is not None:
        return run(request, dict(os.environ))
    from clitool.cli import run as run_typer

    return run_typer(words)


def _open_standard_descriptors() -> None:
    # Started with 0, 1 or 2 closed, the next file opened would pass for one of them.
    while True:
        descriptor = os.open(os.devnull, os.O_RDWR)
        if descriptor > 2:
            os.close(descriptor)
            return


if __name__ == "__main__":
    main()
