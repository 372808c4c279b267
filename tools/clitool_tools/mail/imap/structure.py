"""What a message is made of, without its content: BODYSTRUCTURE (RFC 3501, 7.4.2), read tolerantly."""

from __future__ import annotations

from clitool_tools.mail.imap.response import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clitool_tools.mail.imap.response import Value

_DISPOSITIONS = frozenset((b"attachment", b"inline", b"form-data"))
TEXT, HTML = "text", "html"
FOR_OTHERS = frozenset(("text/x-amp-html", "text/watch-html"))  # versions of the text for devices that we are not
_NOT_TO_READ = ("text/calendar", "text/csv", "text/vcard", "text/x-vcard", "text/directory", "text/rtf")
_REPORTS = frozenset(("message/delivery-status", "message/disposition-notification", "message/feedback-report"))


class Part:
    """A part of a message, or the message itself.

    Attributes:
        section: its number as FETCH wants it: ``1``, ``2.1``; empty for the message itself, if that is a multipart.
        kind: its type in lower case: ``text/plain``; ``application/octet-stream`` if the server does not say.
        parameters, disposition_parameters: raw values by their names in lower case: ``charset``, ``filename*0*``.
        content_id: raw, or None.
        encoding: of its content, in lower case: ``base64``.
        size: octets as they are stored, so encoded; 0 if unknown.
        disposition: in lower case: ``attachment``, ``inline``; empty if there is none.
        parts: of a multipart; of a message/rfc822, the one message in it.
    """

    __slots__ = (
        "content_id",
        "disposition",
        "disposition_parameters",
        "encoding",
        "kind",
        "parameters",
        "parts",
        "section",
        "size",
    )

    def __init__(self, section: str, kind: str, parameters: Value) -> None:
        self.section = section
        self.kind = kind
        self.parameters = _parameters(parameters)
        self.content_id: bytes | None = None
        self.encoding = ""
        self.size = 0
        self.disposition = ""
        self.disposition_parameters: dict[str, bytes] = {}
        self.parts: list[Part] = []

    def leaves(self) -> Iterator[Part]:
        """Yield the parts with content, in order; a message within the message is one of them, and not looked into."""
        if not self.kind.startswith("multipart/"):
            yield self
            return
        for part in self.parts:
            yield from part.leaves()

    @property
    def text_charset(self) -> str:
        """What the message's text claims to be written in; empty if it claims nothing; attachments do not count."""
        texts = (part for part in self.leaves() if part.version)
        return next(
            (part.parameters["charset"].decode("latin-1") for part in texts if "charset" in part.parameters), ""
        )

    @property
    def has_name(self) -> bool:
        """Whether it says what its file is called."""
        names = (*self.parameters, *self.disposition_parameters)
        return any(name.partition("*")[0] in ("name", "filename") for name in names)

    @property
    def version(self) -> str:
        """Which version of the text to read it is, `TEXT` or `HTML`; empty if it is none."""
        if self.disposition == "attachment" or self.kind in _NOT_TO_READ or self.kind in FOR_OTHERS:
            return ""
        if self.kind == "text/html":
            return HTML
        is_text = self.kind == "text/plain" or self.kind in _REPORTS  # also with a name: what is inline is to be read
        return TEXT if is_text or (self.kind.startswith("text/") and not self.has_name) else ""

    @property
    def is_attachment(self) -> bool:
        """Whether a person would call it one: not the text to read, nor a picture within it."""
        if self.disposition == "attachment":
            return True
        if self.version or self.kind in FOR_OTHERS:
            return False
        if self.kind.startswith(("text/", "message/")):
            return True
        return self.content_id is None or (self.disposition != "inline" and not self.kind.startswith("image/"))


def structure(body: Value) -> Part:
    """Return the message that a BODYSTRUCTURE describes.

    Raises:
        ValueError: it describes none.
    """
    return _part(body, "", "1")


def _part(body: Value, own: str, leaf: str) -> Part:
    """Return a part.

    Args:
        body: as the server describes it.
        own: number of the part if it is a multipart, and prefix of those in it.
        leaf: its number if it is none: the first and only part of a message is 1.
    """
    if not isinstance(body, list) or not body:
        raise ValueError("not a body")
    children = _leading_lists(body)
    if children:
        return _multipart(body, children, own)
    part = Part(leaf, _kind(_at(body, 0), _at(body, 1)), _at(body, 2))
    content_id = _at(body, 3)
    part.content_id = content_id if isinstance(content_id, bytes) else None
    part.encoding = _word(_at(body, 5))
    part.size = number(_at(body, 6)) or 0
    _set_disposition(part, body[7:])
    if part.kind == "message/rfc822" and isinstance(_at(body, 8), list) and body[8]:
        part.parts = [_part(body[8], leaf, f"{leaf}.1")]
    return part


def _multipart(body: Sequence[Value], children: Sequence[Value], own: str) -> Part:
    rest = body[len(children) :]
    part = Part(own, f"multipart/{_word(_at(rest, 0)) or 'mixed'}", _at(rest, 1))
    _set_disposition(part, rest[1:])
    prefix = f"{own}." if own else ""
    for place, child in enumerate(children, 1):
        part.parts.append(_part(child, f"{prefix}{place}", f"{prefix}{place}"))
    return part


def _leading_lists(body: Sequence[Value]) -> list[Value]:
    children: list[Value] = []
    for value in body:
        if not isinstance(value, list):
            break
        children.append(value)
    return children


def _set_disposition(part: Part, extension: Sequence[Value]) -> None:
    """Find ``("attachment" ("filename" "a.txt"))``, which servers put in different places."""
    for value in extension:
        if not isinstance(value, list) or not 1 <= len(value) <= 2 or not isinstance(value[0], bytes):
            continue
        parameters = _at(value, 1)
        if isinstance(parameters, list) or (parameters is None and value[0].lower() in _DISPOSITIONS):
            part.disposition = _word(value[0])
            part.disposition_parameters = _parameters(parameters)
            return


def _parameters(values: Value) -> dict[str, bytes]:
    if not isinstance(values, list):
        return {}
    pairs = zip(values[::2], values[1::2], strict=False)
    return {_word(name): value for name, value in pairs if isinstance(name, bytes) and isinstance(value, bytes)}


def _kind(major: Value, minor: Value) -> str:
    if _word(major) and _word(minor):
        return f"{_word(major)}/{_word(minor)}"
    # Dovecot tells so of a Content-Type that is none; it is to be taken for plain text (RFC 2045, 5.2).
    return "text/plain" if _word(major) in ("", "text") else "application/octet-stream"


def _word(value: Value) -> str:
    return value.decode("latin-1").strip().lower() if isinstance(value, bytes) else ""


def _at(values: Sequence[Value], index: int) -> Value:
    return values[index] if index < len(values) else None
