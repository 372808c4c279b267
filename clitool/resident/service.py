"""What a warm process of the resident worker does: calls of one client, each as if the process were made for it."""

from __future__ import annotations

import json
import os
import socket
import time
from time import monotonic

from clitool import calling
from clitool.arguments import MAX_TIMEOUT
from clitool.channel import Channel
from clitool.kept_connections import KeptConnections
from clitool.machine import respond
from clitool.process_traces import Traces
from clitool.resident.errand import receive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from clitool.arguments import Request
    from clitool.resident.errand import Errand

_UNTRUSTED = ("auth_failed", "internal", "bad_result")  # how a call ends after which its process does no other


class _Line(Channel):
    """The way to the stub; remembers how the call ended."""

    __slots__ = ("_answering", "reusable")

    def __init__(self, descriptor: int, end: float, answering: Callable[[], object]) -> None:
        super().__init__(descriptor, end)
        self._answering = answering
        self.reusable = False

    def answer(self, document: Sequence[bytes], status: int) -> None:
        self._answering()
        super().answer(document, status)
        self.reusable = status == 0 or _is_trusted(b"".join(document))

    def _write(self, piece: bytes) -> None:
        try:
            super()._write(piece)
        except OSError:
            os._exit(1)  # the stub is gone, and with it whoever wanted the call: as when a call's parent is killed


class CallService:
    """Makes calls; see `clitool.warm_worker.Service`."""

    def __init__(self) -> None:
        self._kept = KeptConnections()
        self._traces = Traces()

    def do(self, job: bytes, descriptors: list[int], answering: Callable[[], object]) -> bool:
        """Make the call that waits at the other end of a connection.

        Args:
            job: when the call must have been answered, as text of the monotonic clock.
            descriptors: the connection.
            answering: called before the answer is sent.
        """
        with socket.socket(fileno=descriptors[0]) as connection:
            errand = receive(connection)
            if errand is None:
                return True
            connection.setblocking(True)
            end = min(float(job), monotonic() + MAX_TIMEOUT)
            line = _Line(connection.fileno(), end, answering)

            def work(*call: Any) -> tuple[Sequence[bytes], int]:  # noqa: ANN401 - what `_work` takes
                _take_place(errand)
                return self._work(*call)

            respond(work, errand.request, errand.environment, line)
        if line.reusable:
            self._kept.settle()
        _leave_place()
        return line.reusable and self._traces.fault(len(self._kept)) is None

    def rest(self) -> float | None:
        """Close connections that have waited for long."""
        return self._kept.close_idle()

    def close(self) -> None:
        """Close all connections."""
        self._kept.close()

    def _work(self, request: Request, environment: Mapping[str, str], channel: Channel) -> tuple[Sequence[bytes], int]:
        return calling.work(request, environment, channel, self._kept.ways)


def _is_trusted(document: bytes) -> bool:
    """Say whether a refusal leaves its process fit for another call."""
    found = json.loads(document)
    return found["code"] not in _UNTRUSTED and found["details"]["reason"] not in _UNTRUSTED


def _take_place(errand: Errand) -> None:
    """Give this process everything that a process which the caller had started would have inherited."""
    stdin, folder = errand.descriptors
    os.dup2(stdin, 0)
    os.fchdir(folder)
    errand.close()
    os.umask(errand.umask)
    _set_environment(errand.environment)


def _leave_place() -> None:
    """Hold nothing of the caller's any more."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:  # the call may have closed them
        os.close(null)
    os.chdir("/")


def _set_environment(wanted: Mapping[str, str]) -> None:
    if dict(os.environ) == wanted:
        return
    zone = os.environ.get("TZ")
    os.environ.clear()
    os.environ.update(wanted)
    if wanted.get("TZ") != zone:
        time.tzset()
