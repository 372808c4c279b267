"""Responses as a server sends them: lines, and literals that a line announces; no more is kept than is sensible."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.mail.faults import explained, trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.mail.wire import Wire

MOST_BYTES = 64 * 1024 * 1024  # of a response; a SEARCH of eight million messages
_CHUNK = 65_536
_STATUS = frozenset((b"OK", b"NO", b"BAD", b"BYE", b"PREAUTH"))


class Reader:
    """Takes a server's bytes apart; what is left in it when TLS begins must be thrown away with it."""

    __slots__ = ("_endpoint", "_file")

    def __init__(self, wire: Wire) -> None:
        self._endpoint = wire.endpoint
        self._file = wire.makefile()

    def response(self, keep: int, doing: str = "talk") -> list[bytes]:
        """Return one response: text, then by turns a literal and the text behind it, without line ends.

        Args:
            keep: bytes of each literal that are kept; the rest is read and forgotten.
            doing: for errors, see `clitool_tools.mail.faults.explained`.

        Raises:
            ExecutionError: the connection ended (connection_lost), the deadline passed (timeout), or the response has
                no sensible end (mail).
        """
        with explained(self._endpoint, doing):
            pieces = [self._line(doing)]
            size = None if _is_for_people(pieces[0]) else _announced(pieces[0])
            while size is not None:
                pieces[-1] = pieces[-1][: pieces[-1].rindex(b"{")].removesuffix(b"~")
                pieces += (self._literal(size, keep), self._line(doing))
                if sum(map(len, pieces)) > MOST_BYTES:
                    raise self._endless()
                size = _announced(pieces[-1])
            return pieces

    def _line(self, doing: str) -> bytes:
        line = self._file.readline(MOST_BYTES)
        if line.endswith(b"\n"):
            return line[:-1].removesuffix(b"\r")
        if len(line) == MOST_BYTES:
            raise self._endless()
        raise trouble(EOFError(), self._endpoint, doing)

    def _literal(self, size: int, keep: int) -> bytes:
        kept = bytearray()
        while size:
            chunk = self._file.read(min(size, _CHUNK))
            if not chunk:
                raise trouble(EOFError(), self._endpoint, "talk")
            size -= len(chunk)
            kept += chunk[: max(0, keep - len(kept))]
        return bytes(kept)

    def _endless(self) -> ExecutionError:
        return ExecutionError(f"{self._endpoint} sends an answer that is longer than any sensible one", "mail")


def _is_for_people(line: bytes) -> bool:
    """Return whether the rest of the line is text, in which a ``{5}`` at the end means nothing."""
    star, _, rest = line.partition(b" ")
    return star != b"*" or rest.partition(b" ")[0].upper() in _STATUS


def _announced(line: bytes) -> int | None:
    """Return the size of the literal that a line announces at its end (``{123}``), or None."""
    if not line.endswith(b"}"):
        return None
    digits = line[line.rfind(b"{") + 1 : -1].removesuffix(b"+")
    return int(digits) if digits.isdigit() and len(digits) <= 12 else None
