"""Text laid out in lines: words of a paragraph, breaks, quotations, list items, cells of a row."""

from __future__ import annotations

import re

_BLANKS = re.compile(r"[ \t\n\r\f]+")
_MOST_PREFIXES = 12  # quotations and lists within each other that are shown as such
_SEPARATOR = " | "


class _Prefix:
    """What stands at the beginning of lines: another text on the first of them."""

    __slots__ = ("_first", "_others")

    def __init__(self, first: str, others: str) -> None:
        self._first = first
        self._others = others

    def take(self) -> str:
        """Return what stands at the beginning of the next line."""
        text, self._first = self._first, self._others
        return text


class Lines:
    """Collects text; breaks and blanks are written when text follows them, so they never pile up.

    Attributes:
        written: how many pieces of text there are so far.
        size: how many characters they have, at the least.
        link: pieces of the link that is open, or None.
    """

    __slots__ = ("_begin", "_breaks", "_done", "_is_fresh", "_lead", "_line", "_prefixes", "link", "size", "written")

    def __init__(self) -> None:
        self.written = self.size = 0
        self.link: list[str] | None = None
        self._done: list[str] = []
        self._line: list[str] = []
        self._begin = 0  # `written` at the beginning of the line
        self._breaks = 0
        self._lead = ""
        self._is_fresh = True  # an item or cell has begun, whose first block needs no break
        self._prefixes: list[_Prefix] = []

    def text(self) -> str:
        """Return what has been written."""
        self._end_line()
        return "\n".join(self._done).strip("\n")

    def write(self, text: str, *, preformatted: bool = False) -> None:
        """Add text; blanks and line ends in it are one blank each, unless it is preformatted."""
        if preformatted:
            for number, line in enumerate(text.split("\n")):
                if number:
                    self._breaks += 1
                if line:
                    self._put(line)
            return
        content = _BLANKS.sub(" ", text)
        if content.startswith(" ") and not self._lead:
            self._lead = " "
        if content != " " and content:
            self._put(content.strip(" "))
            self._lead = " " if content.endswith(" ") else ""

    def attach(self, text: str) -> None:
        """Add text directly behind the last one, in front of any break."""
        if self._line:
            self._line.append(text)
        else:
            self._put(text.strip())

    def line_break(self) -> None:
        """Begin a new line; twice in a row, leave one empty."""
        self._breaks += 1

    def block(self, *, apart: bool = False) -> None:
        """Begin a new line, if this one has text; with `apart`, leave one empty."""
        if not self._is_fresh:
            self._breaks = max(self._breaks, 2 if apart else 1)

    def cell(self, row: int) -> None:
        """Begin a cell of the row that began when `written` was `row`."""
        if self.written > row and self._begin <= row:
            self._breaks = 0
            self._lead = _SEPARATOR
        elif self.written > row:
            self.block()
        self._is_fresh = True

    def begin_prefix(self, first: str, others: str) -> None:
        """Begin lines that start with something; the first one with something else."""
        self._prefixes.append(_Prefix(first, others))
        self._is_fresh = first != others or self._is_fresh

    def end_prefix(self) -> None:
        """End these lines."""
        self._prefixes.pop()
        self._is_fresh = False
        self.block()

    def _put(self, content: str) -> None:
        if self._breaks and self._line:
            self._end_line()
            if self._breaks > 1:
                self._done.append("")
        if self._line:
            self._line.append(self._lead)
        else:
            self._begin = self.written
            self._line.append("".join(prefix.take() for prefix in self._prefixes[:_MOST_PREFIXES]))
        self._line.append(content)
        self._breaks, self._lead, self._is_fresh = 0, "", False
        self.written += 1
        self.size += len(content)
        if self.link is not None:
            self.link.append(content)

    def _end_line(self) -> None:
        line = "".join(self._line).replace("\xa0", " ").rstrip()
        if line or self._done:
            self._done.append(line)
        self._line = []
