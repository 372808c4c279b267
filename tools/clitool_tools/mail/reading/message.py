"""What a message says: its header, its text, its attachments, and the messages that are attached to it."""

from __future__ import annotations

from clitool_tools.mail.charset import decode
from clitool_tools.mail.headers import Headers
from clitool_tools.mail.imap.structure import HTML
from clitool_tools.mail.invisible import Removed, visible_text
from clitool_tools.mail.reading.attachment import listed
from clitool_tools.mail.reading.choice import Choice
from clitool_tools.mail.reading.header_texts import all_fields, header_texts
from clitool_tools.mail.reading.mime import complete
from clitool_tools.mail.reading.part_text import read
from clitool_tools.mail.reading.source import HEADER_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool_tools.mail.imap.structure import Part
    from clitool_tools.mail.reading.part_text import PartText
    from clitool_tools.mail.reading.source import Source

_MOST_PARTS = 20  # texts of one message that are put together
_MOST_LISTED = 200
_MOST_MESSAGES = 5
_MOST_BYTES = 16 * 1024 * 1024  # of texts that are fetched
_MOST_OF_PART = 4 * 1024 * 1024  # bytes; most of HTML is markup
_COMPARED = 50_000  # characters of the HTML version, in which a plain text is looked for
_BYTES_PER_CHARACTER = 12  # four of UTF-8, three times as many in quoted-printable


class Reading:
    """One reading of a message.

    Args:
        source: where its bytes come from.
        wanted: `TEXT` or `HTML`.
        most: characters of text.

    Attributes:
        notes: what a reader should know about how the content was got; in no words of the sender.
        truncated: whether there is more text.
    """

    def __init__(self, source: Source, wanted: str, most: int) -> None:
        self.notes: list[str] = []
        self.truncated = False
        self._source = source
        self._wanted = wanted
        self._left = most
        self._bytes_left = _MOST_BYTES
        self._asked: dict[str, int] = {}
        self._removed = Removed()
        self._charset = self._where = ""
        self._html_texts: list[str] = []

    def content(self, header: bytes) -> dict[str, Any]:
        """Return what the sender has written.

        Args:
            header: of the message.

        Returns:
            The fields of `header_texts`, ``text`` (None if there is none), ``html_text`` (what people see, if that is
            something else), ``formats``, ``attachments`` and ``attached_messages``, which have the same fields and
            ``part``.
        """
        choice = Choice(self._source.root, self._wanted)
        attached = [part for part in choice.messages if part.parts][:_MOST_MESSAGES]
        inner = {part.section: Choice(part.parts[0], self._wanted) for part in attached}
        for each in (choice, *inner.values()):
            self._plan(each)
        headers = {f"{section}.HEADER": HEADER_BYTES for section in inner}
        fetched = self._source.fetch({**self._asked, **headers})
        content = self._one(choice, header, fetched)
        content["attached_messages"] = [
            {"part": section, **self._one(each, fetched.get(f"{section}.HEADER", b""), fetched, f"message {section}: ")}
            for section, each in inner.items()
        ]
        self._where = ""
        self._note(self._removed.notes())
        return content

    def _one(self, choice: Choice, header: bytes, fetched: Mapping[str, bytes], where: str = "") -> dict[str, Any]:
        self._where = where
        self._note(choice.notes)
        if not choice.root.kind.startswith("multipart/"):
            complete(choice.root, Headers(header))
        self._html_texts = []
        text = self._text(choice, fetched)
        fields = Headers(header, self._charset, self._removed)
        if not fields.fields and header.strip() and not text:
            self._note(["it has no header; all of it is shown as its text"])
            whole = visible_text(decode(header).text, self._removed).strip()
            text = whole[: self._left]
            self.truncated |= len(whole) > len(text)
        headers, notes = header_texts(fields)
        self._note(notes)
        attachments = [listed(part, self._charset, self._removed) for part in choice.attachments[:_MOST_LISTED]]
        if len(choice.attachments) > _MOST_LISTED:
            self._note([f"there are {len(choice.attachments)} attachments; the first {_MOST_LISTED} are listed"])
        html_text = "\n\n".join(self._html_texts) or None
        versions = {"text": text, "html_text": html_text, "formats": sorted(choice.formats)}
        return {**headers, **versions, "attachments": attachments}

    def _plan(self, choice: Choice) -> None:
        """Decide how much of each text is asked for."""
        rivals = [rival for rivals in choice.rivals.values() for rival in rivals[:_MOST_PARTS]]
        for section, part in (*choice.body[:_MOST_PARTS], *rivals):
            wanted = _MOST_OF_PART if part.kind == "text/html" else self._left * _BYTES_PER_CHARACTER + 4096
            asked = min(wanted, _MOST_OF_PART, self._bytes_left)
            if asked > 0:
                self._asked.setdefault(section, asked)
                self._bytes_left -= min(asked, part.size or asked)

    def _text(self, choice: Choice, fetched: Mapping[str, bytes]) -> str | None:
        """Return the texts of a message's parts, put together; None if it has none."""
        if not choice.body:
            self._note(["it has no HTML version" if self._wanted == HTML else "it has no text"])
            return None
        texts: list[str] = []
        for number, (section, part) in enumerate(choice.body):
            if section not in fetched or self._left <= 0 or number == _MOST_PARTS:
                self.truncated = True
                break
            found = self._read(section, part, fetched[section], self._removed)
            seen = self._seen(found, choice, section, fetched)
            if seen and not found.text.strip():
                self._note(["its plain text is empty; this is its HTML version"])
                texts += map(self._take, seen)
                continue
            texts.append(self._take(found))
            if seen:
                self._note(
                    ["its plain text says something else than its HTML version, which people see: see html_text"]
                )
                self._html_texts += map(self._take, seen)
        return "\n\n".join(text for text in texts if text)

    def _read(self, section: str, part: Part, data: bytes, removed: Removed) -> PartText:
        if part.kind.startswith("multipart/"):
            if b"--" + part.parameters.get("boundary", b"\n") in data:
                data = b""  # it has a part, which is empty
            else:
                self._note(["no part begins where it says that parts begin, so it is shown as it is"])
        complete = len(data) < self._asked[section]
        most = max(self._left, _COMPARED)
        return read(part, data, most, removed, complete=complete, as_source=self._wanted == HTML)

    def _seen(self, plain: PartText, choice: Choice, section: str, fetched: Mapping[str, bytes]) -> list[PartText]:
        """Return the HTML version of a plain text that is empty or says something else; nothing of any other."""
        rivals = choice.rivals.get(section, ())
        if not rivals:
            return []
        from clitool_tools.mail.reading.versions import says_something_else

        removed = Removed()
        seen = [self._read(rival, part, fetched[rival], removed) for rival, part in rivals if rival in fetched]
        text = "\n".join(each.text for each in seen)
        if not says_something_else(plain.text, text):
            return []
        self._removed.add(removed)
        return seen

    def _take(self, found: PartText) -> str:
        found.cut(self._left)
        self._note(found.notes)
        self._charset = self._charset or found.charset
        self._left -= len(found.text)
        self.truncated |= found.truncated
        return found.text

    def _note(self, notes: list[str]) -> None:
        located = [note if note.startswith("part ") else self._where + note for note in notes]
        self.notes += [note for note in located if note not in self.notes]


def fields(header: bytes, hint: str, most: int) -> tuple[dict[str, Any], list[str], bool]:
    """Return the whole header and what `header_texts` says of it, notes, and whether there is more.

    Args:
        header: of the message.
        hint: the charset of the message's text, for bytes that say nothing about themselves.
        most: characters.
    """
    removed = Removed()
    headers = Headers(header, hint, removed)
    texts, notes = header_texts(headers)
    found, truncated = all_fields(headers, most)
    return {**texts, "fields": found}, [*notes, *removed.notes()], truncated or len(header) >= HEADER_BYTES
