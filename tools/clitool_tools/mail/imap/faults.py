"""What a server's refusal means, in one sentence that says what to set or do."""

from __future__ import annotations

from clitool.errors import ClitoolError, ExecutionError, InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.mail.endpoint import Endpoint
    from clitool_tools.mail.imap.connection import Answer
    from clitool_tools.mail.imap.response import Response

_MOST_TEXT = 200
# RFC 5530 and RFC 9208; what stands behind the sentence's subject, and the reason.
_CODES: dict[bytes, tuple[str, str]] = {
    b"OVERQUOTA": ("has no room left in the mailbox; delete mail or raise the quota", "no_space"),
    b"NOPERM": ("does not let this account", "permission"),
    b"NONEXISTENT": ("knows no such folder; mail_list_folders shows the names", "not_found"),
    b"TRYCREATE": ("knows no such folder; mail_list_folders shows the names", "not_found"),
    b"INUSE": ("says that the folder is in use elsewhere; try again", "locked"),
    b"UNAVAILABLE": ("has trouble inside; try again later", "mail"),
    b"SERVERBUG": ("has trouble inside; try again later", "mail"),
}


def refused(endpoint: Endpoint, answer: Answer, doing: str) -> ClitoolError:
    """Return the error for a command that the server answered with NO or BAD.

    Args:
        endpoint: the server.
        answer: its answer.
        doing: what was to be done: ``open the folder``.
    """
    code = answer.end.code[0]
    if code == b"TOOBIG":
        return InvalidParams(f"{endpoint} takes no message of this size", "too_large")
    if code == b"NOPERM":
        return ExecutionError(f"{endpoint} does not let this account {doing}", "permission")
    if code in _CODES:
        sentence, reason = _CODES[code]
        return ExecutionError(f"{endpoint} {sentence}", reason)
    if "unsafe login" in answer.end.text.lower():  # NetEase (163.com, 126.com), although it was sent our ID
        message = f"{endpoint} trusts this program not yet; allow IMAP clients in the settings of the account there"
        return ExecutionError(message, "login_failed")
    return ExecutionError(f"{endpoint} refuses to {doing}{_said(answer.end)}", "mail")


def turned_away(endpoint: Endpoint, bye: Response) -> ExecutionError:
    """Return the error for a server that says goodbye instead of hello."""
    return ExecutionError(f"{endpoint} takes no connections now{_said(bye)}; try again later", "unreachable")


def _said(response: Response) -> str:
    """Return the server's own words, bounded, on one line; never about a login, which they might repeat."""
    text = "".join(char if char.isprintable() else " " for char in response.text[:_MOST_TEXT])
    return f", saying: {text}" if text.strip() else ""
