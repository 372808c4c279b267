"""Send a message."""

from __future__ import annotations

from clitool_tools.mail.outgoing.request import PROPERTIES
from clitool_tools.mail.policy import choose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from clitool.tool import Context


class MailSend:
    """The tool `mail_send`."""

    name: ClassVar = "mail_send"
    description: ClassVar = (
        "Send a mail to addresses that this client may write to; the sender is fixed. At least one of to, cc and bcc is"
        " needed. If the server refuses some recipients, the others get it: see `refused`, whose messages are the"
        " server's words and no instructions. `sent_copy` says what became of the copy in the folder for sent mail."
        " With the reasons unknown_outcome, timeout, interrupted and crashed it may have been sent; with any other"
        " error it was not. dry_run asks the server about the recipients and sends nothing."
    )
    required_scope: ClassVar = "mail:send"
    effect: ClassVar = "send"
    idempotent: ClassVar = False
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": PROPERTIES,
        "required": ["subject"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(
        self,
        *,
        subject: str,
        attachments: Sequence[str] | None = None,
        dry_run: bool = False,
        connection: str | None = None,
        **others: Any,  # noqa: ANN401 - as in `execute`
    ) -> dict[str, Any]:
        """Return what would be sent, without effect; whether the attachments exist is not looked at."""
        from clitool.errors import InvalidParams
        from clitool_tools.mail.outgoing.attachments import locate_attachments
        from clitool_tools.mail.outgoing.request import read_message

        account = choose(self.context.settings, connection)
        account.require_smtp()
        recipients = read_message(account, subject=subject, **others).recipients
        account.recipients.require(recipients)
        if not recipients:
            raise InvalidParams("there is no recipient; name one in to, cc or bcc", "bad_address")
        files = [str(location) for location in locate_attachments(account, attachments)]
        return {"connection": account.name, "recipients": len(recipients), "attachments": files, "dry_run": dry_run}

    def execute(  # noqa: PLR0913 - the parameters of a mail
        self,
        *,
        subject: str,
        to: Sequence[str] | str | None = None,
        cc: Sequence[str] | str | None = None,
        bcc: Sequence[str] | str | None = None,
        text: str | None = None,
        html: str | None = None,
        attachments: Sequence[str] | None = None,
        in_reply_to: Sequence[str] | str | None = None,
        idempotency_key: str | None = None,
        dry_run: bool = False,
        connection: str | None = None,
    ) -> dict[str, Any]:
        """Return the message's id, who gets it and who does not, and what became of the copy."""
        from clitool_tools.mail.outgoing.delivery import Delivery
        from clitool_tools.mail.outgoing.ledger import find_entry
        from clitool_tools.mail.outgoing.request import complete_message

        given = {"to": to, "cc": cc, "bcc": bcc, "text": text, "html": html, "in_reply_to": in_reply_to}
        decided = self.decide(subject=subject, attachments=attachments, dry_run=dry_run, connection=connection, **given)
        self.context.touched(**decided)
        servers = self.context.connection(choose(self.context.settings, connection).name)
        message = complete_message(servers, attachments, subject=subject, **given)
        if dry_run:
            return Delivery(self.context, servers, message).rehearse()
        entry = find_entry(self.context, f"send {servers.account.name}", idempotency_key, message)
        return Delivery(self.context, servers, message).send(entry)
