"""A server that speaks MySQL's protocol badly on purpose, to see what a client lets it do."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import struct
import tempfile
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.certificates import Certificate

_CAPABILITIES = 0x0008_A20F | 0x0020_0000  # of MySQL 5.7: protocol 4.1, transactions, plugins; no TLS
TLS = 0x0800
OK = b"\0\0\0\x02\0\0\0"  # autocommit, no warnings
NATIVE = "mysql_native_password"


class Conversation:
    """One client's connection, packet by packet."""

    def __init__(self, plain: socket.socket) -> None:
        self.plain = plain
        self._number = 0
        self.heard = b""

    def say(self, payload: bytes) -> None:
        """Send one packet."""
        self.plain.sendall(struct.pack("<I", len(payload))[:3] + bytes([self._number]) + payload)
        self._number = (self._number + 1) % 256

    def hear(self) -> bytes:
        """Return the next packet, or nothing at the end."""
        header = self._exactly(4)
        if len(header) < 4:
            return b""
        payload = self._exactly(int.from_bytes(header[:3], "little"))
        self._number = (header[3] + 1) % 256
        self.heard += payload
        return payload

    def greet(self, *, version: str = "10.11.19-MariaDB", plugin: str = NATIVE, more: int = 0) -> None:
        """Send the greeting."""
        capabilities = _CAPABILITIES | more
        self.say(
            b"\x0a" + version.encode() + b"\0" + struct.pack("<I", 7) + b"12345678" + b"\0"
            + struct.pack("<H", capabilities & 0xFFFF) + b"\x2d" + struct.pack("<H", 2)
            + struct.pack("<H", capabilities >> 16) + bytes([21]) + bytes(10) + b"123456789012\0" + plugin.encode()
            + b"\0"
        )  # fmt: skip

    def encrypt(self, certificate: Certificate) -> None:
        """Wait until the client asks for TLS, and go on with it."""
        self.hear()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.path, certificate.key)
        self.plain = context.wrap_socket(self.plain, server_side=True)

    def let_in(self) -> None:
        """Greet, and accept whoever it is."""
        self.greet()
        self.hear()
        self.say(OK)

    def rows(self, *rows: tuple[str, ...]) -> None:
        """Answer with rows of text."""
        count = len(rows[0])
        self.say(bytes([count]))
        for number in range(count):
            name = f"c{number}".encode()
            self.say(b"\x03def\0\0\0" + bytes([len(name)]) + name + b"\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0")
        self.say(b"\xfe\0\0\x02\0")
        for row in rows:
            self.say(b"".join(bytes([len(value)]) + value.encode() for value in row))
        self.say(b"\xfe\0\0\x02\0")

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.plain.recv(size - len(data))
            if not piece:
                break
            data += piece
        return data


class FakeMySQL:
    """Listens on a loopback port or a Unix socket; each client gets `behave`, until `stop`.

    Attributes:
        place: its port, or the path of its socket.
        heard: everything that clients said in packets.
    """

    def __init__(self, behave: Callable[[Conversation], None], *, on_socket: bool = False) -> None:
        self._behave = behave
        self._folder = tempfile.mkdtemp() if on_socket else ""
        self.place: int | str = os.path.join(self._folder, "s") if on_socket else 0
        self._listener = socket.socket(socket.AF_UNIX if on_socket else socket.AF_INET)
        self._listener.bind(self.place if on_socket else ("127.0.0.1", 0))
        self._listener.listen()
        if not on_socket:
            self.place = self._listener.getsockname()[1]
        self._talks: list[tuple[Conversation, threading.Thread]] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def heard(self) -> bytes:
        return b"".join(talk.heard for talk, _ in self._talks)

    def stop(self) -> None:
        """End all conversations."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for talk, thread in self._talks:
            with suppress(OSError):
                talk.plain.shutdown(socket.SHUT_RDWR)
            thread.join()
            talk.plain.close()
        if self._folder:
            shutil.rmtree(self._folder)

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            talk = Conversation(plain)
            thread = threading.Thread(target=self._talk, args=(talk,))
            self._talks.append((talk, thread))
            thread.start()

    def _talk(self, talk: Conversation) -> None:
        with suppress(OSError):
            self._behave(talk)
            while talk.hear():
                pass
        with suppress(OSError):
            talk.plain.shutdown(socket.SHUT_RDWR)
