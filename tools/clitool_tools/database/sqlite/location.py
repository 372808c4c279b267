"""The connection string of a SQLite database, and what may never be one."""

from __future__ import annotations

import os

from clitool.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clitool.family import Origin

SCHEME = "sqlite:///"
_USAGE = "write sqlite:////absolute/path.db, or sqlite:///relative.db for a file beside the clients file"


def path(text: str, origin: Origin, key: str) -> str:
    """Return the absolute path, symbolic links resolved, that `text` names; the file need not exist.

    After ``sqlite:///`` stands a path, percent-encoded where needed and decoded once. SQLite's own URI options
    (``mode``, ``vfs``, ``immutable`` …) and databases in memory are refused.

    Raises:
        SettingsError: for `key`.
    """
    if not text.startswith(SCHEME):
        raise SettingsError(key, _USAGE)
    encoded = text[len(SCHEME) :]
    if "?" in encoded or "#" in encoded:
        raise SettingsError(key, "takes no options; write %3F and %23 for ? and # in the file's name")
    name = _decoded(encoded, key)
    if not name or name.startswith(("file:", ":memory:")) or not name.isprintable():
        raise SettingsError(key, f"must name a file: {_USAGE}")
    resolved = os.path.realpath(os.path.join(origin.folder, name))
    if is_protected(resolved, origin.protected):
        raise SettingsError(key, "names a file of clitool's own, which no tool may reach")
    return resolved


def is_protected(resolved: str, protected: Iterable[str]) -> bool:
    """Return whether a resolved path is a protected file, another name of one, or inside a protected folder."""
    places = {_identity(path) for path in _with_folders_above(resolved)} - {None}
    return any(_is_or_contains(each, resolved, places) for each in protected)


def _is_or_contains(protected: str, path: str, places: set[tuple[int, int] | None]) -> bool:
    found = _identity(protected)
    if found is not None:
        return found in places
    protected = os.path.realpath(protected)  # it does not exist, or cannot be looked at: then only its name tells
    return path == protected or path.startswith(protected.rstrip("/") + "/")


def _with_folders_above(path: str) -> Iterator[str]:
    while True:
        yield path
        path, below = os.path.dirname(path), path
        if path == below:
            return


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _decoded(text: str, key: str) -> str:
    if text.isascii() and "%" not in text:
        return text
    from clitool_tools.database.percent import decoded

    try:
        return decoded(text)
    except ValueError:
        raise SettingsError(key, "holds a % that is not followed by two hexadecimal digits, or is not UTF-8") from None
