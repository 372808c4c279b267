"""The calls that are under way, each in a warm process: handed over, watched, and ended when they must be."""

from __future__ import annotations

import os
import select
from time import monotonic

from clitool.arguments import MAX_TIMEOUT
from clitool.warm_worker import ANSWERING, FREE, start
from clitool.worker_pool import WorkerPool

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from clitool.resident.loop import Loop
    from clitool.resident.visitor import Visitor
    from clitool.warm_worker import Service, WarmWorker
    from clitool.worker_pool import Slot

IDLE_SECONDS = 300.0  # for a process without a call
_LATE_SECONDS = 0.5  # a stub ends its call itself at the deadline, unless it was stopped
_FINISH_SECONDS = 1.0  # for a process that has its answer ready when its stub hangs up
# What a stub does that gives its call up; macOS has no such event: there the end of the connection says it.
_HANGS_UP: int = getattr(select, "POLLRDHUP", 0)


class _Call:
    """One call.

    Attributes:
        connection: to the stub, which the process has too; closed last, so that its end means that the call is over.
        slot: of the process.
        until: when the process is killed if it has not finished.
        answering: whether the process has its answer ready.
    """

    __slots__ = ("answering", "connection", "slot", "until")

    def __init__(self, connection: socket.socket, slot: Slot, end: float) -> None:
        self.connection = connection
        self.slot = slot
        self.until = end + _LATE_SECONDS
        self.answering = False


class CallsUnderWay:
    """What the dispatcher's loop knows of the calls and of the processes that make them.

    Args:
        loop: tells what the processes and the stubs say.
        make: makes what a process does.

    Attributes:
        taken: how many calls there have been.
    """

    def __init__(self, loop: Loop, make: Callable[[], Service]) -> None:
        self._loop = loop
        self._make = make
        self._pool = WorkerPool(self._start, self._farewell, 2 * (os.cpu_count() or 1) + 6, IDLE_SECONDS)
        self._calls: dict[WarmWorker, _Call] = {}
        self._ending: list[_Call] = []
        self.taken = 0

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def workers(self) -> int:
        """How many processes there are."""
        return len(self._pool.slots)

    @property
    def is_over(self) -> bool:
        """Whether no call and no process is left."""
        return self._pool.is_empty and not self._ending

    def begin(self, visitor: Visitor) -> bool:
        """Give the call at the other end of a connection to a process; False if none can take it."""
        try:
            slot = self._pool.take(visitor.key)
        except OSError:
            return False
        if slot is None:
            return False
        if not slot.worker.give(repr(visitor.end).encode(), [visitor.connection.fileno()]):
            self._pool.kill(slot)
            return False
        end = min(visitor.end, monotonic() + MAX_TIMEOUT)
        call = self._calls[slot.worker] = _Call(visitor.connection, slot, end)
        self._loop.watch(call.connection.fileno(), lambda: self._give_up(call), _HANGS_UP)
        self.taken += 1
        return True

    def tidy(self, *, stock: bool) -> float:
        """End what must be ended; return the seconds until something must be looked at again.

        Args:
            stock: whether a process is to be kept ready for a client that has none.
        """
        for call in [call for call in self._calls.values() if call.until <= monotonic()]:
            self._lose(call.slot)
        pause = self._pool.tidy()
        self._see_off()
        if stock:
            self._stock()
        moments = [call.until - monotonic() for call in self._calls.values()]
        return min([*moments, IDLE_SECONDS if pause is None else pause])

    def replace_the_dead(self) -> None:
        """Take note of processes that have ended by themselves; to be done whenever the system says that one has."""
        for slot in self._pool.dead():
            self._lose(slot)

    def close(self, *, now: bool = False) -> None:
        """Dismiss the processes without a call; if `now`, end the others, too."""
        self._pool.close()
        if now:
            for call in list(self._calls.values()):
                self._lose(call.slot)

    def _start(self) -> WarmWorker:
        worker = start(self._make)
        self._loop.watch(worker.control, lambda: self._hear(worker))
        return worker

    def _farewell(self, worker: WarmWorker) -> None:
        self._loop.forget(worker.control)

    def _stock(self) -> None:
        try:
            self._pool.stock()
        except OSError:
            return  # too many processes or descriptors: whoever needs one now goes cold

    def _hear(self, worker: WarmWorker) -> None:
        slot = next(slot for slot in self._pool.slots if slot.worker is worker)
        words = worker.hear()
        call = self._calls.get(worker)
        if words is None or (words and call is None):
            self._lose(slot)
        elif call is not None and FREE in words:
            self._finish(call)
        elif call is not None and ANSWERING in words:
            call.answering = True

    def _finish(self, call: _Call) -> None:
        self._pool.give_back(call.slot)
        self._release(call)
        call.connection.close()

    def _give_up(self, call: _Call) -> None:
        """End a call for which nobody waits any more, unless it has come to its end, which may not be known yet."""
        self._loop.forget(call.connection.fileno())
        self._hear(call.slot.worker)
        if self._calls.get(call.slot.worker) is call:
            call.until = min(call.until, monotonic() + _FINISH_SECONDS) if call.answering else 0.0

    def _lose(self, slot: Slot) -> None:
        """End a process, with it the call that it makes, and whatever they left."""
        self._pool.kill(slot)
        call = self._calls.get(slot.worker)
        if call is not None:
            self._release(call)
            self._ending.append(call)

    def _release(self, call: _Call) -> None:
        self._loop.forget(call.connection.fileno())
        del self._calls[call.slot.worker]

    def _see_off(self) -> None:
        for call in [call for call in self._ending if call.slot.worker.is_dead()]:
            call.connection.close()
            self._ending.remove(call)
