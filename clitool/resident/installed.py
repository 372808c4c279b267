"""Whether the program that runs is still the one that is installed."""

from __future__ import annotations

from time import monotonic

from clitool.stub import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SETTLE_SECONDS = 2.0  # installers need some time, and what is half installed cannot be started


class Installed:
    """The installation, compared with what it was when this process began.

    Attributes:
        mark: its fingerprint then, which is that of every stub whose calls this process may make.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.mark = self._latest = fingerprint(environment)
        self._since = monotonic()

    def look(self) -> None:
        """Look at it now."""
        latest = fingerprint(self._environment)
        if latest != self._latest:
            self._latest, self._since = latest, monotonic()

    def is_current(self) -> bool:
        """Say whether it is the same, by the latest look."""
        return self._latest == self.mark

    def has_changed(self) -> bool:
        """Say whether it is another one, and has been for long enough to be complete."""
        return not self.is_current() and monotonic() - self._since >= SETTLE_SECONDS
