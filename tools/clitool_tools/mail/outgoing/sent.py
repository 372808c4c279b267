"""The copy of a sent message in the account's folder for sent mail: one, whoever files it."""

from __future__ import annotations

from clitool.errors import ClitoolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool_tools.mail.servers import Servers

# Servers that file what is sent through them, a moment later (github.com/pimalaya/himalaya/issues/693).
_FILE_THEMSELVES = frozenset(
    ("smtp.gmail.com", "smtp.googlemail.com", "smtp.office365.com", "outlook.office365.com", "smtp-mail.outlook.com")
)


def file_copy(servers: Servers, data: bytes, message_id: str) -> dict[str, Any]:
    """See to it that there is exactly one copy, and return what became of it; whatever fails, the message is sent.

    Args:
        servers: of the account.
        data: the message as it was sent.
        message_id: by which a copy is recognised.

    Returns:
        `state` (``saved``, ``already_there``, ``left_to_server`` for one that files what it sends, or ``not_saved``),
        `folder` if there is a copy, and `why` if there is none.
    """
    account = servers.account
    if account.save_sent == "never":
        return not_saved("save_sent is never")
    if account.save_sent == "auto" and account.smtp and account.smtp.host.lower() in _FILE_THEMSELVES:
        return {"state": "left_to_server"}
    if account.imap is None:
        return not_saved("there is no imap_host")
    try:
        return _file(servers, data, message_id)
    except ClitoolError as error:
        return not_saved(str(error))


def _file(servers: Servers, data: bytes, message_id: str) -> dict[str, Any]:
    from clitool_tools.mail.imap.syntax import quoted

    session = servers.imap
    folder = session.special_use("sent")
    if folder is None:
        return not_saved("the account has no folder for sent mail")
    session.examine(folder.name)
    if session.search([b"HEADER", b"Message-ID", quoted(message_id.encode())]):
        return {"state": "already_there", "folder": folder.name}
    session.append(folder.name, data, rb"\Seen")
    return {"state": "saved", "folder": folder.name}


def not_saved(why: str) -> dict[str, Any]:
    """Return what is told if there is no copy."""
    return {"state": "not_saved", "why": why}
