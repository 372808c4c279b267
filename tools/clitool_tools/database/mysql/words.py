"""The words of SQL that the server keeps for views and triggers, without taking it for more than words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Word:
    """A name, a keyword, a string, a number or one other character.

    Attributes:
        text: a name without its quotes; of a string only its quote.
        is_quoted: whether it is a name in quotes, so that it is no keyword.
    """

    __slots__ = ("is_quoted", "text")

    def __init__(self, text: str, *, is_quoted: bool = False) -> None:
        self.text = text
        self.is_quoted = is_quoted

    @property
    def is_name(self) -> bool:
        """Whether it is a name or keyword."""
        return self.is_quoted or self.text[:1].isidentifier() or self.text[:1] in "$@"

    @property
    def keyword(self) -> str:
        """The keyword that it is, in capitals, if it is one."""
        return "" if self.is_quoted else self.text.upper()


def words(sql: str, *, ansi_quotes: bool = False) -> Iterator[Word]:
    """Yield the words of a text.

    Comments are left out, but what stands in ``/*! … */`` is SQL to the server, and here too. A text that breaks off
    in the middle ends there.

    Args:
        sql: the text.
        ansi_quotes: whether names stand in double quotes.
    """
    position = 0
    while position < len(sql):
        letter = sql[position]
        if letter == "`" or (letter == '"' and ansi_quotes):
            name, position = _until(sql, position, escapes=False)
            yield Word(name, is_quoted=True)
        elif letter in "'\"":
            _, position = _until(sql, position, escapes=True)
            yield Word(letter)
        elif (end := _comment(sql, position)) > position:
            position = end
        elif letter.isspace():
            position += 1
        else:
            end = position + 1
            while end < len(sql) and _is_part(letter) and _is_part(sql[end]):
                end += 1
            yield Word(sql[position:end])
            position = end


def _is_part(letter: str) -> bool:
    return letter.isalnum() or letter in "_$@" or letter > "\x7f"


def _until(sql: str, start: int, *, escapes: bool) -> tuple[str, int]:
    """Return what stands between the quote at `start` and the one that ends it, and where the text goes on."""
    letters: list[str] = []
    quote, position = sql[start], start + 1
    while position < len(sql):
        letter = sql[position]
        if letter == quote:
            if sql[position + 1 : position + 2] != quote:
                return "".join(letters), position + 1
            position += 1
        elif letter == "\\" and escapes:
            position += 1
        letters.append(sql[position : position + 1])
        position += 1
    return "".join(letters), position


def _comment(sql: str, start: int) -> int:
    """Return where the comment at `start` ends; `start` itself if there is none."""
    if sql.startswith(("/*!", "/*M!"), start):
        end = start + (4 if sql[start + 2] == "M" else 3)
        while sql[end : end + 1].isdigit():
            end += 1
        return end
    if sql.startswith("/*", start):
        return _behind(sql, "*/", start + 2)
    if sql.startswith("*/", start):  # the end of one whose beginning was no comment
        return start + 2
    is_line = sql[start] == "#" or (sql.startswith("--", start) and sql[start + 2 : start + 3] in ("", *" \t\n\r"))
    return _behind(sql, "\n", start) if is_line else start


def _behind(sql: str, mark: str, start: int) -> int:
    found = sql.find(mark, start)
    return len(sql) if found < 0 else found + len(mark)
