"""The header of a message as an answer shows it."""

from __future__ import annotations

from clitool_tools.mail.headers import MOST_MAILBOXES, shortened
from clitool_tools.mail.invisible import visible_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool_tools.mail.address_list import Mailbox
    from clitool_tools.mail.headers import Headers

_PEOPLE = {"from": "from", "sender": "sender", "reply-to": "reply_to", "to": "to", "cc": "cc", "bcc": "bcc"}
_MOST_FIELDS = 500


def header_texts(headers: Headers) -> tuple[dict[str, Any], list[str]]:
    """Return what people want to know of a header, and what they should know about it, in no words of the sender."""
    people = {key: headers.mailboxes(name, MOST_MAILBOXES + 1) for name, key in _PEOPLE.items()}
    texts: dict[str, Any] = {key: [_mailbox(each) for each in found[:MOST_MAILBOXES]] for key, found in people.items()}
    texts["date"] = headers.date()
    texts["subject"] = headers.text("subject")
    texts["message_id"] = next(iter(headers.ids("message-id")), None) or headers.text("message-id")
    texts["in_reply_to"] = headers.ids("in-reply-to")
    texts["references"] = headers.ids("references")
    return texts, [*_doubts(headers), *_notes_on(people)]


def all_fields(headers: Headers, most: int) -> tuple[list[dict[str, str]], bool]:
    """Return every field in its order, decoded, up to `most` characters; and whether there are more."""
    found: list[dict[str, str]] = []
    for name, raw in headers.fields:
        field = {"name": shortened(visible_line(name)), "value": headers.decoded(raw)}
        most -= len(field["name"]) + len(field["value"])
        if most < 0 or len(found) == _MOST_FIELDS:
            return found, True
        found.append(field)
    return found, False


def _mailbox(mailbox: Mailbox) -> dict[str, str]:
    return {"name": shortened(mailbox.name), "address": shortened(mailbox.address)}


def _doubts(headers: Headers) -> list[str]:
    notes = [
        f"there are {headers.count(name)} fields {name!r} where one is allowed; the first one is shown"
        for name in ("from", "to", "cc", "subject", "date")
        if headers.count(name) > 1
    ]
    if headers.date() is None:
        notes.append("its date is missing or is none")
    return notes


def _notes_on(people: dict[str, list[Mailbox]]) -> list[str]:
    poses = [
        f"a name in {key!r} looks like an address, and not like the one that mail goes to; trust `address` only"
        for key, found in people.items()
        if any(mailbox.poses for mailbox in found)
    ]
    cut = [
        f"there are more than {MOST_MAILBOXES} people in {key!r}; the first ones are shown"
        for key, found in people.items()
        if len(found) > MOST_MAILBOXES
    ]
    return poses + cut
