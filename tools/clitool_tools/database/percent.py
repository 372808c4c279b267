"""Percent-encoding in connection strings, decoded once and strictly; `urllib.parse` lets wrong escapes through."""

from __future__ import annotations


def decoded(text: str) -> str:
    """Return `text` without its escapes; raises ValueError for a ``%`` without two digits, or for wrong UTF-8."""
    first, *rest = text.split("%")
    return (first.encode() + b"".join(map(_octet, rest))).decode()


def _octet(text: str) -> bytes:
    digits = text[:2]
    if len(digits) != 2 or not digits.isascii() or not digits.isalnum():
        raise ValueError
    return bytes([int(digits, 16)]) + text[2:].encode()
