"""A command of the operator that prints a secret: run without a shell, bounded in time, its output shown to nobody."""

from __future__ import annotations

import os
from select import select
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from clitool.tool import Deadline

_MOST = 16_384  # bytes that are kept; tokens of Microsoft have some 3000
_TICK = 0.02  # seconds; a background child may hold the pipe after the command itself has ended


def first_line(argv: Sequence[str], folder: str, key: str, deadline: Deadline) -> str:
    """Return the first line that the command prints, without its line end.

    Args:
        argv: the program and its arguments; no shell reads them.
        folder: where it runs.
        key: the setting, for messages.
        deadline: when it must have ended.

    Raises:
        ExecutionError: `login_failed` if it cannot be run, fails, takes too long or prints no line of UTF-8 text.
    """
    try:
        process = Popen(list(argv), cwd=folder, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)  # noqa: S603 - the operator's own
    except (OSError, ValueError) as error:
        raise _failure(key, "cannot be run; is the program installed, and is its path right?") from error
    with process:
        try:
            data = _output(process, deadline)
            status = process.wait(deadline.remaining())
        except TimeoutExpired as error:
            process.kill()
            raise _failure(key, "did not end in time") from error
    if status:
        raise _failure(key, f"failed (status {status})")
    return _line(data, key)


def _output(process: Popen[bytes], deadline: Deadline) -> bytes:
    """Read until the command closes its output or ends; what exceeds the bound is read and forgotten."""
    pipe = process.stdout.fileno() if process.stdout else -1
    kept = bytearray()
    while True:
        ended = process.poll() is not None
        if select([pipe], [], [], 0 if ended else min(_TICK, deadline.remaining()))[0]:
            chunk = os.read(pipe, 65_536)
            if not chunk:
                return bytes(kept)
            kept += chunk[: _MOST - len(kept)]
        elif ended:
            return bytes(kept)
        if not deadline.remaining():
            raise TimeoutExpired(process.args, 0)


def _line(data: bytes, key: str) -> str:
    line = data.partition(b"\n")[0].removesuffix(b"\r")
    if not line:
        raise _failure(key, "printed nothing on its first line")
    if len(line) >= _MOST:
        raise _failure(key, "printed a first line that is too long for a password or token")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise _failure(key, "printed something that is not UTF-8 text") from error


def _failure(key: str, what: str) -> ExecutionError:
    return ExecutionError(f"the command of {key} {what}", "login_failed")
