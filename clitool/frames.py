"""What a supervisor reads from the pipe of its worker: frames, straight to where their content stays."""

from __future__ import annotations

import os

from clitool.answer import MAX_BYTES
from clitool.channel import ABOUT, ANSWER, HEADER, NOTE

_CHUNK = 1 << 20


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
