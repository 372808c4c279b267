"""How long a server takes by itself: the same question on a connection that is open already."""

from __future__ import annotations

import sqlite3
import statistics
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from world import KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from orders import Shop

_TIMES = 200
_SQL = f"SELECT * FROM orders WHERE id = {KEY}"


def server_seconds(shop: Shop) -> float:
    """Return the median time of one row by its key."""
    return _TIMED[shop.settings["type"]](shop)


def median_seconds(ask: Callable[[], object], times: int = _TIMES) -> float:
    """Return the median time of doing something again and again."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def _sqlite(shop: Shop) -> float:
    with closing(sqlite3.connect(shop.settings["connection_string"].removeprefix("sqlite:///"))) as database:
        return median_seconds(lambda: database.execute(_SQL).fetchall())


def _mysql(shop: Shop) -> float:
    from mysql.connector import connect

    login = {key: shop.settings[key] for key in ("user", "password", "database")}
    with (
        closing(connect(unix_socket=shop.settings["socket"], **login)) as connection,
        closing(connection.cursor(raw=True)) as cursor,
    ):

        def ask() -> None:
            cursor.execute(_SQL)
            cursor.fetchall()

        return median_seconds(ask)


def _mongodb(shop: Shop) -> float:
    from pymongo import MongoClient

    client: MongoClient[dict[str, Any]] = MongoClient(shop.settings["connection_string"])
    with closing(client):
        orders = client.bench.orders
        return median_seconds(lambda: orders.find_one({"_id": KEY}))


_TIMED = {"sqlite": _sqlite, "mysql": _mysql, "mongodb": _mongodb}
