"""File a message as a draft, for a person to send."""

from __future__ import annotations

from clitool_tools.mail.outgoing.request import PROPERTIES
from clitool_tools.mail.policy import choose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from clitool.tool import Context


class MailDraft:
    """The tool `mail_draft`."""

    name: ClassVar = "mail_draft"
    description: ClassVar = (
        "Write a mail and leave it in the folder for drafts, where a person reads and sends it; nothing is sent now. It"
        " takes what mail_send takes. Any recipient may be named, also none: `not_allowed` lists those that mail_send"
        " would refuse. The draft has the bcc addresses in its header."
    )
    required_scope: ClassVar = "mail:draft"
    effect: ClassVar = "write"
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
        """Return what would be filed, without effect; whether the attachments exist is not looked at."""
        from clitool_tools.mail.outgoing.attachments import locate_attachments
        from clitool_tools.mail.outgoing.request import read_message

        account = choose(self.context.settings, connection)
        account.require_imap()
        recipients = read_message(account, subject=subject, **others).recipients
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
        """Return the draft's id, where it is, and which recipients are not on the list."""
        from clitool_tools.mail.outgoing.draft import Draft
        from clitool_tools.mail.outgoing.ledger import find_entry
        from clitool_tools.mail.outgoing.request import complete_message

        given = {"to": to, "cc": cc, "bcc": bcc, "text": text, "html": html, "in_reply_to": in_reply_to}
        decided = self.decide(subject=subject, attachments=attachments, dry_run=dry_run, connection=connection, **given)
        self.context.touched(**decided)
        servers = self.context.connection(choose(self.context.settings, connection).name)
        message = complete_message(servers, attachments, subject=subject, **given)
        if dry_run:
            return Draft(self.context, servers, message).rehearse()
        entry = find_entry(self.context, f"draft {servers.account.name}", idempotency_key, message)
        return Draft(self.context, servers, message).file(entry)
