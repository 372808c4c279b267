"""Values of CSS properties, as far as it takes to know what cannot be seen; None is one that we do not understand."""

from __future__ import annotations

import re
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Color = tuple[float, float, float, float]  # red, green, blue up to 255, and opacity up to 1

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_LENGTH = re.compile(rf"({_NUMBER})([a-z]*|%)(?![\w%.])")
_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945}
_OF_FONT = {"em": 1.0, "rem": 1.0, "%": 0.01, "ex": 0.5, "ch": 0.5, "lh": 1.2}
_VIEWPORT = ("vw", "vh", "vmin", "vmax")
_PIXELS_OF_VIEWPORT = 10.0  # one hundredth of a window
# Names with which white is written on white, black on black, or nothing at all; and some others that are often used.
_COLORS = {
    "white": "ffffff",
    "snow": "fffafa",
    "ivory": "fffff0",
    "ghostwhite": "f8f8ff",
    "floralwhite": "fffaf0",
    "azure": "f0ffff",
    "whitesmoke": "f5f5f5",
    "mintcream": "f5fffa",
    "aliceblue": "f0f8ff",
    "seashell": "fff5ee",
    "black": "000000",
    "navy": "000080",
    "blue": "0000ff",
    "red": "ff0000",
    "green": "008000",
    "yellow": "ffff00",
    "gray": "808080",
    "grey": "808080",
    "silver": "c0c0c0",
    "lightgray": "d3d3d3",
    "lightgrey": "d3d3d3",
    "transparent": "00000000",
}


def number(value: str) -> float | None:
    """Return a number, or a percentage as a fraction."""
    match = _LENGTH.fullmatch(_calculated(value))
    if match is None or match[2] not in ("", "%"):
        return None
    return float(match[1]) / (100 if match[2] else 1)


def pixels(value: str, font: float = 16.0) -> float | None:
    """Return a length in pixels.

    Args:
        value: ``-9999px``, ``1.5em``, ``0``.
        font: size of the letters, which ``em`` and ``%`` count in.
    """
    match = _LENGTH.fullmatch(_calculated(value))
    if match is None:
        return None
    size, unit = float(match[1]), match[2]
    if unit in _OF_FONT:
        return size * _OF_FONT[unit] * font
    if unit in _VIEWPORT:
        return size * _PIXELS_OF_VIEWPORT
    return size * _PIXELS[unit] if unit in _PIXELS else None


def _calculated(value: str) -> str:
    """Return the only operand of ``calc(…)``; anything else as it is."""
    return value[5:-1].strip() if value.startswith("calc(") and value.endswith(")") else value


def lengths(value: str) -> list[float]:
    """Return every length in a value, in pixels; inside of functions too."""
    found = (pixels(match[0]) for match in _LENGTH.finditer(value))
    return [size for size in found if size is not None]


@lru_cache(maxsize=1000)
def color(value: str) -> Color | None:
    """Return a colour: a name, ``#fff``, ``#ffffff80``, ``rgb(…)`` or ``hsl(…)``."""
    if value in _COLORS:
        return _hexadecimal(_COLORS[value])
    if value.startswith("#"):
        return _hexadecimal(value[1:])
    function, bracket, rest = value.partition("(")
    parts = [part for part in re.split(r"[\s,/]+", rest.rstrip(") ")) if part]
    if not bracket or len(parts) not in (3, 4):
        return None
    if function in ("rgb", "rgba"):
        return _from_rgb(parts)
    return _from_hsl(parts) if function in ("hsl", "hsla") else None


def _hexadecimal(code: str) -> Color | None:
    if len(code) in (3, 4):
        code = "".join(digit * 2 for digit in code)
    if len(code) not in (6, 8) or not re.fullmatch("[0-9a-f]+", code):
        return None
    red, green, blue, opacity = (int(code[at : at + 2] or "ff", 16) for at in (0, 2, 4, 6))
    return red, green, blue, opacity / 255


def _from_rgb(parts: Sequence[str]) -> Color | None:
    values = [number(part) for part in parts]
    red, green, blue = (
        None if value is None else value * (255 if part.endswith("%") else 1)
        for value, part in zip(values, parts[:3], strict=False)
    )
    opacity = values[3] if len(values) == 4 else 1.0
    return None if red is None or green is None or blue is None or opacity is None else (red, green, blue, opacity)


def _from_hsl(parts: Sequence[str]) -> Color | None:
    from colorsys import hls_to_rgb

    hue, saturation, lightness = number(parts[0].removesuffix("deg")), number(parts[1]), number(parts[2])
    opacity = number(parts[3]) if len(parts) == 4 else 1.0
    if hue is None or saturation is None or lightness is None or opacity is None:
        return None
    red, green, blue = hls_to_rgb(hue % 360 / 360, lightness, saturation)
    return red * 255, green * 255, blue * 255, opacity
