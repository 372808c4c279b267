"""The headers of a stranger's message as texts: whatever bytes they are, there is an answer and no exception."""

from __future__ import annotations

from codecs import BOM_UTF8
from itertools import islice

from clitool_tools.mail.address_list import mailboxes
from clitool_tools.mail.encoded_words import decode_words
from clitool_tools.mail.invisible import visible_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.mail.address_list import Mailbox
    from clitool_tools.mail.invisible import Removed

LONGEST = 4000  # characters of one header that are shown
MOST_MAILBOXES = 100
MOST_IDS = 50


class Headers:
    """The header of a message or of a part.

    Args:
        block: its bytes, up to the empty line or beyond.
        hint: the charset of the message's body, for bytes that say nothing about themselves.
        removed: counts invisible characters in what is asked for.

    Attributes:
        fields: names in lower case and raw values on one line, in their order.
    """

    __slots__ = ("_hint", "_removed", "fields")

    def __init__(self, block: bytes, hint: str = "", removed: Removed | None = None) -> None:
        self.fields = _fields(block)
        self._hint = hint
        self._removed = removed

    def raw(self, name: str) -> bytes:
        """Return the value of the first field called `name`; empty if there is none."""
        return next((value for key, value in self.fields if key == name), b"")

    def count(self, name: str) -> int:
        """Return how many fields are called so."""
        return sum(key == name for key, _ in self.fields)

    def decoded(self, raw: bytes) -> str:
        """Return a raw value as it is shown, on one line."""
        return shortened(visible_line(decode_words(raw, self._hint), self._removed))

    def text(self, name: str) -> str | None:
        """Return the first field called so as it is shown, or None."""
        return self.decoded(self.raw(name)) if self.count(name) else None

    def mailboxes(self, name: str, most: int = MOST_MAILBOXES) -> list[Mailbox]:
        """Return who stands in a field, the first `most` of them."""
        return list(islice(mailboxes(self.raw(name), self._hint, self._removed), most))

    def date(self, name: str = "date") -> str | None:
        """Return a date in ISO 8601, or None if there is none or it is none."""
        from clitool_tools.mail.dates import iso

        return iso(self.raw(name).decode("latin-1"))

    def ids(self, name: str) -> list[str]:
        """Return the message ids in a field, with their brackets; the first and the last ones, at most `MOST_IDS`.

        What an answer may not name is left out, so that no sender can keep anybody from answering.
        """
        import re

        from clitool_tools.mail.outgoing.header import is_message_id

        tokens = (one.decode("ascii") for one in re.findall(rb"<[!-;=?-~]+>", self.raw(name)))
        found = [token for token in tokens if is_message_id(token)]
        return [*found[:1], *found[1:][1 - MOST_IDS :]]


def shortened(text: str) -> str:
    """Return `text` with at most `LONGEST` characters of it."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _fields(block: bytes) -> list[tuple[str, bytes]]:
    """Take a header apart (RFC 5322, 2.2); a line that is no field is left out with what continues it."""
    found: list[tuple[str, list[bytes]]] = [("", [])]
    for line in block.removeprefix(BOM_UTF8).replace(b"\r\n", b"\n").split(b"\n"):
        if not line:
            break
        name, colon, value = line.partition(b":")
        if line[:1] in (b" ", b"\t"):
            found[-1][1].append(line)
        else:
            found.append((_field_name(name) if colon else "", [value]))
    return [(name, b"".join(values).strip()) for name, values in found if name]


def _field_name(name: bytes) -> str:
    """Return a name in lower case; empty if no field is called so."""
    name = name.rstrip(b" \t")
    text = name.decode("ascii") if name.isascii() else ""
    return text.lower() if text.isprintable() and " " not in text else ""
