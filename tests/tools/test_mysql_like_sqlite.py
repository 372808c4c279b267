"""The same call on SQLite and on MariaDB: the same answer, or the same refusal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from database_world import Shop
from mariadb_world import Maria

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from services.mariadb import MariaDB

TABLES = """
CREATE TABLE people (
    id INTEGER PRIMARY KEY {number}, name VARCHAR(50) {nocase} NOT NULL UNIQUE, mail VARCHAR(50) {binary} UNIQUE,
    age INTEGER, height DOUBLE, photo BLOB, extra JSON
);
CREATE TABLE visits (day VARCHAR(20) {binary} NOT NULL, page VARCHAR(20) {binary} NOT NULL, count INTEGER DEFAULT 1,
    PRIMARY KEY (day, page));
CREATE TABLE secret (k VARCHAR(20));
CREATE TABLE gone (id INTEGER PRIMARY KEY, p INTEGER, FOREIGN KEY (p) REFERENCES people (id) ON DELETE CASCADE);
CREATE VIEW adults AS SELECT id, name FROM people WHERE age >= 18;
INSERT INTO people VALUES (1, 'Ada', 'ada@x', 36, 1.5, X'00FF', '{{"a": [1]}}'),
    (2, 'bob', NULL, NULL, NULL, NULL, NULL), (3, 'Cy', 'cy@x', 7, 2.25, X'', '[]');
INSERT INTO visits VALUES ('mon', '/', 3), ('mon', '/a', NULL), ('tue', '/', 1);
"""
ALLOWED = ["people", "visits", "adults", "nowhere"]
SQLITE = TABLES.format(number="", nocase="COLLATE NOCASE", binary="")
MARIADB = TABLES.format(
    number="AUTO_INCREMENT", nocase="COLLATE utf8mb4_general_ci", binary="COLLATE utf8mb4_nopad_bin"
)
BYTES = {"$binary": {"base64": "AP8=", "subType": "00"}}

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tables", {}),
    ("query", {"table": "people"}),
    ("query", {"table": "people", "columns": ["NAME", "id"], "order_by": ["-age"]}),
    ("query", {"table": "people", "order_by": ["name"], "limit": 2}),
    ("query", {"table": "people", "where": {"name": "ADA"}}),
    ("query", {"table": "people", "where": {"mail": "ADA@x"}}),
    ("query", {"table": "people", "where": {"name": {"$like": "c_"}}}),
    ("query", {"table": "people", "where": {"mail": {"$like": "%@x"}}}),
    ("query", {"table": "people", "where": {"age": {"$gt": 6.5}}}),
    ("query", {"table": "people", "where": {"age": "36"}}),
    ("query", {"table": "people", "where": {"age": {"$ne": 36}}}),
    ("query", {"table": "people", "where": {"age": True}}),
    ("query", {"table": "people", "where": {"height": 1.5, "photo": BYTES}}),
    ("query", {"table": "people", "where": {"photo": {"$gte": {"$binary": {"base64": ""}}}}}),
    ("query", {"table": "people", "where": {"extra": None}}),
    ("query", {"table": "people", "where": {"$or": [{"id": 1}, {"$not": {"mail": {"$in": ["ada@x", None]}}}]}}),
    ("query", {"table": "people", "where": {"id": {"$in": []}}}),
    ("query", {"table": "people", "where": {"id": {"$lt": {"$numberDouble": "Infinity"}}}}),
    ("query", {"table": "people", "where": {"id": 2**63}}),
    ("query", {"table": "people", "where": {"id": "x"}}),
    ("query", {"table": "people", "where": {"name": 1}}),
    ("query", {"table": "people", "where": {"name": BYTES}}),
    ("query", {"table": "people", "where": {"name": {"$like": "\\"}}}),
    ("query", {"table": "people", "where": {"id": {"$like": "1"}}}),
    ("query", {"table": "people", "where": {"extra": "[]"}}),
    ("query", {"table": "people", "where": {"nmae": 1}}),
    ("query", {"table": "people", "where": {"id": {"$gtt": 1}}}),
    ("query", {"table": "people", "where": {"photo": {"$binary": {"base64": "?"}}}}),
    ("query", {"table": "people", "order_by": ["id", "-id"]}),
    ("query", {"table": "people", "cursor": "x"}),
    ("query", {"table": "adults"}),
    ("query", {"table": "adults", "limit": 1, "order_by": ["name"]}),
    ("query", {"table": "secret"}),
    ("query", {"table": "nowhere"}),
    ("query", {"table": "visits", "limit": 1}),
    (
        "insert",
        {"table": "people", "rows": [{"name": "Dee"}, {"name": "Eve", "id": 50}, {"name": "Flo", "photo": BYTES}]},
    ),
    ("insert", {"table": "people", "rows": [{"name": "G"}, {"name": "ADA"}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "id": "60"}, {"name": "H", "id": 61.0}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "extra": {"b": [None, 1.5, "é"]}, "height": 3}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "extra": "{"}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "extra": True}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "height": 2**53 + 1}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "height": "1.5"}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "age": True}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "age": 1.5}]}),
    ("insert", {"table": "people", "rows": [{"name": True}]}),
    ("insert", {"table": "people", "rows": [{"name": None}]}),
    ("insert", {"table": "people", "rows": [{}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "NAME": "H"}]}),
    ("insert", {"table": "people", "rows": [{"name": "G", "x": 1}]}),
    ("insert", {"table": "visits", "rows": [{"day": "wed", "page": "/"}, {"day": "wed", "page": "/b", "count": None}]}),
    ("insert", {"table": "adults", "rows": [{"id": 9}]}),
    ("upsert", {"table": "visits", "key": ["day", "page"], "rows": [{"day": "mon", "page": "/", "count": 4}]}),
    ("upsert", {"table": "visits", "key": ["page", "day"], "rows": [{"day": "mon", "page": "/"}] * 2}),
    ("upsert", {"table": "visits", "key": ["day"], "rows": [{"day": "mon"}]}),
    ("upsert", {"table": "people", "key": "name", "rows": [{"name": "ADA", "age": 37}, {"name": "New"}]}),
    ("upsert", {"table": "people", "key": "name", "rows": [{"name": "New", "mail": "ada@x"}]}),
    ("upsert", {"table": "people", "key": "mail", "rows": [{"mail": None, "name": "x"}]}),
    ("upsert", {"table": "people", "key": "id", "rows": [{"id": 1, "name": "ada"}, {"id": 3, "name": "Cy"}]}),
    ("upsert", {"table": "people", "key": "id", "rows": [{"id": 1, "age": None}, {"id": 77, "age": 1}]}),
    ("update", {"table": "people", "where": {"age": None}, "values": {"age": 5, "photo": None}}),
    ("update", {"table": "people", "where": {"id": {"$gt": 0}}, "values": {"age": 5}, "max_affected": 2}),
    ("update", {"table": "people", "where": {"id": {"$gt": 0}}, "values": {"age": 5}, "dry_run": True}),
    ("update", {"table": "people", "where": {"id": {"$gt": 0}}, "values": {"mail": "same"}}),
    ("update", {"table": "people", "where": {"id": 99}, "values": {"age": 1}}),
    ("update", {"table": "people", "where": {"id": 1}, "values": {}}),
    ("update", {"table": "people", "where": {}, "values": {"age": 1}}),
    ("update", {"table": "adults", "where": {"id": 1}, "values": {"name": "x"}}),
    ("delete", {"table": "visits", "where": {"count": None}}),
    ("delete", {"table": "visits", "where": {"day": "mon"}, "max_affected": 1}),
    ("delete", {"table": "people", "where": {"id": 1}}),
    ("delete", {"table": "secret", "where": {"k": "x"}}),
]


Both = tuple[Shop, Maria]


@contextmanager
def worlds(server: MariaDB, folder: Path) -> Iterator[Both]:
    maria = Maria(server, MARIADB, allowed_tables=ALLOWED)
    yield Shop(folder, SQLITE, allowed_tables=ALLOWED), maria
    maria.drop()


@pytest.fixture
def both(mariadb: MariaDB, tmp_path: Path) -> Iterator[Both]:
    with worlds(mariadb, tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def unchanged(mariadb: MariaDB, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """The same for all tests that only read."""
    with worlds(mariadb, tmp_path_factory.mktemp("shop")) as found:
        yield found


def answer(world: Shop | Maria, tool: str, params: dict[str, Any]) -> Any:
    """Return the answer without types, which each engine spells its own way; of a refusal what it is about."""
    try:
        result = world.call(tool, **params)
    except ClitoolError as error:
        return error.code, error.reason, error.details.get("row")
    for column in result.get("columns", ()):
        column["type"] = "-"
    return result


def content(world: Shop | Maria) -> list[Any]:
    return [answer(world, "query", {"table": table}) for table in ("people", "visits")]


def calls(*tools: str) -> list[Any]:
    chosen = [(at, tool, params) for at, (tool, params) in enumerate(CALLS) if tool in tools]
    return [pytest.param(tool, params, id=f"{tool} {at}") for at, tool, params in chosen]


@pytest.mark.parametrize(("tool", "params"), calls("tables", "query"))
def test_both_read_the_same(unchanged: Both, tool: str, params: dict[str, Any]) -> None:
    shop, maria = unchanged

    assert answer(maria, tool, params) == answer(shop, tool, params)


@pytest.mark.parametrize(("tool", "params"), calls("insert", "upsert", "update", "delete"))
def test_both_change_the_same(both: Both, tool: str, params: dict[str, Any]) -> None:
    """They give the same answer and leave the same behind."""
    shop, maria = both

    assert answer(maria, tool, params) == answer(shop, tool, params)
    assert content(maria) == content(shop)


def test_both_describe_in_the_same_shape(unchanged: Both) -> None:
    """What MariaDB knows beyond is added, never anything left out."""
    shop, maria = unchanged
    for table in ("people", "visits", "adults"):
        one, two = shop.call("describe", table=table), maria.call("describe", table=table)
        assert one.keys() <= two.keys()
        assert [column["name"] for column in one["columns"]] == [column["name"] for column in two["columns"]]
        assert [column["kind"] for column in one["columns"]] == [column["kind"] for column in two["columns"]]
        for ours, theirs in zip(one["columns"], two["columns"], strict=True):
            assert ours.keys() <= theirs.keys()
            assert ours["primary_key"] == theirs["primary_key"]
        assert [key.keys() for key in one["foreign_keys"]] == [key.keys() for key in two["foreign_keys"]]
        assert {
            index.keys() <= {"name", "columns", "unique", "primary_key", "partial"} for index in two["indexes"]
        } <= {True}
    assert maria.call("describe", table="adults")["base_tables"] == shop.call("describe", table="adults")["base_tables"]


def test_both_page_alike(unchanged: Both) -> None:
    for order in (["age"], ["-age", "name"], ["-mail"], ["height", "-name"]):
        found = []
        for world in unchanged:
            cursor: dict[str, str] = {}
            names: list[str] = []
            while True:
                page = world.call("query", table="people", order_by=order, limit=1, **cursor)
                names += [row["name"] for row in page["rows"]]
                if not page["truncated"]:
                    break
                cursor = {"cursor": page["next_cursor"]}
            found.append(names)
        assert found[0] == found[1]
        assert len(found[0]) == 3
