"""What a caller asks to send or to draft: the parameters that both tools take, judged without effect."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.mail.address import parse
from clitool_tools.mail.policy import CONNECTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from clitool_tools.mail.account import Account
    from clitool_tools.mail.address import Address
    from clitool_tools.mail.outgoing.message import Message
    from clitool_tools.mail.servers import Servers


def _addresses(which: str) -> dict[str, Any]:
    return {
        "type": ["array", "string"],
        "items": {"type": "string", "maxLength": 600},
        "maxItems": 1000,
        "maxLength": 600,
        "description": f"{which}: a list of ann@example.org or Ann <ann@example.org>; a string is one of them.",
    }


PROPERTIES: Mapping[str, Any] = {
    "to": _addresses("Whom it is for"),
    "cc": _addresses("Who gets a copy"),
    "bcc": _addresses("Who gets a copy that the others do not see"),
    "subject": {"type": "string", "maxLength": 1000, "description": "One line, taken literally."},
    "text": {"type": "string", "description": "The message as plain text; text, html or both are needed."},
    "html": {"type": "string", "description": "The message as HTML; with text too, readers choose."},
    "attachments": {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "maxItems": 100,
        "description": "Paths of files in the folder for attachments.",
    },
    "in_reply_to": {
        "type": ["array", "string"],
        "items": {"type": "string", "maxLength": 1000},
        "maxItems": 100,
        "maxLength": 20_000,
        "description": "The message_id, in its angle brackets, of the message that this one answers; or a list of the "
        "whole thread's, the answered one last.",
    },
    "idempotency_key": {
        "type": "string",
        "minLength": 1,
        "maxLength": 200,
        "description": "A key of your own for this message: the same call made again within 30 days returns the first "
        "answer and sends nothing. Use one whenever a call may be repeated.",
    },
    "dry_run": {"type": "boolean", "default": False, "description": "Do everything but the last step."},
    "connection": CONNECTION,
}


def read_message(
    account: Account,
    *,
    subject: str,
    to: Sequence[str] | str | None = None,
    cc: Sequence[str] | str | None = None,
    bcc: Sequence[str] | str | None = None,
    text: str | None = None,
    html: str | None = None,
    in_reply_to: Sequence[str] | str | None = None,
    **_others: object,
) -> Message:
    """Return the message that these parameters describe, without its attachments.

    Raises:
        ScopeDenied: `not_configured` if the account has no address to write from.
        InvalidParams: `bad_address`, `bad_header`, `too_large`, or `schema` if there is no content.
    """
    from clitool_tools.mail.outgoing.header import message_ids, require_text
    from clitool_tools.mail.outgoing.message import Message

    require_text(subject, "subject")
    if text is None and html is None:
        raise InvalidParams("give the message as text, as html or both", "schema")
    found = Message(
        account.require_sender(),
        to=_parsed(to),
        cc=_parsed(cc),
        bcc=_parsed(bcc),
        subject=subject,
        text=text,
        html=html,
        references=() if in_reply_to in (None, []) else message_ids(" ".join(_listed(in_reply_to))),
    )
    number = len(found.recipients)
    if number > account.max_recipients:
        raise InvalidParams(
            f"{number} recipients are more than max_recipients permits ({account.max_recipients})", "too_large"
        )
    return found


def complete_message(servers: Servers, attachments: Sequence[str] | None, **params: Any) -> Message:  # noqa: ANN401 - as `read_message`
    """Return the message with its attachments read.

    Raises:
        ClitoolError: as `read_message` and `clitool_tools.mail.outgoing.attachments`.
    """
    account = servers.account
    found = read_message(account, **params)
    if attachments:
        from clitool_tools.mail.outgoing.attachments import locate_attachments, read_attachments

        locations = locate_attachments(account, attachments)
        found.attachments = read_attachments(servers.attachments, locations, account.max_message_bytes)
    return found


def require_size(account: Account, data: bytes) -> None:
    """Raise `InvalidParams` (too_large) if the finished message has more bytes than the account may send."""
    if len(data) > account.max_message_bytes:
        limit = account.max_message_bytes
        raise InvalidParams(
            f"the message has {len(data)} bytes, more than max_message_bytes permits ({limit})", "too_large"
        )


def stamp(message: Message) -> tuple[str, datetime]:
    """Return a message id that nobody can guess, and the time in whole seconds."""
    import os
    from datetime import UTC, datetime

    return f"<{os.urandom(16).hex()}@{message.sender.domain}>", datetime.now(UTC).replace(microsecond=0)


def _parsed(given: Sequence[str] | str | None) -> list[Address]:
    return [parse(text) for text in _listed(given)]


def _listed(given: Sequence[str] | str | None) -> Sequence[str]:
    if given is None:
        return ()
    return [given] if isinstance(given, str) else given
