"""The folders of the days below the log folder: made at the first line of a day, removed when they are too old."""

from __future__ import annotations

import os

from clitool.private_folder import make_private_folder


def make_day(path: str, oldest: str) -> None:
    """Make the folder of a day; of many processes the one that made it removes the days that are too old.

    Args:
        path: `<log folder>/<YYYY-MM-DD>`.
        oldest: the first day to keep, `YYYY-MM-DD`.

    Raises:
        OSError: the folder cannot be made.
    """
    if make_private_folder(path):
        remove_days_before(os.path.dirname(path), oldest)


def remove_days_before(directory: str, oldest: str) -> None:
    """Remove what earlier days left below `directory`: our own files, then the folders that are empty after that.

    Symbolic links are not followed, foreign files stay and so does their folder; what cannot be removed stays too.
    """
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in sorted(names):
        if _is_day(name) and name < oldest:
            _remove_day(os.path.join(directory, name))


def _remove_day(path: str) -> None:
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        for name in os.listdir(folder):
            if _is_ours(name):
                os.unlink(name, dir_fd=folder)
        os.rmdir(path)
    except OSError:
        pass
    finally:
        os.close(folder)


def _is_day(name: str) -> bool:
    digits = name[:4] + name[5:7] + name[8:]
    return len(name) == 10 and name[4] == name[7] == "-" and digits.isascii() and digits.isdecimal()


def _is_ours(name: str) -> bool:
    return name in ("core.log", "output.log", "audit.jsonl") or (name.startswith("tool_") and name.endswith(".log"))
