"""A socket that keeps to a clock as a whole, not per byte, and how it gets to its server."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool_tools.database.mysql.clock import Clock

_CHUNK = 65536  # bytes to read at once


class ClockedSocket:
    """A socket for the connector, whose every wait ends with the clock; what it reads, it reads in large pieces."""

    def __init__(self, plain: socket.socket, clock: Clock) -> None:
        self._socket = plain
        self._clock = clock
        self._data = b""  # what was read; from `_at` on it has not been taken
        self._at = 0

    @property
    def family(self) -> int:
        """The connector asks whether it is a Unix socket."""
        return self._socket.family

    def settimeout(self, seconds: float | None) -> None:
        """Do nothing: the connector's own timeouts are for one operation each."""

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes; raises `EOFError` if there are not so many any more."""
        end = self._at + size
        if end > len(self._data):
            return self._gather(size)
        piece = self._data[self._at : end]
        self._at = end
        return piece

    def _gather(self, size: int) -> bytes:
        found = bytearray(self._data[self._at :])
        while len(found) < size:
            self._socket.settimeout(self._clock.left())
            piece = self._socket.recv(_CHUNK)
            if not piece:
                raise EOFError
            found += piece
        self._data, self._at = bytes(found[size:]), 0
        return bytes(found[:size])

    def sendall(self, data: bytes) -> None:
        """Send everything."""
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(self._clock.left())
            rest = rest[self._socket.send(rest[:_CHUNK]) :]

    def wrap(self, context: Any, host: str) -> None:  # noqa: ANN401 - ssl.SSLContext, imported where TLS is used
        """Go on encrypted. Nothing that came unencrypted may be waiting to be taken for what comes then."""
        if self._at < len(self._data):
            raise OSError("the server went on speaking before the encryption began")
        self._socket.settimeout(self._clock.left())
        self._socket = context.wrap_socket(self._socket, server_hostname=host)

    def version(self) -> str:
        """Return the TLS version in use, or nothing."""
        return getattr(self._socket, "version", str)() or ""

    def shutdown(self, how: int) -> None:
        """End the conversation, if the other side has not done so."""
        with suppress(OSError):
            self._socket.shutdown(how)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def dial(host: str, port: int, path: str, clock: Clock) -> socket.socket:
    """Return a socket connected to the first address of `host` that answers, or to the Unix socket `path`.

    Raises:
        OSError: none does; `socket.gaierror` if the name means nothing, `TimeoutError` if the clock runs out.
    """
    if path:
        return _connected(socket.AF_UNIX, path, clock.left())
    trouble: OSError = socket.gaierror(socket.EAI_NONAME)
    found = _resolved(host, port, clock)
    for tried, (family, _, _, _, target) in enumerate(found):
        try:
            return _connected(family, target, clock.left() / (len(found) - tried))
        except OSError as error:
            trouble = error
    raise trouble


def _connected(family: int, target: Any, seconds: float) -> socket.socket:  # noqa: ANN401 - each family has its own
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.settimeout(seconds)
        found.connect(target)
        if family != socket.AF_UNIX:
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        found.close()
        raise
    return found


def _resolved(host: str, port: int, clock: Clock) -> list[Any]:
    """Ask the system for the addresses; it takes no timeout, so a thread asks, and is left behind if it takes long."""
    answer: list[Any] = []

    def ask() -> None:
        try:
            answer.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answer.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(clock.left())
    if not answer:
        raise TimeoutError
    if isinstance(answer[0], UnicodeError):
        raise socket.gaierror(socket.EAI_NONAME) from answer[0]
    if isinstance(answer[0], OSError):
        raise answer[0]
    found: list[Any] = answer[0]
    return found
