"""A text found in the lines of a file."""

from __future__ import annotations

from clitool.errors import InvalidParams

SHOWN_CHARACTERS = 400  # of a line in the answer


def require_line(text: str) -> None:
    """Raise `InvalidParams` if no line can contain `text`."""
    if "\n" in text or "\r" in text:
        raise InvalidParams("the text to find must be within one line", "schema")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidParams("the text to find is not valid Unicode", "bad_encoding") from error


class Finder:
    """Finds a text, literally, in bytes of a file.

    Args:
        text: what to find.
        ignore_case: whether letter case does not count (Unicode case folding).
    """

    __slots__ = ("_exact", "_folded")

    def __init__(self, text: str, *, ignore_case: bool) -> None:
        self._folded = text.casefold() if ignore_case else None
        self._exact = (text if self._folded is None else self._folded).encode()

    def find(self, data: bytes) -> int:
        """Return the number of characters before the first match, -1 if there is none."""
        if self._folded is None:
            at = data.find(self._exact)
            return at if at < 0 else len(data[:at].decode("utf-8", "replace"))
        if data.isascii():
            return data.lower().find(self._exact)
        return data.decode("utf-8", "replace").casefold().find(self._folded)

    def excerpt(self, line: bytes) -> tuple[str, bool] | None:
        """Return the text of `line` if it matches, or a part of it around the match and True; None if it does not."""
        at = self.find(line)
        if at < 0:
            return None
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        cut = len(text) > SHOWN_CHARACTERS
        if cut and self._folded is not None:
            at = _unfolded(text, at)
        start = max(0, at - SHOWN_CHARACTERS // 4) if cut else 0
        return text[start : start + SHOWN_CHARACTERS].removeprefix("\ufeff"), cut


def _unfolded(text: str, at: int) -> int:
    """Return which character of `text` stands at `at` once its case is folded: some become two or three."""
    length = 0
    for index, char in enumerate(text):
        length += len(char.casefold())
        if length > at:
            return index
    return len(text)
