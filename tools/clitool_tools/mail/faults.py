"""What goes wrong between us and a server, in one sentence each that says what to set."""

from __future__ import annotations

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl

    from clitool_tools.mail.endpoint import Endpoint


def explained(endpoint: Endpoint, doing: str) -> _Explained:
    """Turn an OSError inside a ``with`` block into the `ExecutionError` for the caller.

    Args:
        endpoint: the server.
        doing: ``connect``, ``encrypt``, ``greeting`` (waiting for its first line) or ``talk``.
    """
    return _Explained(endpoint, doing)


class _Explained:
    __slots__ = ("_doing", "_endpoint")

    def __init__(self, endpoint: Endpoint, doing: str) -> None:
        self._endpoint = endpoint
        self._doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise trouble(error, self._endpoint, self._doing) from error


def trouble(error: OSError | EOFError, endpoint: Endpoint, doing: str) -> ExecutionError:
    """Return the error for the caller that `error` means; see `explained`."""
    if isinstance(error, TimeoutError):
        return _silence(endpoint, doing)
    if doing == "connect":
        return _unreachable(error, endpoint)
    import ssl

    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
        return _encryption(error, endpoint)
    during = {"encrypt": "during the TLS handshake", "greeting": "before its greeting"}.get(doing, "in the middle")
    return ExecutionError(f"{endpoint} ended the connection {during}", "connection_lost")


def _silence(endpoint: Endpoint, doing: str) -> ExecutionError:
    protocol = endpoint.protocol
    if doing == "connect":
        return ExecutionError(f"{endpoint} does not answer; check {protocol}_host and {protocol}_port", "unreachable")
    if doing == "greeting" and endpoint.tls != "implicit":
        hint = f"if this port wants encryption from the first byte, set {protocol}_tls: implicit"
        return ExecutionError(f"{endpoint} accepts connections but sends no greeting; {hint}", "timeout")
    what = {"greeting": "sends no greeting", "encrypt": "does not finish the TLS handshake"}
    if doing in what:
        settings = f"check {protocol}_host, {protocol}_port and {protocol}_tls"
        return ExecutionError(f"{endpoint} {what[doing]}; {settings}", "timeout")
    return ExecutionError(f"{endpoint} does not answer in time", "timeout")


def _unreachable(error: OSError | EOFError, endpoint: Endpoint) -> ExecutionError:
    import socket

    host, port = f"{endpoint.protocol}_host", f"{endpoint.protocol}_port"
    if isinstance(error, socket.gaierror):
        return ExecutionError(f"{endpoint}: this name is not known to the network; check {host}", "unreachable")
    if isinstance(error, ConnectionRefusedError):
        return ExecutionError(f"{endpoint}: nothing listens there; check {host} and {port}", "unreachable")
    return ExecutionError(f"{endpoint} cannot be reached; check {host}, {port} and the network", "unreachable")


def _encryption(error: ssl.SSLError, endpoint: Endpoint) -> ExecutionError:
    import ssl

    from clitool_tools.mail import certificates

    if isinstance(error, ssl.SSLCertVerificationError):
        return ExecutionError(f"{endpoint}: its certificate {certificates.fault(error, endpoint.protocol)}", "tls")
    if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL", "HTTP_REQUEST"):
        hint = f"set {endpoint.protocol}_tls: starttls"
        return ExecutionError(f"{endpoint} does not speak TLS from the first byte; {hint}", "tls")
    return ExecutionError(f"{endpoint}: no encryption could be agreed on ({error.reason})", "tls")
