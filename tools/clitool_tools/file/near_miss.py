"""Help with a name that is almost right: the almost right file is named, never opened."""

from __future__ import annotations

import os

from clitool.errors import ClitoolError, ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.jail import Jail, Location
    from clitool.tool import Context

MOST_NAMES = 10_000  # looked at in a folder


class NearMiss:
    """Around the use of a file or folder, for ``with``: a `not_found` gets the one name that differs only in spelling.

    Spelling is letter case, composed or decomposed characters (NFC), and the kind and number of spaces.
    """

    __slots__ = ("_context", "_location")

    def __init__(self, context: Context, location: Location) -> None:
        self._context = context
        self._location = location

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ExecutionError) and error.reason == "not_found":
            name = self._similar()
            if name is not None:
                message = f"{error}; did you mean '{name}'?"
                raise ExecutionError(message, "not_found", suggestion=name) from error

    def _similar(self) -> str | None:
        if not self._location.parts:
            return None
        above, settings = self._location.parts[:-1], self._context.settings
        try:
            found = [
                str((settings.folder if is_folder else settings.file)("/".join((*above, name))))
                for name, is_folder in _similar_names(self._context.connection(), self._location)
            ]
        except ClitoolError:  # there is no such folder, or the file is not for this client
            return None
        return found[0] if len(found) == 1 else None


def _similar_names(jail: Jail, location: Location) -> list[tuple[str, bool]]:
    """Return the names that differ from that of `location` in spelling only, and whether each is a folder."""
    from itertools import islice

    wanted = _fold(location.name)
    with jail.parent(location) as folder, os.scandir(folder.fd) as entries:
        some = islice(entries, MOST_NAMES)
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in some if _fold(entry.name) == wanted]


def _fold(name: str) -> str:
    from unicodedata import normalize

    return " ".join(normalize("NFC", name).casefold().split())
