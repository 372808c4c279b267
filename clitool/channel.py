"""What a worker sends its supervisor: frames on a pipe, each with its kind and length."""

from __future__ import annotations

import os
from time import monotonic

from clitool.answer import MAX_BYTES
from clitool.errors import one_line

NOTE, ABOUT, ANSWER = b"N", b"A", b"D"
HEADER = 9  # one byte of kind, eight of length


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

    def answer(self, document: bytes, status: int) -> None:
        """Hand over the answer and the exit status; the supervisor waits for nothing after it."""
        self._send(ANSWER, bytes([status]) + document)

    def _send(self, kind: bytes, payload: bytes) -> None:
        data = memoryview(kind + len(payload).to_bytes(8, "big") + payload)
        while data:
            data = data[os.write(self._descriptor, data) :]


def is_frame(kind: bytes, length: int) -> bool:
    """Say whether a header can be one of ours."""
    # A tool can write into every descriptor of its process, also into this pipe.
    least = 1 if kind == ANSWER else 0
    return kind in (NOTE, ABOUT, ANSWER) and least <= length <= MAX_BYTES + 1
