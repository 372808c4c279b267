"""What a worker sends its supervisor: frames on a pipe, each with its kind and length."""

from __future__ import annotations

import os
from time import monotonic

from clitool.answer import MAX_BYTES
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


class Frames:
    """The supervisor's end of the pipe: what comes is read straight to where it stays."""

    __slots__ = ("_descriptor", "_kind", "_missing", "_whole")

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._expect(b"", HEADER)

    def take(self) -> tuple[bytes, bytearray] | None:
        """Read what is there now, and no more; return kind and content of the frame that it completes, if it does.

        Raises:
            EOFError: nothing will come any more.
            ValueError: this is none of our frames.
        """
        if not self._fill():
            return None
        if not self._kind:
            self._open()
            if not self._fill():
                return None
        frame = self._kind, self._whole
        self._expect(b"", HEADER)
        return frame

    def _open(self) -> None:
        kind, length = bytes(self._whole[:1]), int.from_bytes(self._whole[1:], "big")
        if not is_frame(kind, length):
            raise ValueError(kind)
        self._expect(kind, length)

    def _expect(self, kind: bytes, length: int) -> None:
        """Make room for what comes next: a header (no kind), or what belongs to one."""
        self._kind = kind
        self._whole = bytearray(length)
        self._missing = memoryview(self._whole)

    def _fill(self) -> bool:
        if self._missing:
            try:
                count = os.readv(self._descriptor, [self._missing[:_CHUNK]])
            except BlockingIOError:
                return False
            if not count:
                raise EOFError
            self._missing = self._missing[count:]
        return not self._missing


def is_frame(kind: bytes, length: int) -> bool:
    """Say whether a header can be one of ours."""
    # A tool can write into every descriptor of its process, also into this pipe.
    least = 1 if kind == ANSWER else 0
    return kind in (NOTE, ABOUT, ANSWER) and least <= length <= MAX_BYTES + 1
