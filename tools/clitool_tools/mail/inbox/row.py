"""One message in a list: who, what, when, without its content."""

from __future__ import annotations

from clitool_tools.mail.dates import iso
from clitool_tools.mail.headers import Headers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool_tools.mail.imap.fetched import Message

HEADER = b"BODY.PEEK[HEADER.FIELDS (DATE FROM TO SUBJECT)]"
ITEMS = (b"FLAGS", b"INTERNALDATE", b"RFC822.SIZE", HEADER)
STRUCTURE = b"BODYSTRUCTURE"
_MOST_MAILBOXES = 10
_MOST_SUBJECT, _MOST_NAME, _MOST_ADDRESS = 500, 100, 320  # characters


def row(uid: int, message: Message) -> dict[str, Any]:
    """Return what the list says about a message; what is unknown is null, so that no message ever breaks a list.

    Args:
        uid: its number.
        message: with `ITEMS` and `STRUCTURE`, as far as the server gave them.
    """
    structure = message.structure
    block = message.body("HEADER.FIELDS")
    headers = Headers(block or b"", structure.text_charset if structure else "")
    received = iso(message.internal_date)
    return {
        "uid": uid,
        "date": headers.date() or received,
        "received": received,
        "from": _people(headers, "from"),
        "to": _people(headers, "to"),
        "subject": None if block is None else _cut(headers.text("subject") or "", _MOST_SUBJECT),
        "seen": message.has_flag(b"\\Seen"),
        "answered": message.has_flag(b"\\Answered"),
        "flagged": message.has_flag(b"\\Flagged"),
        "size": message.size,
        "has_attachments": structure and any(part.is_attachment for part in structure.leaves()),
    }


def _people(headers: Headers, name: str) -> list[dict[str, str]]:
    shown = headers.mailboxes(name)[:_MOST_MAILBOXES]
    return [{"name": _cut(each.name, _MOST_NAME), "address": _cut(each.address, _MOST_ADDRESS)} for each in shown]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"
