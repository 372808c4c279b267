"""The SQLite engine: the standard library's driver, files opened read-only for reads, SQLite's own authorizer."""

from __future__ import annotations

from clitool.errors import InvalidParams, SettingsError
from clitool.family import Secret
from clitool_tools.database.names import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, NoReturn

    from clitool.family import Finding, Origin
    from clitool.tool import Deadline
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.sqlite.database import Database


__all__ = ("KEYS", "check", "connect", "fold", "is_reserved", "locate", "screen", "screen_pipeline")

KEYS: tuple[str, ...] = ("connection_string", "allow_side_effects")


def locate(settings: Mapping[str, Any], origin: Origin, prefix: str) -> str:
    """Return the absolute path that the connection string names; raises `SettingsError`."""
    from clitool_tools.database.sqlite.location import path

    key = prefix + "connection_string"
    text = settings.get("connection_string")
    if text is None:
        raise SettingsError(key, "'connection_string' is missing")
    return path(text.reveal() if isinstance(text, Secret) else text, origin, key)


def is_reserved(name: str) -> bool:
    """Return whether the name is one of SQLite's own tables."""
    return fold(name).startswith(b"sqlite_")


def screen(sql: str) -> None:
    """Raise `InvalidParams` unless a caller's statement begins like a SELECT."""
    from clitool_tools.database.sqlite.screening import screen as by_its_text

    by_its_text(sql)


def screen_pipeline(connection: Connection, pipeline: Sequence[Any]) -> NoReturn:  # noqa: ARG001 - the interface of all engines
    """Refuse a pipeline, which only MongoDB has."""
    raise InvalidParams("a SQL database runs no pipelines; use database_query or database_sql", "pipeline_not_allowed")


def connect(connection: Connection, deadline: Deadline) -> Database:
    """Return the database for one call; its file is opened at the first use."""
    from clitool_tools.database.sqlite.database import Database

    return Database(connection, deadline)


def check(connection: Connection, prefix: str, *, probe: bool) -> Iterable[Finding]:
    """Yield what `clitool check` says about a database."""
    from clitool_tools.database.sqlite.inspection import inspect

    return inspect(connection, prefix, probe=probe)
