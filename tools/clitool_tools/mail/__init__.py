"""The mail family: read, file, draft and send on IMAP and SMTP servers."""

from __future__ import annotations

from clitool.family import Family, Finding
from clitool_tools.mail.servers import Servers
from clitool_tools.mail.settings import SETTINGS_SCHEMA, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clitool.tool import Deadline
    from clitool_tools.mail.account import Account


def connect(accounts: Mapping[str, Account], name: str, deadline: Deadline) -> Servers:
    """Return what one of a client's accounts can reach; each server is asked at the first use."""
    return Servers(accounts[name], deadline)


def check(accounts: Mapping[str, Account], probe: bool) -> Iterator[Finding]:
    """Yield the findings of `clitool check` about all accounts of a client."""
    from clitool_tools.mail.inspection import findings

    for name, account in accounts.items():
        for finding in findings(account, f"connections.{name}." if name else "", probe=probe):
            yield Finding(finding.level, finding.key, f"connection {name!r}: {finding.message}") if name else finding


family = Family(
    name="mail",
    tools={
        "mail_read_inbox": "clitool_tools.mail.read_inbox:MailReadInbox",
        "mail_read_message": "clitool_tools.mail.read_message:MailReadMessage",
        "mail_list_folders": "clitool_tools.mail.list_folders:MailListFolders",
        "mail_save_attachment": "clitool_tools.mail.save_attachment:MailSaveAttachment",
        "mail_mark_read": "clitool_tools.mail.mark_read:MailMarkRead",
        "mail_draft": "clitool_tools.mail.drafting:MailDraft",
        "mail_send": "clitool_tools.mail.sending:MailSend",
    },
    settings_schema=SETTINGS_SCHEMA,
    settings_required=True,
    parse=parse,
    connect=connect,
    check=check,
)
