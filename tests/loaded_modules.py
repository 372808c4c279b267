"""Run as a program: `clitool` with the words given, leaving in `$LOADED_MODULES` what the worker imported.

`$LOADED_DECLARATIONS` is the folder of compiled declarations, if the command reads any.
"""

from __future__ import annotations

import os
import sys

from clitool import channel as frames

_answer = frames.Channel.answer


def answer(channel: frames.Channel, document: bytes, status: int) -> None:
    names = "\n".join(sys.modules)
    with open(os.environ["LOADED_MODULES"], "w") as file:
        file.write(names)
    _answer(channel, document, status)


if __name__ == "__main__":
    frames.Channel.answer = answer  # type: ignore[method-assign]  # the one place that sees the end of the worker
    if "LOADED_DECLARATIONS" in os.environ:
        from clitool import declarations

        declarations.FOLDER = os.environ["LOADED_DECLARATIONS"]  # as an installation has them, and an editable one not
    from clitool.__main__ import main

    main()
