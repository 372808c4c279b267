"""SQLite's errors in the words of this project: one sentence and one reason for each, never a value, never a path."""

from __future__ import annotations

from clitool.errors import ClitoolError, ExecutionError, InvalidParams
from clitool.lean import sqlite3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from clitool_tools.database.sqlite.guard import Guard

_LONGEST = 300  # characters of SQLite's own sentence

BROKEN = "the file is not a SQLite database, or it is encrypted"
DAMAGED = "the database file is damaged; restore it from a backup"
_READ_ONLY = "the database file or its folder cannot be written by this program"
_RECOVERY = "the database was left in the middle of a change; a program that may write must open it once"
CLOSED = "the database file cannot be opened: it does not exist, or this program may not read it or its folder"

# Result code (https://www.sqlite.org/rescode.html), the extended one first -> (reason, sentence).
_FAULTS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: ("locked", "another process holds the database for too long; try again"),
    sqlite3.SQLITE_LOCKED: ("locked", "another process holds the database for too long; try again"),
    sqlite3.SQLITE_SCHEMA: ("locked", "the tables were changed meanwhile; try again"),
    sqlite3.SQLITE_READONLY: ("permission", _READ_ONLY),
    sqlite3.SQLITE_READONLY_ROLLBACK: ("unreachable", _RECOVERY),
    sqlite3.SQLITE_READONLY_RECOVERY: ("unreachable", _RECOVERY),
    sqlite3.SQLITE_READONLY_CANTINIT: ("unreachable", _RECOVERY),
    sqlite3.SQLITE_PERM: ("permission", _READ_ONLY),
    sqlite3.SQLITE_CANTOPEN: ("unreachable", CLOSED),
    sqlite3.SQLITE_NOTADB: ("unreachable", BROKEN),
    sqlite3.SQLITE_CORRUPT: ("database", DAMAGED),
    sqlite3.SQLITE_IOERR: ("io", "the database file cannot be read or written; see the state of its disk"),
    sqlite3.SQLITE_FULL: ("no_space", "the disk with the database is full"),
    sqlite3.SQLITE_NOMEM: ("database", "the statement needs too much memory; make it simpler"),
    sqlite3.SQLITE_ERROR_MISSING_COLLSEQ: (
        "database",
        "a column uses a collation that only the program which made the database has",
    ),
}
_DUPLICATE = (sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID)


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
        code = _code(error)
        if code & 0xFF == sqlite3.SQLITE_INTERRUPT:
            return ExecutionError(
                f"the statement took longer than {self.timeout:.3g} s and was stopped; ask for less", "timeout"
            )
        if code & 0xFF == sqlite3.SQLITE_CONSTRAINT:
            reason, sentence = _constraint(code, str(error))
            if self.row is None:
                return ExecutionError(sentence, reason)
            return ExecutionError(f"rows[{self.row}]: {sentence}", reason, row=self.row)
        if code & 0xFF in (sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH):
            return _value(code)
        reason, sentence = _FAULTS.get(code) or _FAULTS.get(code & 0xFF) or _other(error)
        return ExecutionError(sentence, reason)


def _code(error: BaseException) -> int:
    if isinstance(error, MemoryError):
        return sqlite3.SQLITE_NOMEM
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code


def _constraint(code: int, message: str) -> tuple[str, str]:
    where = message.partition(" failed: ")[2][:_LONGEST]
    tail = f" ({where})" if where else ""
    if code in _DUPLICATE:
        return "duplicate_key", f"a row with the same unique key exists already{tail}"
    if code == sqlite3.SQLITE_CONSTRAINT_NOTNULL:
        return "constraint", f"a column that must not be null would be{tail}"
    if code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
        return "constraint", "a foreign key is violated: another row is missing, or still refers to this one"
    if code == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
        return "constraint", f"a trigger of the database refuses the change: {message[:_LONGEST]}"
    return "constraint", f"a constraint of the table refuses the change{tail}"


def _value(code: int) -> ClitoolError:
    if code & 0xFF == sqlite3.SQLITE_TOOBIG:
        return InvalidParams(
            "a value or the statement is too large; leave out the column or ask for a part", "too_large"
        )
    return InvalidParams("a value does not fit the type of its column", "bad_value")


def _other(error: BaseException) -> tuple[str, str]:
    return "database", f"SQLite reports: {str(error)[:_LONGEST]}"
