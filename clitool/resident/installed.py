"""Whether the program that runs is still the one that is installed."""

from __future__ import annotations

from time import monotonic

from clitool.stub import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LOOK_SECONDS = 60.0  # between two looks that nobody asked for
_SETTLE_SECONDS = 2.0  # installers need some time, and what is half installed cannot be started


class Installed:
    """The installation, compared with what it was when this process began.

    Attributes:
        mark: its fingerprint then, which is that of every stub whose calls this process may make.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.mark = self._latest = fingerprint(environment)
        self._since = self._looked = monotonic()

    def look(self) -> None:
        """Look at it now."""
        self._looked = monotonic()
        latest = fingerprint(self._environment)
        if latest != self._latest:
            self._latest, self._since = latest, self._looked

    def look_again(self) -> float:
        """Look at it if it is time for that; return the seconds until the next time."""
        pause = _LOOK_SECONDS if self.is_current() else _SETTLE_SECONDS
        if self._looked + pause <= monotonic():
            self.look()
        return self._looked + pause - monotonic()

    def is_current(self) -> bool:
        """Say whether it is the same, by the latest look."""
        return self._latest == self.mark

    def has_changed(self) -> bool:
        """Say whether it is another one, and has been for long enough to be complete."""
        return not self.is_current() and self._looked - self._since >= _SETTLE_SECONDS
