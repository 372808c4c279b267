"""Where a link really leads, and whether its text says something else."""

from __future__ import annotations

import re

from clitool_tools.mail.invisible import visible_line

_LONGEST = 1000  # characters that are shown
_PROGRAMS = ("javascript:", "vbscript:", "data:")  # their targets are no places
_ENCODED = {" ": "%20", "<": "%3C", ">": "%3E", '"': "%22"}
_SERVER = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:)?(?://)?(?:[^/?#@\s]*@)?((?:[\w-]+\.)+[^\W\d_]{2,})\.?(?:[:/?#]\S*)?", re.IGNORECASE
)


def link_target(reference: str, base: str = "") -> str:
    """Return where ``href="…"`` leads, in one word; empty if nowhere, or to another place in the same document.

    Args:
        reference: as it is written.
        base: the address that relative ones are relative to; most mails have none.
    """
    target = re.sub("[\t\n\r]", "", reference).strip("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x1b\x1f ")
    if not target or target.startswith("#"):
        return ""
    if target.lower().startswith(_PROGRAMS):
        return target.partition(":")[0].lower() + ":…"
    if base:
        target = _joined(base, target)
    target = "".join(_ENCODED.get(char, char) for char in visible_line(target))
    return target if len(target) <= _LONGEST else target[:_LONGEST] + "…"


def says(text: str, target: str) -> bool:
    """Return whether the text of a link is its target, so that there is no need to repeat it."""
    return _bare(text) == _bare(target)


def is_misleading(text: str, target: str) -> bool:
    """Return whether the text of a link is an address, and of another server or mailbox than its target."""
    shown = _SERVER.fullmatch(text.strip()[:_LONGEST])
    if shown is None:
        return False
    if target.lower().startswith("mailto:"):
        return "@" in text and _bare(text) != _bare(target).partition("?")[0]
    real = _SERVER.match(target)
    one, other = shown[1].lower(), real[1].lower() if real else ""
    return one != other and not one.endswith("." + other) and not other.endswith("." + one)


def _bare(address: str) -> str:
    bare = address.strip().lower()
    for prefix in ("https://", "http://", "mailto:"):
        bare = bare.removeprefix(prefix)
    return bare.removeprefix("www.").rstrip("/")


def _joined(base: str, target: str) -> str:
    from urllib.parse import urljoin

    try:
        return urljoin(base.strip(), target)
    except ValueError:  # an address like http://[
        return target
