"""The MySQL and MariaDB engine: mysql-connector-python behind a small seam, sqlglot to judge a caller's SELECT."""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, NoReturn

    from clitool.family import Finding, Origin
    from clitool.tool import Deadline
    from clitool_tools.database.mysql.address import Address
    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.settings import Connection

KEYS: tuple[str, ...] = (
    "connection_string",
    "host",
    "port",
    "socket",
    "user",
    "password",
    "database",
    "ssl_mode",
    "ssl_ca",
    "ssl_cert",
    "ssl_key",
    "charset",
    "allow_side_effects",
)


def locate(settings: Mapping[str, Any], origin: Origin, prefix: str) -> Address:
    """Return which server, user and database the settings mean; raises `SettingsError`."""
    from clitool_tools.database.mysql.address import address as from_settings

    return from_settings(settings, origin, prefix)


def fold(name: str) -> str:
    """Return what spellings have in common where a server ignores case; the engine asks the server whether it does."""
    return name.casefold()


def is_reserved(name: str) -> bool:  # noqa: ARG001 - the interface of all engines
    """Return false: the server's own tables lie in other databases, which no connection reaches."""
    return False


def screen(sql: str) -> None:
    """Raise `InvalidParams` for what a caller's text alone tells against it."""
    from clitool_tools.database.mysql.screening import screen as by_its_text

    by_its_text(sql)


def screen_pipeline(connection: Connection, pipeline: Sequence[Any]) -> NoReturn:  # noqa: ARG001 - as above
    """Refuse a pipeline, which only MongoDB has."""
    raise InvalidParams("a SQL database runs no pipelines; use database_query or database_sql", "pipeline_not_allowed")


def connect(connection: Connection, deadline: Deadline) -> Database:
    """Return the engine for one call; it connects at the first use."""
    from clitool_tools.database.mysql.database import Database

    return Database(connection, deadline)


def check(connection: Connection, prefix: str, *, probe: bool) -> Iterable[Finding]:
    """Yield what `clitool check` says about a database."""
    from clitool_tools.database.mysql.inspection import inspect

    return inspect(connection, prefix, probe=probe)
