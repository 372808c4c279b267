"""The shell of MongoDB: evaluates JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measuring import Command

from peers.installed import FOLDER, finish, from_npm, program

if TYPE_CHECKING:
    from orders import Shop

NAME = "`mongosh`"
VERSION = "2.12.0"


class Mongosh:
    """Asks the server and prints what it answers as JSON."""

    name = NAME
    engines: tuple[str, ...] = ("mongodb",)

    def __init__(self) -> None:
        script = from_npm("mongosh", VERSION) / "mongosh" / "bin" / "mongosh.js"
        self._words = [program("node"), str(script)]
        self._environment = {"HOME": str(FOLDER)}  # where it keeps its settings and logs
        self.version = finish([*self._words, "--version"])
        finish([*self._words, "--quiet", "--nodb", "--eval", "disableTelemetry()"], **self._environment)

    def one(self, shop: Shop, key: int) -> Command:
        """Give one row by its key."""
        return self._evaluate(shop, f"EJSON.stringify(db.orders.findOne({{_id: {key}}}))", 1)

    def many(self, shop: Shop, rows: int) -> Command:
        """Give the first rows by their key."""
        return self._evaluate(shop, f"EJSON.stringify(db.orders.find().sort({{_id: 1}}).limit({rows}).toArray())", rows)

    def _evaluate(self, shop: Shop, code: str, rows: int) -> Command:
        address = shop.settings["connection_string"]
        words = [*self._words, "--quiet", "--norc", address, "--eval", code]
        return Command(words, environment=self._environment, rows=rows)
