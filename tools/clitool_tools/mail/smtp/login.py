"""Logging in to a submission server: AUTH PLAIN, LOGIN (RFC 4954) or XOAUTH2."""

from __future__ import annotations

from binascii import b2a_base64

from clitool.errors import ExecutionError
from clitool_tools.mail.credentials import Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from clitool.tool import Deadline
    from clitool_tools.mail.credentials import Credentials, Login
    from clitool_tools.mail.smtp.dialogue import Dialogue, Reply

_GO_ON = 334


def log_in(dialogue: Dialogue, offered: AbstractSet[str], credentials: Credentials, deadline: Deadline) -> None:
    """Log in by the best way that the server offers.

    Args:
        dialogue: with the server; encrypted, or on this machine.
        offered: names of the mechanisms, in capitals.
        credentials: who to be.
        deadline: for the command that prints the secret.

    Raises:
        ExecutionError: `login_failed`; never with a word of the server's, which may repeat the secret.
    """
    login = credentials.login(deadline)
    reply = _authenticate(dialogue, offered, login, credentials.key)
    if not reply.good:
        raise _refusal(dialogue, reply, credentials)


def _authenticate(dialogue: Dialogue, offered: AbstractSet[str], login: Login, key: str) -> Reply:
    if isinstance(login, Token):
        _require("XOAUTH2" in offered, dialogue, f"takes no token (XOAUTH2); set a password instead of {key}")
        return _one_message(dialogue, "XOAUTH2", login.xoauth2())
    if "PLAIN" in offered:
        return _one_message(dialogue, "PLAIN", f"\0{login.username}\0{login.secret}".encode())
    _require("LOGIN" in offered, dialogue, "offers neither AUTH PLAIN nor LOGIN; is this its port for submission?")
    return _two_messages(dialogue, login)


def _one_message(dialogue: Dialogue, mechanism: str, message: bytes) -> Reply:
    reply = dialogue.ask(f"AUTH {mechanism} {_base64(message)}")
    # XOAUTH2 reports its failure as a challenge, which must be answered before the reply comes.
    return dialogue.ask("") if reply.code == _GO_ON else reply


def _two_messages(dialogue: Dialogue, login: Login) -> Reply:
    reply = dialogue.ask("AUTH LOGIN")
    for word in (login.username, login.secret):
        if reply.code != _GO_ON:
            return reply
        reply = dialogue.ask(_base64(word.encode()))
    return reply


def _refusal(dialogue: Dialogue, reply: Reply, credentials: Credentials) -> ExecutionError:
    server = dialogue.wire.endpoint
    if 400 <= reply.code < 500:
        return ExecutionError(f"{server} cannot log anybody in at the moment ({reply.status})", "login_failed")
    if credentials.uses_token:
        hint = f"check username, and that {credentials.key} prints a fresh token"
    elif "5.7.139" in reply.words or "basic authentication is disabled" in reply.words.lower():
        hint = "Microsoft takes no passwords here; set token_command instead"
    else:
        hint = f"check username and {credentials.key}; some providers want a password made for programs"
    return ExecutionError(f"{server} refuses the login ({reply.status}); {hint}", "login_failed")


def _require(holds: bool, dialogue: Dialogue, what: str) -> None:
    if not holds:
        raise ExecutionError(f"{dialogue.wire.endpoint} {what}", "login_failed")


def _base64(message: bytes) -> str:
    return b2a_base64(message, newline=False).decode("ascii")
