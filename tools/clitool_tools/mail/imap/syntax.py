"""How words are written into a command (RFC 3501, 9): no text of a caller's ever stands there as it is."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.mail.imap import utf7

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date
    from typing import TypeAlias

    Word: TypeAlias = "bytes | Literal"

LARGEST_UID = 2**32 - 1
_MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


class Literal:
    """Bytes that are announced with their length, so that they can hold anything but NUL."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


def string(text: str) -> bytes | Literal:
    """Return `text` as a quoted string or, if it is not ASCII, as a literal in UTF-8; it holds no control character."""
    if text.isascii():
        return quoted(text.encode())
    return Literal(text.encode())


def quoted(data: bytes) -> bytes:
    """Return a quoted string of 7-bit characters without CR, LF and NUL."""
    return b'"' + data.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def mailbox(raw: bytes) -> bytes | Literal:
    """Return the name of a mailbox, as the server spells it, for a command."""
    return quoted(raw) if raw.isascii() and not has_control(raw.decode()) else Literal(raw)


def mailbox_name(folder: str) -> bytes:
    """Return a caller's name of a folder as servers spell it.

    Raises:
        InvalidParams: `bad_mailbox` if it is empty or holds control characters or half of a character.
    """
    if not folder or has_control(folder):
        raise InvalidParams("the name of a folder cannot be empty or hold control characters", "bad_mailbox")
    return utf7.encode(folder)


def section_name(section: str) -> bytes:
    """Return the number of a part, or HEADER and its like, for a command; raises `ValueError` if it is none."""
    *numbers, last = section.split(".")
    if section and not (all(map(_is_number, numbers)) and (_is_number(last) or last in ("HEADER", "MIME", "TEXT"))):
        raise ValueError("not a section of a message")
    return section.encode()


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def has_control(text: str) -> bool:
    """Return whether `text` has characters that no name or search term has: controls, line ends, half characters."""
    return any(
        char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" or "\ud800" <= char <= "\udfff"
        for char in text
    )


def uid_set(uids: Iterable[int]) -> bytes:
    """Return a sequence set (``1:3,7``) of numbers that each are a UID."""
    ranges: list[list[int]] = []
    for uid in sorted(uids):
        if not 0 < uid <= LARGEST_UID:
            raise ValueError(uid)
        if ranges and uid <= ranges[-1][1] + 1:
            ranges[-1][1] = uid
        else:
            ranges.append([uid, uid])
    return ",".join(f"{first}:{last}" if first != last else f"{first}" for first, last in ranges).encode()


def day(value: date) -> bytes:
    """Return a date as SEARCH takes it: ``1-Feb-2024``; month names are English whatever the locale."""
    return b"%d-%s-%04d" % (value.day, _MONTHS[value.month - 1], value.year)


def written(tag: bytes, words: Sequence[Word]) -> list[bytes]:
    """Return a command as it is sent, in parts: before each but the first, the server must ask for more.

    Raises:
        ValueError: a word is not printable ASCII. A fault of ours, for nothing of a caller's gets here without its
            quotes: the last barrier against injection.
    """
    parts: list[bytes] = []
    line = tag
    for word in words:
        if isinstance(word, Literal):
            parts.append(b"%s {%d}\r\n" % (line, len(word.data)))
            line = word.data
        elif word.isascii() and word.decode().isprintable():
            line += b" " + word
        else:
            raise ValueError("a word of a command is not printable ASCII")
    return [*parts, line + b"\r\n"]
