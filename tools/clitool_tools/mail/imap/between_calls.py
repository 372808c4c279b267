"""What is done with a connection between two calls, in a process that keeps it: leave the folder, and look for life."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool.tool import Deadline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.mail.imap.connection import Connection

_PATIENCE = 1.0  # seconds; to connect anew takes less than to wait for a server that has forgotten us
_CAN_LEAVE = frozenset((b"UNSELECT", b"IMAP4REV2"))  # RFC 3691, and RFC 9051, which has it without a word of its own


def leave_folder(connection: Connection) -> bool:
    """Leave the folder that is open, with no change to it; return whether that was done.

    CLOSE is no way out: in a folder that is open for changes it removes for good what is marked as deleted.
    """
    return not _CAN_LEAVE.isdisjoint(connection.capabilities) and _does(connection, b"UNSELECT", Deadline(_PATIENCE))


def take_over(connection: Connection, deadline: Deadline) -> bool:
    """Let every wait end at the deadline of the call that begins; return whether the server is still there for us."""
    is_there = _does(connection, b"NOOP", Deadline(min(_PATIENCE, deadline.remaining() / 2)))
    connection.wire.deadline = deadline
    return is_there


def _does(connection: Connection, word: bytes, deadline: Deadline) -> bool:
    connection.wire.deadline = deadline
    try:
        return connection.run(word).ok
    except ExecutionError:  # it has gone, or says goodbye, or nothing
        return False
