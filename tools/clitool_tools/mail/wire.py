"""The bytes between us and a server: one socket whose every wait ends at the call's deadline, encrypted as agreed."""

from __future__ import annotations

import io
import socket

from clitool_tools.mail.endpoint import IMPLICIT, NONE
from clitool_tools.mail.faults import explained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from clitool.tool import Deadline
    from clitool_tools.mail.endpoint import Endpoint


def dial(endpoint: Endpoint, tls_ca: str | None, deadline: Deadline) -> Wire:
    """Connect to a server; with implicit TLS the connection is encrypted already.

    Args:
        endpoint: which server.
        tls_ca: file with the authorities to trust instead of the system's, or None.
        deadline: ends every wait, now and later.

    Raises:
        ExecutionError: `unreachable`, `tls`, `timeout`, `connection_lost`, or `settings` if `tls_ca` cannot be used.
    """
    with explained(endpoint, "connect"):
        # Half of the time for an address: a second one, if the first is dead, has a chance.
        address = (_plain(endpoint), endpoint.port)
        connected = socket.create_connection(address, _left(deadline) / 2)  # type: ignore[arg-type]  # bytes, as they may be
        wire = Wire(connected, endpoint, deadline)
    try:
        if endpoint.tls == NONE:
            wire.require_this_machine()
        elif endpoint.tls == IMPLICIT:
            wire.start_tls(tls_ca)
    except BaseException:
        wire.close()
        raise
    return wire


class Wire:
    """A connection to a server.

    Attributes:
        deadline: ends every wait; a call that takes over the connection brings its own.
        endpoint: the server at the other end.
        encrypted: whether TLS is on.
    """

    __slots__ = ("_socket", "deadline", "encrypted", "endpoint")

    def __init__(self, connected: socket.socket, endpoint: Endpoint, deadline: Deadline) -> None:
        self._socket = connected
        self.deadline = deadline
        self.endpoint = endpoint
        self.encrypted = False

    def start_tls(self, tls_ca: str | None) -> None:
        """Encrypt from here on; a reader from before must not be used any more, nor what it has buffered."""
        from clitool_tools.mail.certificates import client_context

        context = client_context(tls_ca)
        with explained(self.endpoint, "encrypt"):
            self._socket.settimeout(_left(self.deadline))
            self._socket = context.wrap_socket(self._socket, server_hostname=_plain(self.endpoint))
        self.encrypted = True

    def require_this_machine(self) -> None:
        """Raise `ExecutionError` (tls) if a name for this machine led elsewhere: without TLS nothing goes there."""
        from clitool.errors import ExecutionError

        address = self._socket.getpeername()[0]
        if not address.startswith("127.") and address != "::1":
            message = f"{self.endpoint} is not on this machine, so {self.endpoint.protocol}_tls must not be none"
            raise ExecutionError(message, "tls")

    def certificate(self) -> dict[str, object]:
        """Return the server's certificate as `ssl.SSLSocket.getpeercert` does; empty without TLS."""
        import ssl

        found = self._socket.getpeercert() if isinstance(self._socket, ssl.SSLSocket) else None
        return dict(found or {})

    def makefile(self) -> io.BufferedReader:
        """Return a reader of what the server sends."""
        return io.BufferedReader(_Incoming(self))

    def recv_into(self, buffer: WriteableBuffer) -> int:
        """Wait for bytes until the deadline; raises OSError."""
        self._socket.settimeout(_left(self.deadline))
        return self._socket.recv_into(buffer)

    def sendall(self, data: bytes) -> None:
        """Send all of it before the deadline, or raise OSError."""
        self._socket.settimeout(_left(self.deadline))
        self._socket.sendall(data)

    def close(self) -> None:
        """Close the connection; harmless when repeated."""
        self._socket.close()


class _Incoming(io.RawIOBase):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        return self._wire.recv_into(buffer)


def _plain(endpoint: Endpoint) -> bytes:
    """Return the server's name, which is ASCII; for a text Python would load its tables for international names."""
    return endpoint.host.encode("ascii")


def _left(deadline: Deadline) -> float:
    seconds = deadline.remaining()
    if not seconds:  # zero would mean not to wait at all, which is another error
        raise TimeoutError
    return seconds
