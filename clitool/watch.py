"""What may end the waiting of the program that was called: a signal, or the end of its time."""

from __future__ import annotations

import os
from time import monotonic

from clitool.errors import ExecutionError
from clitool.lean import signal


class Signals:
    """Signals as bytes on a pipe, so that nothing is interrupted half-way."""

    def __init__(self) -> None:
        self.descriptor, self._write = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self._write, False)
        # What the caller had ignored (nohup, a background job) stays ignored; only the child we must hear of.
        self._heard = [
            number
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
            if number == signal.SIGCHLD or signal.getsignal(number) != signal.SIG_IGN
        ]
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in self._heard:
            signal.signal(number, _pass)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._heard)  # a host's mask

    def release(self) -> None:
        """Let signals end this process as they end any other, also while it writes to a host that does not read."""
        signal.set_wakeup_fd(-1)
        for number in self._heard:
            signal.signal(number, signal.SIG_DFL)
        os.close(self.descriptor)
        os.close(self._write)

    def end_the_program(self) -> bool:
        """Say whether one of those came that end a program."""
        came = self.take()
        return signal.SIGTERM in came or signal.SIGINT in came

    def take(self) -> bytes:
        """Return the numbers of the signals that came since the last time."""
        try:
            return os.read(self.descriptor, 512)
        except BlockingIOError:
            return b""


def _pass(_number: int, _frame: object) -> None:
    """Let the wake-up descriptor speak."""


class Watch:
    """What ends the waiting for anything: a signal that ends the program, or the deadline.

    Attributes:
        signals: where the first are heard.
        end: when the second passes.
    """

    __slots__ = ("end", "signals")

    def __init__(self, signals: Signals, end: float) -> None:
        self.signals = signals
        self.end = end

    def wait(self, descriptor: int, seconds: float | None = None, *, to_write: bool = False) -> bool:
        """Say whether the descriptor can be read, or written, within `seconds`; raises `interrupted` or `too_late`."""
        from select import POLLIN, POLLOUT, poll

        until = self.end if seconds is None else min(self.end, monotonic() + seconds)
        waiting = poll()
        waiting.register(self.signals.descriptor, POLLIN)
        waiting.register(descriptor, POLLOUT if to_write else POLLIN)
        while True:
            remaining = until - monotonic()
            ready = waiting.poll(max(0.0, remaining) * 1000)
            if self.signals.end_the_program():
                raise interrupted()
            if any(number == descriptor for number, _ in ready):
                return True
            if remaining <= 0:
                if until == self.end:
                    raise too_late()
                return False


def interrupted() -> ExecutionError:
    """Return the error of a call that a signal ended."""
    return ExecutionError("the program was interrupted", "interrupted")


def too_late() -> ExecutionError:
    """Return the error of a call whose time was over."""
    return ExecutionError("the call took too long and was stopped", "timeout")
