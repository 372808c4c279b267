"""The content of a message, from `email` of the standard library: text, HTML, attachments, in 7-bit MIME (RFC 2045)."""

from __future__ import annotations

from email.message import EmailMessage, MIMEPart
from email.policy import EmailPolicy

from clitool_tools.mail.outgoing.header import file_parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from clitool_tools.mail.outgoing.attachments import Attachment

_LAYOUT = frozenset("\t\n\r")


class _Literal(EmailPolicy):
    """Headers are stored and written as they are given.

    The policies of the library parse every value first, and what they decode from an encoded word they may write as
    it is, line breaks included: up to Python 3.13 a subject or file name that looks like one becomes a header.
    """

    def header_store_parse(self, name: str, value: object) -> tuple[str, str]:
        return name, str(value)

    def header_fetch_parse(self, name: str, value: str) -> str:  # noqa: ARG002 - the library's signature
        return value

    def fold(self, name: str, value: str) -> str:
        return f"{name}: {value}{self.linesep}"

    def fold_binary(self, name: str, value: str) -> bytes:
        return self.fold(name, value).encode("ascii")


# 7-bit: every server takes it, and none has to rewrite it.
_POLICY = _Literal(linesep="\r\n", cte_type="7bit", max_line_length=78)


def entity(text: str | None, html: str | None, attachments: Sequence[Attachment]) -> bytes:
    """Return the MIME headers and the body of a message.

    Args:
        text: the plain text; with `html` too, readers choose.
        html: the same as HTML.
        attachments: what goes along.
    """
    message: MIMEPart = EmailMessage(_POLICY)
    if text is None:
        _set_text(message, html or "", "html")
    else:
        _set_text(message, text, "plain")
    if text is not None and html is not None:
        message.make_alternative()
        message.attach(_html(html))
    if attachments:
        message.make_mixed()
        for attachment in attachments:
            message.attach(_file(attachment))
    return message.as_bytes()


def _set_text(part: MIMEPart, text: str, subtype: str) -> None:
    # SMTP permits no NUL, and other controls do not survive every server.
    odd = any(char < " " and char not in _LAYOUT for char in text)
    part.set_content(text, subtype=subtype, charset="utf-8", cte="base64" if odd else None)


def _html(html: str) -> MIMEPart:
    part = MIMEPart(_POLICY)
    _set_text(part, html, "html")
    return part


def _file(attachment: Attachment) -> MIMEPart:
    part = MIMEPart(_POLICY)
    part.set_content(attachment.data, *attachment.type.split("/"), cte="base64")
    part["Content-Disposition"] = f"attachment; {file_parameter(attachment.name)}"
    return part
