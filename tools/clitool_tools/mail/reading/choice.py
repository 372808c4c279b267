"""Which parts of a message are its text, and which are attachments."""

from __future__ import annotations

from clitool_tools.mail.imap.structure import FOR_OTHERS, HTML, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from clitool_tools.mail.imap.structure import Part

_DEEPEST = 100
_MESSAGES = ("message/rfc822", "message/global")
_SMIME = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_OUTLOOK = "winmail.dat is what Outlook packs attachments in; it is listed and not unpacked"
_NOTES = {
    "multipart/signed": "the message is signed; the signature has not been verified",
    "multipart/encrypted": "the message is encrypted and cannot be read here; its parts are listed as attachments",
    "text/calendar": "there is an invitation to a calendar; it is listed as an attachment",
    "application/ms-tnef": _OUTLOOK,
    "application/vnd.ms-tnef": _OUTLOOK,
}


class Choice:
    """The parts of one message.

    Args:
        root: what it is made of.
        wanted: `TEXT`, which HTML is good for where there is nothing else, or `HTML` and nothing but that.

    Attributes:
        body: the parts whose texts are its text, in order, each with the section to fetch.
        rivals: by the section of a plain text, the parts of the HTML version, which is what people see.
        attachments: everything else that has content.
        messages: those of them that are messages themselves.
        formats: which versions of its text there are, of `TEXT` and `HTML`.
        notes: what a reader should know about what it is made of.
    """

    __slots__ = ("_wanted", "attachments", "body", "formats", "messages", "notes", "rivals", "root")

    def __init__(self, root: Part, wanted: str) -> None:
        self.body: list[tuple[str, Part]] = []
        self.rivals: dict[str, list[tuple[str, Part]]] = {}
        self.attachments: list[Part] = []
        self.messages: list[Part] = []
        self.formats: set[str] = set()
        self.notes: list[str] = []
        self.root = root
        self._wanted = wanted
        self._visit(root, 0)

    def _visit(self, part: Part, depth: int) -> None:
        self._note(part)
        if not part.kind.startswith("multipart/"):
            self._visit_leaf(part)
        elif is_broken(part) or depth > _DEEPEST:
            self._take(part, TEXT)
        elif part.kind == "multipart/alternative":
            self._visit_alternative(part, depth)
        elif part.kind == "multipart/encrypted":
            self._leave(part.parts)
        elif part.kind in ("multipart/related", "multipart/signed"):
            first = _first_of(part)
            self._visit(first, depth + 1)
            self._leave(child for child in part.parts if child is not first)
        else:
            for child in part.parts:
                self._visit(child, depth + 1)

    def _visit_leaf(self, part: Part) -> None:
        version = part.version
        if version:
            self._take(part, version)
        else:
            self._leave((part,))

    def _visit_alternative(self, part: Part, depth: int) -> None:
        """Take the best version, which is the last one; what belongs to the others is no less attached."""
        versions = [(child, {leaf.version for leaf in child.leaves()}) for child in part.parts]
        wanted = (TEXT, HTML) if self._wanted == TEXT else (HTML,)
        fitting = ([child for child, found in versions if version in found] for version in wanted)
        chosen = next((children[-1] for children in fitting if children), None)
        for child, found in versions:
            if child is chosen:
                self._visit(child, depth + 1)
            else:
                if chosen is not None and chosen.kind == "text/plain" and HTML in found:
                    self.rivals[chosen.section] = Choice(child, HTML).body
                self.formats |= found - {""}
                self._leave(leaf for leaf in child.leaves() if not leaf.version and leaf.kind not in FOR_OTHERS)

    def _take(self, part: Part, version: str) -> None:
        self.formats.add(version)
        if self._wanted in (TEXT, version):
            self.body.append((self._section(part), part))
        if part.has_name:
            self.attachments.append(part)

    def _leave(self, parts: Iterable[Part]) -> None:
        """List what is no text; of a multipart, everything in it."""
        for part in parts:
            for leaf in part.leaves():
                self._note(leaf)
                self.attachments.append(leaf)
                if leaf.kind in _MESSAGES:
                    self.messages.append(leaf)

    def _section(self, part: Part) -> str:
        if not part.kind.startswith("multipart/"):
            return part.section
        # A message and the multipart that it is have one number, which stands for the message with its header.
        return part.section if part is not self.root else f"{part.section}.TEXT".lstrip(".")

    def _note(self, part: Part) -> None:
        note = _NOTES.get(part.kind)
        if part.kind in _SMIME:
            signed = b"signed" in part.parameters.get("smime-type", b"").lower()
            note = (
                "the message is packed with its signature (S/MIME) and cannot be read here"
                if signed
                else "the message is encrypted (S/MIME) and cannot be read here"
            )
        if note and note not in self.notes:
            self.notes.append(note)


def is_broken(part: Part) -> bool:
    """Return whether no part was found in a multipart: Dovecot tells of one text without content then."""
    if len(part.parts) == 1:
        only = part.parts[0]
        return only.kind == "text/plain" and not only.size and not only.has_name
    return not part.parts


def _first_of(part: Part) -> Part:
    """Return the part that the others of a multipart/related or signed are about (RFC 2387, 3.2)."""
    start = part.parameters.get("start", b"").strip(b"<> ")
    by_id = (child for child in part.parts if start and (child.content_id or b"").strip(b"<> ") == start)
    return next(by_id, part.parts[0])
