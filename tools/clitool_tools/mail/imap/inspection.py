"""What `clitool check --connect` says about an account's IMAP server; nothing is changed there."""

from __future__ import annotations

from clitool.errors import ClitoolError
from clitool.family import Finding
from clitool_tools.mail.encryption import encryption
from clitool_tools.mail.imap.response import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool.tool import Deadline
    from clitool_tools.mail.account import Account
    from clitool_tools.mail.imap.connection import Connection
    from clitool_tools.mail.imap.response import Value
    from clitool_tools.mail.imap.session import Session

_NEARLY_FULL = 90  # percent
# What we make use of, and what its absence means.
_USED = {
    b"ESEARCH": "large folders are searched more slowly",
    b"LIST-STATUS": "folders are counted one by one",
    b"UIDPLUS": "filed messages have no uid",
}
_WORTH_KNOWING = frozenset((*_USED, b"SPECIAL-USE", b"QUOTA", b"ID", b"CONDSTORE", b"X-GM-EXT-1"))
_KEYS = {"login_failed": "username", "tls": "imap_tls", "settings": "tls_ca"}


def findings(account: Account, prefix: str, deadline: Deadline) -> Iterator[Finding]:
    """Yield what there is to say about reaching, encryption, abilities, quota and folders.

    Args:
        account: one with an IMAP server.
        prefix: of the keys.
        deadline: ends every wait.
    """
    from clitool_tools.mail.imap.session import Session

    try:
        session = Session(account, deadline)
    except ClitoolError as error:
        yield Finding("error", prefix + _KEYS.get(error.reason, "imap_host"), str(error))
        return
    try:
        yield from _about(session, account, prefix)
    except ClitoolError as error:
        yield Finding("error", prefix + "imap_host", str(error))
    finally:
        session.close()


def _about(session: Session, account: Account, prefix: str) -> Iterator[Finding]:
    selected = session.examine("INBOX")
    message = f"{account.require_imap()[0]} lets this account in; its inbox holds {selected.exists} messages"
    yield Finding("ok", prefix + "imap_host", message)
    yield encryption(session.connection.wire, prefix)
    yield _abilities(session.connection, prefix)
    if b"QUOTA" in session.connection.capabilities:
        yield from _quota(session.connection, prefix)
    yield from _folders(session, prefix)


def _abilities(connection: Connection, prefix: str) -> Finding:
    offered = sorted(word.decode() for word in connection.capabilities & _WORTH_KNOWING)
    missing = (f"no {word.decode()}: {what}" for word, what in _USED.items() if word not in connection.capabilities)
    message = "; ".join((f"the IMAP server offers {' '.join(offered) or 'nothing beyond IMAP4rev1'}", *missing))
    return Finding("ok", prefix + "imap_host", message)


def _quota(connection: Connection, prefix: str) -> Iterator[Finding]:
    for response in connection.run(b"GETQUOTAROOT", b"INBOX").of(b"QUOTA"):
        resources = response.values()[-1:]
        yield from _usage(resources[0] if resources and isinstance(resources[0], list) else [], prefix)


def _usage(resources: list[Value], prefix: str) -> Iterator[Finding]:
    for kind, *numbers in zip(resources[::3], resources[1::3], resources[2::3], strict=False):
        used, limit = map(number, numbers)
        if isinstance(kind, bytes) and kind.upper() == b"STORAGE" and used is not None and limit:
            percent = 100 * used // limit
            level = "warning" if percent >= _NEARLY_FULL else "ok"
            message = f"the mailbox is {percent} % full: {used // 1024} of {limit // 1024} MiB"
            yield Finding(level, prefix + "imap_host", message)


def _folders(session: Session, prefix: str) -> Iterator[Finding]:
    from clitool_tools.mail.imap.folders import by_role

    listed = session.folders()
    for role, what, tool in (("sent", "sent mail", "mail_send"), ("drafts", "drafts", "mail_draft")):
        folder = by_role(listed, role)
        if folder is None:
            message = f"the IMAP server has no folder for {what}, so {tool} cannot file any"
            yield Finding("warning", prefix + "imap_host", message)
        else:
            yield Finding("ok", prefix + "imap_host", f"the folder for {what} is {folder.name!r}")
