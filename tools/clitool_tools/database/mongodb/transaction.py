"""All of a change or nothing: in a transaction, or in one statement on one document, which is whole by itself.

Either way a change counts only when a majority of the servers has it on disk. Where the server says that a transaction
may be repeated (https://www.mongodb.com/docs/manual/core/transactions-in-applications/), it is, while there is time.
"""

from __future__ import annotations

from time import monotonic, sleep

from clitool.errors import ExecutionError
from clitool_tools.database.mongodb.driver import pymongo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias, TypeVar

    from clitool_tools.database.mongodb.session import Session

    Handle: TypeAlias = pymongo.client_session.ClientSession
    T = TypeVar("T")

_AGAIN = "TransientTransactionError"
_UNKNOWN = "UnknownTransactionCommitResult"
_ALONE = (
    "this server has no transactions, which several rows, max_affected and dry_run need; change one row by its unique"
    " key, or make the server a replica set"
)
_UNFIT = "this collection, capped perhaps, takes no transactions; change one row in a call, by its unique key"
_UNFIT_CODES = (20, 263)
_NOTHING = "the connection to the server ended in the middle of the change; nothing was changed"
_PERHAPS = "the server did not confirm the change in time; it may have been made or not: look before you repeat it"
_LONGEST_PAUSE = 0.2  # seconds


class Repeat(Exception):
    """Raised by what runs in a transaction to begin it anew; `error` is what to raise when there is no more time."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def in_transaction(session: Session, action: Callable[[Handle], T], *, dry_run: bool = False) -> T:
    """Return what `action` returns, all of its work done or, if it fails or for `dry_run`, none.

    Args:
        session: the connection.
        action: does the work with the session of the driver's that it gets; it may be called several times.
        dry_run: whether to take the work back at the end.

    Raises:
        ExecutionError: the server has no transactions (no_transactions); connection_lost, which says whether it is
            known that nothing was changed.
    """
    if not session.has_transactions:
        raise ExecutionError(_ALONE, "no_transactions")
    end = monotonic() + session.seconds
    with session.faults(), session.client.start_session() as handle:
        try:
            return _repeated(lambda: _once(handle, action, end, dry_run=dry_run), end)
        except pymongo.errors.OperationFailure as error:
            if _codes(error).isdisjoint(_UNFIT_CODES):
                raise
            raise ExecutionError(_UNFIT, "no_transactions") from error


def in_one_statement(session: Session, action: Callable[[], T]) -> T:
    """Return what `action` returns, one statement that changes one document.

    Raises:
        ExecutionError: connection_lost, if it is unknown whether the document was changed.
    """
    end = monotonic() + session.seconds
    with session.faults():
        try:
            return _repeated(action, end)
        except pymongo.errors.PyMongoError as error:
            if _may_have_worked(error):
                raise _unknown() from error
            raise


def _codes(error: pymongo.errors.OperationFailure) -> set[int]:
    return {error.code or 0, *(each["code"] for each in (error.details or {}).get("writeErrors", ()))}


def _may_have_worked(error: pymongo.errors.PyMongoError) -> bool:
    """Return whether a statement that failed so may have done its work."""
    if isinstance(error, pymongo.errors.BulkWriteError):
        return not error.details["writeErrors"]  # only nobody confirmed it
    if isinstance(error, (pymongo.errors.OperationFailure, pymongo.errors.ServerSelectionTimeoutError)):
        return isinstance(error, pymongo.errors.WriteConcernError)
    return isinstance(error, pymongo.errors.ConnectionFailure) or error.timeout


def concern() -> Any:  # noqa: ANN401 - a type of the driver's
    """Return what a change waits for."""
    return pymongo.WriteConcern("majority", j=True)


def _repeated(action: Callable[[], T], end: float) -> T:
    """Return what `action` returns, called again as often as its errors ask for that and there is time."""
    lost: Exception | None = None
    for pause in _pauses():
        try:
            return action()
        except Repeat as again:
            error: Exception = again.error
        except pymongo.errors.PyMongoError as failed:
            is_again = failed.has_error_label(_AGAIN)
            if not is_again and (lost is None or not isinstance(failed, pymongo.errors.ConnectionFailure)):
                raise
            error = failed
            if is_again and isinstance(failed, pymongo.errors.ConnectionFailure) and not failed.timeout:
                lost = failed
        if monotonic() + pause > end:
            break
        sleep(pause)
    if lost is not None:
        raise ExecutionError(_NOTHING, "connection_lost") from lost
    raise error


def _once(handle: Handle, action: Callable[[Handle], T], end: float, *, dry_run: bool) -> T:
    from pymongo.read_concern import ReadConcern

    handle.start_transaction(ReadConcern("majority"), concern())
    try:
        result = action(handle)
    except BaseException:
        handle.abort_transaction()
        raise
    if dry_run:
        handle.abort_transaction()
    else:
        _commit(handle, end)
    return result


def _commit(handle: Handle, end: float) -> None:
    """Commit; where an answer got lost, ask again, which commits no second time."""
    for pause in _pauses():
        try:
            handle.commit_transaction()
        except pymongo.errors.PyMongoError as error:
            if not error.has_error_label(_UNKNOWN):
                raise
            if monotonic() + pause > end:
                raise _unknown() from error
        else:
            return
        sleep(pause)


def _unknown() -> ExecutionError:
    return ExecutionError(_PERHAPS, "connection_lost", outcome="unknown")


def _pauses() -> Iterator[float]:
    """Yield ever longer times to wait, by chance, so that those who got in each other's way do not meet again."""
    from random import random

    longest = 0.004
    while True:
        yield longest * (0.5 + random() / 2)  # noqa: S311 - no secret
        longest = min(_LONGEST_PAUSE, longest * 2)
