"""The SQLite file behind `State`: private, made at the first use, and its faults in words."""

from __future__ import annotations

import os
from contextlib import contextmanager
from stat import S_IMODE, S_ISREG

from clitool.errors import ExecutionError
from clitool.lean import sqlite3
from clitool.private_folder import make_private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY_SECONDS = 3.0  # a write takes milliseconds; hosts end a call after about ten seconds

# Keys and values are bytes, so that any text comes back as it was, lone surrogates and NUL included.
_TABLE = """
CREATE TABLE IF NOT EXISTS entries (
    client TEXT NOT NULL,
    family TEXT NOT NULL,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    expires REAL,
    PRIMARY KEY (client, family, key)
);
CREATE INDEX IF NOT EXISTS expiring ON entries (expires) WHERE expires IS NOT NULL;
"""

_SENTENCES = {
    sqlite3.SQLITE_BUSY: "another process holds the state store for too long; try again",
    sqlite3.SQLITE_CORRUPT: "the state store is damaged; restore state.db from a backup or remove it",
    sqlite3.SQLITE_NOTADB: "state.db in the folder for state is not a database; restore it from a backup or remove it",
    sqlite3.SQLITE_ERROR: "state.db in the folder for state is another program's database; name another folder",
    sqlite3.SQLITE_FULL: "the disk with the state store is full",
}
_OTHER = "the state store cannot be read or written; check the owner and the mode of its folder"


def connect(directory: str | None) -> sqlite3.Connection:
    """Open ``state.db`` in the folder, made when needed; raises `ExecutionError` (state) or `sqlite3.Error`."""
    if not directory:
        raise ExecutionError("there is no folder for state; set directory under `state` in the clients file", "state")
    try:
        path = _private_file(directory)
    except (OSError, ValueError) as error:  # ValueError: a NUL or a lone surrogate in the path
        raise ExecutionError(_OTHER, "state") from error
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        _prepare(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def explained() -> Iterator[None]:
    """Turn what SQLite raises into one sentence without a path: `ExecutionError` (state)."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest of the number is detail
        raise ExecutionError(_SENTENCES.get(code, _OTHER), "state") from error


def _private_file(directory: str) -> str:
    """Return the path of the file: there, private, and where nobody else can put a link in its place."""
    make_private_folder(directory)
    if os.stat(directory).st_mode & 0o022:
        raise ExecutionError("others may write to the folder for state; run chmod go-w on it", "state")
    path = os.path.join(directory, "state.db")
    _create(path)
    mode = os.lstat(path).st_mode
    if not S_ISREG(mode):
        raise ExecutionError("state.db in the folder for state is no regular file; remove it", "state")
    if S_IMODE(mode) != 0o600:
        os.chmod(path, 0o600)  # SQLite gives its -wal and -shm files the same mode
    return path


def _create(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return  # never opened and closed: that would drop the locks of this process (sqlite.org/howtocorrupt.html 2.2)
    os.close(descriptor)


def _prepare(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        # Another process is switching at this moment; SQLite does not wait here, but in the next statement it does.
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(_TABLE)
