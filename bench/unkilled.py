"""Runs the installed command, but lets its worker end by itself: killed, it would leave no count of its instructions.

valgrind … python unkilled.py /path/to/clitool WORDS
"""

from __future__ import annotations

import os
import sys


def keep_alive() -> None:
    """Make nothing of what kills the worker: its supervisor when it has the answer, the kernel when that has ended."""
    import fcntl

    real = fcntl.fcntl

    def without_signals(descriptor: int, command: int, argument: int = 0) -> int:
        return real(descriptor, command, argument & ~os.O_ASYNC if command == fcntl.F_SETFL else argument)

    fcntl.fcntl = without_signals  # type: ignore[assignment] # the part of it that is used here
    os.kill = os.killpg = lambda *_: None


keep_alive()
for name in ("LD_PRELOAD", "LD_LIBRARY_PATH"):  # of valgrind; the resident worker makes no calls for who has others
    os.environ.pop(name, None)
del sys.argv[0]
with open(sys.argv[0]) as script:
    exec(script.read())
