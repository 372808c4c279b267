"""Work that may never end, in a thread of its own, so that whoever waits for it can leave it behind."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Errand:
    """Work that has begun.

    Args:
        work: what to do.
        late: what to do after it if nobody waited for its end.

    Attributes:
        is_left: whether nobody waits any more.
    """

    __slots__ = ("_done", "_error", "_is_over", "_late", "_value", "_work", "is_left")

    def __init__(self, work: Callable[[], object], late: Callable[[], object]) -> None:
        self._work = work
        self._late = late
        self._value: object = None
        self._error: BaseException | None = None
        self._is_over = False
        self.is_left = False
        self._done = allocate_lock()
        self._done.acquire()
        start_new_thread(self._run, ())

    def result(self, seconds: float) -> Any:  # noqa: ANN401 - whatever the work returns
        """Return what the work returned, or raise what it raised.

        Raises:
            TimeoutError: it took longer, or another thread has left it; then it is left behind.
        """
        if not self._done.acquire(timeout=seconds):
            self.leave()
        if self.is_left:
            raise TimeoutError
        if self._error is not None:
            raise self._error
        return self._value

    def leave(self) -> bool:
        """Let nobody wait any more; return whether the work is over, and `late` perhaps not done."""
        self.is_left = True
        self._wake()
        return self._is_over

    def _run(self) -> None:
        try:
            self._value = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._error = error
        self._is_over = True  # before the look at `is_left`: one of the two sides sees the other
        self._wake()
        if self.is_left:
            self._late()

    def _wake(self) -> None:
        try:
            self._done.release()
        except RuntimeError:
            return  # somebody else did
