"""SQLite's errors in the words of this project: one sentence and one reason for each, never a value, never a path."""

from __future__ import annotations

from clitool.errors import ClitoolError, ExecutionError, InvalidParams
from clitool.lean import sqlite3
from clitool_tools.database.sqlite.file import BROKEN, CLOSED, DAMAGED

_LONGEST = 300  # characters of SQLite's own sentence

_READ_ONLY = "the database file or its folder cannot be written by this program"
_RECOVERY = "the database was left in the middle of a change; a program that may write must open it once"

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


def translated(error: BaseException, timeout: float, row: int | None = None) -> ClitoolError:
    """Return what to raise for an error of the driver.

    Args:
        error: what happened.
        timeout: seconds that the statement had, for the sentence.
        row: which of the caller's rows was at work; then the sentence begins with it, and `details.row` is it.
    """
    code = _code(error)
    if code & 0xFF == sqlite3.SQLITE_INTERRUPT:
        return ExecutionError(
            f"the statement took longer than {timeout:.3g} s and was stopped; ask for less", "timeout"
        )
    if code & 0xFF == sqlite3.SQLITE_CONSTRAINT:
        reason, sentence = _constraint(code, str(error))
        return (
            ExecutionError(sentence, reason)
            if row is None
            else ExecutionError(f"rows[{row}]: {sentence}", reason, row=row)
        )
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
