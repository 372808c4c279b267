"""Tokens as bytes: read from the first line, hashed, compared, issued."""

from __future__ import annotations

import os
from time import monotonic

from clitool.errors import AuthFailed
from clitool.lean import compare_digest, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from clitool.arguments import Request

    Wait = Callable[[int, float | None], bool]

MAX_BYTES = 8192
READ_SECONDS = 5.0
_AT_ONCE = 4096  # bytes
_BOM = b"\xef\xbb\xbf"
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PREFIX = "clt_"
BODY_LENGTH = 43  # 62**43 > 2**256
CHECK_LENGTH = 6  # 62**6 > 2**32


class TokenLine:
    """What standard input brought.

    Attributes:
        token: the first line without BOM, one LF and one CR; longer than `MAX_BYTES` means invalid.
        rest: bytes after that line which were read along with it.
    """

    __slots__ = ("rest", "token")

    def __init__(self, token: bytes, rest: bytes = b"") -> None:
        self.token = token
        self.rest = rest


def is_readable(descriptor: int, seconds: float | None) -> bool:
    """Say whether there is something to read within `seconds`; None waits for ever."""
    from select import select

    return bool(select([descriptor], [], [], seconds)[0])


def read(request: Request, wait: Wait = is_readable) -> TokenLine:
    """Return the token line from where the request says; raises `AuthFailed` as `read_line` and `read_file` do.

    Args:
        request: of a command that takes a token.
        wait: waits for a descriptor as `is_readable` does; may raise what ends the waiting.
    """
    if request.token_file is not None:
        return read_file(request.token_file, wait)
    if request.token_stdin or request.command == "verify":
        return read_line(0, wait=wait)
    return TokenLine(b"")


def read_line(descriptor: int, seconds: float = READ_SECONDS, wait: Wait = is_readable) -> TokenLine:
    """Read up to the first newline, never to the end (host.md T2-T10).

    Raises:
        AuthFailed: the descriptor is a terminal, or no line came within `seconds`.
    """
    if os.isatty(descriptor):
        raise AuthFailed("standard input is a terminal: pipe the token in, or use --token-file", "token_missing")
    data = b""
    end = monotonic() + seconds
    while b"\n" not in data and len(data) <= MAX_BYTES + len(_BOM) + 1:
        chunk = read_chunk(descriptor, max(0.0, end - monotonic()), wait)
        if chunk is None:
            raise AuthFailed("no token arrived in time", "token_missing")
        if not chunk:
            break
        data += chunk
    line, _, rest = data.partition(b"\n")
    return TokenLine(line.removeprefix(_BOM).removesuffix(b"\r"), rest)


def read_chunk(descriptor: int, seconds: float | None = None, wait: Wait = is_readable) -> bytes | None:
    """Return the next bytes, also of a pipe that does not block; none at the end, or None after `seconds`."""
    try:
        chunk = _what_is_there(descriptor)
        return os.read(descriptor, 65536) if chunk is None and wait(descriptor, seconds) else chunk
    except OSError:
        return b""  # only for writing, a folder, …: the same as nothing sent


def _what_is_there(descriptor: int) -> bytes | None:
    """Return the next bytes if they are there already, as a host's mostly are; None if not, or where nobody can tell.

    What waits for others must be imported, which takes longer than all of this.
    """
    chunk = bytearray(_AT_ONCE)
    try:
        return bytes(chunk[: os.preadv(descriptor, [chunk], -1, os.RWF_NOWAIT)])
    except (OSError, AttributeError):  # not all systems and kinds of files can do that
        return None


def read_file(path: str, wait: Wait = is_readable) -> TokenLine:
    """Read the first line of a token file, for people; nothing else of it.

    Raises:
        AuthFailed: the file cannot be read or holds no token; says so, since the caller named it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        raise AuthFailed("the file given with --token-file cannot be read", "token_missing") from None
    try:
        token = read_line(descriptor, wait=wait).token
    finally:
        os.close(descriptor)
    if not token:
        raise AuthFailed("the file given with --token-file holds no token", "token_missing")
    return TokenLine(token)


def digest(token: bytes) -> str:
    """Return the hexadecimal SHA-256 under which a token is stored."""
    return sha256(token).hexdigest()


def matches(token: bytes, stored: str) -> bool:
    """Compare a token with one stored digest in constant time."""
    return compare_digest(digest(token).encode(), stored.encode())


def issue() -> str:
    """Return a new token: `clt_`, 256 random bits, and a checksum for secret scanners and typing errors."""
    body = _base62(int.from_bytes(os.urandom(32), "big"), BODY_LENGTH)
    return PREFIX + body + checksum(body)


def checksum(body: str) -> str:
    """Return the six characters that end a token with this body; never part of a decision about access."""
    from zlib import crc32

    return _base62(crc32(body.encode()), CHECK_LENGTH)


def is_intact(token: bytes) -> bool:
    """Say whether a token that looks like one of ours is copied whole; of foreign ones nothing is known, so yes."""
    if not token.startswith(PREFIX.encode()):
        return True
    body = token.removeprefix(PREFIX.encode()).decode("ascii", "replace")
    return len(body) == BODY_LENGTH + CHECK_LENGTH and checksum(body[:BODY_LENGTH]) == body[BODY_LENGTH:]


def _base62(number: int, length: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = _ALPHABET[digit] + digits
    return digits.rjust(length, _ALPHABET[0])
