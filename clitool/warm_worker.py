"""A process that is kept for one job after the other, and can be killed together with all that a job started.

Two sides: `WarmWorker` is the hold that the keeper has on it; `_live` is the process itself. Between them lies a pair
of sockets: jobs go down, as bytes with descriptors; one word comes back when a job's answer is on its way, another one
when the process is free again. A process that is not fit for another job ends, which is its last word.
"""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress
from select import POLLIN, poll

from clitool.process_traces import open_descriptors
from clitool.worker import become_worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn, Protocol

    class Service(Protocol):
        """What a warm process does; one object for its whole life."""

        def do(self, job: bytes, descriptors: list[int], answering: Callable[[], object]) -> bool:
            """Do one job and return whether this process is fit for another one.

            `answering` is to be called before the answer is sent: from then on the keeper lets the process finish.
            """

        def rest(self) -> float | None:
            """Let go of what has not been used for long; return the seconds until there is something to let go of."""

        def close(self) -> None:
            """Let go of everything."""


MAX_JOB = 4096  # bytes
MAX_DESCRIPTORS = 4
ANSWERING, FREE = b"a", b"f"


class WarmWorker:
    """The keeper's hold on one warm process, which is a group and a session of its own.

    Attributes:
        pid: of the process; not given to a stranger before `reap` returned True.
        control: descriptor to listen at; `hear` says what came.
    """

    __slots__ = ("_control", "_life", "control", "pid")

    def __init__(self, pid: int, control: socket.socket, life: int) -> None:
        self.pid = pid
        self.control = control.fileno()
        self._control = control
        self._life = life

    def give(self, job: bytes, descriptors: Sequence[int]) -> bool:
        """Hand a job to the process, which must be free; False if it is gone."""
        try:
            socket.send_fds(self._control, [job], list(descriptors))
        except OSError:
            return False
        return True

    def hear(self) -> bytes | None:
        """Return the words that came from the process, each a byte; None at its end, or if it says what none says."""
        try:
            words = self._control.recv(16)
        except BlockingIOError:
            return b""
        except OSError:
            return None
        return words if words and not words.strip(ANSWERING + FREE) else None

    def dismiss(self) -> None:
        """Have the process, which must be free, let go of what it holds and end by itself."""
        with suppress(OSError):  # it has ended already
            self._control.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        """End the process and all that it started."""
        for kill in (os.kill, os.killpg):
            with suppress(OSError):  # gone already, or not yet a group of its own
                kill(self.pid, signal.SIGKILL)

    def is_dead(self) -> bool:
        """Say whether the process has ended, without reaping it."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self.reap()
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def reap(self) -> bool:
        """Return whether the process is gone for good, and its number free."""
        try:
            return os.waitpid(self.pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True

    def close(self) -> None:
        """Let go of the process, which is dead."""
        self._control.close()
        os.close(self._life)


def start(make: Callable[[], Service]) -> WarmWorker:
    """Fork a process that waits for its first job.

    Args:
        make: called in the new process.

    Raises:
        OSError: there can be no further process or descriptor.
    """
    mine, its = socket.socketpair()
    life, life_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _live(its, life, make)
    its.close()
    os.close(life)
    mine.setblocking(False)
    return WarmWorker(pid, mine, life_write)


def _live(control: socket.socket, life: int, make: Callable[[], Service]) -> NoReturn:
    try:
        become_worker(life, None, lambda: _let_go(control.fileno(), life))
        service = make()
        while (job := _next(control, service)) is not None:
            if not service.do(*job, lambda: control.send(ANSWERING)):
                break
            control.send(FREE)
        service.close()
    finally:
        os._exit(0)


def _let_go(*needed: int) -> None:
    """Close what the fork copied: the keeper's own, and its holds on other processes, which must not outlive it."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    for descriptor in open_descriptors() - {0, 1, 2, *needed}:
        with suppress(OSError):
            os.close(descriptor)


def _next(control: socket.socket, service: Service) -> tuple[bytes, list[int]] | None:
    """Wait for a job; None when the keeper wants no more."""
    waiting = poll()
    waiting.register(control, POLLIN)
    while True:
        seconds = service.rest()
        if waiting.poll(None if seconds is None else seconds * 1000):
            job, descriptors = receive_descriptors(control, MAX_JOB, MAX_DESCRIPTORS)
            return (job, descriptors) if job else None


def receive_descriptors(connection: socket.socket, size: int, count: int) -> tuple[bytes, list[int]]:
    """Receive bytes and the descriptors that come along, which no child of this process inherits."""
    # Linux closes them at an exec from the beginning on; elsewhere nothing is started in between.
    data, descriptors, *_ = socket.recv_fds(connection, size, count, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return data, descriptors
