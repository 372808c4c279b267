"""The clients as frozen values: who may call, with which scopes and with which settings per family."""

from __future__ import annotations

import os
from time import monotonic

from clitool.clients_file import INDEX, ClientsFile, index_path
from clitool.places import LogSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Path = tuple[str | int, ...]


class Token:
    """One token of a client; only its digest is known."""

    __slots__ = ("disabled", "expires", "id", "not_before", "sha256")

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.id: str = entry["id"]
        self.sha256: str = entry["sha256"].lower()
        self.expires: str = entry.get("expires") or ""
        self.not_before: str = entry.get("not_before") or ""
        self.disabled: bool = entry.get("disabled", False)

    def is_valid(self, today: str) -> bool:
        """Say whether it opens anything on the UTC date `today` (`YYYY-MM-DD`); valid through `expires`."""
        return not self.disabled and self.not_before <= today and (not self.expires or today <= self.expires)


class Client:
    """One client: its name, scopes (roles resolved) and unresolved settings per family."""

    __slots__ = ("disabled", "empty_token", "name", "scopes", "settings")

    def __init__(self, name: str, entry: Mapping[str, Any], roles: Mapping[str, list[str]]) -> None:
        self.name = name
        self.scopes = tuple(_resolve_roles(entry["scopes"], roles))
        self.settings: Mapping[str, Any] = entry.get("tools") or {}
        self.empty_token: bool = entry.get("empty_token", False)
        self.disabled: bool = entry.get("disabled", False)


class Clients:
    """The clients of one file, which was either read as a whole (clients_yaml.py) or has an index (client_index.py).

    Args:
        path: absolute path of the file.
        sections: what stands at the top of the file under ``tools``, ``log`` and ``state``.

    Attributes:
        path: as given.
        disabled: tools and families that are switched off.
        log: where logs go; its directory is None where the file does not say.
        state_directory: None where the file does not say.
    """

    __slots__ = ("_files", "disabled", "log", "path", "state_directory")

    def __init__(self, path: str, sections: Mapping[str, Any]) -> None:
        folder = os.path.dirname(path)
        log = sections.get("log") or {}
        self.path = path
        self._files: list[str] = []
        self.disabled = frozenset((sections.get("tools") or {}).get("disabled") or ())
        self.log = LogSettings(
            _beside(folder, log.get("directory")), log.get("keep_days", 30), log.get("audit", "best_effort")
        )
        self.state_directory = _beside(folder, (sections.get("state") or {}).get("directory"))

    def files(self) -> list[str]:
        """Return the paths of the file, of what it is a link to, and of the index."""
        if not self._files:
            index = index_path(self.path)
            self._files = [self.path, index.removesuffix(INDEX), index]
        return self._files

    def find(self, digest: str) -> tuple[Client, Token] | None:
        """Return the client and token stored under `digest` (lower-case hexadecimal SHA-256)."""
        raise NotImplementedError

    def client(self, name: str) -> Client | None:
        """Return the client called `name`."""
        raise NotImplementedError

    def line(self, path: Path) -> int:
        """Return the line of the value at `path`, or of the deepest part of it that exists."""
        raise NotImplementedError

    def where(self, path: Path, message: str) -> str:
        """Return a complaint about the value at `path`, with file and line."""
        return complaint(self.path, self.line(path), path, message)


def load(path: str, *, trust: bool = False, seconds: float | None = None) -> Clients:
    """Return the clients of the file at the absolute `path`: by its index, or else read, checked and frozen.

    Args:
        path: absolute.
        trust: as for `ClientsFile`.
        seconds: how long reading may take, if the caller has no more time than that.

    Raises:
        ClientsFileError: with every problem found.
    """
    from clitool.client_index import IndexedClients, open_index

    end = None if seconds is None else monotonic() + seconds

    def read() -> Clients:
        from clitool.clients_yaml import load_all  # and with it YAML, which takes longer than all else of a call

        return load_all(path, trust=trust, end=end)

    with ClientsFile(path, trust=trust) as file:
        index = open_index(path, file.status())
    return read() if index is None else IndexedClients(path, index, read)


def complaint(file: str, line: int, path: Path, message: str) -> str:
    """Return one line of text: file, line number, dotted key, sentence."""
    key = ".".join(str(step) for step in path)
    return f"{file}:{line}: {key + ': ' if key else ''}{message}"


def _beside(folder: str, directory: str | None) -> str | None:
    return None if directory is None else os.path.normpath(os.path.join(folder, directory))


def _resolve_roles(scopes: Iterable[str], roles: Mapping[str, list[str]]) -> list[str]:
    resolved: list[str] = []
    for scope in scopes:
        resolved += roles[scope.removeprefix("role:")] if scope.startswith("role:") else [scope]
    return resolved
