"""MCP Toolbox for Databases: tools from a file, with typed parameters. `toolbox invoke` runs one and ends."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

from measuring import Command
from orders import COLUMNS, ROWS, TCP

from peers.installed import MissingError, finish, from_npm, program

if TYPE_CHECKING:
    from pathlib import Path

    from orders import Shop

NAME = "Toolbox `invoke`"
WRAPPED = "Toolbox `invoke` by npm's wrapper"
ENGINES: tuple[str, ...] = ("sqlite", "mysql", "mongodb")
VERSION = "1.12.0"
_QUIET = ("--disable-version-check", "--log-level", "ERROR")  # else it looks for news, and its log is in the answer


class Toolbox:
    """Its program of Go itself: the wrapper that npm installs starts Node first.

    Args:
        folder: for its configuration.
        wrapped: whether to start the wrapper nevertheless.
    """

    def __init__(self, folder: Path, *, wrapped: bool = False) -> None:
        modules = from_npm("@toolbox-sdk/server", VERSION)
        system = f"{platform.system().lower()}-{'x64' if platform.machine() in ('x86_64', 'AMD64') else 'arm64'}"
        binary = modules / f"@toolbox-sdk/server-{system}" / "bin" / "toolbox"
        if not binary.exists():
            raise MissingError(f"MCP Toolbox has no program for {system}")
        self.name, self.engines = (WRAPPED, ("sqlite",)) if wrapped else (NAME, ENGINES)
        run = modules / "@toolbox-sdk" / "server" / "bin" / "run.js"
        self._words = [program("node"), str(run)] if wrapped else [str(binary)]
        self._folder = folder
        self.version = finish([str(binary), "--version"]).split()[2].partition("+")[0]

    def one(self, shop: Shop, key: int) -> Command:
        """Give one row by its key."""
        return self._invoke(shop, "order", {"key": key}, 1)

    def many(self, shop: Shop, rows: int) -> Command:
        """Give the first rows by their key."""
        return self._invoke(shop, "orders", {"rows": rows}, rows)

    def serve(self, shop: Shop) -> Command:
        """Stay, and answer on standard output what comes on standard input."""
        return Command([*self._words, *_QUIET, "--stdio", "--config", self._configured(shop)])

    def _invoke(self, shop: Shop, tool: str, params: dict[str, int], rows: int) -> Command:
        words = [*self._words, *_QUIET, "invoke", tool, json.dumps(params), "--config", self._configured(shop)]
        return Command(words, rows=rows)

    def _configured(self, shop: Shop) -> str:
        path = self._folder / f"toolbox-{shop.settings['type']}.yaml"
        path.write_text("---\n".join(json.dumps(part, indent=1) + "\n" for part in configuration(shop)))
        return str(path)


def configuration(shop: Shop) -> list[dict[str, object]]:
    """Return the parts of its configuration: a source and two tools."""
    engine = shop.settings["type"]
    if engine == "mongodb":
        return [_source(engine, uri=shop.settings["connection_string"]), *_find_tools()]
    columns = ", ".join(COLUMNS)
    if engine == "sqlite":
        source = _source(engine, database=shop.settings["connection_string"].removeprefix("sqlite:///"))
    else:
        settings = shop.ways[TCP]  # it knows no sockets
        where = {key: str(settings[key]) for key in ("host", "port", "user", "password", "database")}
        source = _source(engine, **where)
    one, many = f"SELECT {columns} FROM orders WHERE id = ?", f"SELECT {columns} FROM orders ORDER BY id LIMIT ?"
    return [
        source,
        _tool(f"{engine}-sql", "order", statement=one, parameters=[_integer("key")]),
        _tool(f"{engine}-sql", "orders", statement=many, parameters=[_integer("rows")]),
    ]


def _find_tools() -> list[dict[str, object]]:
    place = {"database": "bench", "collection": "orders"}
    one = {"filterPayload": '{"_id": {{json .key}}}', "filterParams": [_integer("key")]}
    many = {"filterPayload": '{"_id": {"$lt": {{json .rows}}}}', "filterParams": [_integer("rows")]}
    return [
        _tool("mongodb-find-one", "order", **place, **one),
        _tool("mongodb-find", "orders", **place, **many, sortPayload='{"_id": 1}', limit=ROWS),
    ]


def _source(engine: str, **settings: str) -> dict[str, object]:
    return {"kind": "source", "name": "shop", "type": engine, **settings}


def _tool(kind: str, name: str, **settings: object) -> dict[str, object]:
    return {"kind": "tool", "type": kind, "name": name, "source": "shop", "description": name, **settings}


def _integer(name: str) -> dict[str, str]:
    return {"name": name, "type": "integer", "description": name}
