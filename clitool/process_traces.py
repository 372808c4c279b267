"""What a piece of work can leave behind in its process, so that the next one would not find it as the first one did."""

from __future__ import annotations

import gc
import os
import resource
import sys

from clitool.lean import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_GROWTH = 128 * 1024 * 1024  # bytes of memory
_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
_PER_CONNECTION = 8  # descriptors and threads that a driver may use for each connection that is kept


class Traces:
    """The state of this process, taken before the first piece of work, to compare with after each one.

    What a piece of work is *given* (working folder, environment, umask, standard descriptors) is not looked at: the
    next one is given its own.
    """

    def __init__(self) -> None:
        self._settings = _settings()
        self._descriptors = len(open_descriptors())
        self._threads = _threads()
        self._memory = _memory()
        self._children = _children()

    def fault(self, connections: int) -> str | None:
        """Return what is not as it was, in words; None if nothing is.

        Args:
            connections: how many connections are kept on purpose.
        """
        if self._has_left_children():
            return "processes were left behind"
        allowed = connections * _PER_CONNECTION
        if next(self._faults(allowed), None) is None:
            return None
        gc.collect()  # an error can hold what it passed, until somebody looks for garbage
        return next(self._faults(allowed), None)

    def _faults(self, allowed: int) -> Iterator[str]:
        if _settings() != self._settings:
            yield "a setting of the process was changed"
        if len(open_descriptors()) > self._descriptors + allowed:
            yield "descriptors were left open"
        if _threads() > self._threads + allowed:
            yield "threads were left behind"
        if _memory() > self._memory + MAX_GROWTH:
            yield "the process has grown"

    def _has_left_children(self) -> bool:
        if has_children():
            return True
        before, self._children = self._children, _children()
        # There were children, and they are gone; they may have left some of their own.
        return before != self._children and not _is_alone()


def open_descriptors() -> set[int]:
    """Return the descriptors of this process; one of them was for the look itself and is closed again."""
    return set(map(int, os.listdir("/dev/fd")))


def has_children() -> bool:
    """Say whether this process has children, running or ended."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def _settings() -> tuple[object, ...]:
    return (
        list(sys.path),
        [id(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        signal.getitimer(signal.ITIMER_REAL)[0] > 0,
        [resource.getrlimit(number) for number in _LIMITS],
        (os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups()),
    )


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:  # macOS
        from threading import active_count

        return active_count()


def _memory() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:  # macOS, where the peak is all there is, in bytes
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _children() -> tuple[float, ...]:
    """Return what changes whenever a child has ended and was waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime, used.ru_minflt


def _is_alone() -> bool:
    """Say whether no other process is in this one's group; where that cannot be known, no."""
    try:
        pids = list(filter(str.isdecimal, os.listdir("/proc")))
    except OSError:
        return False
    return sum(_group(pid) == os.getpgrp() for pid in pids) == 1


def _group(pid: str) -> int:
    try:
        return os.getpgid(int(pid))
    except OSError:
        return 0
