"""Worlds for the file and mail tools."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from file_world import World
from mail_world import MailWorld
from services import mail as mail_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mail import MailServers


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
