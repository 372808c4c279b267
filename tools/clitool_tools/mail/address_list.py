"""The addresses in a header of a stranger's message, however it is written; for showing, never for sending.

The structure is found first and names are decoded after it, so that nothing in a name, however it is encoded, becomes
an address. What is sent to goes through `clitool_tools.mail.address`.
"""

from __future__ import annotations

from clitool_tools.mail.encoded_words import decode_words
from clitool_tools.mail.invisible import visible_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clitool_tools.mail.invisible import Removed

    Token = tuple[str, str, str]  # kind, content, and how it is written

_QUOTED, _ANGLE, _COMMENT, _COMMA, _COLON, _TEXT = "quoted", "angle", "comment", "comma", "colon", "text"
_SYNTAX = (
    r'"(?P<quoted>(?:[^"\\]|\\.)*)"'
    r"|<(?P<angle>[^<>]*)>|<(?P<open>[^<>,;]*)"
    r"|(?P<comma>[,;])|(?P<colon>:)"
    r'|(?P<text>(?:\\.|[^"<,;:(\\])+|.)'
)
_AT_SIGNS = "@\uff20\ufe6b"


class Mailbox:
    """Somebody in a header.

    Attributes:
        name: what the sender calls them; empty if there is none.
        address: where mail to them goes; empty if what stands there is no address.
    """

    __slots__ = ("address", "name")

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address

    @property
    def poses(self) -> bool:
        """Whether the name reads like an address, but like another one."""
        return any(sign in self.name for sign in _AT_SIGNS) and self.address.lower() != self.name.lower()


def mailboxes(raw: bytes, hint: str = "", removed: Removed | None = None) -> Iterator[Mailbox]:
    """Yield who stands in a header like To; the members of groups too, and nobody for an empty place.

    Args:
        raw: the header's value on one line.
        hint: the charset of the message's body, for raw bytes.
        removed: counts invisible characters.
    """
    for tokens in _between_commas(raw.decode("latin-1")):
        name, address = _name_and_address(tokens)
        mailbox = Mailbox(
            visible_line(decode_words(name.encode("latin-1"), hint), removed), _visible_address(address, hint, removed)
        )
        if mailbox.name or mailbox.address:
            yield mailbox


def _visible_address(address: str, hint: str, removed: Removed | None) -> str:
    from clitool_tools.mail.charset import decode  # an encoded word in an address is not decoded: it means itself

    return visible_line(decode(address.encode("latin-1"), "", hint).text, removed)


def _between_commas(text: str) -> Iterator[list[Token]]:
    tokens: list[Token] = []
    for token in _tokens(text):
        if token[0] == _COMMA:
            yield tokens
            tokens = []
        elif token[0] == _COLON and not any(kind == _ANGLE for kind, _, _ in tokens):
            tokens = []  # what stands before a colon is the name of a group
        else:
            tokens.append(token)
    yield tokens


def _tokens(text: str) -> Iterator[Token]:
    import re

    pattern = re.compile(_SYNTAX, re.DOTALL)
    at, comments = 0, True
    while at < len(text):
        end = _end_of_comment(text, at) if comments and text[at] == "(" else at
        comments &= end >= 0  # one that does not end is text, and so is every later one
        if end > at:
            yield _COMMENT, text[at + 1 : end - 1], text[at:end]
            at = end
            continue
        match = pattern.match(text, at)
        if match is None:
            return
        kind = match.lastgroup or _TEXT
        yield (_ANGLE if kind == "open" else kind), match[kind], match[0]
        at = match.end()


def _end_of_comment(text: str, at: int) -> int:
    depth = 0
    escaped = False
    for place in range(at, len(text)):
        char = text[place]
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in "()":
            depth += 1 if char == "(" else -1
            if not depth:
                return place + 1
    return -1


def _name_and_address(tokens: Sequence[Token]) -> tuple[str, str]:
    """Return both as they are written; of several pairs of angle brackets the last one has the address."""
    angles = [content for kind, content, _ in tokens if kind == _ANGLE]
    comments = [content for kind, content, _ in tokens if kind == _COMMENT]
    if angles:
        last = max(place for place, token in enumerate(tokens) if token[0] == _ANGLE)
        name = _joined([token for place, token in enumerate(tokens) if place != last and token[0] != _COMMENT])
        return name or " ".join(comments), _without_route(angles[-1])
    written = "".join(source for kind, _, source in tokens if kind != _COMMENT).strip()
    outside = "".join(source for kind, _, source in tokens if kind == _TEXT)
    if outside.count("@") == 1 and not outside.strip().count(" "):
        return " ".join(comments), written
    return _joined(tokens), ""


def _joined(tokens: Sequence[Token]) -> str:
    """Return a name as people read it: without quotation marks and backslashes."""
    import re

    parts = [re.sub(r"\\(.)", r"\1", text) if kind == _QUOTED else source for kind, text, source in tokens]
    return "".join(parts).strip()


def _without_route(angle: str) -> str:
    """Return an address without the relays that old mail could name before it: ``@a,@b:local@domain``."""
    return (angle.rpartition(":")[2] if angle.lstrip().startswith("@") else angle).strip()
