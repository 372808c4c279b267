"""Where a page ended: opaque to the caller, bound to the question, and no grant of anything."""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.mail.imap.syntax import LARGEST_UID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_VERSION = "1"


def write(question: Sequence[object], uidvalidity: int, uid: int) -> str:
    """Return the cursor that goes on behind the message `uid` in the answer to `question`."""
    return ".".join((_VERSION, str(uidvalidity), str(uid), _digest(question, uidvalidity, uid)))


def read(question: Sequence[object], uidvalidity: int, cursor: str) -> int:
    """Return the UID of the message behind which the page begins.

    Args:
        question: folder and filters of this call.
        uidvalidity: of the folder now.
        cursor: as the caller sent it.

    Raises:
        InvalidParams: it is damaged, or belongs to another question (bad_cursor).
        ExecutionError: the folder is not what it was, so that its UIDs mean other messages (changed).
    """
    parts = cursor.split(".")
    validity, uid = map(_number, parts[1:3]) if len(parts) == 4 else (0, 0)
    if parts[0] != _VERSION or not uid or parts[3] != _digest(question, validity, uid):
        message = "the cursor is damaged or belongs to another list; repeat the call without it"
        raise InvalidParams(message, "bad_cursor")
    if validity != uidvalidity:
        message = "the server has numbered the messages of this folder anew since that page; start again without cursor"
        raise ExecutionError(message, "changed")
    return uid


def _number(text: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) <= 10 and str(int(text)) == text and int(text) <= LARGEST_UID:
        return int(text)
    return 0


def _digest(question: Sequence[object], uidvalidity: int, uid: int) -> str:
    from clitool.lean import sha256

    return sha256(repr((*question, uidvalidity, uid)).encode()).hexdigest()[:16]
