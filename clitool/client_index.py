"""The index of a clients file: what one call needs of it, found in constant time however many clients there are.

It lies beside the file, is derived from it, and is believed only as long as the file is the very one it was made from.
Its layout, numbers in big-endian order:

    MAGIC, seal, length of the header (4 bytes), header (JSON)
    where each bucket begins, and where the last one ends (8 bytes each)
    each bucket: seal, JSON object of some of the records

A seal is a part of the SHA-256 of what it stands before, of the header's seal and of the bucket's number: "there is no
such client" is only said by intact bytes. Whatever else is wrong makes the clients file be read instead.
"""

from __future__ import annotations

import os
from stat import S_ISREG

from clitool import __version__
from clitool.clients import Client, Clients, Token
from clitool.clients_file import index_path
from clitool.lean import loads, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from clitool.clients import Path

MAGIC = b"clitool clients\x01"  # the last byte numbers the layout
SEAL = 16
NUMBER = 8
OTHERS_WRITE = 0o022
_BEFORE_HEADER = len(MAGIC) + SEAL + 4
_FIRST_READ = 4096

# What keys of records begin with, and what the records hold.
DIGEST = "d"  # a digest: name of the client, entry of the token
CLIENT = "c"  # a name: entry of the client without its tokens
ROLE = "r"  # a name: scopes of the role
LINES = "l"  # a name: line and outline of the client; no name: outline of all but the clients


class Damaged(Exception):
    """The index does not hold what it must."""


def identity(status: os.stat_result) -> list[int]:
    """Return what changes when a file is changed or replaced, whoever tries to hide it."""
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def seal(*parts: bytes) -> bytes:
    """Return what tells intact bytes from damaged ones."""
    return sha256(b"".join(parts)).digest()[:SEAL]


def bucket_number(key: str, buckets: int) -> int:
    """Return which bucket has the record called `key`."""
    return int.from_bytes(sha256(key.encode("utf-8", "surrogatepass")).digest()[:NUMBER], "big") % buckets


def open_index(path: str, status: os.stat_result) -> Index | None:
    """Return the index of the clients file at `path` whose `status` was read from its open descriptor.

    Returns:
        None if there is no index that can be trusted, is intact at its beginning and was made from this very file by
        this version of the program.
    """
    try:
        index = Index(_open(index_path(path), status))
    except (OSError, ValueError, Damaged):
        return None
    if index.header["version"] == __version__ and index.header["identity"] == identity(status):
        return index
    return None


def _open(path: str, clients_file: os.stat_result) -> int:
    # A sticky folder protects files, but not names that are still free: anybody may put an index there first.
    if os.stat(os.path.dirname(path)).st_mode & OTHERS_WRITE:
        raise PermissionError
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
    found = os.fstat(descriptor)
    owned = found.st_uid in (0, os.geteuid(), clients_file.st_uid)
    if S_ISREG(found.st_mode) and owned and not found.st_mode & (OTHERS_WRITE | (0o077 & ~clients_file.st_mode)):
        return descriptor
    os.close(descriptor)
    raise PermissionError


class Index:
    """An open index.

    Args:
        descriptor: of its file; closed when nobody needs the index any more.

    Attributes:
        header: version of the program, identity and top sections of the clients file, number of buckets.

    Raises:
        Damaged: the beginning is not that of an index.
    """

    __slots__ = ("_descriptor", "_directory", "_seal", "_size", "header")

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._size = os.fstat(descriptor).st_size
        start = self._read(0, min(_FIRST_READ, self._size))
        length = int.from_bytes(start[_BEFORE_HEADER - 4 : _BEFORE_HEADER], "big")
        self._directory = _BEFORE_HEADER + length
        if self._directory > len(start):
            start = self._read(0, self._directory)
        self._seal = start[len(MAGIC) : len(MAGIC) + SEAL]
        text = start[_BEFORE_HEADER : self._directory]
        if not start.startswith(MAGIC) or seal(MAGIC, text) != self._seal:
            raise Damaged
        self.header: dict[str, Any] = loads(text.decode())

    def __del__(self) -> None:
        os.close(self._descriptor)

    def get(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return the record called `key`, or None if there is none; raise `Damaged` if that cannot be told."""
        number = bucket_number(key, self.header["buckets"])
        place = self._read(self._directory + number * NUMBER, 2 * NUMBER)
        start, end = int.from_bytes(place[:NUMBER], "big"), int.from_bytes(place[NUMBER:], "big")
        bucket = self._read(start, end - start)
        text = bucket[SEAL:]
        if seal(self._seal, number.to_bytes(NUMBER, "big"), text) != bucket[:SEAL]:
            raise Damaged
        try:
            return loads(text.decode()).get(key)
        except RecursionError as error:
            raise Damaged from error

    def content(self) -> bytes:
        """Return the whole file."""
        return self._read(0, self._size)

    def _read(self, start: int, length: int) -> bytes:
        if not 0 <= start <= start + length <= self._size:
            raise Damaged
        try:
            return os.pread(self._descriptor, length, start)
        except OSError as error:
            raise Damaged from error


class IndexedClients(Clients):
    """The clients of a file, looked up one by one.

    Args:
        path: of the clients file.
        index: of that file.
        read: reads the file itself; asked where the index turns out to be damaged.
    """

    __slots__ = ("_index", "_parsed", "_read")

    def __init__(self, path: str, index: Index, read: Callable[[], Clients]) -> None:
        super().__init__(path, index.header["sections"])
        self._index = index
        self._read = read
        self._parsed: Clients | None = None

    def find(self, digest: str) -> tuple[Client, Token] | None:
        """Return the client and token stored under `digest` (lower-case hexadecimal SHA-256)."""
        try:
            found = self._index.get(DIGEST + digest)
            if found is None:
                return None
            name, token = found
            return self._client(name, self._index.get(CLIENT + name)), Token(token)
        except Damaged:
            return self._whole_file().find(digest)

    def client(self, name: str) -> Client | None:
        """Return the client called `name`."""
        try:
            entry = self._index.get(CLIENT + name)
            return None if entry is None else self._client(name, entry)
        except Damaged:
            return self._whole_file().client(name)

    def line(self, path: Path) -> int:
        """Return the line of the value at `path`, or of the deepest part of it that exists."""
        from clitool.outline import line_in

        try:
            return line_in(self._outline(path), path)
        except Damaged:
            return self._whole_file().line(path)

    def _whole_file(self) -> Clients:
        if self._parsed is None:
            self._parsed = self._read()
        return self._parsed

    def _client(self, name: str, entry: Mapping[str, Any]) -> Client:
        names = [scope.removeprefix("role:") for scope in entry["scopes"] if scope.startswith("role:")]
        return Client(name, entry, {role: self._index.get(ROLE + role) for role in names})

    def _outline(self, path: Path) -> Any:  # noqa: ANN401 - as above
        outline = self._index.get(LINES)
        name = path[1] if path[:1] == ("clients",) and len(path) > 1 else None
        if name and isinstance(name, str):
            _, clients = outline["clients"]
            clients[name] = self._index.get(LINES + name)
        return outline
