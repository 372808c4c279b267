"""The MongoDB engine: pymongo, values as Extended JSON, and pipelines under an allow-list of stages."""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any, NoReturn

    from clitool.family import Finding, Origin
    from clitool.tool import Deadline
    from clitool_tools.database.mongodb.address import Address
    from clitool_tools.database.mongodb.database import Database
    from clitool_tools.database.settings import Connection

KEYS: tuple[str, ...] = ("connection_string",)


def locate(settings: Mapping[str, Any], origin: Origin, prefix: str) -> Address:
    """Return which servers and which database the settings mean; raises `SettingsError`."""
    from clitool_tools.database.mongodb.address import address as from_settings

    return from_settings(settings, origin, prefix)


def fold(name: str) -> str:
    """Return the name itself: MongoDB tells upper from lower case."""
    return name


def is_reserved(name: str) -> bool:
    """Return whether the name is one of the server's own collections, or none that a collection can have."""
    return name.startswith(("system.", "oplog.")) or "$" in name


def screen(sql: str) -> NoReturn:  # noqa: ARG001 - the interface of all engines
    """Refuse SQL, which MongoDB has not."""
    raise InvalidParams("MongoDB runs no SQL; use database_query or database_aggregate", "statement_not_allowed")


def screen_pipeline(connection: Connection, pipeline: Sequence[Any]) -> Collection[str]:
    """Return the collections that a caller's pipeline names, all allowed, or refuse it."""
    from clitool_tools.database.mongodb.pipeline import screen as by_its_stages

    return by_its_stages(connection, pipeline)


def connect(connection: Connection, deadline: Deadline) -> Database:
    """Return the engine for one call; it connects at the first use."""
    from clitool_tools.database.mongodb.database import Database

    return Database(connection, deadline)


def check(connection: Connection, prefix: str, *, probe: bool) -> Iterable[Finding]:
    """Yield what `clitool check` says about a database."""
    from clitool_tools.database.mongodb.inspection import inspect

    return inspect(connection, prefix, probe=probe)
