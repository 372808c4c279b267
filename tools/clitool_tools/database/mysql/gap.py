"""Values to compare with that no value of a column equals: where they lie, since the server would round them.

MySQL compares a value with a constant by making both of one type, and rounds where it must: 24 becomes the year 2024,
half a second is cut off, an integer becomes a double. So each domain puts what is compared on the grid of the column's
own values first.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Gap:
    """A value between those that the column can have.

    Attributes:
        floor: the greatest of these below it; None if all are above it.
    """

    __slots__ = ("floor",)

    def __init__(self, floor: Any) -> None:  # noqa: ANN401 - of the column's own type
        self.floor = floor


class Stranger:
    """A text with characters that the column's character set has not: nothing there is equal, less or greater."""

    __slots__ = ()
