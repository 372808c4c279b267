"""A small durable key/value store in one SQLite file: what must survive a process."""

from __future__ import annotations

from time import time

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from sqlite3 import Connection
    from typing import Any

MAX_KEY = 512  # characters
MAX_VALUE = 1024 * 1024  # bytes of UTF-8

# One statement is one transaction. The table is in state_file.py.
_GET = """
SELECT CAST(value AS BLOB) FROM entries
WHERE client = :client AND family = :family AND key = :key AND (expires IS NULL OR expires > :now)
"""
_DELETE = """
DELETE FROM entries
WHERE client = :client AND family = :family AND key = :key AND (expires IS NULL OR expires > :now)
"""
_SET = """
INSERT INTO entries VALUES (:client, :family, :key, :value, :expires)
ON CONFLICT (client, family, key) DO UPDATE SET value = excluded.value, expires = excluded.expires
"""
_PUT_IF_ABSENT = _SET + "WHERE entries.expires <= :now"
_PURGE = "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries WHERE expires <= :now LIMIT 100)"


class State:
    """Texts under keys, for one client and one family; what others keep does not exist here.

    The file is opened at the first use. Every method raises `ExecutionError` (state) if there is no folder, or the file
    cannot be read or written, is locked for too long or is damaged; `InvalidParams` (too_large) for a key of more than
    512 characters or a value of more than 1 MiB.

    Args:
        directory: absolute folder of ``state.db``, made when needed; None if there is none.
        client: whose entries.
        family: of which family.
    """

    __slots__ = ("_client", "_connection", "_directory", "_family")

    def __init__(self, directory: str | None, client: str, family: str) -> None:
        self._directory = directory
        self._client = client
        self._family = family
        self._connection: Connection | None = None

    def get(self, key: str) -> str | None:
        """Return the value under `key`, or None if there is none or it has expired."""
        rows, _ = self._run(_GET, self._entry(key))
        return str(rows[0][0], "utf-8", "surrogatepass") if rows else None

    def set(self, key: str, value: str, expires_in: float | None = None) -> None:
        """Keep `value` under `key`, in place of an earlier one.

        Args:
            key: any text.
            value: any text.
            expires_in: seconds until it is gone, positive and finite; None keeps it until it is deleted.
        """
        self._write(_SET, self._entry(key, value, expires_in))

    def put_if_absent(self, key: str, value: str, expires_in: float | None = None) -> bool:
        """Keep `value` if nothing is under `key` (or it has expired); return whether it was kept.

        Of any number of processes that try at once, exactly one gets True.
        """
        return self._write(_PUT_IF_ABSENT, self._entry(key, value, expires_in)) == 1

    def delete(self, key: str) -> bool:
        """Remove what is under `key`; return whether there was something."""
        return self._run(_DELETE, self._entry(key))[1] == 1

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _entry(self, key: str, value: str = "", expires_in: float | None = None) -> Mapping[str, object]:
        now = time()
        return {
            "client": self._client,
            "family": self._family,
            "key": _key(key),
            "value": _value(value),
            "expires": None if expires_in is None else now + _positive(expires_in),
            "now": now,
        }

    def _write(self, statement: str, entry: Mapping[str, object]) -> int:
        self._run(_PURGE, entry)  # before the change, so that a change which succeeded is never reported as a failure
        return self._run(statement, entry)[1]

    def _run(self, statement: str, entry: Mapping[str, object]) -> tuple[list[Any], int]:
        """Run one statement, which is one transaction; return its rows and how many it changed."""
        from clitool.state_file import connect, explained

        with explained():
            if self._connection is None:
                self._connection = connect(self._directory)
            cursor = self._connection.execute(statement, entry)
            return cursor.fetchall(), cursor.rowcount


def _key(key: str) -> bytes:
    if len(key) > MAX_KEY:
        raise InvalidParams(f"a key for state may have at most {MAX_KEY} characters", "too_large")
    return key.encode("utf-8", "surrogatepass")


def _value(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    if len(data) > MAX_VALUE:
        raise InvalidParams(f"a value for state may have at most {MAX_VALUE} bytes", "too_large")
    return data


def _positive(seconds: float) -> float:
    if not 0 < seconds < float("inf"):
        raise ValueError("expires_in must be positive and finite")
    return seconds
