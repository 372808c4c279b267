"""The thread that an answer belongs to: the message ids before the one that it answers (RFC 5322, 3.6.4)."""

from __future__ import annotations

from contextlib import closing

from clitool.errors import ClitoolError, InvalidParams
from clitool_tools.mail.outgoing.header import message_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from clitool.tool import Context
    from clitool_tools.mail.account import Account
    from clitool_tools.mail.imap.session import Session

_PATIENCE = 2.0  # seconds; an answer without the whole thread is still an answer
_MOST = 50  # ids; the first one and the nearest ones count
_HEADER_BYTES = 65_536


def whole_thread(context: Context, account: Account, references: Sequence[str]) -> Sequence[str]:
    """Return `references` with the ids that stand in the answered message before it, if that is in the inbox.

    Args:
        context: of the call.
        account: whose inbox.
        references: ids that the caller gave; only one alone is looked up.
    """
    if len(references) != 1 or account.imap is None:
        return references
    from clitool.tool import Deadline
    from clitool_tools.mail.imap.session import Session

    try:
        with closing(Session(account, Deadline(min(_PATIENCE, context.deadline.remaining() / 4)))) as session:
            earlier = _earlier(session, references[0])
    except ClitoolError as error:
        context.logger.info(f"the thread of an answer was not found: {error}")  # noqa: G004 - not `logging`
        return references
    kept = [one for one in dict.fromkeys(earlier) if one != references[0]]
    return [*kept[:1], *kept[1:][-_MOST:], references[0]]


def _earlier(session: Session, message_id: str) -> list[str]:
    from clitool_tools.mail.imap.syntax import quoted

    session.examine("INBOX")
    uids = session.search([b"HEADER", b"Message-ID", quoted(message_id.encode())])
    if not uids:
        return []
    from email.parser import BytesHeaderParser
    from email.policy import compat32

    header = session.part(uids[-1], "HEADER", _HEADER_BYTES)
    value = BytesHeaderParser(policy=compat32).parsebytes(header).get("References", "")
    return _valid(str(value))


def _valid(value: str) -> list[str]:
    """Return the ids of a stranger's header; whatever else stands there is left out."""
    found = []
    for token in value.split():
        try:
            found += message_ids(token)
        except InvalidParams:
            continue
    return found
