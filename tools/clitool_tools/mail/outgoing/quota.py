"""How many messages an account may send in an hour, counted durably and across processes."""

from __future__ import annotations

import os

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.state import State
    from clitool_tools.mail.account import Account

_HOUR = 3600.0


class Quota:
    """The messages of the last 60 minutes: each occupies one of as many places as there may be messages.

    A place is taken by `State.put_if_absent`, which gives it to one process alone, and becomes free an hour later.
    A call that is killed keeps its place.
    """

    __slots__ = ("_account", "_place", "_state")

    def __init__(self, state: State, account: Account) -> None:
        self._state = state
        self._account = account
        self._place = ""

    def take(self, most: int) -> None:
        """Count one message; raises `ExecutionError` (rate_limited) if it would be one too many."""
        start = int.from_bytes(os.urandom(4), "big")  # so that full places are not all asked before a free one
        for number in range(most):
            place = f"place {self._account.name} {(start + number) % most}"
            if self._state.put_if_absent(place, "", _HOUR):
                self._place = place
                return
        message = f"{most} messages have been sent within the hour, as many as max_sends_per_hour permits; try later"
        raise ExecutionError(message, "rate_limited")

    def give_back(self) -> None:
        """Do not count the message: it certainly was not sent."""
        if self._place:
            self._state.delete(self._place)
            self._place = ""
