"""ISO-2022-JP as Windows writes it (code page 50221), which Python has no codec for."""

from __future__ import annotations

_KANJI, _KANA, _ASCII = "kanji", "kana", "ascii"
_ESCAPES = {b"$B": _KANJI, b"$@": _KANJI, b"(I": _KANA, b"(B": _ASCII, b"(J": _ASCII}  # after an ESC


def is_likely(data: bytes) -> bool:
    """Return whether `data` changes to a Japanese character set somewhere, as no other text does."""
    return any(b"\x1b" + escape in data for escape, mode in _ESCAPES.items() if mode != _ASCII)


def as_shift_jis(data: bytes) -> bytes:
    """Return the same characters in Shift JIS: the tables are the same, at other places."""
    first, *pieces = data.split(b"\x1b")
    moved = [first]
    for piece in pieces:
        mode, content = _ESCAPES.get(piece[:2], _ASCII), piece[2:]
        if mode == _KANJI:
            moved += [_move(row, cell) for row, cell in zip(content[::2], content[1::2], strict=False)]
        else:
            moved.append(bytes(byte | 0x80 for byte in content) if mode == _KANA else content)
    return b"".join(moved)


def _move(row: int, cell: int) -> bytes:
    if not (0x21 <= row <= 0x7E and 0x21 <= cell <= 0x7E):
        return bytes((row, cell))
    lead = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
    return bytes((lead, cell + 0x7E if row % 2 == 0 else cell + (0x1F if cell < 0x60 else 0x20)))
