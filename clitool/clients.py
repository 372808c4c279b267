"""clients.yaml as frozen values: who may call, with which scopes and with which settings per family."""

from __future__ import annotations

import os

from clitool.clients_file import ClientsFileError, read
from clitool.clients_rules import problems as find_problems
from clitool.log import LogSettings
from clitool.strict_yaml import Document, YamlError

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
    """One client: its name, tokens, scopes (roles resolved) and unresolved settings per family."""

    __slots__ = ("disabled", "empty_token", "name", "scopes", "settings", "tokens")

    def __init__(self, name: str, entry: Mapping[str, Any], roles: Mapping[str, list[str]]) -> None:
        self.name = name
        self.tokens = tuple(Token(token) for token in entry.get("tokens") or ())
        self.scopes = tuple(_resolve_roles(entry["scopes"], roles))
        self.settings: Mapping[str, Any] = entry.get("tools") or {}
        self.empty_token: bool = entry.get("empty_token", False)
        self.disabled: bool = entry.get("disabled", False)


class Clients:
    """The whole file.

    Attributes:
        path: absolute path of the file.
        document: the parsed text, for the lines of later complaints.
        by_name: clients in the order of the file.
        disabled: tools and families that are switched off.
        log: where logs go; its directory is None where the file does not say.
        state_directory: None where the file does not say.
    """

    __slots__ = ("_by_digest", "by_name", "disabled", "document", "log", "path", "state_directory")

    def __init__(self, path: str, document: Document) -> None:
        value = document.value
        folder = os.path.dirname(path)
        roles = value.get("roles") or {}
        log = value.get("log") or {}
        self.path = path
        self.document = document
        self.by_name = {name: Client(name, entry, roles) for name, entry in value["clients"].items()}
        self.disabled = frozenset((value.get("tools") or {}).get("disabled") or ())
        self.log = LogSettings(
            _beside(folder, log.get("directory")), log.get("keep_days", 30), log.get("audit", "best_effort")
        )
        self.state_directory = _beside(folder, (value.get("state") or {}).get("directory"))
        self._by_digest = {token.sha256: (client, token) for client in self.by_name.values() for token in client.tokens}

    def find(self, digest: str) -> tuple[Client, Token] | None:
        """Return the client and token stored under `digest` (lower-case hexadecimal SHA-256)."""
        return self._by_digest.get(digest)

    def where(self, path: Path, message: str) -> str:
        """Return a complaint about the value at `path`, with file and line."""
        return complaint(self.path, self.document, path, message)


def load(path: str, *, trust: bool = False) -> Clients:
    """Read, check and freeze the clients file at the absolute `path`.

    Raises:
        ClientsFileError: with every problem found.
    """
    return parse(read(path, trust=trust), path)


def parse(text: bytes, path: str) -> Clients:
    """Check and freeze the content of a clients file that lies, or will lie, at the absolute `path`."""
    try:
        document = Document(text)
    except YamlError as error:
        raise ClientsFileError([f"{path}:{error.line}: {error}"]) from error
    problems = list(find_problems(document.value))
    if problems:
        raise ClientsFileError([complaint(path, document, where, message) for where, message in problems])
    return Clients(path, document)


def complaint(path: str, document: Document, where: Path, message: str) -> str:
    """Return one line: file, line number, dotted key, sentence."""
    key = ".".join(str(step) for step in where)
    return f"{path}:{document.line(where)}: {key + ': ' if key else ''}{message}"


def _beside(folder: str, directory: str | None) -> str | None:
    return None if directory is None else os.path.normpath(os.path.join(folder, directory))


def _resolve_roles(scopes: Iterable[str], roles: Mapping[str, list[str]]) -> list[str]:
    resolved: list[str] = []
    for scope in scopes:
        resolved += roles[scope.removeprefix("role:")] if scope.startswith("role:") else [scope]
    return resolved
