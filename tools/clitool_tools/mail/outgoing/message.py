"""One message that a caller wants written, and the bytes that it becomes."""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from datetime import datetime

    from clitool_tools.mail.address import Address
    from clitool_tools.mail.outgoing.attachments import Attachment


class Message:
    """What a message says and to whom; its texts are checked, its recipients parsed.

    Attributes:
        sender: whom it is from; the operator's choice.
        to, cc, bcc: mailboxes; those of `bcc` are in no header of a message that is sent.
        subject: meant literally.
        text, html: the content; either may be None.
        references: message ids of what it answers, the nearest one last.
        attachments: read files.
    """

    __slots__ = ("attachments", "bcc", "cc", "html", "references", "sender", "subject", "text", "to")

    def __init__(
        self,
        sender: Address,
        *,
        to: Sequence[Address],
        cc: Sequence[Address],
        bcc: Sequence[Address],
        subject: str,
        text: str | None,
        html: str | None,
        references: Sequence[str],
    ) -> None:
        self.sender = sender
        self.to = to
        self.cc = cc
        self.bcc = bcc
        self.subject = subject
        self.text = text
        self.html = html
        self.references = references
        self.attachments: Sequence[Attachment] = ()

    @property
    def recipients(self) -> list[Address]:
        """Every mailbox once, in the order of to, cc and bcc: the envelope."""
        found: dict[Hashable, Address] = {}
        for address in (*self.to, *self.cc, *self.bcc):
            found.setdefault(address.key, address)
        return list(found.values())

    @property
    def needs_smtputf8(self) -> bool:
        """Whether the header or the envelope leaves ASCII, so that only servers with SMTPUTF8 can take it."""
        return any(address.needs_smtputf8 for address in (self.sender, *self.recipients))

    def write(self, message_id: str, date: datetime, *, show_bcc: bool = False) -> bytes:
        """Return the message with CRLF line ends, parsed again and found to be what is meant.

        Args:
            message_id: with its angle brackets.
            date: with a time zone.
            show_bcc: for a draft, whose sender must know them.

        Raises:
            InvalidParams: `bad_header` or `bad_encoding` for a text that cannot be written.
        """
        from clitool_tools.mail.outgoing.content import entity
        from clitool_tools.mail.outgoing.verification import require_meant

        fields = self._fields(message_id, date, show_bcc=show_bcc)
        try:
            content = entity(self.text, self.html, self.attachments)
        except UnicodeEncodeError as error:
            raise InvalidParams("the text of the message contains a lone surrogate", "bad_encoding") from error
        data = "".join(fields.values()).encode() + content
        require_meant(data, list(fields), self, show_bcc=show_bcc)
        return data

    def _fields(self, message_id: str, date: datetime, *, show_bcc: bool) -> dict[str, str]:
        from email.utils import format_datetime

        from clitool_tools.mail.outgoing.header import address_field, id_field, text_field

        fields = {"Date": f"Date: {format_datetime(date)}\r\n", "From": address_field("From", [self.sender])}
        for name, addresses in (("To", self.to), ("Cc", self.cc), ("Bcc", self.bcc if show_bcc else ())):
            if addresses:
                fields[name] = address_field(name, addresses)
        fields["Subject"] = text_field("Subject", self.subject)
        fields["Message-ID"] = id_field("Message-ID", [message_id])
        if self.references:
            fields["In-Reply-To"] = id_field("In-Reply-To", self.references[-1:])
            fields["References"] = id_field("References", self.references)
        return fields
