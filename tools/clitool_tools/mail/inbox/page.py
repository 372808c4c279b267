"""One page of a folder, newest first, in a number of round trips that does not grow with the folder."""

from __future__ import annotations

from bisect import bisect_left

from clitool.errors import ExecutionError
from clitool_tools.mail.imap.fetched import Message
from clitool_tools.mail.imap.search import CharsetRefused
from clitool_tools.mail.inbox.row import HEADER, ITEMS, STRUCTURE, row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from clitool_tools.mail.imap.selected import Selected
    from clitool_tools.mail.imap.session import Session
    from clitool_tools.mail.inbox.query import Query

_KEPT_HEADER = 65_536  # bytes; there are subjects of megabytes
_LOOKED_AT = 2000  # messages in one call, where we must look for ourselves; a cursor goes on
_LOOKED_AT_ONCE = 500


class Page:
    """Messages that fit.

    Attributes:
        rows: see `clitool_tools.mail.inbox.row`.
        total: how many messages of the folder fit; None if that is unknown.
        last: the UID behind which the next page begins; None if there is none.
    """

    __slots__ = ("last", "rows", "total")

    def __init__(self, rows: list[dict[str, Any]], total: int | None, last: int | None) -> None:
        self.rows = rows
        self.total = total
        self.last = last


def page(session: Session, selected: Selected, query: Query, limit: int, behind: int | None) -> Page:
    """Return the messages of the open folder that fit, the last to arrive first.

    Args:
        session: the folder is open in it.
        selected: the folder.
        query: which messages.
        limit: how many.
        behind: only messages with a smaller UID; None for the first page.
    """
    criteria = query.criteria()
    newest = None if criteria or behind is not None else _newest(session, selected, limit)
    if newest is not None:
        return newest
    try:
        uids = session.search(criteria)
    except CharsetRefused:
        return _looked_for(session, query, limit, behind)
    older = uids if behind is None else uids[: bisect_left(uids, behind)]
    chosen = older[-limit:][::-1]
    return Page(_rows(session, chosen), len(uids), chosen[-1] if len(older) > limit else None)


def _newest(session: Session, selected: Selected, limit: int) -> Page | None:
    """Return the first page of all messages, which needs no search; None if the server does not give all of it."""
    number = min(limit, selected.exists)
    try:
        found = session.fetch_last(selected, number, *ITEMS, STRUCTURE, keep=_KEPT_HEADER) if number else {}
    except ExecutionError as error:
        if error.reason != "mail":
            raise
        return None
    if len(found) != number or any(message.body("HEADER.FIELDS") is None for message in found.values()):
        return None
    uids = sorted(found, reverse=True)
    return Page([row(uid, found[uid]) for uid in uids], selected.exists, uids[-1] if selected.exists > number else None)


def _looked_for(session: Session, query: Query, limit: int, behind: int | None) -> Page:
    """Return a page from a server that searches for ASCII only: look for the other terms in the headers.

    Without the charset the server might find nothing and say so, which would be a wrong answer.
    """
    terms = {where: term for where, term in query.terms.items() if not term.isascii()}
    if "text" in terms:
        message = "this mail server searches for ASCII only; leave text out, or look for a part of it that is ASCII"
        raise ExecutionError(message, "mail")
    uids = session.search(query.criteria(ascii_only=True))
    older = (uids if behind is None else uids[: bisect_left(uids, behind)])[::-1]
    chosen: list[int] = []
    for start in range(0, min(len(older), _LOOKED_AT), _LOOKED_AT_ONCE):
        chunk = older[start : min(start + _LOOKED_AT_ONCE, _LOOKED_AT)]
        found = session.fetch(chunk, HEADER, keep=_KEPT_HEADER)
        chosen += (uid for uid in chunk if uid in found and _fits(found[uid], terms))
        if len(chosen) > limit:
            return Page(_rows(session, chosen[:limit]), None, chosen[limit - 1])
    return Page(_rows(session, chosen), None, older[_LOOKED_AT - 1] if len(older) > _LOOKED_AT else None)


def _fits(message: Message, terms: Mapping[str, str]) -> bool:
    from clitool_tools.mail.headers import Headers

    headers = Headers(message.body("HEADER.FIELDS") or b"")
    people = " ".join(f"{each.name} <{each.address}>" for each in headers.mailboxes("from"))
    texts = {"sender": people, "subject": headers.text("subject") or ""}
    return all(_folded(term) in _folded(texts[where]) for where, term in terms.items())


def _folded(text: str) -> str:
    from unicodedata import normalize

    return normalize("NFKC", text).casefold()


def _rows(session: Session, uids: Sequence[int]) -> list[dict[str, Any]]:
    if not uids:
        return []
    try:
        found = session.fetch(uids, *ITEMS, STRUCTURE, keep=_KEPT_HEADER)
    except ExecutionError as error:
        if error.reason != "mail":
            raise
        found = session.fetch(uids, *ITEMS, keep=_KEPT_HEADER)  # one odd message; the list can do without
    return [row(uid, found.get(uid) or Message({})) for uid in uids]
