"""sqlite-utils: a command for SQLite in Python, which prints JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from installation import install, version
from measuring import Command
from orders import COLUMNS

from peers.installed import FOLDER, MissingError

if TYPE_CHECKING:
    from orders import Shop

NAME = "`sqlite-utils`"
VERSION = "4.2.1"


class SqliteUtils:
    """The command, in an environment of its own with the Python that measures."""

    name = NAME
    engines: tuple[str, ...] = ("sqlite",)

    def __init__(self) -> None:
        FOLDER.mkdir(exist_ok=True)
        python = FOLDER / "sqlite-utils" / "bin" / "python"
        try:
            if not python.exists() or version(python, "sqlite-utils") != VERSION:
                install(FOLDER / "sqlite-utils", f"sqlite-utils=={VERSION}")
        except (OSError, RuntimeError) as error:
            raise MissingError(str(error).splitlines()[-1]) from error
        self._program = str(python.parent / "sqlite-utils")
        self.version = VERSION

    def one(self, shop: Shop, key: int) -> Command:
        """Give one row by its key."""
        return self._select(shop, f"WHERE id = {key}", 1)

    def many(self, shop: Shop, rows: int) -> Command:
        """Give the first rows by their key."""
        return self._select(shop, f"ORDER BY id LIMIT {rows}", rows)

    def _select(self, shop: Shop, rest: str, rows: int) -> Command:
        path = shop.settings["connection_string"].removeprefix("sqlite:///")
        return Command([self._program, path, f"SELECT {', '.join(COLUMNS)} FROM orders {rest}"], rows=rows)
