"""database_insert and database_upsert on MariaDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mariadb_world import Maria

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mariadb import MariaDB


def test_rows_may_have_different_columns_and_take_defaults(maria: Maria) -> None:
    rows = [
        {"day": "2024-01-01", "page": "/"},
        {"page": "/", "day": "2024-01-02", "count": 5},
        {"DAY": "2024-01-03", "Page": "/", "count": None},
    ]

    assert maria.call("insert", table="visits", rows=rows) == {"inserted": 3}
    assert maria.call("query", table="visits")["rows"] == [
        {"day": "2024-01-01", "page": "/", "count": 1},
        {"day": "2024-01-02", "page": "/", "count": 5},
        {"day": "2024-01-03", "page": "/", "count": None},
    ]


NUMBERED = """
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT);
CREATE TABLE big (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, v INT) AUTO_INCREMENT = 18446744073709551600;
CREATE TABLE side (v INT PRIMARY KEY, id INT UNIQUE AUTO_INCREMENT);
CREATE TABLE moved (id INT PRIMARY KEY AUTO_INCREMENT, v INT);
CREATE TRIGGER tr BEFORE INSERT ON moved FOR EACH ROW SET NEW.id = NEW.v * 10;
CREATE TABLE aria (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=Aria;
"""


@pytest.fixture
def numbered(mariadb: MariaDB) -> Iterator[Maria]:
    world = Maria(mariadb, NUMBERED, allowed_tables="all")
    yield world
    world.drop()


def ids(world: Maria, table: str, rows: list[dict[str, Any]]) -> list[Any]:
    """Insert the rows and return the numbers that the answer names; they must be those that the rows have."""
    numbers: list[Any] = world.call("insert", table=table, rows=[{**row, "v": at} for at, row in enumerate(rows, 1)])[
        "ids"
    ]
    assert [(int(number), at) for at, number in enumerate(numbers, 1)] == world.rows(
        f"SELECT id, v FROM {table} ORDER BY v"
    )
    return numbers


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([{}], [1], id="one"),
        pytest.param([{}, {}, {}], [1, 2, 3], id="several"),
        pytest.param([{}, {"id": 50}, {}], [1, 50, 51], id="one of them with a number"),
        pytest.param([{"id": 7}, {"id": "8"}, {"id": 9.0}], [7, 8, 9], id="all with a number"),
        pytest.param([{"id": None}, {}], [1, 2], id="null is none"),
        pytest.param([{"id": 0}, {}], [0, 1], id="zero is one"),
        pytest.param([{"id": -5}, {}], [-5, 1], id="so is a negative one"),
        pytest.param([{"id": n} for n in range(100, 103)] + [{}] * 3, [100, 101, 102, 103, 104, 105], id="then none"),
    ],
)
def test_the_numbers_that_the_database_gives_are_told(
    numbered: Maria, rows: list[dict[str, Any]], expected: list[Any]
) -> None:
    assert ids(numbered, "t", rows) == expected


def test_numbers_of_every_sort_of_table_are_told(numbered: Maria) -> None:
    assert ids(numbered, "big", [{}, {}]) == [18446744073709551600, 18446744073709551601]
    assert ids(numbered, "side", [{}, {}]) == [1, 2]
    assert ids(numbered, "moved", [{}, {}]) == [10, 20]  # as the trigger changes them
    assert ids(numbered, "aria", [{}]) == [1]


def test_many_rows_are_numbered_one_by_one(numbered: Maria) -> None:
    """Also where they need several statements."""
    assert ids(numbered, "t", [{}] * 2500) == list(range(1, 2501))


def test_a_server_may_count_in_larger_steps(numbered: Maria) -> None:
    """As each of several servers does that replicate to one another."""
    numbered.server.run("SET GLOBAL auto_increment_increment = 10, GLOBAL auto_increment_offset = 3")
    try:
        assert ids(numbered, "t", [{}, {}, {}]) == [3, 13, 23]
    finally:
        numbered.server.run("SET GLOBAL auto_increment_increment = 1, GLOBAL auto_increment_offset = 1")


def test_a_row_without_columns_is_all_defaults(maria: Maria) -> None:
    assert maria.call("insert", table="orders", rows=[{}]) == {"inserted": 1, "ids": [4]}
    assert maria.call("insert", table="orders", rows=[{}, {"total": 1}, {}]) == {"inserted": 3, "ids": [5, 6, 7]}


@pytest.mark.parametrize("count", [3, 1500])
def test_one_row_that_is_refused_refuses_all(maria: Maria, count: int) -> None:
    """Several rows are one transaction, and the one that is refused is named, however many there are."""
    before = maria.rows("SELECT * FROM customers")
    rows = [{"name": f"new {number}"} for number in range(count)]

    document = maria.refusal("insert", table="customers", rows=[*rows, {"name": "ADA"}, {"name": "last"}])
    assert document["details"] == {"reason": "duplicate_key", "row": count, "vendor_code": 1062, "sqlstate": "23000"}
    assert document["error"] == f"rows[{count}]: a row with the same unique key exists already ('name')"
    rows = [{"id": 9, "name": "new"}, {"id": 1, "name": "bob"}]
    document = maria.refusal("upsert", table="customers", key=["id"], rows=rows)
    assert (document["details"]["reason"], document["details"]["row"]) == ("duplicate_key", 1)
    assert maria.rows("SELECT * FROM customers") == before


@pytest.mark.parametrize(
    ("rows", "reason", "words"),
    [
        pytest.param([{"name": "Ada"}], "duplicate_key", "'name'", id="unique"),
        pytest.param([{"name": "Ada  "}], "duplicate_key", "'name'", id="unique but for blanks"),
        pytest.param([{"name": "ädà"}], "duplicate_key", "'name'", id="unique but for accents"),
        pytest.param([{"id": 1, "name": "x"}], "duplicate_key", "'PRIMARY'", id="primary key"),
        pytest.param([{"email": "x"}], "constraint", "'name'", id="left out where null may not be"),
        pytest.param([{"name": None}], "constraint", "'name'", id="null written"),
        pytest.param([{"name": "x"}, {"name": None}], "constraint", "rows[1]", id="null among others"),
        pytest.param([{"nmae": "x"}], "column_unknown", "did you mean 'name'", id="no such column"),
        pytest.param([{"name": "x", "NAME": "y"}], "bad_value", "twice", id="a column twice"),
        pytest.param([{"name": "x", "$set": {}}], "column_unknown", "$set", id="an operator"),
        pytest.param([{"name": "x" * 51}], "bad_value", "at most 50 characters", id="too long"),
        pytest.param(
            [{"name": "x" + " " * 50}], "bad_value", "at most 50 characters", id="blanks that would be cut off"
        ),
        pytest.param([{"name": 12}], "bad_value", "a string", id="number for a text"),
        pytest.param([{"name": True}], "bad_value", "true or false", id="truth value for a text"),
        pytest.param([{"name": ["x"]}], "bad_value", "an array", id="array for a text"),
        pytest.param([{"name": "\ud800"}], "bad_value", "surrogate", id="half a surrogate pair"),
        pytest.param([{"id": "1e3", "name": "x"}], "bad_value", "whole number", id="exponent for an integer"),
        pytest.param([{"id": 2**31, "name": "x"}], "bad_value", "2147483647", id="beyond the column"),
        pytest.param([{"id": 1.5, "name": "x"}], "bad_value", "whole number", id="fraction for an integer"),
    ],
)
def test_a_row_is_refused(maria: Maria, rows: list[dict[str, Any]], reason: str, words: str) -> None:
    document = maria.refusal("insert", table="customers", rows=rows)

    assert document["details"]["reason"] == reason
    assert words in document["error"]
    assert maria.rows("SELECT COUNT(*) FROM customers") == [(3,)]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        pytest.param("total", "123456789.00", id="too many digits"),
        pytest.param("total", 1.005, id="a digit that would be rounded off"),
        pytest.param("total", "1.005", id="the same as text"),
        pytest.param("total", 12345678.123456789, id="digits that JSON cannot have kept"),
        pytest.param("total", "1,5", id="a comma"),
        pytest.param("total", "0x10", id="hexadecimal"),
        pytest.param("total", "", id="no digits"),
        pytest.param("total", " 1", id="a blank"),
        pytest.param("total", "NaN", id="not a number"),
        pytest.param("total", "Infinity", id="infinity as text"),
        pytest.param("total", {"$numberDouble": "Infinity"}, id="infinity"),
        pytest.param("total", "1e1000000000", id="an absurd exponent"),
        pytest.param("total", "9" * 1000, id="an absurd number of digits"),
        pytest.param("placed", "2024-1-1", id="date without zeros"),
        pytest.param("placed", "tomorrow", id="no date"),
        pytest.param("placed", "2023-02-29", id="no such day"),
        pytest.param("placed", 20240101, id="number for a date"),
        pytest.param("doc", "{", id="broken document"),
        pytest.param("doc", {"a": float("inf")}, id="infinity in a document"),
        pytest.param("doc", True, id="truth value for a document"),
        pytest.param("label", "x", id="generated column"),
        pytest.param("customer_id", 99, id="foreign key"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_sent(maria: Maria, column: str, value: object) -> None:
    """The server would round, cut or guess."""
    reason = "constraint" if column == "customer_id" else "bad_value"

    assert maria.reason("insert", table="orders", rows=[{column: value}]) == reason
    assert maria.reason("update", table="orders", where={"id": 1}, values={column: value}) == reason
    assert maria.rows("SELECT COUNT(*) FROM orders") == [(3,)]


ODD = """
CREATE TABLE t (
    id INT PRIMARY KEY, f FLOAT, f2 FLOAT(5, 2), d2 DOUBLE(5, 2), u INT UNSIGNED, du DECIMAL(5, 2) UNSIGNED, b BIT(4),
    y YEAR, c CHAR(5), tt TINYTEXT, lt TINYTEXT CHARACTER SET latin1, l VARCHAR(9) CHARACTER SET latin1, bi BINARY(4),
    vb VARBINARY(4), e ENUM('a', 'b'), s SET('x', 'y', 'z'), tm TIME, dt DATETIME, dt3 DATETIME(3), ts TIMESTAMP NULL,
    u4 UUID, i4 INET4, g GEOMETRY, ch VARCHAR(9) CHARACTER SET koi8r
)
"""


@pytest.fixture(scope="module")
def odd(mariadb: MariaDB) -> Iterator[Maria]:
    world = Maria(mariadb, ODD, allowed_tables=["t"])
    yield world
    world.drop()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        pytest.param("f", 0.123456789, id="more digits than a FLOAT has"),
        pytest.param("f", 1e39, id="larger than a FLOAT"),
        pytest.param("f", 16777217, id="an integer that a FLOAT has not"),
        pytest.param("f", "0.1", id="text for a FLOAT"),
        pytest.param("f2", 0.125, id="more digits than declared"),
        pytest.param("f2", 1000, id="larger than declared"),
        pytest.param("d2", 0.125, id="more digits than a DOUBLE is declared with"),
        pytest.param("u", -1, id="below an unsigned integer"),
        pytest.param("du", "-0.01", id="below an unsigned decimal"),
        pytest.param("b", 16, id="more bits"),
        pytest.param("b", -1, id="bits below zero"),
        pytest.param("y", 24, id="two digits of a year"),
        pytest.param("y", "24", id="two digits of a year as text"),
        pytest.param("y", 1900, id="a year before the first"),
        pytest.param("c", "a ", id="a blank that CHAR does not give back"),
        pytest.param("tt", "é" * 128, id="more bytes than a TINYTEXT has"),
        pytest.param("tt", "é" * 127 + "  ", id="blanks beyond its end"),
        pytest.param("lt", "é" * 255 + " ", id="in another character set"),
        pytest.param("l", "日", id="a character that latin1 has not"),
        pytest.param("ch", "é", id="a character that koi8r has not"),
        pytest.param("bi", {"$binary": {"base64": "YQ=="}}, id="bytes that would be filled up"),
        pytest.param("vb", {"$binary": {"base64": "YWFhYWE="}}, id="too many bytes"),
        pytest.param("vb", "aaaa", id="text for bytes"),
        pytest.param("e", "c", id="no member"),
        pytest.param("e", "A", id="a member in another spelling"),
        pytest.param("e", "1", id="the number of a member"),
        pytest.param("e", 1, id="the bare number of a member"),
        pytest.param("e", "", id="the server's mark for no member"),
        pytest.param("s", "y,x", id="members in another order"),
        pytest.param("s", "x,x", id="a member twice"),
        pytest.param("s", "x,w", id="no member of the set"),
        pytest.param("s", "3", id="the number of a set"),
        pytest.param("tm", "10:11", id="time without seconds"),
        pytest.param("tm", "10:11:12.5", id="a fraction that would be cut off"),
        pytest.param("tm", "1011", id="time without colons"),
        pytest.param("tm", "010:00:00", id="a zero before the hours"),
        pytest.param("dt", "2024-01-01", id="date for a moment"),
        pytest.param("dt", "2024-01-01T10:00:00Z", id="zone where there is none"),
        pytest.param("dt", "2024-01-01T10:00:00.5", id="half a second"),
        pytest.param("dt3", "2024-01-01T10:00:00.1234", id="too many digits of a second"),
        pytest.param("ts", "2024-01-01T10:00:00+01:00", id="another zone"),
        pytest.param("ts", "1969-12-31T23:59:59Z", id="before a time stamp can be"),
        pytest.param("u4", "123e4567e89b12d3a456426655440000", id="UUID without dashes"),
        pytest.param("i4", "1.2.3", id="part of an address"),
        pytest.param("g", {"$binary": {"base64": "AAAA"}}, id="no geometry"),
        pytest.param("g", "POINT(1 2)", id="a geometry as text"),
    ],
)
def test_the_server_coerces_nothing_in_silence(odd: Maria, column: str, value: object) -> None:
    document = odd.refusal("insert", table="t", rows=[{"id": 1, column: value}])

    assert document["details"]["reason"] == "bad_value"
    assert odd.rows("SELECT COUNT(*) FROM t") == [(0,)]


@pytest.mark.parametrize(
    ("column", "value", "shown"),
    [
        pytest.param("f", 0.1, 0.1, id="a FLOAT"),
        pytest.param("f", 16777216, 16777216.0, id="a whole FLOAT"),
        pytest.param("u", "4294967295", 4294967295, id="digits"),
        pytest.param("u", True, 1, id="true"),
        pytest.param("b", "15", 15, id="digits of bits"),
        pytest.param("y", "2024", 2024, id="digits of a year"),
        pytest.param("y", "0000", 0, id="the year zero"),
        pytest.param("dt", "2024-01-01 10:00:00", "2024-01-01T10:00:00", id="a blank between date and time"),
        pytest.param("dt", "2024-01-01T10:00:00.000", "2024-01-01T10:00:00", id="zeros after the second"),
        pytest.param("ts", "2024-01-01T10:00:00", "2024-01-01T10:00:00Z", id="a time stamp without its zone"),
        pytest.param("ts", "2024-01-01T10:00:00+00:00", "2024-01-01T10:00:00Z", id="a time stamp as Python writes it"),
        pytest.param("tm", "-00:00:00", "00:00:00", id="minus nothing"),
        pytest.param(
            "u4", "123E4567-E89B-12D3-A456-426655440000", "123e4567-e89b-12d3-a456-426655440000", id="capitals"
        ),
        pytest.param("l", "é€", "é€", id="characters of the server's latin1"),
        pytest.param("ch", "да", "да", id="characters of koi8r"),
        pytest.param("du", 1e1, "10.00", id="an exponent"),
        pytest.param("du", "1.50e2", "150.00", id="an exponent as text"),
    ],
)
def test_what_means_the_same_is_taken(odd: Maria, column: str, value: object, shown: object) -> None:
    odd.call("upsert", table="t", key="id", rows=[{"id": 2, column: value}])

    assert odd.call("query", table="t", columns=[column])["rows"] == [{column: shown}]
    odd.run("DELETE FROM t")


def test_upsert_updates_inserts_and_leaves_alone(maria: Maria) -> None:
    rows = [
        {"id": 1, "name": "Ada", "note": "new"},
        {"id": 2, "name": "Bob", "note": "x"},
        {"id": 9, "name": "Eve"},
        {"id": 3, "name": "Zoë", "email": None},
    ]

    assert maria.call("upsert", table="customers", key=["id"], rows=rows) == {
        "inserted": 1,
        "updated": 1,
        "unchanged": 2,
    }
    assert maria.rows("SELECT * FROM customers ORDER BY id") == [
        (1, "Ada", "ada@example.org", "new"),
        (2, "Bob", None, "x"),
        (3, "Zoë", None, "7"),
        (9, "Eve", None, None),
    ]


def test_upsert_may_leave_out_a_column_that_must_not_be_null(maria: Maria) -> None:
    """An insert would refuse the row, although it is an update."""
    assert maria.call("upsert", table="customers", key="id", rows=[{"id": 1, "note": "x"}])["updated"] == 1
    assert maria.reason("upsert", table="customers", key="id", rows=[{"id": 99, "note": "x"}]) == "constraint"


def test_upsert_with_nothing_but_the_key(maria: Maria) -> None:
    rows = [{"day": "2024-01-01", "page": "/"}] * 2

    assert maria.call("upsert", table="visits", key=["page", "day"], rows=rows) == {
        "inserted": 1,
        "updated": 0,
        "unchanged": 1,
    }


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        pytest.param("Ada", "ada", id="case"),
        pytest.param("Ada", "Ada ", id="a blank at the end"),
        pytest.param("Ada", "Adá", id="an accent"),
        pytest.param("", None, id="null"),
        pytest.param(None, "", id="from null"),
    ],
)
def test_a_change_that_the_collation_ignores_is_a_change(maria: Maria, stored: str | None, given: str | None) -> None:
    """Unchanged means: to the byte."""
    maria.call("update", table="customers", where={"id": 2}, values={"note": stored})

    assert maria.call("upsert", table="customers", key="id", rows=[{"id": 2, "note": given}])["updated"] == 1
    assert maria.call("upsert", table="customers", key="id", rows=[{"id": 2, "note": given}])["unchanged"] == 1
    assert maria.call("query", table="customers", where={"id": 2})["rows"][0]["note"] == given


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(["note"], id="not unique"),
        pytest.param(["id", "name"], id="two keys"),
        pytest.param(["id", "note"], id="more than the key"),
        pytest.param(["id", "ID"], id="the key twice"),
    ],
)
def test_the_key_must_be_one_unique_index(maria: Maria, key: list[str]) -> None:
    document = maria.refusal("upsert", table="customers", key=key, rows=[{"id": 1, "name": "x", "note": "x"}])

    assert document["details"]["reason"] == "key_not_unique"
    assert document["error"].endswith("; unique here: [id] or [email] or [name]")


@pytest.mark.parametrize(
    "index",
    [
        pytest.param("UNIQUE (a(3))", id="the beginning of a column"),
        pytest.param("UNIQUE (a(3), b)", id="the beginning of one of two"),
        pytest.param("UNIQUE (a, b)", id="two columns"),
        pytest.param("KEY (a)", id="not unique"),
    ],
)
def test_an_index_that_identifies_no_row_is_no_key(mariadb: MariaDB, index: str) -> None:
    world = Maria(mariadb, f"CREATE TABLE t (a VARCHAR(20), b INT, {index})", allowed_tables=["t"])

    assert world.reason("upsert", table="t", key=["a"], rows=[{"a": "x"}]) == "key_not_unique"
    world.drop()


@pytest.mark.parametrize("row", [{"name": "x"}, {"id": None, "name": "x"}])
def test_every_row_needs_its_key(maria: Maria, row: dict[str, Any]) -> None:
    document = maria.refusal("upsert", table="customers", key=["id"], rows=[{"id": 1, "name": "Ada"}, row])

    assert (document["details"]["reason"], document["details"]["row"]) == ("bad_value", 1)


def test_a_conflict_with_another_unique_key_is_an_error(maria: Maria) -> None:
    """ON DUPLICATE KEY UPDATE would change the other row in silence."""
    before = maria.rows("SELECT * FROM customers")

    for rows in ([{"name": "new", "email": "ada@example.org"}], [{"name": "Bob", "email": "ADA@example.org"}]):
        document = maria.refusal("upsert", table="customers", key="name", rows=rows)
        assert (document["details"]["reason"], document["details"]["row"]) == ("duplicate_key", 0)
        assert "'email'" in document["error"]
    assert maria.rows("SELECT * FROM customers") == before


def test_rows_are_stored_in_their_order(maria: Maria) -> None:
    """What one row gives up, the next may take, though many are sent at once."""
    rows = [{"name": "Ada", "email": "new@example.org"}, {"name": "Eve", "email": "ada@example.org"}]

    assert maria.call("upsert", table="customers", key="name", rows=rows) == {
        "inserted": 1,
        "updated": 1,
        "unchanged": 0,
    }


def test_a_versioned_table_has_the_key_that_its_owner_gave_it(mariadb: MariaDB) -> None:
    """The server adds to it when the row ended, for the rows that were."""
    world = Maria(
        mariadb,
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, a TIMESTAMP(6) GENERATED ALWAYS AS ROW START,"
        " b TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b)) WITH SYSTEM VERSIONING",
        allowed_tables=["t"],
    )

    for value in (1, 2, 2):
        world.call("upsert", table="t", key=["id"], rows=[{"id": 1, "v": value}])
    assert world.call("query", table="t", columns=["id", "v"])["rows"] == [{"id": 1, "v": 2}]
    assert world.rows("SELECT COUNT(*) FROM t FOR SYSTEM_TIME ALL") == [(2,)]
    world.drop()


KEYS = st.sampled_from(["a", "A", "á", "a ", "b", "ß", "s"])
UPSERTED = st.lists(
    st.fixed_dictionaries(
        {"k": KEYS}, optional={"v": st.none() | st.integers(0, 2), "t": st.sampled_from(["x", "X", "x "])}
    ),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def dictionary(mariadb: MariaDB) -> Iterator[Maria]:
    world = Maria(
        mariadb,
        "CREATE TABLE t (k VARCHAR(5) COLLATE utf8mb4_general_ci PRIMARY KEY, v INT DEFAULT 9, t VARCHAR(5))",
        allowed_tables=["t"],
    )
    yield world
    world.drop()


def folded(key: str) -> str:
    return {"á": "A", "ß": "S"}.get(key, key.rstrip(" ").upper())


@settings(deadline=None, derandomize=True, max_examples=40)
@given(batches=st.lists(UPSERTED, min_size=1, max_size=3))
def test_upsert_is_what_a_dictionary_does(dictionary: Maria, batches: list[list[dict[str, Any]]]) -> None:
    """Whatever order rows come in, with equal keys among them, and whatever they leave out."""
    dictionary.run("DELETE FROM t")
    expected: dict[str, dict[str, Any]] = {}
    for rows in batches:
        counts = {"inserted": 0, "updated": 0, "unchanged": 0}
        for row in rows:
            old = expected.get(folded(row["k"]))
            new = {"k": row["k"], "v": 9, "t": None, **row} if old is None else {**old, **row, "k": old["k"]}
            counts["inserted" if old is None else "unchanged" if old == new else "updated"] += 1
            expected[folded(row["k"])] = new
        assert dictionary.call("upsert", table="t", key="k", rows=rows) == counts
    assert dictionary.call("query", table="t")["rows"] == [expected[key] for key in sorted(expected)]


def test_thousands_of_rows_are_one_call(maria: Maria) -> None:
    rows = [{"day": "2024-01-01", "page": f"/{number}", "count": number} for number in range(3000)]

    assert maria.call("insert", table="visits", rows=rows) == {"inserted": 3000}
    rows = [{**row, "count": row["count"] // 1500} for row in rows]
    expected = {"inserted": 0, "updated": 2999, "unchanged": 1}
    assert maria.call("upsert", table="visits", key=["day", "page"], rows=rows) == expected
