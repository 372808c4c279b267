"""A resident worker of the tests' own, and the installed command that finds it or does not."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from command import CLITOOL, PLUGINS, TOKEN, Result, client, environment, run, write_clients

from clitool.stub import CALL, STATUS, header

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HABITS = str(Path(__file__).parent / "resident_plugins" / "site-packages")
OTHER_TOKEN = "clt_another-token-of-the-tests"

CLIENTS: dict[str, Any] = {
    "clients": {
        "anna": client("habits:use", "trouble:use", "calculator:use", "role:watcher"),
        "berta": client("habits:use", "trouble:use", token=OTHER_TOKEN),
        "old": {
            "tokens": [
                {"id": "t", "sha256": client(token="old-token")["tokens"][0]["sha256"], "expires": "2020-01-01"}
            ],
            "scopes": ["*"],
        },
        "host": {"scopes": ["trouble:use"], "empty_token": True},
    },
    "roles": {"watcher": ["logmcp:read"]},
}


class World:
    """A clients file, a folder for a resident worker's socket, and calls with or without it."""

    def __init__(self) -> None:
        # Not pytest's folder: the path of a socket must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="clitool-tests-"))
        self.runtime = self.folder / "run"
        self.runtime.mkdir(mode=0o700)
        self.clients = write_clients(self.folder / "clients", CLIENTS)
        self.env = environment(PYTHONPATH=f"{PLUGINS}:{HABITS}", XDG_RUNTIME_DIR=str(self.runtime))

    @property
    def socket(self) -> Path:
        return self.runtime / "clitool" / "resident.sock"

    def close(self) -> None:
        self.command("stop")
        shutil.rmtree(self.folder)

    def command(self, *words: str, env: Mapping[str, str] | None = None) -> Result:
        """Run `clitool resident WORDS`."""
        return run("resident", *words, env={**self.env, **(env or {})})

    def start(self) -> int:
        """Start the resident worker and return its process number."""
        started = self.command("start")
        assert started.status == 0, started
        return self.pid

    def status(self) -> dict[str, Any]:
        """What the resident worker says about itself."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(str(self.socket))
            connection.sendall(header(STATUS))
            found: dict[str, Any] = json.loads(connection.makefile("rb").read())
        return found

    @property
    def pid(self) -> int:
        number: int = self.status()["pid"]
        return number

    @property
    def workers(self) -> list[int]:
        return children(self.pid)

    def words(self, *words: str, before: Sequence[str] = ()) -> list[str]:
        return ["--clients", str(self.clients), *before, "call", *words]

    def call(
        self,
        tool: str = "habits",
        *more: str,
        token: str = TOKEN,
        before: Sequence[str] = (),
        params: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        cold: bool = False,
        **how: Any,
    ) -> Result:
        """Make a call; `cold` hides the resident worker from it."""
        given = ["--params", json.dumps(params)] if params is not None else []
        words = self.words(tool, "--token-stdin", *given, *more, before=before)
        hidden = {"XDG_RUNTIME_DIR": str(self.folder / "nowhere")} if cold else {}
        how.setdefault("stdin", token.encode() + b"\n")
        return run(*words, env={**self.env, **hidden, **(env or {})}, **how)

    def begin(
        self, how: str, *before: str, command: Sequence[str] = (CLITOOL,), **more: Any
    ) -> subprocess.Popen[bytes]:
        """Start a call of the troublesome tool."""
        words = self.words("trouble", "--token-stdin", "--params", json.dumps({"how": how}), before=before)
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        process = subprocess.Popen([*command, *words], env=self.env, cwd=self.folder, **pipes)
        assert process.stdin
        process.stdin.write(TOKEN.encode() + b"\n")
        process.stdin.flush()
        return process

    def announced(self) -> socket.socket:
        """A connection on which a call has been announced and not yet sent."""
        code = "import os, sys; from clitool.stub import fingerprint; sys.stdout.write(fingerprint(os.environ).hex())"
        mark = bytes.fromhex(run("-P", "-c", code, env=self.env, command=sys.executable).stdout.decode())
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        connection.connect(str(self.socket))
        connection.sendall(header(CALL, mark, b"k" * 32, 1e9))
        return connection

    def wait_for_call(self, count: int = 1) -> None:
        """Wait until so many calls are under way."""
        assert until(lambda: self.status()["under_way"] == count)


def until(condition: Callable[[], Any], seconds: float = 20) -> bool:
    """Wait for something that has to come true soon; return whether it did."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def is_gone(pid: int) -> bool:
    return until(lambda: not is_alive(pid))


def with_umask(mask: int) -> Callable[[], None]:
    def set_mask() -> None:
        os.umask(mask)

    return set_mask
