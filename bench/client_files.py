"""Clients files with as many clients as wanted, and the calls of their clients."""

from __future__ import annotations

import hashlib
import json
import os
import time
from typing import TYPE_CHECKING, Any

from measuring import Command, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCOPES = ["calculator:use", "database:read", "mail:read", "logmcp:read"]
_SETTLED_SECONDS = 2.5  # a younger clients file is not trusted to stay as it is, so no index is made of it


def token(client: int | str) -> bytes:
    """Return the standard input with that client's token."""
    return f"bench-token-{client}\n".encode()


def write_clients(folder: Path, settings: Mapping[str, Mapping[str, Any]], count: int = 10) -> Path:
    """Write a clients file.

    Args:
        folder: is made.
        settings: of clients with a name.
        count: how many other clients it has, called by their number, with the settings of the first one.
    """
    usual = next(iter(settings.values()), {})
    clients = {str(name): _client(name, settings.get(str(name), usual)) for name in (*settings, *range(count))}
    folder.mkdir(mode=0o700)
    path = folder / "clients.yaml"
    path.write_text(json.dumps({"clients": clients}, indent=1))
    path.chmod(0o600)
    return path


def _client(name: int | str, settings: Mapping[str, Any]) -> dict[str, Any]:
    digest = hashlib.sha256(token(name).strip()).hexdigest()
    return {"tokens": [{"id": "t", "sha256": digest}], "scopes": SCOPES, "tools": dict(settings)}


def settle(python: Path, *clients: Path) -> None:
    """Have everything ready that the program keeps beside clients files, as after the first call on any later day."""
    youngest = max(path.stat().st_ctime for path in clients)
    time.sleep(max(0.0, youngest + _SETTLED_SECONDS - time.time()))
    for path in clients:
        environment = {"PATH": os.environ["PATH"], "HOME": str(path.parent)}
        run(Command([str(python.parent / "clitool"), "--clients", str(path), "check"], environment=environment))


class Clitool:
    """The installed command with a clients file, as somebody calls it.

    Args:
        python: of the environment in which it is installed.
        clients: the clients file.
        environment: in which it is called; a resident worker is found by it.
        before: options before the subcommand.
    """

    def __init__(
        self, python: Path, clients: Path, environment: Mapping[str, str] | None = None, before: tuple[str, ...] = ()
    ) -> None:
        self.python = python
        self.clients = clients
        self.environment = environment or {}
        self._program = str(python.parent / "clitool")
        self._before = before

    def variant(self, *before: str, **environment: str) -> Clitool:
        """Return the same with more options, and with more in its environment."""
        return Clitool(self.python, self.clients, {**self.environment, **environment}, (*self._before, *before))

    def plain(self, *words: str) -> Command:
        """Run it without a clients file."""
        return Command([self._program, *self._before, *words], environment=self.environment)

    def command(self, client: int | str, *words: str, status: int = 0, rows: int | None = None) -> Command:
        """Run it with a client's token."""
        words = (self._program, *self._before, "--clients", str(self.clients), *words)
        return Command(words, token(client), self.environment, status, rows)

    def call(
        self, client: int | str, tool: str, params: object = None, *, status: int = 0, rows: int | None = None
    ) -> Command:
        """Call a tool with a client's token."""
        given = [] if params is None else ["--params", json.dumps(params)]
        return self.command(client, "call", tool, "--token-stdin", *given, status=status, rows=rows)
