"""A part of a file, as text or as bytes, with what one must know to go on or to change the file."""

from __future__ import annotations

import os

from clitool.errors import InvalidParams
from clitool_tools.file.digest import begin
from clitool_tools.file.lines import blocks, lines, start_of_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from typing import Any

    from clitool.tool import Deadline

HASHED_BYTES = 64 * 1024 * 1024  # larger files are not read to the end just for their digest
_BOM = b"\xef\xbb\xbf"


def as_text(file: FileIO, offset: int, limit: int | None, most: int, deadline: Deadline, shown: str) -> dict[str, Any]:
    """Return at most `limit` lines and `most` bytes of `file` after the first `offset` lines.

    Lines are whole, so that parts can be joined.

    Raises:
        InvalidParams: `not_text` if they are not UTF-8, `too_large` if the first of them is longer than `most`.
    """
    source = _Source(file, deadline)
    data, count, truncated = _lines(source, offset, limit, most)
    if truncated and not count:
        raise _too_long(file, offset, most, deadline, shown)
    bom = os.pread(file.fileno(), len(_BOM), 0) == _BOM
    data = data.removeprefix(_BOM) if bom and not offset else data
    return {
        "content": _decode(data, shown),
        "encoding": "text",
        "newline": _newline(data),
        "bom": bom,
        "size": source.size,
        "sha256": source.sha256(),
        "truncated": truncated,
        "next_offset": offset + count if truncated else None,
    }


def as_base64(file: FileIO, offset: int, limit: int, deadline: Deadline) -> dict[str, Any]:
    """Return `limit` bytes of `file` after the first `offset`; what only text has is None."""
    from binascii import b2a_base64

    source = _Source(file, deadline)
    end = offset + limit
    return {
        "content": b2a_base64(source.between(offset, end), newline=False).decode("ascii"),
        "encoding": "base64",
        "newline": None,
        "bom": None,
        "size": source.size,
        "sha256": source.sha256(),
        "truncated": end < source.size,
        "next_offset": end if end < source.size else None,
    }


class _Source:
    """The blocks of a file as long as it was when opened; hashed on the way, so that content and digest agree."""

    __slots__ = ("_blocks", "_digest", "_file", "size")

    def __init__(self, file: FileIO, deadline: Deadline) -> None:
        self.size = os.fstat(file.fileno()).st_size
        self._file = file
        self._blocks = blocks(file, self.size, deadline)
        self._digest = begin(self.size) if self.size <= HASHED_BYTES else None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        block = next(self._blocks)
        if self._digest:
            self._digest.update(block)
        return block

    def between(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` up to `end`; read from the start of the file only if that is hashed."""
        if not self._digest:
            return os.pread(self._file.fileno(), end - start, start)
        at, taken = 0, bytearray()
        for block in self:
            taken += block[max(start - at, 0) : max(end - at, 0)]
            at += len(block)
        return bytes(taken)

    def sha256(self) -> str | None:
        """Return the digest of the whole, for which the rest is read; None if it is too large for that."""
        if not self._digest:
            return None
        for _ in self:
            pass
        return self._digest.hexdigest()


def _lines(source: Iterator[bytes], offset: int, limit: int | None, most: int) -> tuple[bytearray, int, bool]:
    """Return whole lines of at most `most` bytes together, how many they are, and whether more follow."""
    taken, count = bytearray(), 0
    for line in lines(source, longest=most + 1, skip=offset):
        if len(taken) + len(line) > most or count == limit:
            return taken, count, True
        taken += line
        count += 1
    return taken, count, False


def _too_long(file: FileIO, offset: int, most: int, deadline: Deadline, shown: str) -> InvalidParams:
    start = start_of_line(file, offset, deadline)
    message = (
        f"{shown}: line {offset + 1} is longer than the {most} bytes that one answer holds, and text comes in whole "
        f"lines only; read it with encoding: base64 and offset: {start}, where offset and limit count bytes"
    )
    return InvalidParams(message, "too_large")


def _decode(data: bytearray, shown: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        kind = "UTF-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "no UTF-8"
        raise InvalidParams(f"{shown} is {kind} text; read it with encoding base64", "not_text") from error


def _newline(data: bytearray) -> str:
    both = data.count(b"\r\n")
    counts = {"crlf": both, "lf": data.count(b"\n") - both, "cr": data.count(b"\r") - both}
    found = [kind for kind, count in counts.items() if count]
    return "mixed" if len(found) > 1 else "".join(found) or "none"
