"""From nothing to a session that is logged in: connect, encrypt, log in, introduce ourselves."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.mail.endpoint import STARTTLS
from clitool_tools.mail.imap.connection import Connection
from clitool_tools.mail.imap.faults import turned_away
from clitool_tools.mail.imap.login import log_in
from clitool_tools.mail.imap.syntax import quoted
from clitool_tools.mail.wire import dial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.tool import Deadline
    from clitool_tools.mail.account import Account
    from clitool_tools.mail.endpoint import Endpoint


def open_connection(account: Account, deadline: Deadline) -> Connection:
    """Return a connection to the account's IMAP server, logged in.

    Raises:
        ScopeDenied: the account has none (not_configured).
        ExecutionError: unreachable, tls, timeout, connection_lost, login_failed, settings or mail.
    """
    endpoint, credentials = account.require_imap()
    connection = Connection(dial(endpoint, account.tls_ca, deadline))
    try:
        if not _greet(connection, endpoint, account.tls_ca):
            log_in(connection, endpoint, credentials, deadline)
        if b"ID" in connection.capabilities:
            # RFC 2971; NetEase (163.com, 126.com) opens no folder for a program that has not said its name.
            connection.tell(b"ID", b"(" + b" ".join(map(quoted, (b"name", b"clitool", b"vendor", b"clitool"))) + b")")
    except BaseException:
        connection.close()
        raise
    return connection


def _greet(connection: Connection, endpoint: Endpoint, tls_ca: str | None) -> bool:
    """Take the greeting and encrypt, if that is to be done yet; return whether we are logged in already."""
    greeting = connection.greeting()
    if greeting.kind == b"BYE":
        raise turned_away(endpoint, greeting)
    is_known = greeting.kind == b"PREAUTH"
    if endpoint.tls == STARTTLS:
        if is_known:  # no STARTTLS after this; whoever sits between us and the server could say it to keep us from it
            raise ExecutionError(f"{endpoint} lets us in before encryption; set imap_tls: implicit", "tls")
        if not connection.run(b"STARTTLS").ok:
            raise ExecutionError(f"{endpoint} offers no STARTTLS on this port; set imap_tls: implicit", "tls")
        connection.encrypt(tls_ca)
    return is_known
