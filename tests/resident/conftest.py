"""Worlds with a resident worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from resident_world import World

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def cold_world() -> Iterator[World]:
    """A world in which no resident worker runs yet."""
    world = World()
    yield world
    world.close()


@pytest.fixture
def world(cold_world: World) -> World:
    """A world of a test's own, with its resident worker."""
    cold_world.start()
    return cold_world


@pytest.fixture(scope="module")
def shared_world() -> Iterator[World]:
    """A world for tests that leave its resident worker as it is."""
    world = World()
    world.start()
    yield world
    world.close()
