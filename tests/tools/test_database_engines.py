"""Every engine means the same: the same rows and the same call give the same rows, held against plain Python.

What is said of an engine holds whether each call opens it anew, or takes over what the one before has left.
"""

from __future__ import annotations

from contextlib import closing
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

import pytest
from answers import answered
from database_world import Shop
from hypothesis import given, settings
from hypothesis import strategies as st
from keeping import Keeping
from mariadb_world import Maria
from mongo_world import Mongo
from where_reference import as_json, filters, matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from services.mariadb import MariaDB
    from services.mongod import Mongod

    Rows = list[dict[str, Any]]

COLUMNS = ("i", "r", "t", "b")

TEXTS = st.text(st.sampled_from("aAbB %_\\*?[]1é😀'\""), max_size=4)
INTEGERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.sampled_from([2**53, 2**53 + 1]))
REALS = st.one_of(st.floats(-3, 3), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([2.0**53, 0.5]))
BYTES = st.binary(max_size=2)
NUMBERS = st.one_of(INTEGERS, REALS)

STORED = {"i": INTEGERS, "r": REALS, "t": TEXTS, "b": BYTES}
ROWS = st.lists(
    st.fixed_dictionaries({name: st.one_of(st.none(), values) for name, values in STORED.items()}),
    min_size=1,
    max_size=8,
)
FILTERS = filters({"i": NUMBERS, "r": NUMBERS, "t": TEXTS, "b": BYTES}, texts="t", unordered="b")
ORDERS = st.lists(st.tuples(st.sampled_from("irt"), st.booleans()), max_size=3, unique_by=lambda step: step[0])


class Engine:
    """A table ``t`` on one engine, emptied and filled by its owner."""

    def __init__(self, world: Any) -> None:
        self.call = world.call
        self.reason = world.reason


class Sqlite(Engine):
    """In a file."""

    key = "id"

    def __init__(self, world: Shop) -> None:
        super().__init__(world)
        self.write = world.write

    def fill(self, rows: Rows) -> None:
        self.write("DELETE FROM t", [()])
        self.write(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?)",
            [(n, *(row[name] for name in COLUMNS)) for n, row in enumerate(rows)],
        )


class MySQL(Engine):
    """On a real MariaDB."""

    key = "id"

    def __init__(self, world: Maria, cursor: Any) -> None:
        super().__init__(world)
        self.cursor = cursor

    def fill(self, rows: Rows) -> None:
        self.cursor.execute("DELETE FROM t")
        self.cursor.executemany(
            "INSERT INTO t VALUES (%s, %s, %s, %s, %s)",
            [(n, *(row[name] for name in COLUMNS)) for n, row in enumerate(rows)],
        )


class MongoDB(Engine):
    """On a real mongod; every other null is a field that is not there."""

    key = "_id"

    def __init__(self, world: Mongo) -> None:
        super().__init__(world)
        self.collection = world.collection("t")

    def fill(self, rows: Rows) -> None:
        self.collection.delete_many({})
        self.collection.insert_many(
            [
                {"_id": n, **{name: value for name, value in row.items() if value is not None or n % 2}}
                for n, row in enumerate(rows)
            ]
        )


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    declared = "id INTEGER PRIMARY KEY, i INTEGER, r REAL, t TEXT, b BLOB"
    return Sqlite(Shop(tmp_path_factory.mktemp("engines"), f"CREATE TABLE t ({declared})", allowed_tables=["t"]))


class KeptMaria(Keeping, Maria):
    """All calls on it share a connection."""


class KeptMongo(Keeping, Mongo):
    """All calls on it share a client."""


def on_mariadb(kind: type[Maria], server: MariaDB) -> Iterator[Engine]:
    declared = "id INT PRIMARY KEY, i BIGINT, r DOUBLE, t VARCHAR(20) COLLATE utf8mb4_nopad_bin, b VARBINARY(20)"
    world = kind(server, f"CREATE TABLE t ({declared})", allowed_tables=["t"])
    with server.owner(world.name) as handle, closing(handle.cursor()) as cursor:
        yield MySQL(world, cursor)
    world.drop()
    assert not isinstance(world, Keeping) or world.keeper.opened == 1


def on_mongodb(kind: type[Mongo], server: Mongod) -> Iterator[Engine]:
    world = kind(server, allowed_tables=["t"])
    yield MongoDB(world)
    world.drop()
    assert not isinstance(world, Keeping) or world.keeper.opened == 1


@pytest.fixture(scope="module")
def mysql(mariadb: MariaDB) -> Iterator[Engine]:
    yield from on_mariadb(Maria, mariadb)


@pytest.fixture(scope="module")
def kept_mysql(mariadb: MariaDB) -> Iterator[Engine]:
    yield from on_mariadb(KeptMaria, mariadb)


@pytest.fixture(scope="module")
def mongodb(replica_set: Mongod) -> Iterator[Engine]:
    yield from on_mongodb(Mongo, replica_set)


@pytest.fixture(scope="module")
def kept_mongodb(replica_set: Mongod) -> Iterator[Engine]:
    yield from on_mongodb(KeptMongo, replica_set)


@pytest.fixture(scope="module", params=["sqlite", "mysql", "mongodb", "kept_mysql", "kept_mongodb"])
def engine(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def binary(_: str, text: str) -> str:
    """Return what is compared of a text: all of it."""
    return text


def expected(rows: Rows, where: Mapping[str, Any]) -> list[int]:
    return [n for n, row in enumerate(rows) if matches(where, row, binary)]


@settings(deadline=None, derandomize=True, max_examples=120)
@given(rows=ROWS, where=FILTERS)
def test_a_filter_finds_the_rows_that_the_reference_finds(engine: Any, rows: Rows, where: dict[str, Any]) -> None:
    engine.fill(rows)

    found = engine.call("query", table="t", columns=[engine.key], where=where)["rows"]

    assert [row[engine.key] for row in found] == expected(rows, where)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(rows=ROWS, where=FILTERS, change=st.sampled_from(["update", "delete"]), dry_run=st.booleans())
def test_a_change_reaches_the_rows_that_the_reference_finds(
    engine: Any, rows: Rows, where: dict[str, Any], change: str, dry_run: bool
) -> None:
    """The filter of a change means the same as that of a query, and a change that is only tried changes nothing."""
    engine.fill(rows)
    hit = expected(rows, where)
    values = {"values": {"t": "changed"}} if change == "update" else {}

    answer = engine.call(change, table="t", where=where, dry_run=dry_run, **values)

    assert answer == {"affected": len(hit), "dry_run": dry_run}
    after = engine.call("query", table="t", columns=[engine.key, "t"])["rows"]
    before = [(n, row["t"]) for n, row in enumerate(rows)]
    if not dry_run:
        before = [(n, "changed" if n in hit else text) for n, text in before if change == "update" or n not in hit]
    assert [(row[engine.key], row.get("t")) for row in after] == before


def in_order(rows: Rows, order: list[tuple[str, bool]]) -> list[int]:
    """Return the numbers of the rows in an order; null comes before everything, the number of the row last."""

    def compare(one: int, two: int) -> int:
        for name, descending in order:
            first, second = (_rank(rows[n][name]) for n in (one, two))
            if first != second:
                return (1 if first > second else -1) * (-1 if descending else 1)
        return one - two

    return sorted(range(len(rows)), key=cmp_to_key(compare))


def _rank(value: Any) -> tuple[bool, Any]:
    if value is None:
        return False, 0
    return True, value.encode() if isinstance(value, str) else value


@settings(deadline=None, derandomize=True, max_examples=50)
@given(rows=ROWS, order=ORDERS, limit=st.integers(1, 4))
def test_pages_give_each_row_once_in_the_order_of_the_reference(
    engine: Any, rows: Rows, order: list[tuple[str, bool]], limit: int
) -> None:
    engine.fill(rows)
    steps = [("-" if descending else "") + name for name, descending in order]
    found: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = engine.call("query", table="t", columns=[engine.key], order_by=steps, limit=limit, **cursor)
        found += [row[engine.key] for row in page["rows"]]
        if not page["truncated"]:
            break
        assert len(page["rows"]) == limit
        cursor = {"cursor": page["next_cursor"]}

    assert found == in_order(rows, order)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(rows=ROWS, given_rows=ROWS)
def test_upsert_counts_and_stores_the_same(engine: Any, rows: Rows, given_rows: Rows) -> None:
    """A row with the same key is changed where it differs, a new one is added; and it is what a query shows."""
    engine.fill(rows)
    shown = [
        {engine.key: n + 2, **{name: as_json(value) for name, value in row.items()}} for n, row in enumerate(given_rows)
    ]

    answer = engine.call("upsert", table="t", key=engine.key, rows=shown)

    old = dict(enumerate(rows))
    new = {n + 2: row for n, row in enumerate(given_rows)}
    unchanged = sum(exact(old[n]) == exact(row) for n, row in new.items() if n in old)
    if engine.key == "id":  # a field that is not there differs from one that is null
        updated = sum(n in old for n in new) - unchanged
        assert answer == {"inserted": len(new.keys() - old.keys()), "updated": updated, "unchanged": unchanged}
    after = engine.call("query", table="t", order_by=[engine.key])["rows"]
    stored = {row[engine.key]: {name: answered(plain(row.get(name))) for name in COLUMNS} for row in after}
    assert stored == {n: {name: answered(as_json(row[name])) for name in COLUMNS} for n, row in {**old, **new}.items()}


def exact(row: Mapping[str, Any]) -> list[str]:
    """Return what tells a row from others to the last bit, the sign of zero included."""
    return [repr(row[name]) for name in COLUMNS]


def plain(value: Any) -> Any:
    """Return a large integer of MongoDB's as the others show it."""
    return int(value["$numberLong"]) if isinstance(value, dict) and "$numberLong" in value else value
