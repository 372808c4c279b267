"""How an element looks, as far as it takes to know whether its text can be seen."""

from __future__ import annotations

import re

from clitool_tools.mail.html.box import is_cut, is_elsewhere
from clitool_tools.mail.html.values import color, number, pixels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from clitool_tools.mail.html.values import Color

RELEVANT = frozenset(
    (
        "display",
        "visibility",
        "content-visibility",
        "opacity",
        "filter",
        "color",
        "-webkit-text-fill-color",
        "background",
        "background-color",
        "background-image",
        "font",
        "font-size",
        "white-space",
        "height",
        "max-height",
        "width",
        "max-width",
        "overflow",
        "overflow-x",
        "overflow-y",
        "position",
        "left",
        "top",
        "right",
        "bottom",
        "margin",
        "margin-left",
        "margin-top",
        "text-indent",
        "letter-spacing",
        "zoom",
        "clip",
        "clip-path",
        "transform",
        "translate",
        "scale",
    )
)
# Elements that no browser shows, or shows only to those who ask for it.
_UNSEEN = frozenset(
    (
        "script",
        "style",
        "title",
        "template",
        "datalist",
        "iframe",
        "noembed",
        "noframes",
        "audio",
        "video",
        "canvas",
        "rp",
        "svg",
    )
)
_PREFORMATTED = ("pre", "listing", "plaintext", "xmp")
_SPECIAL = _UNSEEN | {"dialog", *_PREFORMATTED}
_SMALLEST_FONT = 2.0  # pixels
_FAINTEST = 0.1  # opacity
_NEAREST = 12  # levels of 256 between letters and background


class Look:
    """What an element takes over from the one around it, and what it makes of it.

    Attributes:
        is_gone: hidden with all that is in it, whatever that says.
        is_preformatted: white space counts.
    """

    __slots__ = ("_background", "_color", "_fill", "_font", "_is_invisible", "_opacity", "is_gone", "is_preformatted")

    def __init__(self) -> None:
        """Begin with black letters on white."""
        self.is_gone = self.is_preformatted = self._is_invisible = False
        self._color: Color | None = (0, 0, 0, 1.0)
        self._fill: Color | None = None  # instead of the colour, if it is set
        self._background: Color | None = (255, 255, 255, 1.0)
        self._font = 16.0
        self._opacity = 1.0

    @property
    def hides(self) -> bool:
        """Whether text that stands here cannot be seen."""
        return self.is_gone or self._is_invisible or self._font < _SMALLEST_FONT or self._is_unreadable()

    def _is_unreadable(self) -> bool:
        letters = self._fill or self._color
        if letters is None:
            return False
        if letters[3] * self._opacity < _FAINTEST:
            return True
        pairs = zip(letters[:3], (self._background or ())[:3], strict=False)
        distances = [abs(one - two) for one, two in pairs]
        return bool(distances) and max(distances) <= _NEAREST

    def inside(self, name: str, attributes: Mapping[str, str], said: Mapping[str, str]) -> Look:
        """Return the look of an element within this one.

        Args:
            name: of the element.
            attributes: of the element; the old ones for colours count, too.
            said: values of its properties, from style sheets and its own style.
        """
        if not said and not attributes and name not in _SPECIAL:
            return self  # a look never changes
        look = Look()
        for slot in Look.__slots__:
            setattr(look, slot, getattr(self, slot))
        look.is_preformatted |= name in _PREFORMATTED
        look.is_gone |= name in _UNSEEN or (name == "dialog" and "open" not in attributes)
        look.is_gone |= "hidden" in attributes and "display" not in said
        look._take_attributes(name, attributes)
        if said:
            look._take(said)
        return look

    def _take_attributes(self, name: str, attributes: Mapping[str, str]) -> None:
        letters = attributes.get("color" if name == "font" else "text" if name == "body" else "", "")
        if letters:
            self._color = _old_color(letters)
        if "bgcolor" in attributes:
            self._background = _old_color(attributes["bgcolor"])
        if attributes.get("background"):
            self._background = None  # a picture

    def _take(self, said: Mapping[str, str]) -> None:
        said = {name: value.removesuffix("!") for name, value in said.items()}
        self._take_font(said)
        self._take_colors(said)
        if said.get("visibility", "inherit") != "inherit":
            self._is_invisible = said["visibility"] in ("hidden", "collapse")
        if said.get("white-space", "inherit") != "inherit":
            self.is_preformatted = said["white-space"].startswith(("pre", "break-spaces"))
        self._opacity *= _opacity(said)
        self.is_gone |= _is_removed(said) or is_elsewhere(said, self._font) or is_cut(said, self._font)

    def _take_font(self, said: Mapping[str, str]) -> None:
        size = said.get("font-size")
        if size is None and "font" in said:
            sizes = (word.partition("/")[0] for word in said["font"].split())
            size = next(
                (word for word in sizes if pixels(word) is not None and (word == "0" or not word.isdigit())), None
            )
        found = None if size is None else pixels(size, 16.0 if size.endswith("rem") else self._font)
        if found is not None and found >= 0:
            self._font = found
        elif size and size.endswith(("small", "medium", "large")):
            self._font = 16.0

    def _take_colors(self, said: Mapping[str, str]) -> None:
        if said.get("color", "inherit") not in ("inherit", "currentcolor", ""):
            self._color = color(said["color"])
        if said.get("-webkit-text-fill-color", "inherit") != "inherit":
            self._fill = color(said["-webkit-text-fill-color"])
        if "background-image" in said and said["background-image"] != "none":
            self._background = None
        for name in ("background", "background-color"):
            if name in said:
                self._take_background(said[name])

    def _take_background(self, value: str) -> None:
        if "url(" in value or "gradient(" in value:
            self._background = None
            return
        found = color(value) or next(filter(None, map(color, value.split())), None)
        if found is None:
            self._background = self._background if value in ("none", "inherit", "initial", "unset") else None
        elif found[3] > 0.5:
            self._background = found
        elif found[3]:
            self._background = None  # a mixture


def _old_color(value: str) -> Color | None:
    """Return the colour that an attribute of old HTML means; its ``#`` may be missing."""
    value = value.strip().lower()
    return color(value) or color("#" + value)


def _is_removed(said: Mapping[str, str]) -> bool:
    return said.get("display") == "none" or said.get("content-visibility") == "hidden"


def _opacity(said: Mapping[str, str]) -> float:
    filtered = re.search(r"opacity\(([^)]*)", said.get("filter", ""))
    found = (number(said.get("opacity", "")), number(filtered[1].strip()) if filtered else None)
    return min((min(max(each, 0.0), 1.0) for each in found if each is not None), default=1.0)
