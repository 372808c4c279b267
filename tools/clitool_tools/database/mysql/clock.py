"""The time that a statement or a login has."""

from __future__ import annotations

from time import monotonic


class Clock:
    """A moment in the future, wound up again for each step."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        self.wind(seconds)

    def wind(self, seconds: float) -> None:
        """Let the time end in so many seconds."""
        self._end = monotonic() + seconds

    def left(self) -> float:
        """Return the seconds left; raises `TimeoutError` if there are none."""
        seconds = self._end - monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds
