"""A piece of work in a process of its own, watched: it has a deadline and is ended together with all that it started.

The parent alone holds the real standard output. The worker sends frames over a pipe; the parent returns as soon as the
answer is complete, at the deadline, at SIGTERM or SIGINT, or when the worker dies, and never waits for stragglers.
"""

from __future__ import annotations

import os
from select import POLLIN, poll
from time import monotonic

from clitool.channel import ABOUT, ANSWER, Channel, Frames
from clitool.errors import ExecutionError
from clitool.lean import signal
from clitool.watch import Signals, interrupted, too_late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_NOTES = 100  # neither a tool nor a clients file full of faults floods the host's standard error
_REAP_SECONDS = 0.2  # a worker in an uninterruptible system call is left to init


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


def supervise(
    work: Callable[[Channel], object], seconds: float, note: Callable[[bytes], object], signals: Signals | None = None
) -> Ending:
    """Run `work` in a process group of its own and return how it ended.

    Args:
        work: must end with `Channel.answer`; runs with descriptors 1 and 2 on /dev/null.
        seconds: until the whole group is killed.
        note: gets each line meant for the real standard error.
        signals: heard already by the caller, who releases them; otherwise they are heard as long as this takes.
    """
    end = monotonic() + seconds
    try:
        process = _start(work, end, signals or Signals())
    except OSError as error:
        return Ending(ExecutionError(f"no process can be started for the call: {error.strerror}", "io"))
    try:
        return Listener(process.frames, process.signals, note, process.is_dead).wait(end)
    finally:
        process.close()
        if signals is None:
            process.signals.release()


def _start(work: Callable[[Channel], object], end: float, signals: Signals) -> _Process:
    from clitool.worker import run  # not needed where a call is handed over to a process that is there already

    frames, frames_write = os.pipe()
    life, life_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        run(work, Channel(frames_write, end), life, lambda: _let_go(signals, frames, life_write))
    os.close(frames_write)
    os.close(life)
    return _Process(pid, frames, life_write, signals)


def _let_go(signals: Signals, *descriptors: int) -> None:
    signals.release()
    for descriptor in descriptors:
        os.close(descriptor)


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


class _Process:
    """The process that was forked for a call, and all that it may have started."""

    def __init__(self, pid: int, frames: int, life: int, signals: Signals) -> None:
        self._pid = pid
        self._life = life
        self.frames = frames
        self.signals = signals

    def is_dead(self) -> bool:
        # Looked at without reaping, so that the number cannot be given to a stranger before the group is killed.
        if hasattr(os, "waitid"):
            return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return True  # macOS before Python 3.13: nothing but an ended worker raises SIGCHLD here

    def close(self) -> None:
        """End the worker's whole group: at the deadline, and also after the answer, so that no call leaves orphans."""
        for kill in (os.kill, os.killpg):
            try:
                kill(self._pid, signal.SIGKILL)
            except OSError:
                continue  # gone already, or not yet a group of its own
        self._reap(monotonic() + _REAP_SECONDS)
        os.close(self.frames)
        os.close(self._life)

    def _reap(self, end: float) -> None:
        waiting = poll()
        waiting.register(self.signals.descriptor, POLLIN)
        while not os.waitpid(self._pid, os.WNOHANG)[0]:
            if monotonic() >= end:
                return
            waiting.poll(max(0.0, end - monotonic()) * 1000)
            self.signals.take()
