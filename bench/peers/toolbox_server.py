"""MCP Toolbox as a server that stays: `toolbox --stdio`, asked by a client that stays too."""

from __future__ import annotations

import json
import subprocess
import time
from typing import IO, TYPE_CHECKING, Any

from held import held_megabytes
from measuring import ROW, variables

if TYPE_CHECKING:
    from orders import Shop

    from peers.toolbox import Toolbox

NAME = "Toolbox `--stdio`"


def calls_of(toolbox: Toolbox, shop: Shop, key: int, times: int) -> tuple[list[float], float]:
    """Return the seconds of each of many calls for one row by its key, and the megabytes that the server then holds."""
    command = toolbox.serve(shop)
    with subprocess.Popen(
        command.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=variables(command)
    ) as server:
        assert server.stdin
        assert server.stdout
        session = _Session(server.stdin, server.stdout)
        taken = [session.call("order", {"key": key}) for _ in range(times)]
        megabytes = held_megabytes(server.pid)
        server.stdin.close()
        server.terminate()
    return taken, megabytes


class _Session:
    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests, self._answers = requests, answers
        client = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, arguments: dict[str, int]) -> float:
        started = time.perf_counter()
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        taken = time.perf_counter() - started
        if answer.count(ROW) != 1:
            raise RuntimeError(f"{NAME} answered: {answer[:500]!r}")
        return taken

    def _ask(self, method: str, params: dict[str, Any]) -> bytes:
        self._send({"id": 1, "method": method, "params": params})
        return self._answers.readline()

    def _send(self, message: dict[str, Any]) -> None:
        self._requests.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._requests.flush()
