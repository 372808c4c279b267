"""Listening to the process that makes a call, until its answer is there or its time is up."""

from __future__ import annotations

from select import POLLIN, poll
from time import monotonic

from clitool.channel import ABOUT, ANSWER
from clitool.errors import ExecutionError
from clitool.frames import Frames
from clitool.lean import signal
from clitool.watch import Signals, interrupted, too_late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_NOTES = 100  # neither a tool nor a clients file full of faults floods the host's standard error


class Ending:
    """How the work ended.

    Attributes:
        document: the answer, or None.
        status: the exit status that goes with it.
        error: why there is no answer, or None.
        about: the facts that the worker left for this case.
    """

    __slots__ = ("about", "document", "error", "status")

    def __init__(self, error: ExecutionError | None = None) -> None:
        self.document: memoryview | None = None
        self.status = 1
        self.error = error
        self.about = b""


class Listener:
    """Waits for the frames of whoever makes a call.

    Args:
        frames: descriptor from which they come.
        signals: what ends the waiting before its time.
        note: gets each line meant for the real standard error.
        is_dead: says, at a signal about a child, whether it is certain that no more frames are written.
    """

    def __init__(
        self,
        frames: int,
        signals: Signals,
        note: Callable[[bytes], object],
        is_dead: Callable[[], bool] = lambda: False,
    ) -> None:
        self._descriptor = frames
        self._frames = Frames(frames)
        self._signals = signals
        self._is_dead = is_dead
        self._note = note
        self._notes = 0
        self._dead = False
        self._ending = Ending()

    def wait(self, end: float) -> Ending:
        """Return how the call ended: with its answer, at the moment `end`, by a signal, or without an answer."""
        waiting = poll()
        waiting.register(self._descriptor, POLLIN)
        waiting.register(self._signals.descriptor, POLLIN)
        while self._is_open():
            remaining = max(0.0, end - monotonic())
            # Of a dead worker only what it left in the pipe is taken: a child of its own may hold that open.
            if waiting.poll(0 if self._dead else remaining * 1000) and remaining:
                self._look()
            elif self._dead:
                self._crash()
            else:
                self._ending.error = too_late()
        return self._ending

    def _is_open(self) -> bool:
        return self._ending.document is None and self._ending.error is None

    def _look(self) -> None:
        came = self._signals.take()
        if signal.SIGTERM in came or signal.SIGINT in came:
            self._ending.error = interrupted()
            return
        # Whether the worker is dead is asked before its frames are read: then nothing of it can be missed.
        self._dead = self._dead or (signal.SIGCHLD in came and self._is_dead())
        self._read()

    def _crash(self, message: str = "the tool ended its process without an answer") -> None:
        self._ending.error = ExecutionError(message, "crashed")

    def _read(self) -> None:
        """Take in what is there now, and no more: a worker that never pauses must not outlast its deadline."""
        try:
            frame = self._frames.take()
        except (EOFError, ConnectionError):
            self._crash()
        except ValueError:
            self._crash("the tool disturbed the program, which gave the call up")
        else:
            if frame is not None:
                self._accept(*frame)

    def _accept(self, kind: bytes, content: bytearray) -> None:
        if kind == ANSWER:
            self._ending.status, self._ending.document = content[0], memoryview(content)[1:]
        elif kind == ABOUT:
            self._ending.about = self._ending.about or bytes(content)
        elif self._notes < _MAX_NOTES:
            self._notes += 1
            self._note(bytes(content))
