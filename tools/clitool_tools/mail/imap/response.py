"""What a response says (RFC 3501, 7), read tolerantly: servers differ in case, spacing and what they leave out."""

from __future__ import annotations

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    # NIL is None; an atom is an Atom, quoted strings and literals are bytes.
    Value = bytes | None | list["Value"]

STATUS = frozenset((b"OK", b"NO", b"BAD", b"BYE", b"PREAUTH"))
_DEEPEST = 200  # lists in lists; a message in a message in a message needs about four for each
_ENDS_ATOM = frozenset(b' ()"\t')
_SECTIONS = (b"BODY[", b"BODY.PEEK[", b"BINARY[")


class Nonsense(ExecutionError):
    """What a server says cannot be read."""

    default_reason = "mail"


class Atom(bytes):
    """A word that was not quoted."""

    __slots__ = ()


class Response:
    """One response.

    Attributes:
        tag: ``*``, ``+``, or the tag of the command that is complete with it.
        kind: its first word in upper case: ``FETCH``, ``OK``, …; empty for a continuation.
        number: what stands before the kind (``* 12 FETCH``), or None.
        pieces: what follows: text, then by turns a literal and text.
    """

    __slots__ = ("kind", "number", "pieces", "tag")

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.tag, _, rest = pieces[0].lstrip().partition(b" ")
        self.kind = b""
        self.number: int | None = None
        if self.tag != b"+":
            word, _, after = rest.lstrip().partition(b" ")
            if word.isdigit() and len(word) <= 10:
                self.number = int(word)
                word, _, after = after.lstrip().partition(b" ")
            self.kind, rest = word.upper(), after
        self.pieces = [rest, *pieces[1:]]

    @property
    def is_status(self) -> bool:
        """Whether it is OK, NO, BAD, BYE or PREAUTH."""
        return self.kind in STATUS

    @property
    def code(self) -> tuple[bytes, list[Value]]:
        """The response code of a status with its arguments: ``[UIDVALIDITY 12]``.

        An empty word if there is none, or none that can be read: no outcome of a command hangs on it.
        """
        text = self.pieces[0].lstrip()
        if not self.is_status or not text.startswith(b"["):
            return b"", []
        inside = text[1:].partition(b"]")[0]
        word, _, arguments = inside.partition(b" ")
        try:
            return word.upper(), values([arguments])
        except Nonsense:
            return b"", []

    @property
    def text(self) -> str:
        """What a status says to people, without the code; whatever the server likes."""
        text = self.pieces[0].lstrip()
        if text.startswith(b"["):
            text = text.partition(b"]")[2]
        return text.strip().decode("utf-8", "replace")

    def values(self) -> list[Value]:
        """Return what follows the kind; raises as the function `values`."""
        return values(self.pieces)


def values(pieces: Sequence[bytes]) -> list[Value]:
    """Return the values of a response; a list that is not closed ends at its end.

    Raises:
        Nonsense: lists are nested deeper than in any message.
    """
    outer: list[Value] = []
    stack = [outer]
    for index, piece in enumerate(pieces):
        if index % 2:
            stack[-1].append(piece)
        else:
            _read_text(piece, stack)
    return outer


def number(value: Value) -> int | None:
    """Return a number that a server gives, or None if it is none, or larger than any that IMAP has."""
    return int(value) if isinstance(value, bytes) and value.isdigit() and len(value) <= 19 else None


def _read_text(text: bytes, stack: list[list[Value]]) -> None:
    for word in _words(text):
        if word == b"(" and isinstance(word, Atom):
            if len(stack) > _DEEPEST:
                raise Nonsense("the IMAP server nests lists deeper than any message does")
            inner: list[Value] = []
            stack[-1].append(inner)
            stack.append(inner)
        elif word == b")" and isinstance(word, Atom):
            if len(stack) > 1:
                stack.pop()
        else:
            stack[-1].append(None if isinstance(word, Atom) and word.upper() == b"NIL" else word)


def _words(text: bytes) -> Iterator[bytes]:
    """Yield parentheses and atoms as atoms, quoted strings as bytes."""
    position, length = 0, len(text)
    while position < length:
        char = text[position : position + 1]
        if char in (b"(", b")"):
            yield Atom(char)
            position += 1
        elif char == b'"':
            end = _end_of_quoted(text, position + 1)
            yield _unescaped(text[position + 1 : end])
            position = end + 1
        elif char in (b" ", b"\t"):
            position += 1
        else:
            end = _end_of_atom(text, position)
            yield Atom(text[position:end])
            position = end


def _end_of_quoted(text: bytes, start: int) -> int:
    position = start
    while True:
        quote = text.find(b'"', position)
        if quote < 0:
            return len(text)
        escape = text.find(b"\\", position, quote)
        if escape < 0:
            return quote
        position = escape + 2


def _unescaped(quoted: bytes) -> bytes:
    if b"\\" not in quoted:
        return quoted
    # No quoted string holds a NUL, so it can stand for an escaped backslash meanwhile.
    return quoted.replace(b"\\\\", b"\0").replace(b"\\", b"").replace(b"\0", b"\\")


def _end_of_atom(text: bytes, start: int) -> int:
    position = start
    if text[start : start + 10].upper().startswith(_SECTIONS):
        position = text.find(b"]", start) + 1 or len(text)  # BODY[HEADER.FIELDS (DATE FROM)] is one word
    while position < len(text) and text[position] not in _ENDS_ATOM:
        position += 1
    return position
