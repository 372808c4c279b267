"""What is measured: the installed project, databases with a million orders, and a clients file for all of them."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from client_files import Clitool, settle, write_clients
from installation import install_project, without_c_extension
from orders import shops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from measuring import Command
    from orders import Shop

MANY = 100_000
KEY = 500_000  # of the one row that is asked for
CLIENTS = {"sqlite": 0, "mysql": 1, "mongodb": 2}  # the client of each engine
_LIMITS = {"max_rows": MANY, "max_bytes": 67_108_864, "timeout": 60, "allowed_tables": ["orders"]}


@dataclass
class World:
    """Everything that a measurement needs.

    Attributes:
        folder: for whatever it writes.
        python: of the environment in which the project is installed.
        shops: the databases that could be made, by the type that settings give them.
        clitool: the command with a clients file; its clients are in `CLIENTS`.
    """

    folder: Path
    python: Path
    shops: dict[str, Shop]
    clitool: Clitool

    def one(self, clitool: Clitool, engine: str) -> Command:
        """Ask for one row by its key."""
        params = {"table": "orders", "where": {self.shops[engine].key: KEY}}
        return clitool.call(CLIENTS[engine], "database_query", params, rows=1)

    def many(self, clitool: Clitool, engine: str) -> Command:
        """Ask for the first rows."""
        params = {"table": "orders", "limit": MANY}
        return clitool.call(CLIENTS[engine], "database_query", params, rows=MANY)

    def pure(self) -> Clitool:
        """Return the command in an environment in which the connector for MySQL has nothing in C."""
        python = without_c_extension(install_project(self.folder / "pure", "[mysql]"))
        return Clitool(python, self.clitool.clients, self.clitool.environment)


@contextmanager
def made(engines: tuple[str, ...] = tuple(CLIENTS), python: Path | None = None) -> Iterator[World]:
    """Install the project and start the servers; remove everything at the end.

    Args:
        engines: the databases that are needed.
        python: of an environment in which the project is installed already.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        folder = Path(name)
        python = python or install_project(folder / "env")
        found = shops(folder, servers, engines)
        settings = {CLIENTS[engine]: database_settings(shop) for engine, shop in found.items()}
        clients = write_clients(folder / "clients", settings)
        settle(python, clients)
        yield World(folder, python, found, Clitool(python, clients, cold_environment(folder)))


def cold_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which no resident worker is found, also if somebody here has one."""
    nobody = folder / "no-resident"
    nobody.mkdir(mode=0o700)
    return {"XDG_RUNTIME_DIR": str(nobody)}


def database_settings(shop: Shop) -> dict[str, Any]:
    """Return the settings of a client that may read the orders, as many as it likes."""
    return {"database": {**shop.settings, **_LIMITS}}
