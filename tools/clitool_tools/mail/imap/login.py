"""Log in: with a password or, as Microsoft wants it, with a token of OAuth 2."""

from __future__ import annotations

from binascii import b2a_base64

from clitool.errors import ExecutionError
from clitool_tools.mail.credentials import Token
from clitool_tools.mail.imap.syntax import string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.tool import Deadline
    from clitool_tools.mail.credentials import Credentials, Password
    from clitool_tools.mail.endpoint import Endpoint
    from clitool_tools.mail.imap.connection import Answer, Connection

_MICROSOFT = ("outlook.com", "office365.com", "hotmail.com")
_APP_PASSWORDS = ("gmail.com", "googlemail.com", "yahoo.com", "icloud.com", "me.com", "aol.com", "fastmail.com")


def log_in(connection: Connection, endpoint: Endpoint, credentials: Credentials, deadline: Deadline) -> None:
    """Log in, and learn what the server can do for those who are.

    Raises:
        ExecutionError: the server refuses (login_failed), or wants encryption first (tls).
    """
    if not connection.capabilities:
        connection.run(b"CAPABILITY")
    login = credentials.login(deadline)
    _require_way(connection, endpoint, login)
    offered, connection.capabilities = connection.capabilities, frozenset()
    answer = _present(connection, offered, login)
    if not answer.ok:
        raise _refusal(answer, endpoint, credentials)
    if not connection.capabilities:
        connection.run(b"CAPABILITY")


def _require_way(connection: Connection, endpoint: Endpoint, login: Password | Token) -> None:
    """Raise if the server offers no login of this kind; nothing secret is sent to try it."""
    offered = connection.capabilities
    if isinstance(login, Token):
        if b"AUTH=XOAUTH2" not in offered:
            raise ExecutionError(
                f"{endpoint} takes no tokens (XOAUTH2); set password or password_command", "login_failed"
            )
    elif b"LOGINDISABLED" in offered and b"AUTH=PLAIN" not in offered:
        if not connection.wire.encrypted:
            raise ExecutionError(f"{endpoint} takes no password without encryption; set imap_tls: starttls", "tls")
        raise ExecutionError(f"{endpoint} takes no passwords; set token_command", "login_failed")


def _present(connection: Connection, offered: frozenset[bytes], login: Password | Token) -> Answer:
    if isinstance(login, Token):
        return _authenticate(connection, offered, b"XOAUTH2", login.xoauth2())
    is_ascii = login.username.isascii() and login.secret.isascii()
    # LOGIN is what every server knows best; what it cannot carry goes by PLAIN, which is UTF-8 (RFC 4616).
    if b"AUTH=PLAIN" in offered and (not is_ascii or b"LOGINDISABLED" in offered):
        return _authenticate(connection, offered, b"PLAIN", f"\0{login.username}\0{login.secret}".encode())
    return connection.run(b"LOGIN", string(login.username), string(login.secret))


def _authenticate(connection: Connection, offered: frozenset[bytes], mechanism: bytes, message: bytes) -> Answer:
    encoded = b2a_base64(message, newline=False)
    # Coremail (163.com and others) offers SASL-IR and rejects it (github.com/pimalaya/himalaya/issues/729).
    if b"SASL-IR" in offered and b"X-CM-EXT-1" not in offered:
        # What comes instead of an end is the reason of a refusal, which wants an empty answer.
        return connection.run(b"AUTHENTICATE", mechanism, encoded, respond=lambda _challenge: b"")
    answers = iter((encoded,))
    return connection.run(b"AUTHENTICATE", mechanism, respond=lambda _challenge: next(answers, b""))


def _refusal(answer: Answer, endpoint: Endpoint, credentials: Credentials) -> ExecutionError:
    """Return the error, without the server's words: they may repeat what it was told."""
    code = answer.end.code[0]
    if code == b"PRIVACYREQUIRED":
        return ExecutionError(f"{endpoint} wants encryption before a login; set imap_tls: starttls", "tls")
    if code in (b"UNAVAILABLE", b"INUSE", b"LIMIT", b"SERVERBUG"):
        return ExecutionError(f"{endpoint} cannot log anybody in at the moment; try again later", "mail")
    if credentials.uses_token:
        what = f"the token that {credentials.key} prints; has it expired, is it for this username, and for IMAP?"
    else:
        what = f"the user name or password; check username and {credentials.key}{_hint(endpoint.host.lower())}"
    return ExecutionError(f"{endpoint} refuses {what}", "login_failed")


def _hint(host: str) -> str:
    def belongs_to(domains: tuple[str, ...]) -> bool:
        return any(f".{host}".endswith(f".{domain}") for domain in domains)

    if belongs_to(_MICROSOFT):
        return ". Microsoft takes no passwords for IMAP any more: set token_command"
    if belongs_to(_APP_PASSWORDS):
        return ". This provider wants a password made for this app, not that of the account"
    return ""
