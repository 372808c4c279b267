"""The database file: found, opened read-only or for writing, never created, with limits on time, memory and size."""

from __future__ import annotations

import os
from time import monotonic

from clitool.errors import ExecutionError
from clitool.lean import sqlite3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Any

    from clitool.errors import ClitoolError
    from clitool.tool import Deadline
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.sqlite.guard import Guard

MEMORY = 128 * 1024 * 1024  # bytes that SQLite may use in this process; a statement that needs more fails
BROKEN = "the file is not a SQLite database, or it is encrypted"
DAMAGED = "the database file is damaged; restore it from a backup"
CLOSED = "the database file cannot be opened: it does not exist, or this program may not read it or its folder"
LONGEST_VALUE = 16 * 1024 * 1024  # bytes of a value in a query, unless answers may be larger
_OLDEST = [3, 37]  # has PRAGMA table_list and STRICT
_TICK = 1000  # virtual machine instructions between two looks at the clock
_MARGIN = 0.2  # seconds before the call's deadline, to say in our own words what happened

_LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 1000,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_RECOVERABLE = (sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY)
_WAL = b"\2\2"  # bytes 18 and 19 of the header (https://www.sqlite.org/fileformat.html)


class File:
    """The file of one connection of the settings, for one call.

    Args:
        connection: the settings; its address is an absolute path.
        deadline: of the call.
    """

    __slots__ = ("_connection", "_deadline", "_reader", "_snapshot", "_writer")

    def __init__(self, connection: Connection, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._snapshot: tuple[int, ...] = ()

    @property
    def seconds(self) -> float:
        """How long the next statement may take."""
        self._deadline.check()
        return max(0.01, min(self._connection.timeout, self._deadline.remaining() - _MARGIN))

    def faults(self, guard: Guard | None = None) -> Faults:
        """Return what turns SQLite's errors, and the refusals of a guard behind them, into ours."""
        return Faults(self.seconds, guard)

    def reader(self) -> sqlite3.Connection:
        """Return the connection for reads: the file is opened read-only, and the connection refuses changes, too."""
        if self._reader is None:
            with self.faults():
                self._reader = self._open_reader()
        self.start_clock(self._reader)
        return self._reader

    def writer(self) -> sqlite3.Connection:
        """Return the connection for changes, with foreign keys enforced."""
        if self._writer is None:
            self._header()
            with self.faults():
                self._writer = self._open("rw", "PRAGMA foreign_keys=ON")
        self.start_clock(self._writer)
        return self._writer

    def start_clock(self, handle: sqlite3.Connection) -> None:
        """Give the following statements of `handle` their time."""
        end = monotonic() + self.seconds
        handle.set_progress_handler(lambda: monotonic() > end, _TICK)

    def checked(self, rows: Iterable[Sequence[Any]]) -> Iterable[Sequence[Any]]:
        """Return `rows` as they are read; if the file is read without locks, each only if it is still as it was."""
        return self._each_verified(rows) if self._snapshot else rows

    def _each_verified(self, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        for row in rows:
            self._verify()
            yield row
        self._verify()  # also that there are no more

    def _verify(self) -> None:
        if self._snapshot != _state(self._connection.address):
            raise ExecutionError("the database was changed while it was read; try again", "locked")

    def close(self) -> None:
        """Close what is open; a change that was not committed is taken back."""
        for handle in (self._reader, self._writer):
            if handle is not None:
                handle.close()
        self._reader = self._writer = None

    def _open_reader(self) -> sqlite3.Connection:
        try:
            return self._open_read_only()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in _RECOVERABLE:
                raise
        # Whoever wrote last did not finish. SQLite lets any reader that may write put the file in order.
        self._open("rw", "PRAGMA query_only=ON").close()
        return self._open_read_only()

    def _open_read_only(self) -> sqlite3.Connection:
        path = self._connection.address
        unused = is_unused_wal(path, self._header())
        self._snapshot = _state(path) if unused else ()
        handle = self._open("ro&immutable=1" if unused else "ro", "PRAGMA query_only=ON")
        limit(handle, self._connection.max_bytes)
        return handle

    def _header(self) -> bytes:
        """Return the beginning of the file; raise `ExecutionError` (unreachable) if it is none that we may open.

        Before SQLite opens it: closing a file drops all locks that this process has on it.
        """
        from stat import S_ISREG

        from clitool_tools.database.sqlite.location import is_protected

        path = self._connection.address
        try:
            if not S_ISREG(os.stat(path).st_mode) or is_protected(path, self._connection.protected):
                raise ExecutionError("the database is not a regular file that tools may open", "unreachable")
            with open(path, "rb") as file:
                header = file.read(100)
        except OSError:
            raise ExecutionError(CLOSED, "unreachable") from None
        if header and not header.startswith(b"SQLite format 3\0"):
            raise ExecutionError(BROKEN, "unreachable")
        if _is_cut(path, header):
            raise ExecutionError(DAMAGED, "database")
        return header

    def _open(self, mode: str, pragma: str) -> sqlite3.Connection:
        if [int(part) for part in sqlite3.sqlite_version.split(".")] < _OLDEST:
            raise ExecutionError(
                f"this Python has SQLite {sqlite3.sqlite_version}; 3.37 or later is needed", "driver_missing"
            )
        handle = sqlite3.connect(
            f"file:{escaped(self._connection.address)}?mode={mode}",
            uri=True,
            timeout=self.seconds,
            isolation_level=None,
        )
        try:
            for statement in (pragma, f"PRAGMA hard_heap_limit={MEMORY}", "PRAGMA schema_version"):
                handle.execute(statement).fetchall()  # the last one reads the file
        except BaseException:
            handle.close()
            raise
        handle.text_factory = _text
        return handle


class Faults:
    """Turn SQLite's errors inside a ``with`` block into ours.

    Args:
        timeout: seconds that the statement had, for the sentence.
        guard: the authorizer in charge; its refusal goes before whatever SQLite makes of it.

    Attributes:
        row: which of the caller's rows is at work, if there are any, to tell which one a constraint refuses.
    """

    __slots__ = ("guard", "row", "timeout")

    def __init__(self, timeout: float, guard: Guard | None = None) -> None:
        self.timeout = timeout
        self.guard = guard
        self.row: int | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        refusal = self.guard.refusal if self.guard is not None and error is not None else None
        if isinstance(error, (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError)):
            raise (refusal or self.translated(error)) from error

    def translated(self, error: BaseException) -> ClitoolError:
        """Return what to raise for an error of the driver."""
        from clitool_tools.database.sqlite.faults import translated

        return translated(error, self.timeout, self.row)


def limit(handle: sqlite3.Connection, max_bytes: int) -> None:
    """Bound what a statement may be made of, and the size of a value; answers have up to `max_bytes`."""
    for category, most in _LIMITS.items():
        handle.setlimit(category, most)
    handle.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(LONGEST_VALUE, max_bytes))


def escaped(path: str) -> str:
    """Return an absolute path for a ``file:`` URI: everything is escaped that could be an option or a fragment."""
    return "".join(chr(octet) if octet in _SAFE else f"%{octet:02X}" for octet in os.fsencode(path))


_SAFE = b"/-_.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def is_unused_wal(path: str, header: bytes) -> bool:
    """Return whether the file is in WAL mode and nobody has it open.

    SQLite would create the files ``-wal`` and ``-shm`` to read it: as the reader's own, so that the owner's program
    could no longer write, and not at all in a folder that the reader may not write. Such a file can be read as
    immutable instead, because every writer must make ``-wal`` first and changes the file only when it is done;
    `File.checked` looks whether that happened.
    """
    return header[18:20] == _WAL and not _size(path + "-wal") and not os.path.exists(path + "-shm")


def _is_cut(path: str, header: bytes) -> bool:
    """Return whether the file is smaller than its header says, and no journal or log tells that this is being mended.

    SQLite sees that only if whole pages are missing. It takes the rest of a page for zeros: rows are read that nobody
    wrote, and written over.
    """
    if header[24:28] != header[92:96] or any(os.path.exists(path + end) for end in ("-journal", "-wal")):
        return False  # the size in the header is not valid, or not yet
    page = int.from_bytes(header[16:18], "big")
    if page & (page - 1):  # no power of two: SQLite will say that this is no database
        return False
    return _size(path) < int.from_bytes(header[28:32], "big") * (65536 if page == 1 else page)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _state(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns
