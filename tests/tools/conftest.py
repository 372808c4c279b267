"""Worlds for the file, database and mail tools."""

from __future__ import annotations

import os
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from file_world import World
from mail_world import MailWorld
from mariadb_world import Maria
from mongo_world import Mongo
from mysql_wires import WITH_EXTENSION, start_on_extension
from services import mail as mail_service
from services.certificates import Authority
from services.fake_mysql import FakeMySQL
from services.mariadb import MariaDB
from services.mongod import Mongod

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from mysql_sessions import StartFake
    from services.fake_mysql import Conversation
    from services.mail import MailServers

# These need the C extension of MySQL's connector in their own process; `test_mysql_extension` runs them.
collect_ignore = [] if WITH_EXTENSION else ["test_mysql_on_both_wires.py"]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty root with secrets beside it."""
    return World(tmp_path / "world")


@pytest.fixture
def trapped(world: World) -> World:
    """A root full of traps."""
    world.fill()
    return world


@pytest.fixture
def shared_world() -> Iterator[World]:
    """A world that an unprivileged user can reach, which pytest's own folders do not let in."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield World(Path(folder) / "world")


@pytest.fixture(scope="session")
def on_extension() -> Iterator[subprocess.Popen[str]]:
    """Tests of MySQL in another process, on the C extension of its connector."""
    process = start_on_extension()
    yield process
    process.kill()
    process.communicate()


@pytest.fixture(scope="session", autouse=True)
def at_once(request: pytest.FixtureRequest) -> None:
    """Begin with these at once, if a test asks how they ended: they take a while."""
    if any("on_extension" in getattr(item, "fixturenames", ()) for item in request.session.items):
        request.getfixturevalue("on_extension")


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Whose certificates the servers of the tests show."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def mariadb(authority: Authority) -> Iterator[MariaDB]:
    """A server for all tests, with TLS; a test that stops or reconfigures one starts its own."""
    server = MariaDB(authority=authority)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def mortal_server(authority: Authority) -> Iterator[MariaDB]:
    """Another server; use `mortal`."""
    server = MariaDB(authority=authority)
    yield server
    server.stop()


@pytest.fixture
def mortal(mortal_server: MariaDB) -> Iterator[Maria]:
    """A database on a server that may be killed, stopped and given other certificates."""
    world = Maria(mortal_server)
    yield world
    with suppress(ProcessLookupError):
        os.kill(mortal_server.process.pid, signal.SIGCONT)
        mortal_server.process.kill()
    mortal_server.restart()
    world.drop()


@pytest.fixture
def fake_mysql() -> Iterator[StartFake]:
    """Start a server that behaves as told."""
    servers: list[FakeMySQL] = []

    def start(behave: Callable[[Conversation], None], *, over_tcp: bool = False) -> FakeMySQL:
        servers.append(FakeMySQL(behave, on_socket=WITH_EXTENSION and not over_tcp))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def maria(mariadb: MariaDB) -> Iterator[Maria]:
    """A fresh database on it, with an account and a client's settings."""
    world = Maria(mariadb)
    yield world
    world.drop()


@pytest.fixture(scope="session")
def mongod() -> Iterator[Mongod]:
    """A standalone server, which has no transactions and asks for no password."""
    server = Mongod()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def replica_set() -> Iterator[Mongod]:
    """A replica set of one, with accounts; a test that stops or reconfigures one starts its own."""
    server = Mongod(replica_set=True, auth=True)
    yield server
    server.stop()


@pytest.fixture
def mongo(replica_set: Mongod) -> Iterator[Mongo]:
    """An empty database on it, with an account and a client's settings."""
    world = Mongo(replica_set)
    yield world
    world.drop()


@pytest.fixture
def mongo_shop(mongo: Mongo) -> Mongo:
    """A small shop in it, with things that its client must not reach."""
    mongo.fill()
    return mongo


@pytest.fixture(scope="session")
def mail_servers() -> Iterator[MailServers]:
    """A real mail system, started for the first test that asks for it."""
    servers = mail_service.start()
    yield servers
    servers.stop()


@pytest.fixture
def mail(mail_servers: MailServers) -> Iterator[MailWorld]:
    """An account that no other test has used, with one client's settings for it."""
    world = MailWorld(mail_servers)
    yield world
    world.close()


@pytest.fixture
def other_mail(mail_servers: MailServers) -> Iterator[MailWorld]:
    """A second account."""
    world = MailWorld(mail_servers)
    yield world
    world.close()
