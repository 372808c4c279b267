"""What a process does that keeps connections between calls, for tests that make calls of tools directly."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.process import Process

    from clitool.tool import Deadline


class Keeper:
    """Gives a call the connection of the one before, if it could be parked and then resumed.

    Attributes:
        parked: what waits for the next call, by name; put nothing else there.
        opened: how many connections were opened.
        resumed: how often one was used again.
    """

    def __init__(self) -> None:
        self.parked: dict[str, Any] = {}
        self.opened = self.resumed = 0

    def lend(self, context: Any) -> Any:
        """Return the context of a call with the connections that are kept."""
        connect = context._connect
        context._connect = lambda settings, name, deadline: self._connection(connect, settings, name, deadline)
        return context

    def close(self) -> None:
        """Close what waits."""
        while self.parked:
            self.parked.popitem()[1].close()

    def _connection(self, connect: Callable[..., Any], settings: Any, name: str, deadline: Deadline) -> _Lent:
        connection = self.parked.pop(name, None)
        if connection is not None and connection.resume(deadline):
            self.resumed += 1
            return _Lent(self, name, connection)
        if connection is not None:
            connection.close()
        self.opened += 1
        return _Lent(self, name, connect(settings, name, deadline))


class _Lent:
    """A connection that is parked instead of closed."""

    def __init__(self, keeper: Keeper, name: str, connection: Any) -> None:
        self._keeper = keeper
        self._name = name
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def close(self) -> None:
        if self._connection.park():
            self._keeper.parked[self._name] = self._connection
        else:
            self._connection.close()


def freeze(server: Process) -> None:
    """Stop a server of this process in the middle of whatever it does, and wait until it stands still."""
    os.kill(server.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, server.pid, os.WSTOPPED | os.WNOWAIT)


class Keeping:
    """For a world with a `context` for each call: all its calls share what can be kept of one to the next."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.keeper = Keeper()

    def context(self, seconds: float = 8.0) -> Any:
        made: Any = super().context(seconds)  # type: ignore[misc]  # of the world
        return self.keeper.lend(made)

    def drop(self) -> None:
        self.keeper.close()
        super().drop()  # type: ignore[misc]  # of the world
