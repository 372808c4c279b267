"""The resident worker, for as long as something is measured with it."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from measuring import check, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from client_files import Clitool
    from measuring import Command


@contextmanager
def running(cold: Clitool, folder: Path) -> Iterator[Clitool]:
    """Start it; give the command as somebody calls it who has it.

    Args:
        cold: the command without it.
        folder: is made for its socket.
    """
    folder.mkdir(mode=0o700)
    warm = cold.variant(XDG_RUNTIME_DIR=str(folder))
    run(warm.plain("resident", "start"))
    try:
        yield warm
    finally:
        run(warm.plain("resident", "stop"))


def made_by(warm: Clitool, commands: Mapping[str, Command]) -> Mapping[str, Command]:
    """Run calls and return them if the resident worker made all of them."""
    with taking(warm, len(commands)):
        for command in commands.values():
            check(command)
    return commands


@contextmanager
def taking(warm: Clitool, calls: int) -> Iterator[None]:
    """See that the resident worker makes so many calls meanwhile: what it declines is made cold.

    Raises:
        RuntimeError: it made fewer or more.
    """
    before = _taken(warm)
    yield
    found = _taken(warm) - before
    if found != calls:
        raise RuntimeError(f"the resident worker made {found} of {calls} calls; the others were cold")


def number(warm: Clitool) -> int:
    """Return the number of its process."""
    return _said(warm, rb"process +(\d+)")


def _taken(warm: Clitool) -> int:
    return _said(warm, rb"calls +(\d+)")


def _said(warm: Clitool, what: bytes) -> int:
    status = run(warm.plain("resident", "status"))
    return int(re.findall(what, status)[0])
