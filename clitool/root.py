"""The folder that a setting names as the root of a jail, told apart from what no tool may reach."""

from __future__ import annotations

import os

from clitool.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.family import Origin


def root_spellings(key: str, path: str, origin: Origin) -> tuple[str, str]:
    """Return the folder's absolute path as configured and with links resolved, without a look into it.

    Args:
        key: the setting, for messages.
        path: its value; a relative one starts beside the clients file.
        origin: where the settings come from, and what no tool may reach.

    Raises:
        SettingsError: the folder is ``/``, or holds or lies in a protected path.
    """
    if "\0" in path:
        raise SettingsError(key, f"{key} contains a NUL character")
    if path.startswith("~"):
        raise SettingsError(key, "'~' is not expanded; write the whole path, or ${HOME}/…")
    spelt = os.path.normpath(os.path.join(origin.folder, path))
    root = os.path.realpath(spelt)
    if not root.strip("/"):
        raise SettingsError(key, f"{key} is the whole file system; name a folder of its own")
    for other in map(os.path.realpath, origin.protected):
        if _lies_in(other, root) or _lies_in(root, other):
            message = f"{key} reaches the clients file, the logs or the state; name a folder apart from them"
            raise SettingsError(key, message)
    return spelt, root


def _lies_in(path: str, folder: str) -> bool:
    """Return whether `path` is `folder` or below it: by name, or (bind mounts, letter case) by identity."""
    identity = _identity(folder)
    while True:
        if path == folder or (identity is not None and _identity(path) == identity):
            return True
        parent = os.path.dirname(path)
        if parent == path:
            return False
        path = parent


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
