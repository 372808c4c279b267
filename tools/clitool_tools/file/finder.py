"""A text found in the lines of a file."""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Finder = Callable[[bytes], str | None]  # a line -> what to show of it if it matches

SHOWN_CHARACTERS = 400  # of a line in the answer


def require_line(text: str) -> None:
    """Raise `InvalidParams` if no line can contain `text`."""
    if "\n" in text or "\r" in text:
        raise InvalidParams("the text to find must be within one line", "schema")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidParams("the text to find is not valid Unicode", "bad_encoding") from error


def finder(text: str, *, ignore_case: bool) -> Finder:
    """Return the function that finds `text`, literally, in a line."""
    return _ignoring_case(text.casefold()) if ignore_case else _exactly(text.encode())


def _exactly(needle: bytes) -> Finder:
    def find(line: bytes) -> str | None:
        at = line.find(needle)
        return None if at < 0 else _excerpt(line, len(line[:at].decode("utf-8", "replace")))

    return find


def _ignoring_case(needle: str) -> Finder:
    plain = needle.encode() if needle.isascii() else None

    def find(line: bytes) -> str | None:
        if line.isascii():
            at = -1 if plain is None else line.lower().find(plain)
        else:
            at = line.decode("utf-8", "replace").casefold().find(needle)
        return None if at < 0 else _excerpt(line, at)

    return find


def _excerpt(line: bytes, at: int) -> str:
    """Return the text of `line`, or the part of it around the character `at`."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    start = 0 if len(text) <= SHOWN_CHARACTERS else max(0, at - SHOWN_CHARACTERS // 4)
    return text[start : start + SHOWN_CHARACTERS].removeprefix("\ufeff")
