"""clients.yaml read as a whole: for people's commands, and for a call that finds no index."""

from __future__ import annotations

from time import monotonic, time_ns

from clitool.client_index_file import keep
from clitool.clients import Client, Clients, Token, complaint
from clitool.clients_file import ClientsFile, ClientsFileError
from clitool.clients_rules import problems as find_problems
from clitool.strict_yaml import Document, YamlError, collecting_no_garbage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_PARTS = 2  # the parser takes about half of the time, what is made of its nodes the other half


class ParsedClient(Client):
    """One client with all of its tokens."""

    __slots__ = ("tokens",)

    def __init__(self, name: str, entry: Mapping[str, Any], roles: Mapping[str, list[str]]) -> None:
        super().__init__(name, entry, roles)
        self.tokens = tuple(Token(token) for token in entry.get("tokens") or ())


class ParsedClients(Clients):
    """All clients.

    Attributes:
        by_name: clients in the order of the file.
        document: the parsed text.
        not_indexed: why the index does not say the same, or nothing; set by `load_all`.
    """

    __slots__ = ("_by_digest", "by_name", "document", "not_indexed")

    def __init__(self, path: str, document: Document) -> None:
        super().__init__(path, document.value)
        roles = document.value.get("roles") or {}
        self.document = document
        self.by_name = {name: ParsedClient(name, entry, roles) for name, entry in document.value["clients"].items()}
        self.not_indexed = ""
        self._by_digest = {token.sha256: (client, token) for client in self.by_name.values() for token in client.tokens}

    def find(self, digest: str) -> tuple[Client, Token] | None:
        """Return the client and token stored under `digest` (lower-case hexadecimal SHA-256)."""
        return self._by_digest.get(digest)

    def client(self, name: str) -> Client | None:
        """Return the client called `name`."""
        return self.by_name.get(name)

    def line(self, path: tuple[str | int, ...]) -> int:
        """Return the line of the value at `path`, or of the deepest part of it that exists."""
        return self.document.line(path)


def load_all(path: str, *, trust: bool = False, end: float | None = None) -> ParsedClients:
    """Read, check and freeze the clients file at the absolute `path`; leave its index behind if that is possible.

    Args:
        path: absolute.
        trust: as for `ClientsFile`.
        end: when it must be done, on the clock of `monotonic`.

    Raises:
        ClientsFileError: with every problem found, or because it would take too long.
    """
    started, read_at = monotonic(), time_ns()
    with collecting_no_garbage(), ClientsFile(path, trust=trust) as file:
        status = file.status()
        clients = parse(file.read(), path, end)
        if end is None or monotonic() - started < end - monotonic():  # to write it takes less time than to read did
            clients.not_indexed = keep(file, clients, status, read_at)
    return clients


def parse(text: bytes, path: str, end: float | None = None) -> ParsedClients:
    """Check and freeze the content of a clients file that lies, or will lie, at the absolute `path`."""
    with collecting_no_garbage():
        try:
            document = Document(text if end is None else _Watched(text, path, end))
        except YamlError as error:
            raise ClientsFileError([f"{path}:{error.line}: {error}"]) from error
        problems = list(find_problems(document.value))
        if problems:
            raise ClientsFileError([complaint(path, document.line(at), at, message) for at, message in problems])
        return ParsedClients(path, document)


class _Watched:
    """The text as a stream that looks, while it is read, whether the end will be reached in time."""

    def __init__(self, text: bytes, path: str, end: float) -> None:
        self._text = text
        self._path = path
        self._start = monotonic()
        self._seconds = end - self._start
        self._position = 0

    def read(self, length: int = -1, /) -> bytes:
        """Return the next bytes; raise ClientsFileError if the rest would take too long."""
        spent = monotonic() - self._start
        # Early enough to answer, late enough to judge by: a process may have to wait at its beginning.
        if spent > self._seconds / 4 and spent * len(self._text) * _PARTS > self._seconds * self._position:
            hint = "run `clitool check`, which writes the index that calls need, or give a longer --timeout"
            raise ClientsFileError([f"{self._path}: too large to be read within the time of a call; {hint}"])
        chunk = self._text[self._position : self._position + length if length >= 0 else None]
        self._position += len(chunk)
        return chunk
