"""The worker's side of a supervised piece of work: a session of its own, no output, no life without its parent."""

from __future__ import annotations

import os

from clitool.lean import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from clitool.channel import Channel

_ALARM_SECONDS = 1.0  # after the deadline, which is the supervisor's


def run(work: Callable[[Channel], object], channel: Channel, life: int, let_go: Callable[[], object]) -> NoReturn:
    """Do the work in this process, which was forked for it, and end.

    Args:
        work: must end with `Channel.answer`; runs with descriptors 1 and 2 on /dev/null.
        channel: leads to the supervisor.
        life: a pipe whose other end only the supervisor holds; when it closes, this process group is killed.
        let_go: releases what the fork copied and is the supervisor's alone.
    """
    try:
        become_worker(life, channel.remaining(), let_go)
        work(channel)
    finally:
        os._exit(0)  # whatever happened has been answered, or its absence says it


def become_worker(life: int, seconds: float | None, let_go: Callable[[], object]) -> None:
    """Make this process, just forked, one whose output is nobody's and which ends with its parent.

    Args:
        life: as in `run`.
        seconds: after which it ends in any case, where the kernel does not watch `life`; None if it has no such end.
        let_go: as in `run`.
    """
    os.setsid()
    let_go()
    _die_with_parent(life, seconds)
    _leave_no_core()
    _silence()


def _leave_no_core() -> None:
    import resource

    # A crash must not write the token and the settings to a file.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _silence() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)


def _die_with_parent(life: int, seconds: float | None) -> None:
    """Have this process group killed when the parent is gone, which closes the other end of `life`."""
    try:
        _have_the_kernel_watch(life)
    except (AttributeError, OSError):  # macOS has no F_SETSIG; some emulated kernels do not take it
        _watch(life, seconds)


def _have_the_kernel_watch(life: int) -> None:
    """Do it also while C code holds the interpreter's lock."""
    import fcntl

    fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpid())
    fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    try:
        os.read(life, 1)
    except BlockingIOError:  # it is open, and from now on the kernel watches it
        return
    os._exit(1)


def _watch(life: int, seconds: float | None) -> None:
    """Do it with a thread, and with an alarm."""
    from threading import Thread

    if seconds is not None:
        # C code that holds the interpreter's lock stops the thread, but not the alarm, which by default is the end.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds + _ALARM_SECONDS)

    def wait() -> None:
        os.read(life, 1)
        os.killpg(0, signal.SIGKILL)

    Thread(target=wait, daemon=True).start()
