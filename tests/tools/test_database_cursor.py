"""Paging: every row exactly once, in the order that was asked for, and cursors that grant nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from clitool_tools.database.cursor import decode, digest, encode
from database_world import Shop
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.errors import InvalidParams

TABLES = {
    "number": "CREATE TABLE t (id INTEGER PRIMARY KEY, a, n TEXT COLLATE NOCASE, d DATE)",
    "text": "CREATE TABLE t (id TEXT PRIMARY KEY, a, n TEXT COLLATE NOCASE, d DATE)",
    "nocase": "CREATE TABLE t (id TEXT COLLATE NOCASE PRIMARY KEY, a, n TEXT COLLATE NOCASE, d DATE)",
    "other collation": "CREATE TABLE t (id TEXT COLLATE NOCASE, a, n TEXT COLLATE NOCASE, d DATE,"
    " PRIMARY KEY (id COLLATE BINARY))",
    "without rowid": "CREATE TABLE t (id TEXT, a, n TEXT COLLATE NOCASE, d DATE, u INT, PRIMARY KEY (u, id))"
    " WITHOUT ROWID",
    "descending": "CREATE TABLE t (id INTEGER PRIMARY KEY DESC, a, n TEXT COLLATE NOCASE, d DATE)",
    "unique": "CREATE TABLE t (id INTEGER NOT NULL UNIQUE, a, n TEXT COLLATE NOCASE, d DATE)",
    "shadowed rowid": "CREATE TABLE t (id TEXT PRIMARY KEY, a, n TEXT COLLATE NOCASE, d DATE, rowid TEXT, oid TEXT)",
}
TEXTS = st.text(st.sampled_from("aAb \udcff"), max_size=2).map(lambda text: text.encode("utf-8", "surrogateescape"))
VALUES = st.one_of(st.none(), st.integers(-2, 2), st.sampled_from([0.5, 2.0**60, 2**60 + 1, float("inf")]), TEXTS)
ORDERS = st.lists(
    st.sampled_from(["a", "n", "d", "id", "-a", "-n", "-d", "-id"]), max_size=3, unique_by=lambda word: word.lstrip("-")
)


def fill(shop: Shop, rows: list[tuple[Any, Any, Any]]) -> None:
    """Insert rows; bytes become texts, so that some are not UTF-8."""

    def text(value: Any) -> str:
        if isinstance(value, bytes):
            return f"CAST(x'{value.hex()}' AS TEXT)"
        return "NULL" if value is None else "9e999" if value == float("inf") else repr(value)

    for number, row in enumerate(rows):
        shop.run(f"INSERT OR IGNORE INTO t (id, a, n, d) VALUES ({number}, {', '.join(map(text, row))})")


def pages(shop: Shop, size: int, **params: Any) -> list[Any]:
    """Return the rows of all pages, read one after the other."""
    rows: list[Any] = []
    cursor = None
    while True:
        answer = shop.call("query", table="t", limit=size, **params, **({"cursor": cursor} if cursor else {}))
        rows += answer["rows"]
        assert len(answer["rows"]) == size or not answer["truncated"]
        cursor = answer["next_cursor"]
        if cursor is None:
            assert not answer["truncated"]
            return rows


@pytest.mark.parametrize("table", sorted(set(TABLES) - {"without rowid"}))
@settings(deadline=None, derandomize=True, max_examples=30)
@given(rows=st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=8), order=ORDERS, size=st.integers(1, 3))
def test_paging_gives_every_row_once_and_in_order(
    table: str, rows: list[tuple[Any, Any, Any]], order: list[str], size: int
) -> None:
    """Whatever the key, with nulls, kinds mixed, text that is not UTF-8 and collations."""
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder), TABLES[table], allowed_tables=["t"])
        fill(shop, rows)

        whole = shop.call("query", table="t", order_by=order)["rows"]
        assert pages(shop, size, order_by=order) == whole
        assert len(whole) == len(rows)
        assert pages(shop, size, order_by=order, columns=["a"]) == [{"a": row["a"]} for row in whole]


def test_paging_a_table_without_row_numbers(tmp_path: Path) -> None:
    shop = Shop(tmp_path, TABLES["without rowid"], allowed_tables=["t"])
    shop.write("INSERT INTO t (u, id, a) VALUES (?, ?, ?)", [(n % 3, f"{n}", n % 2 or None) for n in range(10)])

    for order in (["a"], ["-a"], [], ["-id"]):
        assert pages(shop, 3, order_by=order) == shop.call("query", table="t", order_by=order)["rows"]


def test_paging_keys_that_are_null_several_times(tmp_path: Path) -> None:
    """SQLite lets a primary key be null; no row is lost for that."""
    shop = Shop(tmp_path, "CREATE TABLE t (id TEXT PRIMARY KEY, a)", allowed_tables=["t"])
    shop.write("INSERT INTO t VALUES (?, ?)", [(None, n) for n in range(5)] + [("x", 9)])

    assert sorted(row["a"] for row in pages(shop, 2)) == [0, 1, 2, 3, 4, 9]


def test_paging_keys_that_differ_in_case_only(tmp_path: Path) -> None:
    """The key's own collation ends the order, not the column's."""
    shop = Shop(tmp_path, TABLES["other collation"], allowed_tables=["t"])
    shop.write("INSERT INTO t (id) VALUES (?)", [("a",), ("A",), ("b",), ("B",)])

    assert sorted(row["id"] for row in pages(shop, 1, order_by=["id"])) == ["A", "B", "a", "b"]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("CREATE TABLE t (a)", id="no key"),
        pytest.param("CREATE TABLE t (a UNIQUE)", id="a unique key that may be null"),
        pytest.param("CREATE TABLE t (a NOT NULL); CREATE UNIQUE INDEX i ON t (a) WHERE a > 0", id="partial index"),
        pytest.param("CREATE TABLE t (a NOT NULL); CREATE UNIQUE INDEX i ON t (abs(a))", id="index on an expression"),
        pytest.param("CREATE TABLE s (a INTEGER PRIMARY KEY); CREATE VIEW t AS SELECT a FROM s;", id="a view"),
        pytest.param("CREATE VIRTUAL TABLE t USING fts5 (a)", id="a full-text table"),
    ],
)
def test_without_a_unique_key_there_is_no_cursor(tmp_path: Path, script: str) -> None:
    shop = Shop(tmp_path, script, allowed_tables=["t"])
    shop.write(f"INSERT INTO {'s' if 'VIEW' in script else 't'} (a) VALUES (?)", [(1,), (2,)])

    answer = shop.call("query", table="t", limit=1, order_by=["a"])

    assert (answer["rows"], answer["truncated"], answer["next_cursor"]) == ([{"a": 1}], True, None)
    assert shop.reason("query", table="t", limit=1, cursor=encode("x", [1])) == "bad_cursor"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def cursor(shop: Shop) -> str:
    """A cursor behind the first customer."""
    found = shop.call("query", table="customers", limit=1, where={"id": {"$gt": 0}}, order_by=["name"])["next_cursor"]
    assert isinstance(found, str)
    return found


QUERY: dict[str, Any] = {"table": "customers", "where": {"id": {"$gt": 0}}, "order_by": ["name"]}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"table": "orders", "order_by": ["id"]}, id="another table"),
        pytest.param({"columns": ["id"]}, id="other columns"),
        pytest.param({"where": {"id": {"$gt": 1}}}, id="another filter"),
        pytest.param({"where": None}, id="no filter"),
        pytest.param({"order_by": ["-name"]}, id="another direction"),
        pytest.param({"order_by": []}, id="no order"),
    ],
)
def test_a_cursor_of_another_query_is_refused(shop: Shop, cursor: str, change: dict[str, Any]) -> None:
    """A cursor goes on with its own query only."""
    assert shop.reason("query", **{**QUERY, **change}, cursor=cursor) == "bad_cursor"


def test_a_cursor_of_another_connection_is_refused(shop: Shop, cursor: str) -> None:
    """The same table elsewhere is another query."""
    shop.settings = {"connections": {"a": shop.settings}}

    assert shop.reason("query", **QUERY, cursor=cursor) == "bad_cursor"


def test_the_size_of_a_page_may_change(shop: Shop, cursor: str) -> None:
    assert [row["name"] for row in shop.call("query", **QUERY, cursor=cursor, limit=50)["rows"]] == ["Bob", "Zoë"]


def forged(cursor: str, *values: str) -> str:
    """Return the cursor with other sort values."""
    return ".".join([*cursor.split(".")[:2], *values])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x", id="one letter"),
        pytest.param(".", id="nothing in it"),
        pytest.param("1", id="a version"),
        pytest.param("1.", id="no checksum"),
        pytest.param("1.0123", id="a short checksum"),
        pytest.param("2.0123456789abcdef.i1.i1", id="another version"),
        pytest.param("\udcff", id="half a surrogate pair"),
        pytest.param("é", id="not ascii"),
        pytest.param("\n", id="newline"),
        pytest.param("." * 16_000, id="many parts"),
    ],
)
def test_a_damaged_cursor_is_refused(shop: Shop, text: str) -> None:
    assert shop.reason("query", **QUERY, cursor=text) == "bad_cursor"


ADA = "tQWRh"  # as cursors have it


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([], id="none"),
        pytest.param([ADA], id="too few"),
        pytest.param([ADA, "i1", "i2"], id="too many"),
        pytest.param(["", "i1"], id="empty"),
        pytest.param(["xQWRh", "i1"], id="unknown kind"),
        pytest.param(["QWRh", "i1"], id="no kind"),
        pytest.param(["t?", "i1"], id="broken base64"),
        pytest.param(["tQ", "i1"], id="too short for base64"),
        pytest.param(["tQWRh=", "i1"], id="padding"),
        pytest.param(["tQWRh\n", "i1"], id="newline"),
        pytest.param(["té", "i1"], id="not ascii"),
        pytest.param([ADA, f"i{2**63}"], id="an integer beyond 64 bits"),
        pytest.param([ADA, f"i{-(2**63) - 1}"], id="an integer below 64 bits"),
        pytest.param([ADA, "i" + "1" * 5000], id="an integer beyond everything"),
        pytest.param([ADA, "i"], id="no digits"),
        pytest.param([ADA, "i١"], id="digits of another script"),  # noqa: RUF001 - that is the point
        pytest.param([ADA, "rnan"], id="not a number"),
        pytest.param([ADA, "r0x1p99999"], id="a float beyond everything"),
        pytest.param([ADA, "nn"], id="more than null"),
    ],
)
def test_a_forged_cursor_is_refused(shop: Shop, cursor: str, values: list[str]) -> None:
    assert shop.reason("query", **QUERY, cursor=forged(cursor, *values)) == "bad_cursor"


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(["t", "i-1"], id="before everything"),
        pytest.param(["tJyBPUiAxPTEgLS0", "i0"], id="SQL"),
        pytest.param(["n", "n"], id="nulls"),
        pytest.param(["bAA", "tQWRh"], id="other kinds"),
        pytest.param(["t_w", "r0x1_0p-1"], id="text that is not UTF-8, and a float"),
        pytest.param(["rinf", f"i{-(2**63)}"], id="infinity and the smallest integer"),
    ],
)
def test_a_forged_cursor_grants_nothing(shop: Shop, cursor: str, values: list[str]) -> None:
    """Its values are bound, so the answer is a part of what the query itself gives."""
    everything = shop.call("query", **QUERY)["rows"]

    found = shop.call("query", **QUERY, cursor=forged(cursor, *values))["rows"]

    assert all(row in everything for row in found)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(text=st.text(max_size=60), tail=st.text(max_size=20))
def test_no_text_breaks_the_reading_of_a_cursor(text: str, tail: str) -> None:
    query = digest("query")

    for cursor in (text, f"1.{text}", f"1.{query}.{text}.{tail}"):
        with pytest.raises(InvalidParams) as caught:
            decode(cursor, query, 1)
        assert caught.value.reason == "bad_cursor"


@settings(deadline=None, derandomize=True, max_examples=200)
@given(
    values=st.lists(
        st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(), st.binary()),
        max_size=4,
    )
)
def test_a_cursor_keeps_its_values(values: list[Any]) -> None:
    """To the bit and to the kind."""
    cursor = encode("q" * 16, values)

    assert cursor is not None
    found = decode(cursor, "q" * 16, len(values))
    assert [(type(value), repr(value)) for value in found] == [(type(value), repr(value)) for value in values]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, id="the order of keys"),
        pytest.param({"$and": [{"a": {"$gt": 1, "$lt": 2}}]}, {"$and": [{"a": {"$lt": 2, "$gt": 1}}]}, id="deeper"),
    ],
)
def test_equal_queries_have_one_digest(one: object, two: object) -> None:
    assert digest("t", one) == digest("t", two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param({"a": 1}, {"a": "1"}, id="kind"),
        pytest.param({"a": None}, {"a": "None"}, id="null"),
        pytest.param(["a", "b"], ["a,b"], id="one or two"),
        pytest.param(["a", "b"], ["b", "a"], id="the order of a list"),
        pytest.param({"a": 1}, ["a", 1], id="shape"),
    ],
)
def test_other_queries_have_other_digests(one: object, two: object) -> None:
    assert digest("t", one) != digest("t", two)


def test_sort_values_that_are_too_long_end_the_paging(tmp_path: Path) -> None:
    shop = Shop(tmp_path, "CREATE TABLE t (id TEXT PRIMARY KEY)", allowed_tables=["t"])
    shop.write("INSERT INTO t VALUES (?)", [("x" * 20_000,), ("y",)])

    answer = shop.call("query", table="t", limit=1)

    assert (answer["truncated"], answer["next_cursor"]) == (True, None)
