"""The bytes of a file as blocks and lines, however large the file or a line of it is."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

    from clitool.tool import Deadline

BLOCK_BYTES = 256 * 1024


def blocks(file: FileIO, size: int, deadline: Deadline) -> Iterator[bytes]:
    """Yield the next `size` bytes of `file` in blocks; fewer if it ends before."""
    while size > 0:
        deadline.check()
        block = file.read(min(BLOCK_BYTES, size))
        if not block:
            return
        size -= len(block)
        yield block


def lines(source: Iterator[bytes], longest: int, skip: int = 0) -> Iterator[bytes]:
    r"""Yield the lines in `source` with their ends (``\n``, ``\r\n`` or ``\r``), without the first `skip`.

    A line of more than `longest` bytes is cut to that many, its end included; what follows in it is left out.
    """
    rest = b""  # a line that has begun and not ended, or a \r that a \n may follow
    dropping = False  # whether that line was too long and its beginning has been given out
    for block in _from(skip, source):
        pieces = (rest + block).splitlines(keepends=True)
        rest = b"" if pieces[-1].endswith(b"\n") else pieces.pop()
        if dropping and pieces:
            dropping = False
            del pieces[0]
        for piece in pieces:
            yield piece[:longest]
        if dropping or len(rest) > longest:
            if not dropping:
                yield rest[:longest]
            dropping = True
            rest = rest[-1:] if rest.endswith(b"\r") else b""
    if rest and not dropping:
        yield rest[:longest]


def _from(skip: int, source: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what follows in `source` once `skip` lines have ended; they are counted, not cut."""
    held = b""
    for block in source if skip else ():
        data, held = _hold(held + block)
        ends = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
        if ends >= skip:
            beyond = b"".join(data.splitlines(keepends=True)[skip:]) + held
            if beyond:
                yield beyond
            break
        skip -= ends
    yield from source


def _hold(data: bytes) -> tuple[bytes, bytes]:
    r"""Split a \r off the end of `data`."""
    return (data[:-1], b"\r") if data.endswith(b"\r") else (data, b"")
