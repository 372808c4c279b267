"""A piece of work in a process of its own, watched: it has a deadline and is ended together with all that it started.

The parent alone holds the real standard output. The worker sends frames over a pipe; the parent returns as soon as the
answer is complete, at the deadline, at SIGTERM or SIGINT, or when the worker dies, and never waits for stragglers.
"""

from __future__ import annotations

import os
from time import monotonic

from clitool.channel import Channel
from clitool.errors import ExecutionError
from clitool.lean import signal
from clitool.watch import Signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from clitool.listener import Ending

_REAP_SECONDS = 0.2  # a worker in an uninterruptible system call is left to init


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
        from clitool.listener import Ending

        return Ending(ExecutionError(f"no process can be started for the call: {error.strerror}", "io"))
    try:
        from clitool.listener import Listener  # while the worker is at work

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
        from select import POLLIN, poll

        waiting = poll()
        waiting.register(self.signals.descriptor, POLLIN)
        while not os.waitpid(self._pid, os.WNOHANG)[0]:
            if monotonic() >= end:
                return
            waiting.poll(max(0.0, end - monotonic()) * 1000)
            self.signals.take()
