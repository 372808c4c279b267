"""An IMAP server that misbehaves by script, for what real servers will not do."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from services.certificates import Certificate

HELLO = b"* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] scripted\r\n"
CLOSE, SILENCE, DRIP = b"close", b"silence", b"drip"
_USUAL = {
    "SELECT": b"* 3 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\nTAG OK done\r\n",
    "EXAMINE": b"* 3 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\nTAG OK done\r\n",
    "CAPABILITY": b"* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nTAG OK done\r\n",
}


class ScriptedImap:
    """Answers each command by its word; with OK if the script says nothing else.

    Args:
        answers: by the word of the command (``UID FETCH``); ``TAG`` in them is replaced. An answer that ends with
            `CLOSE`, `SILENCE` or `DRIP` is sent, and then the connection is closed, or nothing is ever sent again, or
            one character after the other without an end. A list gives the answers to one time after the other; the
            last one stays.
        greeting: what it says first; likewise.
        certificate: to speak TLS with, from the start.

    Attributes:
        port: where it listens.
        lines: what clients have sent, without line ends; of a literal, the lines in it.
    """

    def __init__(
        self,
        answers: Mapping[str, bytes | list[bytes]] | None = None,
        greeting: bytes = HELLO,
        certificate: Certificate | None = None,
    ) -> None:
        self._answers = {**_USUAL, **(answers or {})}
        self._greeting = greeting
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._context = _context(certificate)
        self.lines: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def commands(self) -> list[str]:
        """The words of the commands that clients have sent."""
        return [_word(line) for line in self.lines if line[:1] == b"T" and line[1:2].isdigit()]

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
        if self._context is not None:
            client = self._context.wrap_socket(client, server_side=True)
        with client, client.makefile("rb") as incoming:
            self._talk(client, incoming)

    def _talk(self, client: socket.socket, incoming: object) -> None:
        if not _say(client, self._greeting):
            return
        for line in incoming:  # type: ignore[attr-defined]  # a file
            self.lines.append(line.rstrip(b"\r\n"))
            tag = line.split(b" ")[0]
            while self.lines[-1].endswith(b"}"):
                client.sendall(b"+ go on\r\n")
                size = int(self.lines[-1].rpartition(b"{")[2][:-1])
                self.lines.append(incoming.read(size) + incoming.readline().rstrip(b"\r\n"))  # type: ignore[attr-defined]  # a file
            if not _say(client, self._answer(_word(line)).replace(b"TAG", tag)):
                return

    def _answer(self, word: str) -> bytes:
        answer = self._answers.get(word, b"TAG OK done\r\n")
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer


def _context(certificate: Certificate | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.path, certificate.key)
    return context


def _word(line: bytes) -> str:
    words = line.decode("latin-1").upper().split()[1:]
    return " ".join(words[:2] if words[:1] == ["UID"] else words[:1])


def _say(client: socket.socket, answer: bytes) -> bool:
    """Send an answer; return whether the conversation goes on."""
    for ending in (CLOSE, SILENCE, DRIP):
        if answer.endswith(ending):
            client.sendall(answer.removesuffix(ending))
            _leave(client, ending)
            return False
    client.sendall(answer)
    return True


def _leave(client: socket.socket, ending: bytes) -> None:
    while ending == DRIP:
        client.sendall(b"x")
        time.sleep(0.01)
    while ending == SILENCE and client.recv(65_536):
        pass
