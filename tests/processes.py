"""Run a function in forked children: many at once, or as a user without rights (CI is root)."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

NOBODY = 65534


def run_as_nobody(action: Callable[[], Any]) -> Any:
    """Return what `action` returns in a child under an unprivileged uid; what it imports must be imported already."""

    def unprivileged(_: int) -> Any:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return action()

    return run_at_once(unprivileged, 1)[0]


def give_to_nobody(*paths: str) -> None:
    """Make the paths belong to the user of `run_as_nobody`."""
    if os.getuid() == 0:
        for path in paths:
            os.chown(path, NOBODY, NOBODY)


def run_at_once(action: Callable[[int], Any], count: int) -> list[Any]:
    """Return what ``action(0)`` … ``action(count - 1)`` return in children that start at the same moment."""
    gate, opener = os.pipe()
    answers = [_start(action, index, gate, opener) for index in range(count)]
    os.close(gate)
    os.close(opener)
    return [_answer(pid, reader) for pid, reader in answers]


def _start(action: Callable[[int], Any], index: int, gate: int, opener: int) -> tuple[int, int]:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    try:
        os.close(opener)
        os.read(gate, 1)
        result: tuple[bool, Any] = (True, action(index))
    except BaseException:  # noqa: BLE001 - whatever it was, the parent raises it
        result = (False, traceback.format_exc())
    with os.fdopen(writer, "wb") as pipe:
        pickle.dump(result, pipe)
    sys.stdout.flush()
    os._exit(0)


def _answer(pid: int, reader: int) -> Any:
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    good, value = pickle.loads(data)
    assert good, value
    return value
