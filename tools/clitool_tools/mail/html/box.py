"""Where an element is and how large: out of the window, or so small that nothing of it can be seen."""

from __future__ import annotations

import re

from clitool_tools.mail.html.values import lengths, number, pixels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_FAR_AWAY = 500.0  # pixels
_TINY = 1.0  # pixels, of a box that shows nothing beyond its edges
_SMALLEST_SCALE = 0.1


def is_elsewhere(said: Mapping[str, str], font: float) -> bool:
    """Return whether an element is moved out of the window."""
    moved = ["text-indent", "letter-spacing", "margin-left", "margin-top"]
    if said.get("position", "static") not in ("static", "inherit", "initial"):
        moved += ["left", "top", "right", "bottom"]
    distances = [pixels(said[name], font) or 0.0 for name in moved if name in said]
    if min(distances, default=0.0) <= -_FAR_AWAY or max(distances, default=0.0) >= 10 * _FAR_AWAY:
        return True
    if min(lengths(said.get("margin", "")), default=0.0) <= -_FAR_AWAY:
        return True
    shifts = lengths(said.get("translate", ""))
    if "translate" in said.get("transform", ""):
        shifts += lengths(said["transform"])
    return any(abs(shift) >= _FAR_AWAY for shift in shifts)


def is_cut(said: Mapping[str, str], font: float) -> bool:
    """Return whether an element has no area in which it could show something."""
    sizes = [pixels(said[name], font) for name in ("height", "max-height", "width", "max-width") if name in said]
    is_tiny = any(size is not None and size <= _TINY for size in sizes)
    indent = said.get("text-indent", "")
    is_tiny |= indent.endswith("%") and (number(indent) or 0) >= 1
    overflow = " ".join(said.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    if is_tiny and any(word in overflow for word in ("hidden", "clip", "scroll", "auto")):
        return True
    scaled = re.search(r"scale[xy]?\(([^,)]*)", said.get("transform", ""))
    scales = (
        number(said.get("scale", "")),
        number(said.get("zoom", "")),
        number(scaled[1].strip()) if scaled else None,
    )
    return any(scale is not None and abs(scale) < _SMALLEST_SCALE for scale in scales) or _is_clipped(said)


def _is_clipped(said: Mapping[str, str]) -> bool:
    clip = said.get("clip", "")
    edges = lengths(clip)
    if clip.startswith("rect(") and len(edges) == 4 and (edges[2] <= edges[0] or edges[1] <= edges[3]):
        return True
    shape, _, sizes = said.get("clip-path", "").partition("(")
    numbers = lengths(sizes)
    if not numbers:
        return False
    first = number(sizes.split()[0].rstrip(")"))
    if shape in ("circle", "ellipse"):
        return first == 0 or numbers[0] == 0
    if shape in ("polygon", "rect", "xywh"):
        return not any(numbers)
    return shape == "inset" and "%" in sizes and first is not None and first >= 0.5
