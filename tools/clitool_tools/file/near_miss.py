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
    """Around the use of a file, for ``with``: a `not_found` gets the one name that differs only in spelling.

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
        folders, wanted = self._location.parts[:-1], _fold(self._location.name)
        try:
            names = [name for name in _names(self._context.connection(), self._location) if _fold(name) == wanted]
            found = [str(self._context.settings.file("/".join((*folders, name)))) for name in names]
        except ClitoolError:  # there is no such folder, or the file is not for this client
            return None
        return found[0] if len(found) == 1 else None


def _names(jail: Jail, location: Location) -> list[str]:
    from itertools import islice

    with jail.parent(location) as folder, os.scandir(folder.fd) as entries:
        return [entry.name for entry in islice(entries, MOST_NAMES)]


def _fold(name: str) -> str:
    from unicodedata import normalize

    return " ".join(normalize("NFC", name).casefold().split())
