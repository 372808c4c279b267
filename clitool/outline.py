"""Where the values of a document stand: for each key or index its line, and the same for what is below it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Place = tuple[int, "Outline"]  # the line, 1-based, and what is below; from JSON it comes as a list
    Outline = dict[str, "Place"] | list["Place"] | None


def line_in(outline: Outline, path: Sequence[str | int]) -> int:
    """Return the line of the value at `path`, or of the deepest part of it that exists."""
    line = 1
    for step in path:
        place = _place(outline, step)
        if place is None:
            break
        line, outline = place
    return line


def _place(outline: Outline, step: str | int) -> Place | None:
    if isinstance(outline, dict):
        return outline.get(step) if isinstance(step, str) else None
    if isinstance(outline, list) and isinstance(step, int) and step < len(outline):
        place: Place = outline[step]
        return place
    return None
