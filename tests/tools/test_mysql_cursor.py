"""Paging on MariaDB: every row exactly once, whatever the key and the order; and cursors that grant nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.cursor import encode
from hypothesis import given, settings
from hypothesis import strategies as st
from mariadb_world import SECRET, Maria

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mariadb import MariaDB

LONG = 1500  # characters that begin alike; by itself the server sorts by the first 1024 bytes


def pages(world: Maria, limit: int, **params: Any) -> list[dict[str, Any]]:
    """Return all rows, page by page."""
    rows: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = world.call("query", table="t", limit=limit, **params, **cursor)
        rows += page["rows"]
        if not page["truncated"]:
            assert page["next_cursor"] is None
            return rows
        assert page["next_cursor"] is not None
        assert len(page["rows"]) == limit
        cursor = {"cursor": page["next_cursor"]}


# The columns of a key, and the rows in it.
KEYS = [
    pytest.param("INT", [3, -1, 0, 2, 1], id="integer"),
    pytest.param("BIGINT UNSIGNED", [0, 2**63 - 1, 2**63, 2**64 - 1, 2**53 + 1, 2**53], id="beyond 63 bits"),
    pytest.param("BIT(64)", [0, 2**63, 2**64 - 1, 5], id="bits"),
    pytest.param("DECIMAL(30, 10)", ["0.1", "0.1000000001", "-5", "12345678901234567890.5"], id="decimal"),
    pytest.param("DOUBLE", [0.1, 0.1 + 2**-56, -1.5, 1e300, 5e-324], id="double"),
    pytest.param("FLOAT", [0.1, 0.2, 16777216, -1.5], id="float"),
    pytest.param("DATE", ["2024-02-29", "0000-00-00", "9999-12-31", "2024-00-15"], id="date"),
    pytest.param(
        "DATETIME(6)", ["2024-01-01T10:00:00.000001", "2024-01-01T10:00:00", "0000-00-00T00:00:00"], id="moment"
    ),
    pytest.param(
        "TIMESTAMP(3)", ["2024-10-27T00:30:00.001Z", "2024-10-27T01:30:00Z", "1970-01-02T00:00:00Z"], id="stamp"
    ),
    pytest.param("TIME(3)", ["-838:59:59", "838:59:59", "00:00:00", "-00:00:00.001"], id="time"),
    pytest.param("YEAR", [2024, 0, 1999, 1901], id="year"),
    pytest.param("VARCHAR(20)", ["b", "A", "ä1", "", "ß", "sz", "😀", "zz top", "_%"], id="text"),
    pytest.param("VARCHAR(20) COLLATE utf8mb4_bin", ["b", "A", "a", "B", "é", "😀"], id="text with its case"),
    pytest.param("VARCHAR(20) COLLATE utf8mb4_nopad_bin", ["b", "b ", "b  ", "a\t", "a"], id="text with its blanks"),
    pytest.param(
        "VARCHAR(20) COLLATE utf8mb4_unicode_ci", ["ß", "sa", "st", "é", "f", "Æ"], id="text as Unicode sorts it"
    ),
    pytest.param("VARCHAR(20) CHARACTER SET latin1", ["é", "f", "Z", "ÿ"], id="latin1"),
    pytest.param("CHAR(5)", ["a", "ab", "", "b"], id="char"),
    pytest.param("ENUM('z', 'a', 'M', '')", ["z", "a", "M", ""], id="members, in the order of texts"),
    pytest.param("SET('z', 'a')", ["", "z", "a", "z,a"], id="sets"),
    pytest.param("UUID", [f"0000000{n}-89b{n}-12d3-a456-42665544000{9 - n}" for n in range(5)], id="uuid"),
    pytest.param("INET6", ["::1", "::ffff:1.2.3.4", "fe80::1", "2001:db8::"], id="address"),
]


@pytest.mark.parametrize(("declared", "values"), KEYS)
def test_paging_by_keys_of_every_type(maria: Maria, declared: str, values: list[Any]) -> None:
    maria.settings["allowed_tables"] = ["t"]
    maria.run(f"CREATE TABLE t (k {declared} PRIMARY KEY, v INT)")
    maria.call("insert", table="t", rows=[{"k": value, "v": at} for at, value in enumerate(values)])

    whole = maria.call("query", table="t")["rows"]

    assert sorted(row["v"] for row in whole) == list(range(len(values)))
    for limit in (1, 2, len(values)):
        assert pages(maria, limit) == whole
        assert pages(maria, limit, order_by=["-k"]) == whole[::-1]


def test_paging_by_bytes(maria: Maria) -> None:
    maria.settings["allowed_tables"] = ["t"]
    maria.run("CREATE TABLE t (a BINARY(2), b VARBINARY(9), PRIMARY KEY (a, b))")
    maria.run(
        "INSERT INTO t VALUES (X'00FF', ''), (X'00FF', X'00'), (X'00FF', X'0000'), ('a', X'27'), (X'FFFF', X'5C')"
    )

    whole = maria.call("query", table="t")["rows"]

    assert len(whole) == 5
    assert pages(maria, 1) == whole
    assert pages(maria, 2, order_by=["-b", "a"]) == maria.call("query", table="t", order_by=["-b", "a"])["rows"]


@pytest.fixture(scope="module")
def mixed(mariadb: MariaDB) -> Iterator[Maria]:
    """Rows with nulls and many equal values, which only the key tells apart."""
    world = Maria(
        mariadb,
        "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, i INT, m DECIMAL(9, 2), c VARCHAR(20), e ENUM('b', 'a'),"
        " d DATETIME(3), x TEXT, b BLOB, f FLOAT, KEY (i), KEY (c), KEY (d))",
        allowed_tables=["t"],
        max_bytes=10_000_000,
    )
    pick = random.Random(1)
    pool: dict[str, list[Any]] = {
        "i": [None, 1, 2],
        "m": [None, "0.10", "-1.00"],
        "c": [None, "a", "A", "á ", "b", "ß"],
        "e": [None, "b", "a"],
        "d": [None, "0000-00-00T00:00:00", "2024-01-01T10:00:00.001", "2024-01-01T10:00:00.002"],
        "x": [None, "x" * LONG, "x" * LONG + "1", "X" * LONG + "2", "é" * LONG],
        "b": [None, {"$binary": {"base64": "AAAA"}}, {"$binary": {"base64": "AA=="}}],
        "f": [None, 0.1, 0.2],
    }
    rows = [{name: pick.choice(values) for name, values in pool.items()} for _ in range(40)]
    world.call("insert", table="t", rows=rows)
    yield world
    world.drop()


ORDERS = st.lists(
    st.tuples(st.sampled_from("imcedxbf"), st.booleans()), min_size=1, max_size=3, unique_by=lambda pair: pair[0]
).map(lambda pairs: [("-" if descending else "") + name for name, descending in pairs])


@settings(deadline=None, derandomize=True, max_examples=50)
@given(order=ORDERS, limit=st.integers(7, 30))
def test_paging_gives_every_row_once_and_in_order(mixed: Maria, order: list[str], limit: int) -> None:
    whole = mixed.call("query", table="t", columns=["id"], order_by=order)["rows"]

    assert len(whole) == 40
    assert pages(mixed, limit, columns=["id"], order_by=order) == whole


def test_paging_goes_on_with_the_filter(mixed: Maria) -> None:
    where = {"c": {"$in": ["a", "b"]}, "i": {"$ne": 1}}
    whole = mixed.call("query", table="t", where=where, order_by=["x"], columns=["id"])["rows"]

    assert whole
    assert pages(mixed, 2, where=where, order_by=["x"], columns=["id"]) == whole


def test_rows_that_come_meanwhile_disturb_no_page(maria: Maria) -> None:
    """A page begins behind the last row, not at a number of rows."""
    maria.run("DELETE FROM orders")
    first = maria.call("query", table="customers", limit=1, order_by=["name"])
    maria.run("INSERT INTO customers (name) VALUES ('Aaron'), ('Beth')")

    rest = maria.call("query", table="customers", order_by=["name"], cursor=first["next_cursor"])["rows"]

    assert [row["name"] for row in [*first["rows"], *rest]] == ["Ada", "Beth", "Bob", "Zoë"]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("CREATE TABLE t (a INT)", id="no key"),
        pytest.param("CREATE TABLE t (a INT UNIQUE)", id="a key with nulls"),
        pytest.param("CREATE TABLE t (a VARCHAR(9) NOT NULL, UNIQUE (a(3)))", id="a key of beginnings"),
        pytest.param("CREATE TABLE u (a INT PRIMARY KEY); CREATE VIEW t AS SELECT * FROM u", id="a view"),
    ],
)
def test_without_a_unique_key_there_is_no_cursor(mariadb: MariaDB, script: str) -> None:
    world = Maria(mariadb, script, allowed_tables="all")
    world.run(f"INSERT INTO {'u' if 'VIEW' in script else 't'} VALUES (1), (2)")

    page = world.call("query", table="t", limit=1)

    assert (page["truncated"], page["next_cursor"]) == (True, None)
    world.drop()


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("CREATE TABLE t (a INT NOT NULL UNIQUE, b INT)", id="a unique index without nulls"),
        pytest.param("CREATE TABLE t (a INT, b INT, PRIMARY KEY (b, a))", id="two columns"),
        pytest.param("CREATE TABLE t (a INT PRIMARY KEY, b INT) WITH SYSTEM VERSIONING", id="versions"),
        pytest.param(
            "CREATE TABLE t (a INT PRIMARY KEY, b INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START,"
            " e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING",
            id="versions with their times",
        ),
        pytest.param("CREATE TABLE t (a INT PRIMARY KEY, b INT) PARTITION BY HASH (a) PARTITIONS 3", id="partitions"),
        pytest.param("CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE=MyISAM", id="another engine"),
    ],
)
def test_a_unique_key_of_every_sort_is_enough(mariadb: MariaDB, script: str) -> None:
    world = Maria(mariadb, script, allowed_tables="all")
    world.run("INSERT INTO t (a, b) VALUES (3, 1), (1, 2), (2, 1)")

    assert len(pages(world, 1, order_by=["b"], columns=["a"])) == 3
    world.drop()


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(["0 OR 1=1"], id="SQL for a number"),
        pytest.param(["' UNION SELECT k FROM secret -- "], id="more SQL"),
        pytest.param([1.5], id="between two numbers"),
        pytest.param([2**40], id="beyond the column"),
        pytest.param([b"\0"], id="bytes"),
        pytest.param(["١"], id="digits of another script"),  # noqa: RUF001 - that is the point
        pytest.param([float("inf")], id="infinity"),
    ],
)
def test_a_forged_cursor_is_refused(maria: Maria, values: list[Any]) -> None:
    """Its values are checked like those of a filter, and nothing else comes from it."""
    page = maria.call("query", table="customers", limit=1)
    forged = encode(page["next_cursor"].split(".")[1], values)

    assert maria.reason("query", table="customers", limit=1, cursor=forged) == "bad_cursor"


@pytest.mark.parametrize("text", ["' OR 1=1 -- ", "\\' UNION SELECT k FROM secret -- ", "`", "\0", "日", "%"])
def test_a_forged_text_is_only_a_text(maria: Maria, text: str) -> None:
    page = maria.call("query", table="customers", limit=1, order_by=["email"])
    forged = encode(page["next_cursor"].split(".")[1], [text, 0])

    rows = maria.call("query", table="customers", limit=9, order_by=["email"], cursor=forged)["rows"]

    assert SECRET not in repr(rows)
    assert len(rows) <= 1


def test_a_cursor_of_another_query_is_refused(maria: Maria) -> None:
    page = maria.call("query", table="customers", limit=1)

    for change in ({"table": "orders"}, {"where": {"id": 1}}, {"order_by": ["name"]}, {"columns": ["id"]}):
        params = {"table": "customers", "cursor": page["next_cursor"], **change}
        assert maria.reason("query", **params) == "bad_cursor"


def test_sort_values_that_are_too_long_end_the_paging(maria: Maria) -> None:
    maria.settings["allowed_tables"] = ["t"]
    maria.run("CREATE TABLE t (id INT PRIMARY KEY, x TEXT); INSERT INTO t VALUES (1, REPEAT('x', 20000)), (2, 'y')")

    page = maria.call("query", table="t", limit=1, order_by=["x"])

    assert (page["truncated"], page["next_cursor"]) == (True, None)
