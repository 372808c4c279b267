"""Other programs that answer the same question, to be measured in one run with ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from measuring import check

from peers.clients import MariadbClient, Sqlite3
from peers.installed import MissingError
from peers.mongosh import Mongosh
from peers.sqlite_utils import SqliteUtils
from peers.toolbox import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from measuring import Command
    from orders import Shop
    from world import World


class Peer(Protocol):
    """A program that is compared.

    Attributes:
        name: what tables call it.
        engines: the databases that it can ask.
        version: the installed one.
    """

    version: str

    @property
    def name(self) -> str: ...

    @property
    def engines(self) -> tuple[str, ...]: ...

    def one(self, shop: Shop, key: int) -> Command:
        """Give one row by its key."""

    def many(self, shop: Shop, rows: int) -> Command:
        """Give the first rows by their key."""


def find(world: World) -> tuple[dict[str, Peer], dict[str, str]]:
    """Install what can be had; return the peers that work, and of each other one why it does not."""
    makers: dict[str, Callable[[], Peer]] = {
        "MCP Toolbox": lambda: Toolbox(world.folder),
        "MCP Toolbox by npm's wrapper": lambda: Toolbox(world.folder, wrapped=True),
        "sqlite3": Sqlite3,
        "mariadb": MariadbClient,
        "sqlite-utils": SqliteUtils,
        "mongosh": Mongosh,
    }
    found: dict[str, Peer] = {}
    missing: dict[str, str] = {}
    for name, make in makers.items():
        try:
            found[name] = _working(make(), world)
        except (MissingError, RuntimeError) as reason:
            missing[name] = " ".join(str(reason).split())
    return found, missing


def _working(peer: Peer, world: World) -> Peer:
    for engine, shop in world.shops.items():
        if engine in peer.engines:
            check(peer.one(shop, 1))
    return peer
