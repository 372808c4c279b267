"""The door for people: text on standard output, trouble in one line on standard error, an exit status."""

from __future__ import annotations

import os
import signal

from clitool import answer
from clitool.errors import ClitoolError, InvalidParams, one_line, report
from clitool.machine import STDERR, STDOUT, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clitool.channel import Channel

DONE, REFUSED, USAGE, INTERRUPTED = 0, 1, 2, 130
MAX_PROBLEMS = 50


class Output:
    """What a command answers: text or a document, the exit status that goes with it, hints for standard error."""

    __slots__ = ("data", "hints", "status")

    def __init__(self, data: str | bytes, status: int = DONE, hints: Sequence[str] = ()) -> None:
        self.data = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
        self.status = status
        self.hints = hints


class Door:
    """One command's way out.

    Args:
        json: whether trouble is also told as a document on standard output.
        verbose: whether standard error shows where an unforeseen error comes from.
    """

    def __init__(self, *, json: bool = False, verbose: bool = False) -> None:
        self._json = json
        self._verbose = verbose

    def here(self, work: Callable[[], Output]) -> int:
        """Do the work in this process, print what it returns, and return the exit status.

        SIGINT and SIGTERM are kept back until the process ends: the work is short, and a token that is in the file
        shall be printed, too. Where it waits, it must look for them itself and raise `KeyboardInterrupt`.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            output = work()
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the door's one way out
            return self.fail(error)
        for hint in output.hints:
            note(_line(hint))
        return output.status if answer.write(STDOUT, output.data) else REFUSED

    def supervised(self, work: Callable[[], Output], seconds: float) -> int:
        """Do the same with work that runs code of plugins, which may print, hang or crash: in a worker of its own."""
        from clitool.supervisor import supervise

        ending = supervise(lambda channel: self._work(work, channel), seconds, note)
        if ending.document is not None:
            return ending.status if answer.write(STDOUT, ending.document) else REFUSED
        if ending.error is not None and ending.error.reason == "interrupted":
            return INTERRUPTED
        return self.fail(ending.error or RuntimeError("the worker gave neither answer nor error"))

    def fail(self, error: BaseException) -> int:
        """Tell that the command failed, one line for each problem; return the exit status."""
        for line in self._lines(error):
            note(_line(line))
        answer.write(STDOUT, self._document(error))
        return REFUSED

    def _work(self, work: Callable[[], Output], channel: Channel) -> None:
        try:
            output = work()
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit too
            output = Output(self._document(error), REFUSED, self._lines(error))
        for hint in output.hints:
            channel.note(one_line(hint))
        channel.answer([output.data], output.status)

    def _document(self, error: BaseException) -> bytes:
        return answer.encode(report(error)) if self._json else b""

    def _lines(self, error: BaseException) -> list[str]:
        from clitool.clients_file import ClientsFileError

        if isinstance(error, ClientsFileError):
            return error.problems[:MAX_PROBLEMS]
        if isinstance(error, ClitoolError):
            return [str(error)]
        lines = [f"internal error: {type(error).__name__}{_logged(error)}"]
        if self._verbose:
            from traceback import format_exception

            lines += "".join(format_exception(error)).splitlines()
        return lines


def usage(usage_text: str, message: str) -> int:
    """Tell that the command line is wrong: the usage to people, a document to programs; return the exit status."""
    text = f"{usage_text}\n\nError: {one_line(message)}\n"
    answer.write(STDERR, text.encode("utf-8", "backslashreplace"))
    answer.write(STDOUT, answer.encode(report(InvalidParams(message, "usage"))))
    return USAGE


def _line(text: str) -> bytes:
    return one_line(text).encode("utf-8", "backslashreplace")


def _logged(error: BaseException) -> str:
    """Write the traceback to the log; return how to find it, or nothing if there is no log."""
    from clitool.log import Logger
    from clitool.places import log_settings

    settings = log_settings(None, os.environ)
    if settings.directory is None:
        return ""
    reference = os.urandom(6).hex()
    Logger(settings, "core", reference).traceback(error)
    return f"; the log has it under {reference} in {settings.directory}"
