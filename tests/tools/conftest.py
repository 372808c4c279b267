"""Worlds for the file and database tools."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from file_world import World
from mariadb_world import Maria
from mongo_world import Mongo
from services.certificates import Authority
from services.mariadb import MariaDB
from services.mongod import Mongod

if TYPE_CHECKING:
    from collections.abc import Iterator


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
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Whose certificates the servers of the tests show."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def mariadb(authority: Authority) -> Iterator[MariaDB]:
    """A server for all tests, with TLS; a test that stops or reconfigures one starts its own."""
    server = MariaDB(authority=authority)
    yield server
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
