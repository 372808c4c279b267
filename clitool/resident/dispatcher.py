"""The resident worker's one loop: takes connections in, gives each call to a warm process, and never waits for anybody.

It makes no call itself, and sees no token, no setting and no parameter: they go from the stub to the process that makes
the call.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from time import monotonic

from clitool.lean import dumps
from clitool.resident import place
from clitool.resident.installed import SETTLE_SECONDS
from clitool.resident.loop import Loop
from clitool.resident.peer import World
from clitool.resident.underway import CallsUnderWay
from clitool.resident.visitor import Visitor
from clitool.stub import CALL, STATUS, STOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from clitool.resident.installed import Installed
    from clitool.warm_worker import Service

STOP_SECONDS = 30.0  # for calls that are under way when the end is asked for
_LOOK_SECONDS = 60.0  # between two looks at what is installed, and at the own socket
_MAX_VISITORS = 64  # at a time; what they want is said at once, as a rule
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Dispatcher:
    """The loop and what it knows.

    Args:
        listener: where stubs connect; does not block.
        installed: says whose calls may be made, and whether this program is still the one that is installed.
        make: makes what a warm process does.
        version: for `status`.
    """

    def __init__(
        self, listener: socket.socket, installed: Installed, make: Callable[[], Service], version: str
    ) -> None:
        self._listener = listener
        self._place = place.Place(listener.getsockname())
        self._installed = installed
        self._looked = monotonic()
        self._version = version
        self._world = World()
        self._loop = Loop()
        self._calls = CallsUnderWay(self._loop, make)
        self._visitors: list[Visitor] = []
        self._waiting: list[socket.socket] = []
        self._stop_until: float | None = None
        self._declined = {"of another version": 0, "from another world": 0, "all busy": 0}

    def run(self) -> bool:
        """Serve until the end is asked for; True if the program is to be started anew, with the same listener."""
        signals = _signals()
        self._loop.watch(signals, lambda: self._heed(os.read(signals, 512)))
        self._loop.watch(self._listener.fileno(), self._take_in)
        pause = self._tidy()
        while not (self._is_ending() and self._calls.is_over):
            self._loop.turn(pause)
            pause = self._tidy()
        return self._stop_until is None

    def stop(self) -> None:
        """Take no more calls, and end when those under way have."""
        if self._stop_until is None:
            self._stop_until = monotonic() + STOP_SECONDS
            self._loop.forget(self._listener.fileno())
            self._place.leave()
            self._listener.close()

    def _is_ending(self) -> bool:
        if self._stop_until is not None:
            return True
        return self._installed.has_changed() and not self._calls and not self._visitors

    def _tidy(self) -> float:
        """Do what is due; return the seconds until more will be."""
        now = monotonic()
        for visitor in [visitor for visitor in self._visitors if visitor.until <= now]:
            self._decline(visitor)
        moments = [visitor.until - now for visitor in self._visitors]
        if self._stop_until is None:
            moments.append(self._look_again())
        else:
            moments.append(self._stop_until - now)
        if self._is_ending():
            self._calls.close(now=self._stop_until is not None and self._stop_until <= now)
        return min(*moments, self._calls.tidy(stock=not self._is_ending()))

    def _look_again(self) -> float:
        """Look at the world if it is time for that; return the seconds until the next time."""
        pause = _LOOK_SECONDS if self._installed.is_current() else SETTLE_SECONDS
        if self._looked + pause <= monotonic():
            self._looked = monotonic()
            self._installed.look()
            if not self._place.is_mine():
                self.stop()  # where nobody finds it, it is of no use
        return self._looked + pause - monotonic()

    def _heed(self, numbers: bytes) -> None:
        if signal.SIGCHLD in numbers:
            self._calls.replace_the_dead()
        if any(number in numbers for number in _ENDING):
            self.stop()

    def _take_in(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        connection.setblocking(False)
        if not self._world.is_that_of(connection):
            self._turn_away(connection, "from another world")
        elif len(self._visitors) >= _MAX_VISITORS:
            self._turn_away(connection, "all busy")
        else:
            self._welcome(Visitor(connection))

    def _welcome(self, visitor: Visitor) -> None:
        self._visitors.append(visitor)
        self._loop.watch(visitor.connection.fileno(), lambda: self._listen_to(visitor))

    def _listen_to(self, visitor: Visitor) -> None:
        try:
            if not visitor.read():
                return
        except (EOFError, ValueError):
            self._decline(visitor)
            return
        self._dismiss(visitor)
        if visitor.kind == CALL:
            self._begin(visitor)
        elif visitor.kind == STATUS:
            self._tell(visitor.connection)
        elif visitor.kind == STOP:
            self._waiting.append(visitor.connection)
            self.stop()

    def _begin(self, visitor: Visitor) -> None:
        if visitor.mark != self._installed.mark:
            self._installed.look()
            self._turn_away(visitor.connection, "of another version")
        elif self._stop_until is not None or not self._calls.begin(visitor):
            self._turn_away(visitor.connection, "all busy")

    def _turn_away(self, connection: socket.socket, why: str) -> None:
        self._declined[why] += 1
        connection.close()

    def _decline(self, visitor: Visitor) -> None:
        self._dismiss(visitor)
        visitor.connection.close()

    def _dismiss(self, visitor: Visitor) -> None:
        self._visitors.remove(visitor)
        self._loop.forget(visitor.connection.fileno())

    def _tell(self, connection: socket.socket) -> None:
        status = {
            "pid": os.getpid(),
            "version": self._version,
            "installation": sys.prefix,
            "calls": self._calls.taken,
            "under_way": len(self._calls),
            "declined": self._declined,
            "workers": self._calls.workers,
        }
        with suppress(OSError):
            connection.send(dumps(status).encode())
        connection.close()


def _signals() -> int:
    """Return a descriptor from which the numbers of signals can be read."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (*_ENDING, signal.SIGCHLD):
        signal.signal(number, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (*_ENDING, signal.SIGCHLD))
    return reader
