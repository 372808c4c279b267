"""What FETCH brought of a message, under names that do not depend on how a server spells them."""

from __future__ import annotations

from clitool_tools.mail.imap.response import Nonsense, number
from clitool_tools.mail.imap.syntax import LARGEST_UID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clitool_tools.mail.imap.response import Response, Value
    from clitool_tools.mail.imap.structure import Part


class Message:
    """A message, as far as it was asked for; what the server did not give is missing.

    Attributes:
        items: by name in upper case; ``BODY[1]``, ``BODY[HEADER.FIELDS]`` without the list of fields and offsets.
    """

    __slots__ = ("items",)

    def __init__(self, items: Mapping[bytes, Value]) -> None:
        self.items = dict(items)

    def has_flag(self, flag: bytes) -> bool | None:
        r"""Return whether it has a flag (``\Seen``), whatever the letter case; None if the server does not say."""
        flags = self.items.get(b"FLAGS")
        if not isinstance(flags, list):
            return None
        return flag.lower() in (each.lower() for each in flags if isinstance(each, bytes))

    @property
    def size(self) -> int | None:
        """Octets of the whole message, or None."""
        return number(self.items.get(b"RFC822.SIZE"))

    @property
    def internal_date(self) -> str:
        """When the server got it: ``01-Feb-2024 10:00:00 +0000``; empty if it did not say."""
        value = self.items.get(b"INTERNALDATE")
        return value.decode("latin-1").strip() if isinstance(value, bytes) else ""

    @property
    def structure(self) -> Part | None:
        """What it is made of; None if the server did not say, or said nothing that makes sense."""
        from clitool_tools.mail.imap.structure import structure

        try:
            return structure(self.items.get(b"BODYSTRUCTURE"))
        except ValueError:
            return None

    def body(self, section: str) -> bytes | None:
        """Return the content of a section (``1``, ``HEADER``, ``HEADER.FIELDS``), or None if there is none."""
        value = self.items.get(b"BODY[%s]" % section.encode())
        return value if isinstance(value, bytes) else None


def messages(responses: Iterable[Response]) -> dict[int, Message]:
    """Return by UID what the FETCH responses tell; those without a UID are news about others, and left out."""
    found: dict[int, Message] = {}
    for response in responses:
        items = _items(response)
        uid = number(items.get(b"UID"))
        if uid is None or not 0 < uid <= LARGEST_UID:
            continue
        if uid in found:
            found[uid].items.update(items)
        else:
            found[uid] = Message(items)
    return found


def _items(response: Response) -> dict[bytes, Value]:
    try:
        values = response.values()
    except Nonsense:  # one odd message
        return {}
    pairs = values[0] if values and isinstance(values[0], list) else []
    keys = (_key(key) if isinstance(key, bytes) else b"" for key in pairs[::2])
    return dict(zip(keys, pairs[1::2], strict=False))


def _key(key: bytes) -> bytes:
    name, bracket, section = key.upper().partition(b"[")
    if not bracket:
        return name
    return b"BODY[%s]" % section.partition(b"]")[0].split(b" ")[0]
