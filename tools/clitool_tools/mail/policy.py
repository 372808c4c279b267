"""Which account a call is about, and what several tools take; without effect."""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool_tools.mail.account import Account

CONNECTION: dict[str, Any] = {
    "type": "string",
    "maxLength": 64,
    "description": "Which account; needed only if the client has several.",
}


FOLDER: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1000,
    "default": "INBOX",
    "description": "The folder, called as mail_list_folders calls it.",
}
UID: dict[str, Any] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 2**32 - 1,
    "description": "The message: its uid in mail_read_inbox for the same folder.",
}


def choose_folder(accounts: Mapping[str, Account], connection: str | None, folder: str) -> dict[str, str]:
    """Return the account and folder that a call means, for the audit.

    Raises:
        InvalidParams: no such account (connection_unknown), or no folder can be called so (bad_mailbox).
        ScopeDenied: the account has no IMAP server (not_configured).
    """
    from clitool_tools.mail.imap.syntax import mailbox_name

    account = choose(accounts, connection)
    account.require_imap()
    mailbox_name(folder)
    return {"connection": account.name, "folder": folder}


def choose(accounts: Mapping[str, Account], name: str | None) -> Account:
    """Return the account that a call means; raises `InvalidParams` (connection_unknown) with the choices."""
    if name is None and len(accounts) == 1:
        return next(iter(accounts.values()))
    if name and name in accounts:
        return accounts[name]
    raise InvalidParams(_unknown(accounts, name), "connection_unknown")


def _unknown(accounts: Mapping[str, Account], name: str | None) -> str:
    if "" in accounts:
        return f"there is no connection {name or ''!r}; this client has one without a name: leave connection out"
    known = ", ".join(sorted(accounts)[:20])
    if name is None:
        return f"say which connection: {known}"
    return f"there is no connection {name!r}; there are {known}"
