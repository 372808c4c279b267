"""`clitool resident`: starts, ends and describes the resident worker of this user."""

from __future__ import annotations

import os
import signal
import subprocess
from json import loads
from time import monotonic, sleep

from clitool.admin.door import DONE, REFUSED, Output
from clitool.errors import ExecutionError
from clitool.machine import resident_socket
from clitool.resident import place
from clitool.resident.daemon import command
from clitool.resident.dispatcher import STOP_SECONDS
from clitool.stub import STATUS, STOP, connect, header, is_private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    Environment = Mapping[str, str]

_START_SECONDS = 20.0  # plugins that it imports may take their time
_ANSWER_SECONDS = 5.0
_STRANGE = (
    "the resident worker takes nothing from this process: it was started with other groups, or in another container; "
    "run this where it was started"
)


def start(environment: Environment) -> Output:
    """Start it; returns when calls can be made."""
    _hear_signals()
    os.umask(0o077)
    path = place.prepare(environment)
    running = _ask(path)
    if running is not None:
        return Output(f"The resident worker runs already, as process {running['pid']}.\n", REFUSED)
    process = _spawn(path)
    until = monotonic() + _START_SECONDS
    while monotonic() < until and (process.poll() is None or place.is_taken(path)):
        running = _ask(path)
        if running is not None:
            return Output(f"The resident worker runs now, as process {running['pid']}.\n")
        sleep(0.01)
    process.kill()
    raise ExecutionError(f"the resident worker did not start: {_last_line(path) or _end(process.wait())}", "io")


def run(environment: Environment) -> NoReturn:
    """Become it: this process goes on as the resident worker."""
    os.execve(command()[0], command(), dict(environment))  # noqa: S606 - without a shell on purpose


def stop(environment: Environment) -> Output:
    """End it; returns when the calls that were under way have ended and nothing of it is left."""
    _hear_signals()
    path = resident_socket(environment)
    connection = _connect(path)
    if connection is None:
        return Output(f"No resident worker runs; there would be a socket at {path}.\n", REFUSED)
    _converse(connection, STOP, STOP_SECONDS + _ANSWER_SECONDS)
    if os.path.lexists(path):  # the first thing that it would have removed
        raise ExecutionError(_STRANGE, "io")
    return Output("The resident worker has ended.\n")


def status(environment: Environment) -> Output:
    """Describe it."""
    path = resident_socket(environment)
    running = _ask(path)
    if running is None:
        return Output(f"No resident worker runs; there would be a socket at {path}.\n", REFUSED)
    declined = ", ".join(f"{count} {why}" for why, count in running["declined"].items())
    lines = {
        "process": running["pid"],
        "socket": path,
        "version": f"{running['version']} in {running['installation']}",
        "calls": f"{running['calls']} taken, {running['under_way']} under way",
        "declined": declined,
        "workers": running["workers"],
    }
    return Output("".join(f"{name:10}{value}\n" for name, value in lines.items()), DONE)


def _spawn(path: str) -> subprocess.Popen[bytes]:
    log = os.open(_log(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        return subprocess.Popen(  # noqa: S603 - this program itself
            command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
        )
    finally:
        os.close(log)


def _log(path: str) -> str:
    return os.path.join(os.path.dirname(path), "resident.log")


def _last_line(path: str) -> str:
    with open(_log(path), encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    return lines[-1].removeprefix("clitool: ") if lines else ""


def _end(status: int) -> str:
    """Say how it ended, for one that said nothing itself; a family that is imported may do that."""
    if status == -signal.SIGKILL:
        return f"it was not ready after {_START_SECONDS:g} seconds"
    return f"it was ended by signal {-status}" if status < 0 else f"it ended with status {status}"


def _connect(path: str) -> Any:  # noqa: ANN401 - a socket
    if not is_private_folder(os.path.dirname(path)):
        return None
    try:
        from socket import socket

        return socket(fileno=connect(path).detach())
    except OSError:
        return None


def _ask(path: str) -> dict[str, Any] | None:
    """Return what the resident worker says about itself; None if there is none."""
    connection = _connect(path)
    if connection is None:
        return None
    data = _converse(connection, STATUS, _ANSWER_SECONDS)
    return loads(data) if data else None


def _converse(connection: Any, kind: bytes, seconds: float) -> bytes:  # noqa: ANN401 - a socket
    """Ask for something and return all that is answered."""
    with connection:
        connection.settimeout(seconds)
        try:
            connection.sendall(header(kind))
            answer: bytes = connection.makefile("rb").read()
        except TimeoutError:
            raise ExecutionError("the resident worker does not answer; it is stuck", "io") from None
        except OSError:
            raise ExecutionError(_STRANGE, "io") from None
    return answer


def _hear_signals() -> None:
    """Let Ctrl-C and SIGTERM end this process: it waits for another one, and nothing is lost."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
