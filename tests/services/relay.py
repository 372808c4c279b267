"""A wire that can be tapped: passes a connection on to a real server and keeps every byte that the client sends."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class Relay:
    """Listens on a loopback port of its own and connects each client to `target`.

    Attributes:
        port: where it listens.
        sent, received: what clients have sent and got, in the order of arrival.
        cut_after: ends a connection when the server has sent so many bytes on it; None passes all.
    """

    def __init__(self, target: int, cut_after: int | None = None) -> None:
        self.sent, self.received = bytearray(), bytearray()
        self.cut_after = cut_after
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []

    @property
    def lines(self) -> list[bytes]:
        """What clients have sent, line by line."""
        return bytes(self.sent).split(b"\r\n")[:-1]

    @property
    def commands(self) -> list[str]:
        """The words of the commands, without tag and arguments: ``["CAPABILITY", "LOGIN", "UID SEARCH"]``."""
        words = [line.decode("latin-1").upper().split(" ") for line in self.lines]
        tagged = [line[1:] for line in words if len(line) > 1 and line[0][:1] == "T" and line[0][1:].isdigit()]
        return [" ".join(line[:2] if line[0] == "UID" else line[:1]) for line in tagged]

    def __enter__(self) -> Self:
        self._run(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(20)

    def _run(self, action: object, *arguments: object) -> None:
        thread = threading.Thread(target=action, args=arguments, daemon=True)  # type: ignore[arg-type]  # any callable
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            self._run(self._connect, client)

    def _connect(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._target)) as server:
            forward = threading.Thread(target=self._forward, args=(client, server), daemon=True)
            forward.start()
            self._back(server, client)
            forward.join(20)

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        while data := _received(client):
            self.sent += data
            _send(server, data)
        _end(server)

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        left = self.cut_after
        while left != 0 and (data := _received(server)):
            data = self._pass_back(data)
            part = data if left is None else data[:left]
            self.received += part
            _send(client, part)
            left = None if left is None else left - len(part)
        _end(client)
        _end(server)

    def _pass_back(self, data: bytes) -> bytes:
        """Return what the client gets for what the server sends; a subclass may do harm here."""
        return data


def _received(source: socket.socket) -> bytes:
    try:
        return source.recv(65_536)
    except OSError:
        return b""


def _send(target: socket.socket, data: bytes) -> None:
    with suppress(OSError):  # the other side has gone; its own thread sees that
        target.sendall(data)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
