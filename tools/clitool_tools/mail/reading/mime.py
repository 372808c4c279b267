"""A whole message taken apart by ourselves (RFC 2045, 2046), for servers that cannot say what it is made of."""

from __future__ import annotations

from clitool_tools.mail.headers import Headers
from clitool_tools.mail.imap.structure import Part
from clitool_tools.mail.parameters import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_PARTS = 1000
_DEEPEST = 50
_HEADER_BYTES = 65_536  # of a part, that are looked at
_TYPE = "abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-"


def complete(part: Part, headers: Headers) -> None:
    """Add to a part what its headers say and its description does not.

    Dovecot tells nothing of a message that has neither Content-Type nor MIME-Version, and everybody decodes it.
    """
    if part.encoding in ("", "7bit"):
        part.encoding = headers.raw("content-transfer-encoding").decode("latin-1").strip().lower() or part.encoding
    if not part.disposition:
        part.disposition, part.disposition_parameters = split(headers.raw("content-disposition"))


class Whole:
    """A message in memory, which answers like a server.

    Attributes:
        root: what it is made of.
    """

    __slots__ = ("_count", "_data", "_places", "root")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._count = 0
        self._places: dict[str, tuple[int, int]] = {"": (0, len(data))}
        self.root = self._message(0, len(data), "")

    def fetch(self, sections: Mapping[str, int]) -> dict[str, bytes]:
        """Return the beginning of each section: ``1``, ``2.HEADER``, ``HEADER``, ``TEXT``, or empty for all."""
        places = {section: self._places[section] for section in sections if section in self._places}
        return {
            section: self._data[start : min(end, start + sections[section])] for section, (start, end) in places.items()
        }

    def _message(self, start: int, end: int, own: str) -> Part:
        """Take a message apart; `own` is its number, empty for the one that is not in another."""
        prefix = f"{own}." if own else ""
        body = _end_of_header(self._data, start, end)
        self._places[f"{prefix}HEADER"] = start, body
        self._places[f"{prefix}TEXT"] = body, end
        return self._part((start, end), own, f"{prefix}1", "text/plain")

    def _part(self, place: tuple[int, int], own: str, leaf: str, kind: str) -> Part:
        """Take a part apart.

        Args:
            place: where it is.
            own: its number if it is a multipart, and prefix of the numbers in it.
            leaf: its number if it is none.
            kind: what it is if it does not say.
        """
        self._count += 1
        start, end = place
        body = _end_of_header(self._data, start, end)
        headers = Headers(self._data[start : min(body, start + _HEADER_BYTES)])
        type_, parameters = split(headers.raw("content-type"))
        part = Part(leaf, _kind(type_, kind), None)
        part.parameters = parameters
        part.content_id = headers.raw("content-id") or None
        part.size = end - body
        complete(part, headers)
        if part.kind.startswith("multipart/"):
            part.section, part.size = own, 0
        self._places.setdefault(part.section, (body, end))  # a message's own place, not that of the multipart it is
        self._fill(part, body, end)
        return part

    def _fill(self, part: Part, body: int, end: int) -> None:
        """Find the parts of a part."""
        is_deep = part.section.count(".") >= _DEEPEST
        if part.kind.startswith("multipart/"):
            default = "message/rfc822" if part.kind == "multipart/digest" else "text/plain"
            prefix = f"{part.section}." if part.section else ""
            for number, place in enumerate(self._between(part, body, end), 1):
                if is_deep or self._count >= _MOST_PARTS:
                    break
                section = f"{prefix}{number}"
                part.parts.append(self._part(place, section, section, default))
        elif part.kind == "message/rfc822" and not is_deep:
            part.parts = [self._message(body, end, part.section)]

    def _between(self, part: Part, body: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where the parts of a multipart are; a boundary that never comes back ends at the end."""
        boundary = part.parameters.get("boundary", b"")
        begin = None
        for line, after, is_last in _delimiters(self._data, b"--" + boundary, body, end) if boundary else ():
            if begin is not None:
                yield begin, max(begin, line)
            begin = after
            if is_last:
                return
        if begin is not None:
            yield begin, end


def _delimiters(data: bytes, mark: bytes, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield of each line that is `mark`: where what is before it ends, where the next begins, and if it is the last."""
    at = start
    while (at := data.find(mark, at, end)) >= 0:
        if at > start and data[at - 1 : at] != b"\n":
            at += len(mark)
            continue
        newline = data.find(b"\n", at, end)
        after = newline + 1 if newline >= 0 else end
        rest = data[at + len(mark) : after].strip()
        if rest in (b"", b"--"):
            yield max(start, at - (2 if data[at - 2 : at] == b"\r\n" else 1)), after, rest == b"--"
        at = after


def _end_of_header(data: bytes, start: int, end: int) -> int:
    """Return where the body begins: behind the first empty line, or at the end if there is none."""
    for empty in (b"\n", b"\r\n"):
        if data.startswith(empty, start, end):
            return start + len(empty)
    ends = (data.find(empty, start, end) + len(empty) for empty in (b"\n\n", b"\n\r\n"))
    return min((at for at in ends if at > 2 and at > start), default=end)


def _kind(text: str, default: str) -> str:
    """Return what a Content-Type says, or the default if it says nothing that makes sense (RFC 2045, 5.2)."""
    major, slash, minor = text.partition("/")
    if slash and major and minor and all(char in _TYPE for char in major + minor):
        return text
    return default if major in ("", "text") or not major.isalnum() else "application/octet-stream"
