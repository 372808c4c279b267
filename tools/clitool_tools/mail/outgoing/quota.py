"""How many messages an account may send in an hour, counted durably and across processes."""

from __future__ import annotations

import os
from contextlib import contextmanager

from clitool.errors import ClitoolError, ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool.tool import Context
    from clitool_tools.mail.account import Account

_HOUR = 3600.0


@contextmanager
def counted(context: Context, account: Account) -> Iterator[None]:
    """Count the one message that is sent inside, if the account has a limit.

    It is counted before, and no more if an error says that it certainly was not sent; so a call that is killed counts.

    Raises:
        ExecutionError: `rate_limited` if it would be one too many, `state` if there is nowhere to count.
    """
    if account.max_sends_per_hour is None:
        yield
        return
    place = _take(context, account.name, account.max_sends_per_hour)
    try:
        yield
    except ClitoolError as error:
        if error.reason != "unknown_outcome":
            _give_back(context, place)
        raise


def _give_back(context: Context, place: str) -> None:
    try:
        context.state.delete(place)
    except ExecutionError as error:  # the error that brought us here says more
        context.logger.warn(f"a message that was not sent stays counted: {error}")  # noqa: G004, G010 - not `logging`


def _take(context: Context, name: str, most: int) -> str:
    """Occupy one of as many places as there may be messages; it becomes free an hour later.

    `State.put_if_absent` gives a place to one process alone.
    """
    start = int.from_bytes(os.urandom(4), "big")  # so that a free place is found without asking all that are not
    for number in range(most):
        place = f"place {(start + number) % most} {name}"
        if context.state.put_if_absent(place, "", _HOUR):
            return place
    message = f"{most} messages have been sent within the hour, as many as max_sends_per_hour permits; try again later"
    raise ExecutionError(message, "rate_limited")
