"""The name of an attachment, made such that it is one on every system and leads nowhere."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.mail.invisible import Removed

_LONGEST = 120  # characters
_LONGEST_BYTES = 200
_LONGEST_ENDING = 20
_FORBIDDEN = '<>:"|?*\\/'  # on some system
_ENDINGS = {
    "text/plain": ".txt",
    "text/html": ".html",
    "text/calendar": ".ics",
    "text/csv": ".csv",
    "message/rfc822": ".eml",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
}


def safe_name(given: str, section: str, kind: str, removed: Removed | None = None) -> str:
    """Return a file name like the one that the sender gives, without anything that could make it more than a name.

    Args:
        given: decoded, maybe empty.
        section: number of the part, for a name of our own.
        kind: its type, for the ending of that name.
        removed: counts invisible characters.
    """
    from clitool_tools.mail.invisible import visible_line

    name = visible_line(given, removed).replace("\\", "/").rpartition("/")[2]
    name = "".join("_" if char in _FORBIDDEN or not char.isprintable() else char for char in name)
    name = _short(name.strip(" .-"))
    if not name.strip("_"):
        return f"attachment-{section}{_ENDINGS.get(kind, '')}"
    return f"_{name}" if _is_reserved(name) else name


def _short(name: str) -> str:
    stem, ending = os.path.splitext(name)
    if len(ending) > _LONGEST_ENDING:
        stem, ending = name, ""
    while len(stem) + len(ending) > _LONGEST or len((stem + ending).encode()) > _LONGEST_BYTES:
        stem = stem[: min(len(stem), _LONGEST) - 1]
    return stem.rstrip(" .") + ending


def _is_reserved(name: str) -> bool:
    from clitool.errors import InvalidParams
    from clitool.jail import locate_file

    try:
        return locate_file(name).name != name
    except InvalidParams:
        return True
