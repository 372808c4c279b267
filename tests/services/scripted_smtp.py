"""An SMTP server that misbehaves by script, for what real servers will not do."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from services.certificates import Certificate

CLOSE, SILENCE = b"close", b"silence"
GREETING = b"220 scripted\r\n"
_USUAL = {
    "EHLO": b"250-scripted\r\n250-SIZE 1000000\r\n250-PIPELINING\r\n250 AUTH PLAIN LOGIN XOAUTH2\r\n",
    "AUTH": b"235 in\r\n",
    "DATA": b"354 go on\r\n",
    ".": b"250 taken\r\n",
    "QUIT": b"221 bye\r\n" + CLOSE,
    "STARTTLS": b"220 go on\r\n",
}


class ScriptedSmtp:
    """Answers each command by its verb, and the end of a message by ``.``; with 250 if the script says nothing else.

    Args:
        answers: what to say. An answer that ends with `CLOSE` or `SILENCE` is sent, and then the connection is
            closed, or nothing is ever said again. A list gives the answers to one time after the other; the last one
            stays.
        greeting: what it says first; likewise.
        certificate: to speak TLS with; None without.
        implicit: whether TLS begins at once, and not after STARTTLS.
        pause: seconds between any two bytes that it sends.

    Attributes:
        port: where it listens.
        lines: what clients have sent, without line ends, contents of messages included.
    """

    def __init__(
        self,
        answers: Mapping[str, bytes | list[bytes]] | None = None,
        *,
        greeting: bytes = GREETING,
        certificate: Certificate | None = None,
        implicit: bool = False,
        pause: float = 0,
    ) -> None:
        self._answers = {**_USUAL, **(answers or {})}
        self._greeting = greeting
        self._context = _context(certificate)
        self._implicit = implicit
        self._pause = pause
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.lines: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def verbs(self) -> list[str]:
        """The verbs of the commands that clients have sent."""
        words = (line.split(b" ")[0].decode("latin-1") for line in self.lines)
        return [word for word in words if word in {*_USUAL, "MAIL", "RCPT", "RSET"}]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(20)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            with client, suppress(OSError):  # the client has gone
                self._meet(client)

    def _meet(self, client: socket.socket) -> None:
        if self._implicit:
            client = self._encrypted(client)
        with client:
            if self._say(client, self._greeting):
                self._talk(client)

    def _talk(self, client: socket.socket) -> None:
        with client.makefile("rb") as incoming:
            self._answer_all(client, incoming)

    def _answer_all(self, client: socket.socket, incoming: BinaryIO) -> None:
        while line := incoming.readline():
            self.lines.append(line.rstrip(b"\r\n"))
            verb = line.split(b" ")[0].rstrip().decode("latin-1")
            if not self._say(client, self._answer(verb)):
                return
            if verb == "DATA" and not self._take(client, incoming):
                return
            if verb == "STARTTLS" and self._context is not None:
                with self._encrypted(client) as encrypted:
                    self._talk(encrypted)
                return

    def _take(self, client: socket.socket, incoming: BinaryIO) -> bool:
        while line := incoming.readline():
            self.lines.append(line.rstrip(b"\r\n"))
            if line == b".\r\n":
                return self._say(client, self._answer("."))
        return False

    def _answer(self, verb: str) -> bytes:
        answer = self._answers.get(verb, b"250 ok\r\n")
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer

    def _say(self, client: socket.socket, answer: bytes) -> bool:
        """Send it, and return whether the talk goes on."""
        text = answer.removesuffix(CLOSE).removesuffix(SILENCE)
        for piece in (text[index : index + 1] for index in range(len(text))) if self._pause else [text]:
            client.sendall(piece)
            time.sleep(self._pause)
        if answer.endswith(SILENCE):
            while client.recv(65_536):
                pass
        if answer.endswith(CLOSE):
            client.shutdown(socket.SHUT_RDWR)
        return text == answer

    def _encrypted(self, client: socket.socket) -> ssl.SSLSocket:
        assert self._context is not None
        return self._context.wrap_socket(client, server_side=True)


def _context(certificate: Certificate | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.path, certificate.key)
    return context
