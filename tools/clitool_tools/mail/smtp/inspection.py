"""What `clitool check --connect` says about an account's SMTP server; nothing is sent."""

from __future__ import annotations

from clitool.errors import ClitoolError
from clitool.family import Finding
from clitool_tools.mail.encryption import encryption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool.tool import Deadline
    from clitool_tools.mail.account import Account
    from clitool_tools.mail.smtp.session import Session

_KEYS = {"tls": "smtp_tls", "settings": "tls_ca"}


def findings(account: Account, prefix: str, deadline: Deadline) -> Iterator[Finding]:
    """Yield what there is to say about reaching, encryption, abilities and the sender.

    Args:
        account: one with an SMTP server.
        prefix: of the keys.
        deadline: ends every wait.
    """
    from clitool_tools.mail.smtp.session import Session

    try:
        session = Session(account, deadline)
    except ClitoolError as error:
        yield Finding("error", prefix + _key(account, error), str(error))
        return
    try:
        yield Finding("ok", prefix + "smtp_host", f"{account.require_smtp()[0]} lets this account in")
        yield encryption(session.wire, prefix)
        yield _abilities(session, prefix)
        yield from _sender(session, account, prefix)
    except ClitoolError as error:
        yield Finding("error", prefix + "smtp_host", str(error))
    finally:
        session.close()


def _key(account: Account, error: ClitoolError) -> str:
    if error.reason == "login_failed":
        return account.require_smtp()[1].key
    return _KEYS.get(error.reason, "smtp_host")


def _abilities(session: Session, prefix: str) -> Finding:
    limit = (
        f"messages of {session.most_bytes} bytes" if session.most_bytes else "messages of a size that it does not tell"
    )
    letters = "addresses" if "SMTPUTF8" in session.features else "no addresses"
    message = f"the SMTP server takes {limit}, and {letters} with letters beyond ASCII before the '@'"
    return Finding("ok", prefix + "smtp_host", message)


def _sender(session: Session, account: Account, prefix: str) -> Iterator[Finding]:
    if account.sender is None:
        return  # a warning has said so
    reply = session.try_sender(account.sender)
    if reply.good:
        yield Finding("ok", prefix + "from", f"the SMTP server takes mail from {str(account.sender)!r}")
    else:
        yield Finding("error", prefix + "from", f"the SMTP server takes no mail from {str(account.sender)!r}: {reply}")
