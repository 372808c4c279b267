"""The door for machines: `list`, `verify` and `call` as the convention has them (docs/convention.md)."""

from __future__ import annotations

import os
from time import monotonic

from clitool.errors import ClitoolError, ExecutionError, one_line, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from socket import socket

    from clitool.arguments import Request, UsageError
    from clitool.channel import Channel
    from clitool.listener import Ending
    from clitool.watch import Signals

    Work = Callable[[Request, Mapping[str, str], Channel], tuple[Sequence[bytes], int]]

STDIN, STDOUT, STDERR = 0, 1, 2
MAX_NOTE = 4000  # bytes: a pipe that takes anything takes 4096


def run(request: Request, environment: Mapping[str, str]) -> int:
    """Answer one request on standard output and return the exit status."""
    started = monotonic()
    ending = _ending(request, environment, started + request.timeout)
    document = ending.document or _without_answer(request, ending, monotonic() - started)
    return ending.status if _write(STDOUT, document) else 1


def refuse(problem: UsageError) -> int:
    """Answer a command line that is wrong, as a document like any other refusal; return the exit status."""
    _say(problem.request.command, problem.error)
    _write(STDOUT, error_document(problem.request, problem.error))
    return 1


def note(line: bytes) -> None:
    """Print one line on the real standard error, or nothing if nobody reads there: no answer waits for that."""
    from select import select

    if select([], [STDERR], [], 0)[1]:
        _write(STDERR, b"clitool: " + line[:MAX_NOTE] + b"\n")


def error_document(request: Request, error: BaseException, reference: str = "") -> bytes:
    """Return the document that reports `error`; of `verify` it also says that nobody is authenticated."""
    from clitool import answer

    first = {"authenticated": False} if request.command == "verify" else {}
    return answer.encode({**first, **report(error, reference)}, pretty=request.pretty)


def resident_socket(environment: Mapping[str, str]) -> str:
    """Return where the socket of this user's resident worker lies, if he has started one."""
    runtime, user = environment.get("XDG_RUNTIME_DIR", ""), os.geteuid()
    if not runtime.startswith("/"):
        runtime = f"/run/user/{user}"  # what that variable says on a system that has it
        if not os.path.isdir(runtime):
            return f"/tmp/clitool-{user}/resident.sock"  # noqa: S108 - whoever connects looks at whose the folder is
    return f"{runtime}/clitool/resident.sock"


def _ending(request: Request, environment: Mapping[str, str], end: float) -> Ending:
    # Connected first: what must be done on the other side goes on while this process imports what comes next.
    resident = _resident(request, environment)

    def work(channel: Channel) -> None:
        respond(_work(request.command), request, environment, channel)

    if resident is None:
        return _supervised(work, end)
    from clitool.stub import hand_over
    from clitool.watch import Signals, Watch

    signals = Signals()
    try:
        handed = hand_over(resident, request, environment, Watch(signals, end), note)
        return handed or _supervised(work, end, signals)
    except ExecutionError as error:
        from clitool.listener import Ending

        return Ending(error)
    finally:
        signals.release()


def _supervised(work: Callable[[Channel], object], end: float, signals: Signals | None = None) -> Ending:
    from clitool.supervisor import supervise

    return supervise(work, end - monotonic(), note, signals)


def _resident(request: Request, environment: Mapping[str, str]) -> socket | None:
    """Return a connection to this user's resident worker, if it is for such a request and there is one."""
    path = resident_socket(environment) if request.command == "call" else ""
    if not (path and os.path.lexists(path)):
        return None
    from clitool.stub import find

    return find(path)


def respond(work: Work, request: Request, environment: Mapping[str, str], channel: Channel) -> None:
    """Do the work of a command in the process that was made for it, and hand the answer over."""
    try:
        data, status = work(request, environment, channel)
    except BaseException as error:  # noqa: BLE001 - the door's one way out: whatever happens becomes a document
        from clitool.access import explain

        explain(channel, error, verbose=request.verbose)
        data, status = [error_document(request, error)], 1
    _flush()
    channel.answer(data, status)


def _flush() -> None:
    """Send on what tools printed: the process ends at once after the answer."""
    import sys

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # closed, replaced or never there: nothing of it is the caller's


def _work(command: str) -> Work:
    # Imported in the worker, each command its own.
    if command == "list":
        from clitool.listing import work
    elif command == "verify":
        from clitool.verification import work
    else:
        from clitool.calling import work
    return work


def _without_answer(request: Request, ending: Ending, seconds: float) -> bytes:
    error: ClitoolError | RuntimeError = ending.error or RuntimeError("the worker gave neither answer nor error")
    _say(request.command, error)
    if ending.about:
        from clitool.journal import close_for_lost_worker

        close_for_lost_worker(ending.about, error, seconds)
    return error_document(request, error)


def _write(descriptor: int, data: bytes | memoryview) -> bool:
    from clitool.answer import write  # not before there is one: the resident worker works while this is imported

    return write(descriptor, data)


def _say(command: str, error: Exception) -> None:
    # Hosts look at the standard error of `list` and `verify` only; of `call` the document says it all.
    if command != "call":
        note(one_line(str(error)).encode())
