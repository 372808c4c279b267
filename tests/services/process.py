"""A real server for the tests: started on a free loopback port as our own child, ended by its own pid."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SERVICES = Path(__file__).resolve().parents[2] / ".services"  # where `make services` unpacks what no package brings
_STARTING = 60.0  # seconds; the machine may be busy
_ENDING = 20.0


class Process:
    """A running server; its output goes to a file.

    Args:
        argv: the program and its arguments; it must stay in the foreground.
        log: where its output goes.
        is_ready: whether it answers; asked until it does.
    """

    def __init__(self, argv: Sequence[str], log: Path, is_ready: Callable[[], bool]) -> None:
        self.log = log
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                list(argv), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        try:
            self._wait(is_ready)
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """The server's process number."""
        return self._popen.pid

    def kill(self) -> None:
        """End it the hard way, as a crash would, and wait until it is gone."""
        self._popen.kill()
        self._popen.wait()

    def stop(self) -> None:
        """End it and wait until it is gone."""
        self._popen.terminate()
        try:
            self._popen.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self.kill()

    def _wait(self, is_ready: Callable[[], bool]) -> None:
        end = time.monotonic() + _STARTING
        while not is_ready():
            status = self._popen.poll()
            assert status is None, f"{self._popen.args} ended with {status}: {self._tail()}"
            assert time.monotonic() < end, f"{self._popen.args} does not answer: {self._tail()}"
            time.sleep(0.02)

    def _tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


def free_port() -> int:
    """Return a loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def accepts(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether somebody listens there."""
    try:
        socket.create_connection((host, port), 1).close()
    except OSError:
        return False
    return True


def program(name: str, *places: str) -> str:
    """Return the path of a server program; without it the test is skipped, or fails where CI runs it."""
    found = shutil.which(name, path=os.pathsep.join([*places, os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]))
    if found is None:
        assert not os.environ.get("CI"), f"{name} is missing; run: make services"
        pytest.skip(f"{name} is not installed; run: make services")
    return found
