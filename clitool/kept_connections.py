"""Connections that outlive the call that opened them, within one process that does one client's calls in turn.

A connection is used again only for what it was opened for: the same client, family and name, and exactly the same
settings after all references in them were resolved. So a changed password, host, environment variable or secret file
never meets an old login. A connection that cannot `park` and `resume` (see `clitool.family.Connection`) is closed at
the end of its call, as it is where nothing is kept.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool.family import Connection, Family
    from clitool.pipeline import Ways
    from clitool.settings import Settings
    from clitool.tool import Deadline

    Key = tuple[str, str, str, bytes]

IDLE_SECONDS = 60.0
MAX_AGE = 600.0  # seconds; what no setting tells, like a password command's new answer, counts at the latest then
MAX_CONNECTIONS = 8


class _Kept:
    __slots__ = ("connection", "opened", "parked")

    def __init__(self, connection: Connection, opened: float) -> None:
        self.connection = connection
        self.opened = opened
        self.parked = monotonic()

    def until(self) -> float:
        """Return the moment from which on it is not used any more."""
        return min(self.parked + IDLE_SECONDS, self.opened + MAX_AGE)


class KeptConnections:
    """What is kept between calls; a door's process has one of it, and gives it to each call.

    What a call lets go is parked by `settle`, after its answer: nobody waits for that.
    """

    def __init__(self) -> None:
        self._kept: dict[Key, _Kept] = {}
        self._let_go: list[tuple[Key, _Kept]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def ways(self, client: str, family: Family, settings: Settings) -> Ways:
        """Return how a call opens connections and lets them go; see `clitool.pipeline.Surroundings`."""
        call = _Call(self, client, family, settings)
        return None if family.connect is None else call.connect, call.let_go

    def take(self, key: Key) -> _Kept | None:
        """Take out the connection that is kept under `key`, if it may still be used."""
        self.settle()
        self.close_idle()
        return self._kept.pop(key, None)

    def put(self, key: Key, kept: _Kept) -> None:
        """Take in a connection that a call has let go, to be parked."""
        self._let_go.append((key, kept))

    def settle(self) -> None:
        """Park what calls have let go, or close what cannot be parked."""
        while self._let_go:
            key, kept = self._let_go.pop()
            if _try(kept.connection, "park"):
                self._keep(key, kept)
            else:
                _close(kept)

    def _keep(self, key: Key, kept: _Kept) -> None:
        """Keep a parked connection; the one that has waited longest makes room."""
        self._close(key)
        while len(self._kept) >= MAX_CONNECTIONS:
            self._close(min(self._kept, key=lambda other: self._kept[other].parked))
        self._kept[key] = kept

    def close_idle(self) -> float | None:
        """Close what has waited too long; return the seconds until there will be something to close."""
        now = monotonic()
        for key in [key for key, kept in self._kept.items() if kept.until() <= now]:
            self._close(key)
        return min((kept.until() - now for kept in self._kept.values()), default=None)

    def close(self) -> None:
        """Close all of them."""
        while self._let_go:
            _close(self._let_go.pop()[1])
        for key in list(self._kept):
            self._close(key)

    def _close(self, key: Key) -> None:
        if key in self._kept:
            _close(self._kept.pop(key))


class _Call:
    """The connections of one call to one family."""

    def __init__(self, kept: KeptConnections, client: str, family: Family, settings: Settings) -> None:
        self._kept = kept
        self._client = client
        self._family = family
        self._settings = settings
        self._opened: dict[int, tuple[Key, float]] = {}

    def connect(self, settings: Any, name: str, deadline: Deadline) -> Connection:  # noqa: ANN401 - the family's own
        """Return a kept connection that is still good, or a new one."""
        key = self._client, self._family.name, name, self._settings.digest()
        kept = self._resumed(key, deadline)
        if kept is None:
            kept = _Kept(self._open(settings, name, deadline), monotonic())
        self._opened[id(kept.connection)] = key, kept.opened
        return kept.connection

    def let_go(self, connection: Connection) -> None:
        """Have the connection kept for a later call, or close it if it is of a kind that cannot be."""
        key, opened = self._opened.pop(id(connection))
        if hasattr(connection, "park") and hasattr(connection, "resume"):
            self._kept.put(key, _Kept(connection, opened))
        else:
            connection.close()

    def _resumed(self, key: Key, deadline: Deadline) -> _Kept | None:
        kept = self._kept.take(key)
        if kept is None or _try(kept.connection, "resume", deadline):
            return kept
        _close(kept)
        return None

    def _open(self, settings: Any, name: str, deadline: Deadline) -> Connection:  # noqa: ANN401 - as above
        connect: Any = self._family.connect
        opened: Connection = connect(settings, name, deadline)
        return opened


def _close(kept: _Kept) -> None:
    with suppress(Exception):  # a driver may raise anything; whatever it was, the connection is given up
        kept.connection.close()


def _try(connection: Connection, step: str, *arguments: object) -> bool:
    """Take an optional step of a connection; False if it has none, or if it fails."""
    try:
        return bool(getattr(connection, step)(*arguments))
    except Exception:  # noqa: BLE001 - a driver may raise anything: then the connection is not used any more
        return False
