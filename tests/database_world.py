"""A small shop in a SQLite file, with things that its client must not reach, and calls of the database tools on it."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database import family
from contexts import make_context

from clitool.errors import ClitoolError, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

SECRET = "TOP-SECRET"
TOOLS: dict[str, type[Any]] = {tool.name.removeprefix("database_"): tool for tool in family.tools}
ALLOWED = ["customers", "orders", "visits", "v_orders", "v_secret", "ft", "places", "strict_things"]

SHOP = f"""
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE NOT NULL UNIQUE, email TEXT UNIQUE, note);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), total DECIMAL(10, 2), placed DATE, doc JSON,
    label TEXT GENERATED ALWAYS AS ('#' || id)
);
CREATE TABLE visits (day TEXT, page TEXT, count INTEGER DEFAULT 1, PRIMARY KEY (day, page)) WITHOUT ROWID;
CREATE TABLE strict_things (id INTEGER PRIMARY KEY, anything ANY, number REAL) STRICT;
CREATE VIEW v_orders AS SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer_id;
CREATE TABLE secret (id INTEGER PRIMARY KEY, k TEXT);
INSERT INTO secret VALUES (1, '{SECRET}'), (2, '{SECRET}-2');
CREATE VIEW v_secret AS SELECT k FROM secret;
CREATE VIRTUAL TABLE ft USING fts5 (body, tag);
CREATE VIRTUAL TABLE hidden_ft USING fts5 (body);
CREATE VIRTUAL TABLE places USING rtree (id, x0, x1);
INSERT INTO customers VALUES (1, 'Ada', 'ada@example.org', NULL), (2, 'Bob', NULL, 'x'), (3, 'Zoë', NULL, 7);
INSERT INTO orders (id, customer_id, total, placed, doc) VALUES
    (1, 1, 10.5, '2024-01-31', '{{"a": [1, 2]}}'), (2, 1, 20, '2024-02-29', NULL), (3, 2, 3, NULL, '[]');
INSERT INTO ft VALUES ('hello world', 'x');
INSERT INTO hidden_ft VALUES ('{SECRET}');
INSERT INTO places VALUES (1, 2, 3);
"""


class Shop:
    """A database file with one client's settings for it."""

    def __init__(self, folder: Path, script: str = SHOP, **settings: object) -> None:
        self.folder = folder
        self.path = folder / "shop.db"
        self.settings: dict[str, Any] = {
            "type": "sqlite",
            "connection_string": "sqlite:///shop.db",
            "allowed_tables": ALLOWED,
            **settings,
        }
        self.run(script)

    def run(self, script: str) -> None:
        """Run SQL as the owner of the database, outside of the tools."""
        handle = sqlite3.connect(self.path, isolation_level=None)
        try:
            handle.executescript(f"PRAGMA synchronous=OFF; {script}")
        finally:
            handle.close()

    def rows(self, sql: str, params: Sequence[object] = ()) -> list[Any]:
        """Return what the owner reads; text whose bytes are not UTF-8 as surrogate escapes."""
        handle = sqlite3.connect(self.path)
        handle.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        try:
            return handle.execute(sql, params).fetchall()
        finally:
            handle.close()

    def write(self, sql: str, params: Iterable[Sequence[object]]) -> None:
        """Run one statement as the owner for each row of parameters."""
        handle = sqlite3.connect(self.path, isolation_level=None)
        handle.execute("PRAGMA synchronous=OFF")
        try:
            handle.execute("BEGIN")
            handle.executemany(sql, params)
            handle.execute("COMMIT")
        finally:
            handle.close()

    def context(self, seconds: float = 8.0) -> Any:
        return make_context(family, self.settings, folder=str(self.folder), seconds=seconds)

    def call(self, tool: str, **params: Any) -> Any:
        """Return the result of one call."""
        context = self.context()
        try:
            return TOOLS[tool](context).execute(**params)
        finally:
            context.close()

    def refusal(self, tool: str, **params: Any) -> dict[str, Any]:
        """Return the error document of a call that must fail: one line, without the secret and without a path."""
        with pytest.raises(ClitoolError) as caught:
            self.call(tool, **params)
        document = dict(report(caught.value))
        assert SECRET not in repr(document)
        assert str(self.folder) not in repr(document)
        assert "\n" not in str(document["error"])
        return document

    def reason(self, tool: str, **params: Any) -> str:
        """Return the reason for which a call is refused."""
        return str(self.refusal(tool, **params)["details"]["reason"])

    def dump(self) -> list[str]:
        """Return the whole content, to see that nothing was changed."""
        handle = sqlite3.connect(self.path)
        try:
            return list(handle.iterdump())
        finally:
            handle.close()


def in_child(action: Callable[[], Any]) -> int:
    """Start `action` in a child process and return its number; the child's exit status is 0 if nothing was raised."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        action()
        status = 0
    finally:
        os._exit(status)


def succeeded(child: int) -> bool:
    """Wait for a child and return whether it ended with 0."""
    return os.waitpid(child, 0)[1] == 0
