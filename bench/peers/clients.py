"""The clients that SQLite and MariaDB bring along: no tools, no tokens, and any SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measuring import Command
from orders import COLUMNS

from peers.installed import finish, program

if TYPE_CHECKING:
    from orders import Shop

SQLITE, MARIADB = "`sqlite3 -json`", "`mariadb`"


# Of MariaDB's: what is printed, and that nothing is encrypted, which it would do over a socket, too.
_PLAIN = ("--batch", "--raw", "--quick", "--skip-column-names", "--skip-ssl")


class Sqlite3:
    """The client of SQLite."""

    name = SQLITE
    engines: tuple[str, ...] = ("sqlite",)

    def __init__(self) -> None:
        self._program = program("sqlite3")
        self.version = finish([self._program, "--version"]).split()[0]

    def one(self, shop: Shop, key: int) -> Command:
        """Give one row by its key."""
        return self._select(shop, f"WHERE id = {key}", 1)

    def many(self, shop: Shop, rows: int) -> Command:
        """Give the first rows by their key."""
        return self._select(shop, f"ORDER BY id LIMIT {rows}", rows)

    def _select(self, shop: Shop, rest: str, rows: int) -> Command:
        path = shop.settings["connection_string"].removeprefix("sqlite:///")
        return Command([self._program, "-json", path, f"SELECT {', '.join(COLUMNS)} FROM orders {rest}"], rows=rows)


class MariadbClient:
    """The client of MariaDB; it has no JSON, so the server is asked for it, one document on each line."""

    name = MARIADB
    engines: tuple[str, ...] = ("mysql",)

    def __init__(self) -> None:
        self._program = program("mariadb")
        self.version = finish([self._program, "--version"]).split("Distrib ")[1].split(",")[0]

    def one(self, shop: Shop, key: int) -> Command:
        """Give one row by its key."""
        return self._select(shop, f"WHERE id = {key}", 1)

    def many(self, shop: Shop, rows: int) -> Command:
        """Give the first rows by their key."""
        return self._select(shop, f"ORDER BY id LIMIT {rows}", rows)

    def _select(self, shop: Shop, rest: str, rows: int) -> Command:
        place = [f"--{option}={shop.settings[option]}" for option in ("socket", "user", "password", "database")]
        words = [self._program, "--no-defaults", *_PLAIN, *place]
        document = ", ".join(f"'{name}', {name}" for name in COLUMNS)
        return Command([*words, "-e", f"SELECT JSON_OBJECT({document}) FROM orders {rest}"], rows=rows)
