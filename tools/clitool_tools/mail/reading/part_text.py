"""What one part of a message says."""

from __future__ import annotations

from clitool_tools.mail.charset import decode
from clitool_tools.mail.invisible import visible_text
from clitool_tools.mail.parameters import parameter
from clitool_tools.mail.transfer import undo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.mail.html.text import Rendered
    from clitool_tools.mail.imap.structure import Part
    from clitool_tools.mail.invisible import Removed

_META = rb"<meta[^>]{0,200}charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w-]{1,40})"
_META_BYTES = 4096


class PartText:
    """A part's text.

    Attributes:
        text: at most as many characters as were asked for.
        truncated: whether there is more.
        charset: what its bytes were read as.
        notes: what a reader should know about how it was got; none of it is the sender's words.
    """

    __slots__ = ("charset", "notes", "text", "truncated")

    def __init__(self, text: str, charset: str, notes: list[str], *, truncated: bool) -> None:
        self.text = text
        self.charset = charset
        self.notes = notes
        self.truncated = truncated

    def cut(self, most: int) -> None:
        """Keep `most` characters of the text."""
        self.truncated |= len(self.text) > most
        self.text = self.text[:most]


def read(part: Part, data: bytes, most: int, removed: Removed, *, complete: bool, as_source: bool) -> PartText:
    """Return what a part says.

    Args:
        part: plain text or HTML; anything else is taken for plain text.
        data: its content, encoded, maybe only the beginning.
        most: characters that are wanted.
        removed: counts invisible characters.
        complete: whether `data` is all of it.
        as_source: whether HTML is wanted as it is, and not as a reader sees it.
    """
    where = f"part {part.section}: " if part.section else ""
    undone = undo(data, part.encoding, complete=complete)
    label = parameter(part.parameters, "charset")
    if part.kind == "text/html" and label.lower() in ("", "us-ascii"):  # which servers say where nothing is said
        label = _label_in(undone.data) or label
    decoded = decode(undone.data, label, complete=complete)
    notes = []
    if undone.damaged:
        notes.append(f"{where}its transfer encoding is damaged; something may be missing")
    if decoded.guessed:
        notes.append(f"{where}what it says about its charset is missing or not true; it was read as {decoded.charset}")
    if decoded.damaged:
        notes.append(f"{where}some of its bytes mean nothing in its charset; \ufffd stands for them")
    if part.kind == "text/html" and not as_source:
        from clitool_tools.mail.html.text import render

        rendered = render(decoded.text, most, removed)
        notes += _notes_on(rendered, where)
        return PartText(rendered.text, decoded.charset, notes, truncated=rendered.truncated or not complete)
    text = decoded.text if as_source else _plain(part, decoded.text, removed)
    if "\nbegin 6" in f"\n{text}" and "\nend" in text:
        notes.append(f"{where}its text has an attachment within it (uuencode), which is not unpacked")
    if "-----BEGIN PGP MESSAGE-----" in text:
        notes.append(f"{where}its text is encrypted (PGP) and cannot be read here")
    return PartText(text[:most], decoded.charset, notes, truncated=len(text) > most or not complete)


def _plain(part: Part, text: str, removed: Removed) -> str:
    text = visible_text(text, removed)
    if parameter(part.parameters, "format").lower() == "flowed":
        from clitool_tools.mail.reading.flowed import unflow

        text = unflow(text, delete_space=parameter(part.parameters, "delsp").lower() == "yes")
    return text.lstrip("\n").rstrip()


def _label_in(data: bytes) -> str:
    """Return the charset that an HTML document names itself."""
    import re

    found = re.search(_META, data[:_META_BYTES], re.IGNORECASE)
    return found[1].decode("ascii") if found else ""


def _notes_on(rendered: Rendered, where: str) -> list[str]:
    notes = []
    if rendered.hidden:
        notes.append(f"{where}characters of hidden text, which a reader does not see, left out: {rendered.hidden}")
    if rendered.misleading:
        notes.append(
            f"{where}{rendered.misleading} links say one address and lead to another; see <target> behind each"
        )
    if rendered.uncertain:
        notes.append(f"{where}its style sheet hides text by rules that were not followed; some of it may be shown here")
    return notes
