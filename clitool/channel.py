"""What a worker sends its supervisor: frames on a pipe, each with its kind and length."""

from __future__ import annotations

import os
from time import monotonic

from clitool.errors import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NOTE, ABOUT, ANSWER = b"N", b"A", b"D"
HEADER = 9  # one byte of kind, eight of length
_CHUNK = 1 << 20


class Channel:
    """The worker's way to its supervisor."""

    __slots__ = ("_descriptor", "_end")

    def __init__(self, descriptor: int, end: float) -> None:
        self._descriptor = descriptor
        self._end = end

    def remaining(self) -> float:
        """Return the seconds until the supervisor ends this process, never below zero."""
        return max(0.0, self._end - monotonic())

    def note(self, line: str) -> None:
        """Have the supervisor print a line on the real standard error."""
        self._send(NOTE, one_line(line).encode())

    def about(self, facts: bytes) -> None:
        """Leave what the supervisor must know if this process ends without an answer; the first one counts."""
        self._send(ABOUT, facts)

    def answer(self, document: Sequence[bytes], status: int) -> None:
        """Hand over the answer, in pieces, and the exit status; the supervisor waits for nothing after it."""
        self._send(ANSWER, bytes([status]), *document)

    def _send(self, kind: bytes, *pieces: bytes) -> None:
        length = sum(map(len, pieces))
        frame = [kind + length.to_bytes(8, "big"), *pieces]
        # What is small is read at once; what is large would be in memory twice.
        for piece in frame if length > _CHUNK else [b"".join(frame)]:
            self._write(piece)

    def _write(self, piece: bytes) -> None:
        data = memoryview(piece)
        while data:
            data = data[os.write(self._descriptor, data) :]
