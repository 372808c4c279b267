"""The entry: canonical machine calls are answered at once, everything else goes to Typer."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_DOCUMENT = '{"ok":false,"error":"%s","code":"execution_error","details":{"reason":"%s"}}\n'


def main() -> NoReturn:
    """Run the command line and end the process with its exit status."""
    gc.set_threshold(50_000)  # modules stay: to look through them at every 700th object took a twentieth of a call
    status = 1
    try:
        _open_standard_descriptors()
        status = _status(sys.argv[1:])
    except KeyboardInterrupt:  # while modules load; later the supervisor hears it
        os.write(1, (_DOCUMENT % ("the program was interrupted", "interrupted")).encode())
    except BaseException as error:  # noqa: BLE001 - no memory, no /dev/null, …: whatever happens becomes a document
        os.write(1, (_DOCUMENT % ("the program failed inside", "internal")).encode())
        os.write(2, f"clitool: internal error: {type(error).__name__}\n".encode())
    finally:
        os._exit(status)  # nothing is left to finalise, and hosts wait for the process to be gone


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
