"""Modified UTF-7, in which IMAP writes the names of mailboxes (RFC 3501, 5.1.3)."""

from __future__ import annotations

from binascii import Error, a2b_base64, b2a_base64


def encode(name: str) -> bytes:
    """Return `name` in modified UTF-7; raises `UnicodeEncodeError` for a lone surrogate."""
    written: list[bytes] = []
    wide = ""
    for char in name:
        if " " <= char <= "~":
            written += (_shifted(wide), b"&-" if char == "&" else char.encode())
            wide = ""
        else:
            wide += char
    return b"".join((*written, _shifted(wide)))


def decode(raw: bytes) -> str | None:
    """Return the name that `raw` stands for, or None if it is not written as it should be.

    None for every spelling but the one that `encode` gives, so that two mailboxes never show the same name.
    """
    head, *shifted = raw.split(b"&")
    if not all(part.isascii() for part in (head, *shifted)):
        return None
    name = head.decode()
    try:
        for part in shifted:
            wide, minus, plain = part.partition(b"-")
            if not minus:
                return None
            name += (_unshifted(wide) if wide else "&") + plain.decode()
        return name if encode(name) == raw else None
    except (Error, UnicodeError):
        return None


def _shifted(wide: str) -> bytes:
    if not wide:
        return b""
    return b"&" + b2a_base64(wide.encode("utf-16-be"), newline=False).rstrip(b"=").replace(b"/", b",") + b"-"


def _unshifted(wide: bytes) -> str:
    return a2b_base64(wide.replace(b",", b"/") + b"=" * (-len(wide) % 4)).decode("utf-16-be")
