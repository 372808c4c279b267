"""Sessions with real and played MySQL servers, and what tests of them share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from clitool_tools.database import family
from clitool_tools.database.mysql.session import Session
from mariadb_world import PASSWORD, Maria, hidden

from clitool.errors import ClitoolError, report
from clitool.family import Origin
from clitool.tool import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from services.fake_mysql import Conversation, FakeMySQL
    from services.mariadb import MariaDB

    class StartFake(Protocol):
        def __call__(self, behave: Callable[[Conversation], None], *, over_tcp: bool = False) -> FakeMySQL: ...


# The modes of every session.
PINNED = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION"


def opened(world: Maria, seconds: float = 30, **more: object) -> Session:
    return Session(parsed({**world.settings, **more}, world.folder), Deadline(seconds))


def parsed(values: dict[str, Any], folder: str = "/") -> Any:
    assert family.parse is not None
    return family.parse(hidden(values), Origin(folder))[""]


@contextmanager
def refused(reason: str) -> Iterator[dict[str, Any]]:
    """Expect an error with this reason; it is one line without the password."""
    found: dict[str, Any] = {}
    with pytest.raises(ClitoolError) as caught:
        yield found
    found.update(report(caught.value))
    assert PASSWORD not in repr(found)
    assert "\n" not in found["error"]
    assert found["details"]["reason"] == reason


def towards(place: int | str, seconds: float = 5, **more: object) -> Session:
    """Return a session with whoever listens at a port, or at the path of a Unix socket."""
    over_tcp = {"host": "127.0.0.1", "port": place, "ssl_mode": "DISABLED"}
    there = {"socket": place} if isinstance(place, str) else over_tcp
    account = {"user": "u", "password": PASSWORD, "database": "d", "allowed_tables": ["t"]}
    return Session(parsed({"type": "mysql", **there, **account, **more}), Deadline(seconds))


def count(maria: Maria) -> int:
    found: int = maria.rows("SELECT COUNT(*) FROM orders")[0][0]
    return found


def is_gone(mariadb: MariaDB, number: int) -> bool:
    """Return whether the server ends a connection within some seconds."""
    return mariadb.comes_to([(0,)], f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {number}")
