"""A call as the stub hands it over, read in the process that makes it."""

from __future__ import annotations

import os
from time import monotonic

from clitool.arguments import UsageError, parse
from clitool.stub import ACCEPTED, MAX_PAYLOAD
from clitool.tokens import TokenLine
from clitool.warm_worker import receive_descriptors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

    from clitool.arguments import Request

_SECONDS = 5.0  # for a stub to send what it has ready
_CHUNK = 1 << 16
_PARTS = 5
_LENGTH = 4  # bytes of a length


class Errand:
    """One call.

    Attributes:
        request: the command line, and in `token_line` the token.
        environment: the caller's.
        umask: the caller's.
        descriptors: the caller's standard input and working folder; `close` closes them.
    """

    __slots__ = ("descriptors", "environment", "request", "umask")

    def __init__(self, body: bytes, descriptors: list[int]) -> None:
        words, variables, token, rest, umask = _parts(body)
        if len(descriptors) != 2:
            raise ValueError("a call brings two descriptors")
        self.request = _request(words, TokenLine(token, rest))
        self.environment = dict(_variable(one) for one in variables.split(b"\0") if one)
        self.umask = int(umask, 8)
        self.descriptors = descriptors

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in self.descriptors:
            os.close(descriptor)


def receive(connection: socket.socket) -> Errand | None:
    """Accept the call at the other end of a connection; None if it does not come, or is no longer wanted.

    Once this returns a call, its stub makes it nowhere else.
    """
    descriptors: list[int] = []
    try:
        errand = Errand(_receive(connection, descriptors, monotonic() + _SECONDS), descriptors)
        connection.send(ACCEPTED)  # fails if the stub has given up: then it makes the call itself
    except (OSError, ValueError, UsageError):
        for descriptor in descriptors:
            os.close(descriptor)
        return None
    return errand


def _receive(connection: socket.socket, descriptors: list[int], end: float) -> bytes:
    """Return what follows the length that comes first, and collect the descriptors that come along."""
    data = bytearray()
    length = MAX_PAYLOAD
    while len(data) < _LENGTH + length:
        connection.settimeout(max(0.001, end - monotonic()))
        chunk, came = receive_descriptors(connection, _CHUNK, 2 - len(descriptors))
        descriptors += came
        if not chunk:
            raise ValueError("the call ends in the middle")
        data += chunk
        if len(data) >= _LENGTH:
            length = int.from_bytes(data[:_LENGTH], "big")
        if length > MAX_PAYLOAD:
            raise ValueError("the call is too long")
    return bytes(data[_LENGTH:])


def _parts(body: bytes) -> list[bytes]:
    parts, at = [], 0
    for _ in range(_PARTS):
        length = int.from_bytes(body[at : at + _LENGTH], "big")
        at += _LENGTH + length
        parts.append(body[at - length : at])
    if at != len(body):
        raise ValueError("the parts of the call do not make up the whole")
    return parts


def _variable(text: bytes) -> tuple[str, str]:
    name, _, value = os.fsdecode(text).partition("=")
    return name, value


def _request(words: bytes, line: TokenLine) -> Request:
    request = parse([os.fsdecode(word) for word in words.split(b"\0")])
    if request is None or request.command != "call":
        raise ValueError("this is no call")
    request.token_line = line
    return request
