"""The SQLite engine: the standard library's driver, files opened read-only for reads, SQLite's own authorizer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from clitool.family import Finding, Origin
    from clitool.tool import Deadline
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.sqlite.database import Database


def address(text: str, origin: Origin, key: str) -> str:
    """Return the absolute path that a connection string names; raises `SettingsError`."""
    from clitool_tools.database.sqlite.location import path

    return path(text, origin, key)


def screen(sql: str) -> None:
    """Raise `InvalidParams` unless a caller's statement begins like a SELECT."""
    from clitool_tools.database.sqlite.screening import screen as by_its_text

    by_its_text(sql)


def connect(connection: Connection, deadline: Deadline) -> Database:
    """Return the database for one call; its file is opened at the first use."""
    from clitool_tools.database.sqlite.database import Database

    return Database(connection, deadline)


def check(connection: Connection, prefix: str, *, probe: bool) -> Iterable[Finding]:
    """Yield what `clitool check` says about a database."""
    from clitool_tools.database.sqlite.inspection import inspect

    return inspect(connection, prefix, probe=probe)
