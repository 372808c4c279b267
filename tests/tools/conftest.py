"""Worlds for the file tools."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from file_world import World

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
