"""Folders as a server lists them, under names for people; each keeps the server's own spelling."""

from __future__ import annotations

from clitool_tools.mail.imap import utf7
from clitool_tools.mail.imap.response import Atom, number
from clitool_tools.mail.imap.syntax import has_control

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clitool_tools.mail.imap.response import Response, Value

# RFC 6154 and RFC 8457; the first is every server's own.
_ROLES = ("inbox", "all", "archive", "drafts", "flagged", "important", "junk", "sent", "trash")
# What folders are called on servers that do not say what they are for; the last part of the name, in lower case.
_WELL_KNOWN = {
    "drafts": ("drafts", "draft", "entwürfe", "brouillons", "borradores", "bozze", "concepten"),
    "sent": (
        "sent",
        "sent items",
        "sent messages",
        "sent mail",
        "gesendet",
        "gesendete objekte",
        "gesendete elemente",
        "envoyés",
        "éléments envoyés",
        "enviados",
        "elementos enviados",
        "posta inviata",
        "verzonden items",
    ),
}


LIST_STATUS = b"LIST-STATUS"  # RFC 5819
COUNTS = b"(MESSAGES UNSEEN)"


class Folder:
    r"""A folder.

    Attributes:
        raw: its name as the server spells it.
        name: its name for people, which `Session.examine` takes back.
        delimiter: what stands between the parts of its name; empty if the server has no hierarchy.
        attributes: what the server says about it, in lower case: ``\noselect``.
        messages, unseen: counts; None if unknown.
    """

    __slots__ = ("attributes", "delimiter", "messages", "name", "raw", "unseen")

    def __init__(self, raw: bytes, delimiter: str, attributes: frozenset[str]) -> None:
        self.raw = raw
        self.name = shown(raw)
        self.delimiter = delimiter
        self.attributes = attributes
        self.messages: int | None = None
        self.unseen: int | None = None

    @property
    def selectable(self) -> bool:
        """Whether it holds messages, and not only other folders."""
        return not self.attributes & {"\\noselect", "\\nonexistent"}

    @property
    def role(self) -> str | None:
        """What the server says it is for: ``inbox``, ``sent``, ``drafts``, ``trash``, …; or None."""
        if self.raw.upper() == b"INBOX":
            return "inbox"
        return next((role for role in _ROLES if f"\\{role}" in self.attributes), None)

    def is_called(self, names: Sequence[str]) -> bool:
        """Return whether the last part of its name is one of these, whatever the letter case."""
        last = self.name.rpartition(self.delimiter)[2] if self.delimiter else self.name
        return last.lower() in names


def shown(raw: bytes) -> str:
    """Return a folder's name for people.

    A server may spell it otherwise than the standard wants (Yandex: github.com/modern-email/defects/issues/46); then
    the name is what the server writes, and still one that names the folder.
    """
    name = utf7.decode(raw)
    if name is None:
        name = raw.decode("utf-8", "backslashreplace")
    return raw.decode("latin-1").encode("unicode_escape").decode() if has_control(name) else name


def command(capabilities: frozenset[bytes], *, counted: bool) -> list[bytes]:
    """Return the command that lists all folders, with their purposes and counts as far as the server can do that."""
    words = [b"SPECIAL-USE"] if {b"SPECIAL-USE", b"LIST-EXTENDED"} <= capabilities else []
    words += [b"STATUS", COUNTS] if counted and LIST_STATUS in capabilities else []
    return [b"LIST", b'""', b'"*"', *((b"RETURN", b"(%b)" % b" ".join(words)) if words else ())]


def folders(responses: Iterable[Response]) -> list[Folder]:
    """Return the folders of LIST responses, each once, in the server's order."""
    found: dict[bytes, Folder] = {}
    for response in responses:
        folder = _folder(response.values())
        if folder is not None:
            found.setdefault(folder.raw, folder)
    return list(found.values())


def by_role(listed: Iterable[Folder], role: str) -> Folder | None:
    """Return the folder that the server says is for `role`, or else the one with the best-known name for that."""
    usable = [folder for folder in listed if folder.selectable]
    for folder in usable:
        if folder.role == role:
            return folder
    for name in _WELL_KNOWN.get(role, ()):
        for folder in usable:
            if folder.is_called((name,)):
                return folder
    return None


def count(listed: Iterable[Folder], responses: Iterable[Response]) -> None:
    """Fill in what STATUS responses say about the folders."""
    by_name = {_same(folder.raw): folder for folder in listed}
    for response in responses:
        values = response.values()
        folder = by_name.get(_same(_name(values[:-1])))
        numbers = values[-1] if values else None
        if folder is not None and isinstance(numbers, list):
            folder.messages = _count(numbers, b"MESSAGES")
            folder.unseen = _count(numbers, b"UNSEEN")


def _folder(values: Sequence[Value]) -> Folder | None:
    if len(values) < 3 or not isinstance(values[0], list):
        return None
    attributes = (value.decode("latin-1").lower() for value in values[0] if isinstance(value, bytes))
    delimiter = values[1].decode("latin-1") if isinstance(values[1], bytes) else ""
    return Folder(_name(values[2:]), delimiter, frozenset(attributes))


def _name(values: Sequence[Value]) -> bytes:
    """Return a mailbox's name; some servers forget the quotes around one with blanks."""
    words = []
    for value in values:
        if isinstance(value, list):
            break
        words.append(b"NIL" if value is None else value)
        if not isinstance(value, Atom) and value is not None:
            break
    return b" ".join(words)


def _same(raw: bytes) -> bytes:
    return b"INBOX" if raw.upper() == b"INBOX" else raw


def _count(values: Sequence[Value], word: bytes) -> int | None:
    pairs = zip(values[::2], values[1::2], strict=False)
    return next((number(value) for key, value in pairs if isinstance(key, bytes) and key.upper() == word), None)
