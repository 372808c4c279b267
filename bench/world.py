"""What is measured: the installed project, databases with a million orders, and a clients file for all of them."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from client_files import Clitool, settle, write_clients
from installation import install_project
from orders import shops

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from measuring import Command
    from orders import Shop

MANY = 100_000
KEY = 500_000  # of the one row that is asked for
ENGINES = ("sqlite", "mysql", "mongodb")
_LIMITS = {"max_rows": MANY, "max_bytes": 67_108_864, "timeout": 60, "allowed_tables": ["orders"]}


@dataclass
class World:
    """Everything that a measurement needs.

    Attributes:
        folder: for whatever it writes.
        python: of the environment in which the project is installed.
        shops: the databases that could be made, by the type that settings give them.
        missing: why the others could not.
        clitool: the command with a clients file; its clients are called as `client_of` says, and by numbers.
    """

    folder: Path
    python: Path
    shops: dict[str, Shop]
    missing: dict[str, str]
    clitool: Clitool

    def one(self, clitool: Clitool, engine: str, way: str = "") -> Command:
        """Ask for one row by its key."""
        params = {"table": "orders", "where": {self.shops[engine].key: KEY}}
        return clitool.call(client_of(engine, way), "database_query", params, rows=1)

    def many(self, clitool: Clitool, engine: str, way: str = "") -> Command:
        """Ask for the first rows."""
        params = {"table": "orders", "limit": MANY}
        return clitool.call(client_of(engine, way), "database_query", params, rows=MANY)


def client_of(engine: str, way: str = "") -> str:
    """Return the client that gets at the orders in an engine, in some way."""
    return "-".join([engine, *way.split()])


@contextmanager
def made(engines: tuple[str, ...] = ENGINES, python: Path | None = None) -> Iterator[World]:
    """Install the project and start the servers; remove everything at the end.

    Args:
        engines: the databases that are needed.
        python: of an environment in which the project is installed already.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        folder = Path(name)
        python = python or install_project(folder / "env")
        found, missing = shops(folder, servers, engines)
        print(*(f"not measured: {engine}: {reason}" for engine, reason in missing.items()), sep="\n", file=sys.stderr)
        clients = write_clients(folder / "clients", database_clients(found))
        settle(python, clients)
        yield World(folder, python, found, missing, Clitool(python, clients, cold_environment(folder)))


def cold_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which no resident worker is found, also if somebody here has one."""
    nobody = folder / "no-resident"
    nobody.mkdir(mode=0o700)
    return {"XDG_RUNTIME_DIR": str(nobody)}


def database_clients(found: Mapping[str, Shop]) -> dict[str, dict[str, Any]]:
    """Return the settings of clients that may read the orders, as many as they like."""
    return {
        client_of(engine, way): {"database": {**settings, **_LIMITS}}
        for engine, shop in found.items()
        for way, settings in {"": shop.settings, **shop.ways}.items()
    }
