"""Warm workers by the key whose jobs they do: a bounded number, each for one key only, replaced when they end."""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from clitool.warm_worker import WarmWorker

_LEAVE_SECONDS = 2.0  # for a worker that was dismissed to say good-bye to its servers


class Slot:
    """One worker's place in the pool.

    Attributes:
        worker: the process.
        key: whose jobs it does; None as long as it has done none.
        busy: whether it has a job.
        since: when it was started or became free.
    """

    __slots__ = ("busy", "key", "since", "worker")

    def __init__(self, worker: WarmWorker) -> None:
        self.worker = worker
        self.key: bytes | None = None
        self.busy = False
        self.since = monotonic()


class WorkerPool:
    """Gives a worker to whoever has a job.

    Args:
        start: makes a worker.
        farewell: told of each worker that the pool does not have any more.
        size: how many there are at most, besides those that are leaving.
        idle_seconds: after which a worker without a job is dismissed.
    """

    def __init__(
        self,
        start: Callable[[], WarmWorker],
        farewell: Callable[[WarmWorker], object],
        size: int,
        idle_seconds: float,
    ) -> None:
        self._start = start
        self._farewell = farewell
        self._size = size
        self._idle_seconds = idle_seconds
        self._leaving: dict[WarmWorker, float] = {}
        self.slots: list[Slot] = []

    def take(self, key: bytes) -> Slot | None:
        """Return a slot whose worker serves `key` and is busy from now on; None if every worker is busy.

        Raises:
            OSError: a worker is needed and cannot be started.
        """
        slot = self._free(key) or self._free(None) or self._new()
        if slot is not None:
            slot.key, slot.busy = key, True
        return slot

    def stock(self) -> None:
        """Start a worker for the next key that comes, if there is none and room for it; raises OSError as `take`."""
        if self._free(None) is None and len(self.slots) < self._size:
            self.slots.append(Slot(self._start()))

    def give_back(self, slot: Slot) -> None:
        """Take in a worker that has done its job and is fit for another one."""
        slot.busy = False
        slot.since = monotonic()

    def kill(self, slot: Slot) -> None:
        """End a worker, whatever it is doing, with all that it started; also one that has ended by itself."""
        self._remove(slot)
        slot.worker.kill()
        self._leaving[slot.worker] = 0.0

    def dismiss(self, slot: Slot) -> None:
        """Have a worker without a job end by itself."""
        self._remove(slot)
        slot.worker.dismiss()
        self._leaving[slot.worker] = monotonic() + _LEAVE_SECONDS

    def tidy(self) -> float | None:
        """Dismiss whoever was idle for long, see off whoever has ended; return the seconds until the next time."""
        now = monotonic()
        for slot in [slot for slot in self.slots if not slot.busy and slot.key is not None]:
            if slot.since + self._idle_seconds <= now:
                self.dismiss(slot)
        for worker, until in list(self._leaving.items()):
            self._see_off(worker, kill=until <= now)
        moments = list(self._leaving.values())
        moments += [slot.since + self._idle_seconds for slot in self.slots if not slot.busy and slot.key is not None]
        return max(0.05, min(moments) - now) if moments else None

    def dead(self) -> list[Slot]:
        """Return the slots whose worker has ended by itself."""
        return [slot for slot in self.slots if slot.worker.is_dead()]

    def close(self) -> None:
        """Dismiss every worker without a job."""
        for slot in [slot for slot in self.slots if not slot.busy]:
            self.dismiss(slot)

    @property
    def is_empty(self) -> bool:
        """Whether no process is left, not even one that is leaving."""
        return not self.slots and not self._leaving

    def _remove(self, slot: Slot) -> None:
        self.slots.remove(slot)
        self._farewell(slot.worker)

    def _free(self, key: bytes | None) -> Slot | None:
        """Return the free worker of `key` that was used last, so that the others may be dismissed."""
        free = [slot for slot in self.slots if not slot.busy and slot.key == key]
        return max(free, key=lambda slot: slot.since, default=None)

    def _new(self) -> Slot | None:
        if len(self.slots) >= self._size:
            free = [slot for slot in self.slots if not slot.busy]
            if not free:
                return None
            self.dismiss(min(free, key=lambda slot: slot.since))
        self.slots.append(Slot(self._start()))
        return self.slots[-1]

    def _see_off(self, worker: WarmWorker, *, kill: bool) -> None:
        if kill or worker.is_dead():
            worker.kill()
        if worker.reap():
            worker.close()
            del self._leaving[worker]
