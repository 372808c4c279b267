"""The transfer encodings of MIME (RFC 2045, 6), undone as far as damaged ones let themselves be; nothing raises."""

from __future__ import annotations

import binascii

_BASE64, _QUOTED, _UU, _PLAIN = "base64", "quoted-printable", "uuencode", ""
_KINDS = {
    "base64": _BASE64,
    "quotedprintable": _QUOTED,
    "uuencode": _UU,
    "xuuencode": _UU,
    "uue": _UU,
    "xuue": _UU,
    "7bit": _PLAIN,
    "8bit": _PLAIN,
    "binary": _PLAIN,
    "": _PLAIN,
}
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_BLANK = b" \t\r\n"
_LINE_ENDS = b"\r\n"
_SURELY_BASE64 = 40  # characters in lines without blanks; words are shorter
_FOREIGN = bytes(set(range(256)) - set(_ALPHABET) - set(_BLANK))


class Undone:
    """What was encoded.

    Attributes:
        data: the bytes.
        damaged: whether the encoding is broken or unknown, so that some of them are lost or not decoded.
    """

    __slots__ = ("damaged", "data")

    def __init__(self, data: bytes, *, damaged: bool = False) -> None:
        self.data = data
        self.damaged = damaged


def undo(data: bytes, encoding: str, *, complete: bool = True) -> Undone:
    """Return what `data` is in the transfer encoding that a stranger calls `encoding`.

    Args:
        data: the bytes as they were sent.
        encoding: any text; what we do not know is taken for no encoding, and as damage.
        complete: false if the end of `data` may be missing.
    """
    kind = _kind(encoding)
    if kind == _BASE64:
        return _base64(data, complete=complete)
    if kind == _QUOTED:
        return _quoted_printable(data, complete=complete)
    if kind == _UU:
        return _uuencode(data)
    return Undone(data, damaged=kind is None)


def decoded_size(size: int, encoding: str) -> int:
    """Return about how many bytes `size` encoded ones are: exact where nothing is encoded."""
    if _kind(encoding) != _BASE64:
        return size
    line_ends = 2 * (size // 78)
    return (size - line_ends) * 3 // 4


def _kind(encoding: str) -> str | None:
    return _KINDS.get("".join(char for char in encoding[:64].lower() if char.isalnum()))


def _base64(data: bytes, *, complete: bool) -> Undone:
    added = False
    if data.translate(None, _ALPHABET + _LINE_ENDS):
        data, added = _without_addition(data)
    foreign = len(data) - len(data.translate(None, _FOREIGN))
    strange = foreign + data.count(b" ")
    if strange > 1 and strange * 10 > len(data):
        return Undone(data, damaged=True)  # the label is not true: this is text
    pieces = data.translate(None, _FOREIGN + _BLANK).split(b"=")
    odd = any(len(piece) % 4 == 1 for piece in pieces)
    return Undone(b"".join(map(_group, pieces)), damaged=bool(foreign) or added or (odd and complete))


def _without_addition(data: bytes) -> tuple[bytes, bool]:
    """Return base64 without what a mailing list or a scanner has written after its end, and whether it has."""
    size, end, last = 0, 0, b""
    for line in data.splitlines(keepends=True):
        content = line.strip(_BLANK)
        if content.translate(None, _ALPHABET):
            is_end = size % 4 == 0 and (last.endswith(b"=") or size >= _SURELY_BASE64)
            return (data[:end], True) if is_end else (data, False)
        size += len(content)
        end += len(line)
        last = content or last
    return data, False


def _group(piece: bytes) -> bytes:
    if len(piece) % 4 == 1:  # six bits, which are no byte
        piece = piece[:-1]
    return binascii.a2b_base64(piece + b"=" * (-len(piece) % 4))


def _quoted_printable(data: bytes, *, complete: bool) -> Undone:
    import re

    data = b"\n".join(map(_without_blanks, data.split(b"\n")))
    if not complete:
        data = re.sub(rb"=[0-9A-Fa-f]?\Z", b"", data)
    damaged = re.search(rb"=(?![0-9A-Fa-f]{2}|\r?\n|\Z)", data) is not None
    return Undone(binascii.a2b_qp(data), damaged=damaged)


def _without_blanks(line: bytes) -> bytes:
    # Blanks at the end of a line were added on the way: RFC 2045, 6.7 (3).
    bare = line.rstrip(b" \t\r")
    return bare + b"\r" if line.endswith(b"\r") else bare


def _uuencode(data: bytes) -> Undone:
    decoded: list[bytes] = []
    damaged = inside = False
    for line in data.splitlines():
        if not inside:
            inside = line.startswith(b"begin ")
        elif line.strip() == b"end":
            return Undone(b"".join(decoded), damaged=damaged)
        else:
            try:
                decoded.append(binascii.a2b_uu(line))
            except binascii.Error:
                damaged = True
    return Undone(b"".join(decoded) if inside else data, damaged=True)
