"""The entries below a folder, level by level, in a stable order."""

from __future__ import annotations

import os

from clitool.errors import ClitoolError
from clitool.jail import Location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clitool.jail import Folder, Jail
    from clitool.tool import Deadline
    from clitool_tools.file.glob import Glob

MOST_SCANNED = 500_000  # names that one call looks at
MOST_DEPTH = 64


class Found:
    """An entry, valid until the next one.

    Attributes:
        folder: the open folder that holds it.
        parts: its names from the root of the jail.
    """

    __slots__ = ("folder", "parts")

    def __init__(self, folder: Folder, parts: tuple[str, ...]) -> None:
        self.folder = folder
        self.parts = parts


def walk(
    jail: Jail,
    start: Location,
    depth: int,
    deadline: Deadline,
    too_many: Callable[[], Exception],
    glob: Glob | None = None,
) -> Iterator[Found]:
    """Yield what lies below `start`: first its own entries by name, then theirs, `depth` levels down.

    Folders below which nothing can fit `glob` are not looked into. Links are not followed. Folders that vanish, turn
    into links or may not be read meanwhile are passed over. What `too_many` makes is raised before the folder with
    which `MOST_SCANNED` names would have been looked at.
    """
    scanned, own = 0, len(start.parts)
    level = [start.parts]
    for _ in range(depth):
        below: list[tuple[str, ...]] = []
        for parts in level:
            folder = _open(jail, start, parts)
            if folder is None:
                continue
            with folder:
                names, folders = _scan(folder, deadline, MOST_SCANNED - scanned)
                scanned += len(names)
                if scanned > MOST_SCANNED:
                    raise too_many()
                for name in names:
                    yield Found(folder, (*parts, name))
            inside = [(*parts, name) for name in folders]
            below += [each for each in inside if glob is None or glob.leads_below(each[own:])]
        level = below


def _open(jail: Jail, start: Location, parts: tuple[str, ...]) -> Folder | None:
    folder = None
    try:
        folder = jail.folder(Location(parts, start.shown))
        folder.status(".")  # names alone, without the right to look at what has them, are no list
    except ClitoolError:
        if folder is not None:
            folder.close()
        if parts == start.parts:
            raise
        return None
    return folder


def _scan(folder: Folder, deadline: Deadline, most: int) -> tuple[list[str], list[str]]:
    """Return the names in `folder` and which of them are folders, both sorted; one more than `most` at the most."""
    names, folders = [], []
    with os.scandir(folder.fd) as entries:
        for count, entry in enumerate(entries):
            if count > most:
                break
            if not count % 1024:
                deadline.check()
            name = os.fsencode(entry.name).decode("utf-8", "surrogateescape")  # UTF-8 whatever the locale
            names.append(name)
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
    return sorted(names), sorted(folders)
