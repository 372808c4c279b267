"""Run as a program: `clitool` with the words given, leaving in `$LOADED_MODULES` what the worker imported.

What its supervisor imported is left beside it, in a file whose name ends in `.supervisor`.

`$LOADED_DECLARATIONS` is the folder of compiled declarations, if the command reads any.
"""

from __future__ import annotations

import os
import sys

from clitool.channel import Channel

_answer, _exit = Channel.answer, os._exit
_supervisor = os.getpid()


def answer(channel: Channel, document: bytes, status: int) -> None:
    leave_names()
    _answer(channel, document, status)


def end(status: int) -> None:
    if os.getpid() == _supervisor:
        leave_names(".supervisor")
    _exit(status)


def leave_names(ending: str = "") -> None:
    names = "\n".join(sys.modules)
    with open(os.environ["LOADED_MODULES"] + ending, "w") as file:
        file.write(names)


if __name__ == "__main__":
    Channel.answer = answer  # type: ignore[method-assign]  # the one place that sees the end of the worker
    os._exit = end  # type: ignore[assignment]  # and that of the program
    if "LOADED_DECLARATIONS" in os.environ:
        from clitool import declarations

        declarations.FOLDER = os.environ["LOADED_DECLARATIONS"]  # as an installation has them, and an editable one not
    from clitool.__main__ import main

    main()
