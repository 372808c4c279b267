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
    for piece in pieces(_from(skip, source), longest):
        for line in piece.splitlines(keepends=True):
            yield line[:longest]


def start_of_line(file: FileIO, skip: int, deadline: Deadline) -> int:
    """Return how many bytes stand in `file` before the line that comes after the first `skip`."""
    size = file.seek(0, 2)
    file.seek(0)
    first = next(_from(skip, blocks(file, size, deadline)), b"")
    return file.tell() - len(first)


def pieces(source: Iterator[bytes], longest: int) -> Iterator[bytes]:
    """Yield what is in `source` in pieces of whole lines; of a line that is too long its beginning, by itself."""
    rest = b""  # a line that has begun and not ended, or a \r that a \n may follow
    dropping = False  # whether that line was too long and its beginning has been given out
    for block in source:
        data = rest + block
        end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
        whole, rest = data[:end], data[end:]
        if dropping and whole:
            dropping = False
            whole = whole[len(whole.splitlines(keepends=True)[0]) :]
        if whole:
            yield whole
        if dropping or len(rest) > longest:
            if not dropping:
                yield rest[:longest]
            dropping = True
            rest = rest[-1:] if rest.endswith(b"\r") else b""
    if rest and not dropping:
        yield rest


def is_cut(piece: bytes, longest: int) -> bool:
    """Return whether a piece may be the beginning of a line that was too long."""
    return len(piece) == longest and not piece.endswith((b"\n", b"\r"))


def count(piece: bytes) -> int:
    """Return how many lines a piece has; the last one need not have an end."""
    return _ends(piece) + (not piece.endswith((b"\n", b"\r")))


def _ends(data: bytes) -> int:
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def _from(skip: int, source: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what follows in `source` once `skip` lines have ended; they are counted, not cut."""
    held = b""
    for block in source if skip else ():
        data, held = _hold(held + block)
        ends = _ends(data)
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
