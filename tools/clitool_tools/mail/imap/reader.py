"""Responses as a server sends them: lines, and literals that a line announces; no more is kept than is sensible."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.mail.faults import explained, trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.mail.wire import Wire

MOST_BYTES = 64 * 1024 * 1024  # of memory for the answer to a command; a SEARCH that finds a million messages
_CHUNK = 65_536
_LINE_BYTES = 200  # of memory that a line takes beside its own
_VALUE_BYTES = 60  # that a value takes, which is a list or between two of the next
_SEPARATORS = b'()" \t,\\'
_STATUS = frozenset((b"OK", b"NO", b"BAD", b"BYE", b"PREAUTH"))


class Reader:
    """Takes a server's bytes apart; what is left in it when TLS begins must be thrown away with it."""

    __slots__ = ("_file", "_taken", "_wire")

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._file = wire.makefile()
        self._taken = 0

    def begin(self) -> None:
        """Count anew what the server sends: what follows answers another command."""
        self._taken = 0

    def response(self, keep: int, doing: str = "talk") -> list[bytes]:
        """Return one response: text, then by turns a literal and the text behind it, without line ends.

        Args:
            keep: bytes of each literal that are kept; the rest is read and forgotten.
            doing: for errors, see `clitool_tools.mail.faults.explained`.

        Raises:
            ExecutionError: the connection ended (connection_lost), also by us since the answer that this belongs to is
                longer than any sensible one; or the deadline passed (timeout).
        """
        with explained(self._wire.endpoint, doing):
            pieces = [self._line(doing)]
            size = None if _is_for_people(pieces[0]) else _announced(pieces[0])
            while size is not None:
                pieces[-1] = pieces[-1][: pieces[-1].rindex(b"{")].removesuffix(b"~")
                pieces += (self._literal(size, keep), self._line(doing))
                size = _announced(pieces[-1])
            return pieces

    def _line(self, doing: str) -> bytes:
        line = self._file.readline(MOST_BYTES)
        self._take(_LINE_BYTES + _memory(line))
        if line.endswith(b"\n"):
            return line[:-1].removesuffix(b"\r")
        raise trouble(EOFError(), self._wire.endpoint, doing)

    def _literal(self, size: int, keep: int) -> bytes:
        kept = bytearray()
        while size:
            chunk = self._file.read(min(size, _CHUNK))
            if not chunk:
                raise trouble(EOFError(), self._wire.endpoint, "talk")
            size -= len(chunk)
            kept += chunk[: max(0, keep - len(kept))]
        self._take(len(kept))
        return bytes(kept)

    def _take(self, number: int) -> None:
        self._taken += number
        if self._taken > MOST_BYTES:
            self._wire.close()  # what is left may be a stranger's text, which must not be read as another answer
            message = f"{self._wire.endpoint} sends an answer that is longer than any sensible one, so it was given up"
            raise ExecutionError(message, "connection_lost")


def _memory(line: bytes) -> int:
    """Return about how many bytes the values in a line take: ``()`` becomes a list, which is no two bytes."""
    return len(line) + _VALUE_BYTES * (len(line) - len(line.translate(None, _SEPARATORS)))


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
