"""The sample data: a table of a million orders in SQLite, MariaDB and MongoDB, each made by one statement there."""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from services.certificates import Authority
from services.mariadb import MariaDB
from services.mongod import Mongod

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import ExitStack

ROWS = 1_000_000
TCP = "over TCP"
COLUMNS = ("id", "customer", "total", "amount", "placed", "note")
_START = 1_704_067_200  # the first order was placed then, each other a minute later

_SQLITE = f"""
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, total REAL, amount REAL, placed TEXT, note TEXT);
INSERT INTO orders
WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < {ROWS - 1})
SELECT n, 'customer ' || (n % 1000), n / 7.0, n / 100.0, datetime({_START} + 60 * n, 'unixepoch'), printf('%.20c', 'x')
FROM numbers;
"""
_MARIADB = f"""
CREATE DATABASE bench;
CREATE USER bench@'%' IDENTIFIED BY 'bench';
GRANT ALL ON bench.* TO bench@'%';
CREATE TABLE bench.orders
(id INT PRIMARY KEY, customer VARCHAR(40), total DOUBLE, amount DECIMAL(12, 2), placed DATETIME, note TEXT);
INSERT INTO bench.orders
SELECT seq, CONCAT('customer ', seq % 1000), seq / 7e0, seq / 100, FROM_UNIXTIME({_START}) + INTERVAL seq MINUTE,
REPEAT('x', 20) FROM bench.seq_0_to_{ROWS - 1};
"""
_MONGODB: list[dict[str, Any]] = [
    {"$set": {"n": {"$range": [0, 1000]}}},
    {"$unwind": "$n"},
    {"$set": {"n": {"$add": [{"$multiply": ["$n", 1000]}, "$_id"]}}},
    {
        "$project": {
            "_id": "$n",
            "customer": {"$concat": ["customer ", {"$toString": {"$mod": ["$n", 1000]}}]},
            "total": {"$divide": ["$n", 7]},
            "amount": {"$divide": [{"$toDecimal": "$n"}, 100]},
            "placed": {"$toDate": {"$multiply": [1000, {"$add": [{"$multiply": ["$n", 60]}, _START]}]}},
            "note": "x" * 20,
        }
    },
    {"$out": "orders"},
]


@dataclass(frozen=True)
class Shop:
    """A database with the orders.

    Attributes:
        engine: what people call it.
        settings: those of a client that may read it.
        key: the column that is its primary key.
        version: of the server or library.
        ways: settings for other ways to get at the same, by what people call them.
    """

    engine: str
    settings: dict[str, Any]
    key: str
    version: str
    ways: Mapping[str, dict[str, Any]] = field(default_factory=dict)


def sqlite(folder: Path, _: ExitStack) -> Shop:
    """Make a database in the folder."""
    path = folder / "shop.db"
    database = sqlite3.connect(path)
    database.executescript(_SQLITE)
    database.close()
    return Shop("SQLite", {"type": "sqlite", "connection_string": f"sqlite:///{path}"}, "id", sqlite3.sqlite_version)


def mariadb(folder: Path, servers: ExitStack) -> Shop:
    """Start a server, which the stack ends."""
    authority = Authority(folder)
    server = MariaDB(authority=authority)
    servers.callback(server.stop)
    server.run(_MARIADB)
    [(version,)] = server.rows("SELECT VERSION()")
    login = {"type": "mysql", "user": "bench", "password": "bench", "database": "bench"}
    address = {**login, "host": "127.0.0.1", "port": server.port}
    tls = {"ssl_mode": "VERIFY_IDENTITY", "ssl_ca": str(authority.path)}
    ways = {TCP: {**address, "ssl_mode": "DISABLED"}, "over TLS": {**address, **tls}}
    return Shop("MariaDB", {**login, "socket": server.socket}, "id", version, ways)


def mongodb(_: Path, servers: ExitStack) -> Shop:
    """Start a server, which the stack ends."""
    server = Mongod()
    servers.callback(server.stop)
    with server.owner() as client:
        client.bench.seed.insert_many([{"_id": n} for n in range(1000)])
        client.bench.seed.aggregate(_MONGODB)
        version = client.server_info()["version"]
    return Shop("MongoDB", {"type": "mongodb", "connection_string": server.address("bench")}, "_id", version)


_MAKERS = {"sqlite": sqlite, "mysql": mariadb, "mongodb": mongodb}


def shops(folder: Path, servers: ExitStack, engines: tuple[str, ...]) -> tuple[dict[str, Shop], dict[str, str]]:
    """Make the databases that can be made here; return them, and of each other one why not."""
    made, missing = {}, {}
    for engine in engines:
        try:
            made[engine] = _MAKERS[engine](folder, servers)
        except pytest.skip.Exception as reason:
            missing[engine] = str(reason)
    return made, missing
