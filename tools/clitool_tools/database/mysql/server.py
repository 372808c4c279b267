"""What the server is, how a session with it must be, and the proof that it is so.

All is set in one statement and read back before anything else runs, so that neither the server's configuration nor a
proxy decides what a literal means or whether a query can write:

- times are UTC: `TIMESTAMP` columns are shown and taken so; text is utf8mb4 with the server's own collation;
- nothing is cut or rounded to fit without an error, zero is no order to generate a key, and dates with zeros in them,
  which a table may hold, can be filtered for and written back;
- a statement, and a wait for a lock, ends at its time limit on the server, too.
"""

from __future__ import annotations

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from clitool_tools.database.mysql.driver import Row

_MODES = ("ERROR_FOR_DIVISION_BY_ZERO", "NO_AUTO_VALUE_ON_ZERO", "NO_ENGINE_SUBSTITUTION", "STRICT_ALL_TABLES")
_OWNERS_CHOICE = "ONLY_FULL_GROUP_BY"  # refuses statements that have no one answer; each server has its own rule for it
_UNLIMITED = 2**64 - 1
_DIGITS = 9  # that no part of a version has
_RENAMED = (11, 1)  # where MariaDB took over MySQL's names of the transaction's variables

# Whatever the server's own configuration says. A safe mode, a limit of rows or IS NULL that finds the last key would
# change what statements do; a COMMIT that begins the next transaction, or hangs up, would too.
_PLAIN = {
    "autocommit": "1",
    "time_zone": "'+00:00'",
    "completion_type": "0",
    "foreign_key_checks": "1",
    "unique_checks": "1",
    "sql_auto_is_null": "0",
    "sql_safe_updates": "0",
    "sql_select_limit": f"{_UNLIMITED}",
}


class Server:
    """What the server said about itself and the session.

    Attributes:
        text: its version as it spells it.
        kind: ``mariadb`` or ``mysql``.
        version: the numbers in it, for example ``(10, 11, 19)``.
        lower_case_table_names: 0 if it tells upper from lower case in names of tables, 1 or 2 if not.
        sql_mode: in force in the session.
        reads_only: whether the session's transactions can change nothing.
        id: the number by which another connection can kill this one.
        max_packet: bytes that a statement must not reach.
        greets: whether it runs something of its owner's in each new session (``init_connect``), and in none that is
            only reset.
        tls: the version of TLS in use, or empty.
    """

    __slots__ = (
        "greets",
        "id",
        "kind",
        "lower_case_table_names",
        "max_packet",
        "reads_only",
        "sql_mode",
        "text",
        "tls",
        "version",
    )

    def __init__(self, row: Row, tls: str) -> None:
        self.text = _text(row[0])
        self.kind = kind(self.text)
        self.version = version(self.text)
        self.lower_case_table_names = int(_text(row[1]))
        self.sql_mode = frozenset(_text(row[2]).split(","))
        self.reads_only = _text(row[3]) == "1"
        self.id = int(_text(row[4]))
        self.max_packet = int(_text(row[5]))
        self.greets = _text(row[11]) != "1"
        self.tls = tls


def kind(text: str) -> str:
    """Return which of the two servers calls its version so."""
    return "mariadb" if "mariadb" in text.lower() else "mysql"


def version(text: str) -> tuple[int, ...]:
    """Return the numbers of a version; MariaDB puts ``5.5.5-`` before its own where old clients look."""
    numbers = text.removeprefix("5.5.5-").partition("-")[0].split(".")
    return tuple(int(number) for number in numbers if number.isdecimal() and len(number) < _DIGITS)


def pin(text: str, seconds: float, *, reads_only: bool) -> str:
    """Return the statement that makes a session as it must be.

    Args:
        text: the server's version.
        seconds: the most that a statement may take.
        reads_only: whether its transactions may change nothing.
    """
    prefix = _prefix(text)
    wait = max(1, int(seconds) - 1)  # so that the server says "locked" before the time is over
    values = {
        **_PLAIN,
        f"{prefix}_read_only": f"{reads_only:d}",
        f"{prefix}_isolation": "'REPEATABLE-READ'",
        "sql_mode": f"CONCAT('{','.join(_MODES)}',"
        f" IF(FIND_IN_SET('{_OWNERS_CHOICE}', @@sql_mode), ',{_OWNERS_CHOICE}', ''))",
        "innodb_lock_wait_timeout": f"{wait}",
        "lock_wait_timeout": f"{wait}",
        **_limit(text, seconds),
    }
    return "SET NAMES utf8mb4, " + ", ".join(f"@@session.{name} = {value}" for name, value in values.items())


def look(text: str) -> str:
    """Return the statement that asks for what `seen` takes."""
    return (
        f"SELECT @@version, @@lower_case_table_names, @@session.sql_mode, @@session.{_prefix(text)}_read_only,"
        " CONNECTION_ID(), @@session.max_allowed_packet, @@session.character_set_client,"
        " @@session.character_set_connection, @@session.character_set_results,"
        " @@session.time_zone, @@session.autocommit, @@init_connect = ''"
    )


def seen(rows: Sequence[Row], tls: str) -> Server:
    """Return the server for the answer to `look`; raises `ExecutionError` if the session is not as it must be."""
    try:
        (row,) = rows
        server = Server(row, tls)
    except (ValueError, IndexError):
        raise _unpinned() from None
    is_pinned = (
        server.sql_mode - {_OWNERS_CHOICE} == set(_MODES)
        and row[6:9] == (b"utf8mb4",) * 3
        and row[9:11] == (b"+00:00", b"1")
    )
    if not is_pinned:
        raise _unpinned()
    return server


def _unpinned() -> ExecutionError:
    return ExecutionError(
        "the server, or a proxy before it, does not keep the session's settings, so nothing was done", "database"
    )


def _prefix(text: str) -> str:
    return "tx" if kind(text) == "mariadb" and version(text) < _RENAMED else "transaction"


def _limit(text: str, seconds: float) -> dict[str, str]:
    if kind(text) == "mariadb":
        return {"max_statement_time": f"{seconds:.3f}"}
    return {"max_execution_time": f"{max(1, int(seconds * 1000))}"}  # milliseconds, and for SELECT only


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
