"""A connection that has been taken in and is about to say what it wants."""

from __future__ import annotations

from time import monotonic

from clitool.stub import HEADER, MAGIC
from clitool.tokens import READ_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

_SECONDS = READ_SECONDS + 1.0  # for the header, which is sent as soon as the stub has read its token


class Visitor:
    """A connection of which the header is read, and no byte more.

    Attributes:
        connection: to the stub.
        until: when it must have said what it wants.
        kind, mark, key, end: the header's, once it is there.
    """

    __slots__ = ("_data", "connection", "end", "key", "kind", "mark", "until")

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.until = monotonic() + _SECONDS
        self._data = b""
        self.kind = self.mark = self.key = b""
        self.end = 0.0

    def read(self) -> bool:
        """Take in what is there; say whether the header is complete.

        Raises:
            EOFError: nothing more will come.
            ValueError: it is no header of ours.
        """
        try:
            data = self.connection.recv(HEADER - len(self._data))
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            raise EOFError
        self._data += data
        if not self._data.startswith(MAGIC[: len(self._data)]):
            raise ValueError(self._data)
        if len(self._data) < HEADER:
            return False
        self._parse(self._data[len(MAGIC) :])
        return True

    def _parse(self, data: bytes) -> None:
        self.kind, self.mark, self.key = data[:1], data[1:33], data[33:65]
        self.end = int.from_bytes(data[65:], "big") / 1e9
