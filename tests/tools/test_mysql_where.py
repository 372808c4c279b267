"""The filter language on MariaDB, held against an evaluator in plain Python; and what the server itself would bend."""

from __future__ import annotations

import operator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mariadb_world import Maria
from where_reference import filters, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mariadb import MariaDB

# The columns of the table that filters are compared on.
COLUMNS = {
    "i": "BIGINT",
    "u": "BIGINT UNSIGNED",
    "r": "DOUBLE",
    "c": "VARCHAR(20) COLLATE utf8mb4_general_ci",
    "p": "VARCHAR(20) COLLATE utf8mb4_bin",
    "n": "TEXT COLLATE utf8mb4_nopad_bin",
    "l": "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin",
    "e": "ENUM('b', 'a', 'A%', '', 'é')",
    "b": "VARBINARY(10)",
}
MEMBERS = ("b", "a", "A%", "", "é")
KEYS = "KEY (i), KEY (u), KEY (r), KEY (c), KEY (p), KEY (n(10)), KEY (l), KEY (e), KEY (b)"

TEXTS = st.text(st.sampled_from("aAbB %_\\*?[]1é😀|"), max_size=4)
LATIN = st.text(st.sampled_from("aAbB %_\\*?[]1é"), max_size=4)
INTEGERS = st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)
REALS = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([float(2**53), 0.5]),
)
NUMBERS = st.one_of(INTEGERS, REALS, st.sampled_from([2**53 + 1, float("inf"), float("-inf")]))
BYTES = st.binary(max_size=2)
STORED = {
    "i": INTEGERS,
    "u": st.integers(0, 3) | st.integers(0, 2**64 - 1),
    "r": REALS,
    "c": TEXTS,
    "p": TEXTS,
    "n": TEXTS,
    "l": LATIN,
    "e": st.sampled_from(MEMBERS),
    "b": BYTES,
}
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, values in STORED.items()}), min_size=1, max_size=6
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys("iur", NUMBERS),
    **dict.fromkeys("cpn", TEXTS),
    "l": LATIN,
    "e": TEXTS | st.sampled_from([*MEMBERS, "1", "2"]),
    "b": BYTES,
}
FILTERS = filters(VALUES, "cpnle")
_GENERAL = str.maketrans({"a": "A", "b": "B", "é": "E", "😀": "\ufffd"})


def collated(column: str, text: str) -> str:
    """Return what MariaDB compares of a text under the column's collation."""
    if column == "n":
        return text
    return (text.translate(_GENERAL) if column in "ce" else text).rstrip(" ")


@pytest.fixture(scope="module")
def world(mariadb: MariaDB) -> Iterator[Maria]:
    declared = ", ".join(f"{name} {declaration}" for name, declaration in COLUMNS.items())
    found = Maria(
        mariadb, f"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, {declared}, {KEYS})", allowed_tables=["t"]
    )
    yield found
    found.drop()


def fill(world: Maria, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the rows into the table as its owner, and return them with their keys."""
    with world.server.owner(world.name) as handle, handle.cursor() as cursor:
        cursor.execute("DELETE FROM t")
        cursor.execute("ALTER TABLE t AUTO_INCREMENT = 1")
        names = ", ".join(COLUMNS)
        places = ", ".join(["%s"] * len(COLUMNS))
        cursor.executemany(
            f"INSERT INTO t ({names}) VALUES ({places})", [tuple(row[name] for name in COLUMNS) for row in rows]
        )
    return [{"id": number, **row} for number, row in enumerate(rows, 1)]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(rows=ROWS, where=FILTERS)
def test_mariadb_and_plain_python_agree(world: Maria, rows: list[dict[str, Any]], where: dict[str, Any]) -> None:
    """Whatever is stored and whatever is asked, a filter means what the reference says, with and without an index."""
    stored = fill(world, rows)

    found = world.call("query", table="t", columns=["id"], where=where)

    expected = [row["id"] for row in stored if matches(where, row, collated)]
    assert [row["id"] for row in found["rows"]] == expected


@settings(deadline=None, derandomize=True, max_examples=50)
@given(rows=ROWS, where=FILTERS)
def test_what_is_deleted_is_what_would_have_been_found(
    world: Maria, rows: list[dict[str, Any]], where: dict[str, Any]
) -> None:
    """The filter of a change means the same as that of a query."""
    stored = fill(world, rows)

    affected = world.call("delete", table="t", where=where)["affected"]

    assert affected == sum(matches(where, row, collated) for row in stored)
    left = [row["id"] for row in stored if not matches(where, row, collated)]
    assert [row[0] for row in world.rows("SELECT id FROM t ORDER BY id")] == left


RELATIONS = {"$eq": operator.eq, "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le}
EXACT = {
    "tiny": ("TINYINT", [-128, -1, 0, 1, 127]),
    "money": ("DECIMAL(6, 2)", ["-9999.99", "-0.01", "0.00", "0.10", "1.50", "9999.99"]),
    "deep": ("DECIMAL(65, 30)", ["0." + "0" * 29 + "1", "1.5", "9" * 35 + "." + "9" * 30, "-0.3"]),
    "year": ("YEAR", [0, 1901, 1999, 2000, 2024, 2155]),
    "bits": ("BIT(8)", [0, 1, 255]),
    "odd": ("DOUBLE", [0.1, 2.0**53, 2.0**53 + 2, 1.7976931348623157e308, 5e-324, -1.5]),
}
ANY_NUMBER = st.one_of(
    st.integers(-300, 3000),
    st.floats(-300, 3000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [24, 70, 99, 1900, 1900.5, 2156, 0.1, 0.105, 1.5, 127.5, -128.5, 255.5, 2**53 + 1, 2.0**64, 5e-324]
    ),
)


@pytest.fixture(scope="module")
def exact(mariadb: MariaDB) -> Iterator[Maria]:
    declared = ", ".join(f"{name} {declaration}, KEY ({name})" for name, (declaration, _) in EXACT.items())
    found = Maria(mariadb, f"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, {declared})", allowed_tables=["t"])
    for name, (_, values) in EXACT.items():
        found.call("insert", table="t", rows=[{name: value} for value in values])
    yield found
    found.drop()


def as_number(name: str, value: Any) -> Any:
    if name in ("money", "deep"):
        return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return value


@settings(deadline=None, derandomize=True, max_examples=100)
@given(name=st.sampled_from(sorted(EXACT)), word=st.sampled_from(sorted(RELATIONS)), number=ANY_NUMBER)
def test_numbers_compare_by_what_they_are(exact: Maria, name: str, word: str, number: float) -> None:
    """The server would make a double of an integer, 2024 of 24, and round what has more digits than its column."""
    found = exact.call("query", table="t", columns=[name], where={name: {word: number}})["rows"]

    values = [as_number(name, value) for value in EXACT[name][1]]
    expected = [value for value in values if RELATIONS[word](value, as_number(name, number))]
    assert [as_number(name, row[name]) for row in found] == expected


BENT = """
CREATE TABLE t (
    id INT PRIMARY KEY AUTO_INCREMENT, d DATE NOT NULL, dt DATETIME, ts TIMESTAMP NULL, tm TIME, y YEAR,
    e ENUM('a', 'b', '7'), s SET('x', 'y'), v VARCHAR(20), l VARCHAR(20) CHARACTER SET latin1,
    u3 VARCHAR(20) CHARACTER SET utf8mb3, b BINARY(4), f FLOAT, u UUID, flag BOOLEAN,
    KEY (d), KEY (dt), KEY (ts), KEY (tm), KEY (y), KEY (e), KEY (s), KEY (v), KEY (l), KEY (b), KEY (f)
);
INSERT INTO t VALUES
    (1, '0000-00-00', '2024-01-01 10:00:00', '2024-01-01 10:00:00', '-00:00:01', 2024, 'a', 'x,y', '12', 'é', 'é',
     'a', 0.1, '123e4567-e89b-12d3-a456-426655440000', 1),
    (2, '2024-02-29', NULL, NULL, '838:59:59', 0, '7', '', 'abc ', 'e', 'x', 'abcd', 16777216, NULL, 0);
"""


@pytest.fixture(scope="module")
def bent(mariadb: MariaDB) -> Iterator[Maria]:
    found = Maria(mariadb, BENT, allowed_tables=["t"])
    yield found
    found.drop()


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        pytest.param({"d": {"$null": True}}, [], id="a date of zeros is not null"),
        pytest.param({"d": None}, [], id="nor equal to it"),
        pytest.param({"d": {"$ne": None}}, [1, 2], id="but other than null"),
        pytest.param({"$not": {"d": {"$lt": "2000-01-01"}}}, [2], id="and less than others, also negated"),
        pytest.param({"d": "0000-00-00"}, [1], id="and equal to itself"),
        pytest.param({"dt": "2024-01-01T10:00:00"}, [1], id="a moment as it is shown"),
        pytest.param({"dt": "2024-01-01 10:00:00"}, [1], id="a moment with a blank"),
        pytest.param({"dt": {"$gte": "2024-01-01"}}, [1], id="a day is its first moment"),
        pytest.param({"dt": "2024-01-01T10:00:00.5"}, [], id="half a second is not cut off"),
        pytest.param({"dt": {"$gt": "2024-01-01T09:59:59.5"}}, [1], id="nor below"),
        pytest.param({"dt": {"$lt": "2024-01-01T10:00:00.5"}}, [1], id="nor above"),
        pytest.param({"dt": "2024-01-01T10:00:00.000000"}, [1], id="zeros are no fraction"),
        pytest.param({"ts": "2024-01-01T10:00:00Z"}, [1], id="a time stamp as it is shown"),
        pytest.param({"ts": "2024-01-01T10:00:00"}, [1], id="a time stamp without its zone"),
        pytest.param({"ts": "2024-01-01T10:00:00+00:00"}, [1], id="a time stamp as Python writes it"),
        pytest.param({"ts": {"$lt": "2240-01-01T00:00:00Z"}}, [1], id="later than a time stamp can be"),
        pytest.param({"tm": "-00:00:01"}, [1], id="a negative time"),
        pytest.param({"tm": {"$lt": "-00:00:00.5"}}, [1], id="a negative fraction above"),
        pytest.param({"tm": {"$gt": "-00:00:01.5"}}, [1, 2], id="a negative fraction below"),
        pytest.param({"tm": {"$gte": "838:59:59"}}, [2], id="the longest time"),
        pytest.param({"y": 24}, [], id="two digits are no year"),
        pytest.param({"y": {"$in": [24, 99, 2024]}}, [1], id="nor in a list"),
        pytest.param({"y": {"$lt": 70}}, [2], id="nor in a range"),
        pytest.param({"y": "2024"}, [1], id="digits of a year"),
        pytest.param({"y": "0000"}, [2], id="the year zero as the server writes it"),
        pytest.param({"e": "1"}, [], id="a number is no member"),
        pytest.param({"e": "7"}, [2], id="but a member may look like one"),
        pytest.param({"e": "A"}, [1], id="a member follows its collation"),
        pytest.param({"e": {"$gt": "7"}}, [1], id="members compare as texts"),
        pytest.param({"e": "unheard of"}, [], id="no member at all"),
        pytest.param({"s": "3"}, [], id="a number is no set"),
        pytest.param({"s": "x,y"}, [1], id="a set as it is shown"),
        pytest.param({"s": ""}, [2], id="the empty set"),
        pytest.param({"v": "ABC"}, [2], id="blanks at the end and case do not count"),
        pytest.param({"v": {"$like": "ABC"}}, [2], id="nor in a pattern without wildcards"),
        pytest.param({"v": {"$like": "AB_"}}, [2], id="nor in one with wildcards"),
        pytest.param({"v": {"$like": "%c "}}, [2], id="nor at the end of the pattern"),
        pytest.param({"v": {"$like": "ábĉ"}}, [2], id="nor do accents"),
        pytest.param({"v": {"$like": "ábĉ%"}}, [2], id="nor before a wildcard"),
        pytest.param({"l": "É"}, [1, 2], id="another character set, its own collation"),
        pytest.param({"l": "日"}, [], id="a character that the set has not"),
        pytest.param({"l": {"$ne": "日"}}, [1, 2], id="all are other than it"),
        pytest.param({"l": {"$gt": "日"}}, [], id="none is greater"),
        pytest.param({"l": {"$in": ["e", "日"]}}, [1, 2], id="in a list"),
        pytest.param({"l": {"$like": "日%"}}, [], id="in a pattern"),
        pytest.param({"u3": {"$in": ["x", "😀"]}}, [2], id="beyond the basic plane"),
        pytest.param({"b": {"$binary": {"base64": "YQAAAA=="}}}, [1], id="bytes with their filling"),
        pytest.param({"b": {"$binary": {"base64": "YQ=="}}}, [], id="and without"),
        pytest.param({"f": 0.1}, [1], id="a FLOAT as it is shown"),
        pytest.param({"f": {"$gt": 0.1}}, [2], id="and nothing between it and that"),
        pytest.param({"f": 16777217}, [], id="a number that a FLOAT has not"),
        pytest.param({"u": "123E4567-E89B-12D3-A456-426655440000"}, [1], id="a UUID in capitals"),
        pytest.param({"flag": True}, [1], id="true is one"),
        pytest.param({"flag": False}, [2], id="false is zero"),
        pytest.param({"id": {"$lt": {"$numberDouble": "Infinity"}}}, [1, 2], id="less than infinity"),
        pytest.param({"id": {"$gt": {"$numberDouble": "-Infinity"}}}, [1, 2], id="greater than its opposite"),
        pytest.param({"id": {"$in": [n / 2 for n in range(10)]}}, [1, 2], id="halves"),
        pytest.param({"id": {"$in": list(range(10_000))}}, [1, 2], id="a long list"),
        pytest.param({"$or": [{"id": n} for n in range(300)]}, [1, 2], id="many conditions"),
    ],
)
def test_a_filter_means(bent: Maria, where: dict[str, Any], ids: list[int]) -> None:
    """The server does not bend what is compared: what no value of the column equals, equals none."""
    assert [row["id"] for row in bent.call("query", table="t", where=where)["rows"]] == ids


@pytest.mark.parametrize(
    "where",
    [
        pytest.param({"id": "1 OR 1=1"}, id="SQL for a number"),
        pytest.param({"id": "01"}, id="leading zero"),
        pytest.param({"id": "1.5"}, id="fraction as text"),
        pytest.param({"id": 2**63}, id="an integer beyond 64 bits"),
        pytest.param({"v": 12}, id="number for a text"),
        pytest.param({"v": True}, id="truth value for a text"),
        pytest.param({"v": {"$binary": {"base64": "AA=="}}}, id="bytes for a text"),
        pytest.param({"b": "abcd"}, id="text for bytes"),
        pytest.param({"e": 1}, id="number for a member"),
        pytest.param({"d": 0}, id="number for a date"),
        pytest.param({"d": "2024"}, id="year for a date"),
        pytest.param({"d": "24-01-01"}, id="two digits of a year"),
        pytest.param({"d": "20240101"}, id="date without dashes"),
        pytest.param({"d": "2024-02-30"}, id="no such day"),
        pytest.param({"d": "2024-13-01"}, id="no such month"),
        pytest.param({"d": "2024-01-01T00:00:00"}, id="moment for a date"),
        pytest.param({"d": "٢٠٢٤-٠١-٠١"}, id="digits of another script"),  # noqa: RUF001 - that is the point
        pytest.param({"dt": "2024-01-01T10:00"}, id="moment without seconds"),
        pytest.param({"dt": "2024-01-01T10:00:00Z"}, id="zone where there is none"),
        pytest.param({"dt": "2024-01-01T24:00:00"}, id="no such hour"),
        pytest.param({"dt": "2024-01-01T10:00:00.1234567"}, id="seven digits of a second"),
        pytest.param({"ts": "2024-01-01T10:00:00+02:00"}, id="another zone"),
        pytest.param({"tm": "1011"}, id="time without colons"),
        pytest.param({"tm": "10:11"}, id="time without seconds"),
        pytest.param({"tm": "839:00:00"}, id="no such time"),
        pytest.param({"u": "123e4567"}, id="part of a UUID"),
        pytest.param({"d": {"$like": "2024%"}}, id="pattern for a date"),
        pytest.param({"f": "0.1"}, id="text for a FLOAT"),
    ],
)
def test_a_value_of_another_kind_is_refused(bent: Maria, where: dict[str, Any]) -> None:
    """Whatever the server would make of it in silence."""
    assert bent.reason("query", table="t", where=where) == "bad_value"


PATTERNS = [
    pytest.param("a%", ["a", "a%", "a_", "abc"], id="any text"),
    pytest.param("a\\%", ["a%"], id="a literal per cent"),
    pytest.param("a\\_", ["a_"], id="a literal underscore"),
    pytest.param("\\\\", ["\\"], id="a literal backslash"),
    pytest.param("\\\\%", ["\\"], id="a literal backslash before a wildcard"),
    pytest.param("|%", ["|"], id="a bar is a bar"),
    pytest.param("\\a", ["a"], id="an escape that is not needed"),
    pytest.param("'_", ["'x"], id="a quote"),
    pytest.param("_", ["'", "A", "\\", "a", "|"], id="one character"),
    pytest.param("", [""], id="nothing"),
    pytest.param("%", ["", "'", "'x", "A", "\\", "a", "a%", "a_", "abc", "|"], id="everything"),
    pytest.param("%%b%", ["abc"], id="several wildcards"),
]


@pytest.mark.parametrize(("pattern", "matching"), PATTERNS)
def test_a_pattern_matches(mariadb: MariaDB, pattern: str, matching: list[str]) -> None:
    world = Maria(mariadb, "CREATE TABLE t (b TEXT COLLATE utf8mb4_bin, n TEXT)", allowed_tables=["t"])
    texts = ["", "a", "A", "a%", "a_", "abc", "\\", "|", "'", "'x"]
    world.call("insert", table="t", rows=[{"b": text, "n": text} for text in texts])

    def found(column: str) -> list[str]:
        return sorted(row[column] for row in world.call("query", table="t", where={column: {"$like": pattern}})["rows"])

    assert found("b") == matching
    assert found("n") == sorted(text for text in texts if text.lower() in [each.lower() for each in matching])
    world.drop()


# Character sets, each with a text that its own letters are for.
LETTERS = {
    "utf8mb3": "日é", "ucs2": "日é", "utf16": "😀é", "utf16le": "😀é", "utf32": "😀é", "latin1": "é€", "latin2": "čř",
    "cp1251": "да", "koi8r": "да", "greek": "αβ", "hebrew": "שלום", "sjis": "日本", "cp932": "日本", "ujis": "日本",
    "gbk": "中文", "gb2312": "中文", "big5": "中文", "euckr": "한국", "tis620": "กข", "ascii": "az",
}  # fmt: skip


def test_texts_compare_in_every_character_set(mariadb: MariaDB) -> None:
    """Also with letters that the set has not, which the server would refuse as a mix of collations."""
    declared = ", ".join(f"{charset} VARCHAR(9) CHARACTER SET {charset}" for charset in LETTERS)
    world = Maria(mariadb, f"CREATE TABLE t (id INT PRIMARY KEY, {declared})", allowed_tables=["t"])
    rows = [
        {"id": at, **{name: text + tail for name, text in LETTERS.items()}} for at, tail in enumerate(["", "%", "b_"])
    ]
    world.call("insert", table="t", rows=rows)

    def found(where: dict[str, Any]) -> list[int]:
        return [row["id"] for row in world.call("query", table="t", where=where)["rows"]]

    assert found(dict(LETTERS)) == [0]
    assert found({name: {"$in": [f"{text}%", "☃😀"]} for name, text in LETTERS.items()}) == [1]
    assert found({name: {"$like": f"{text}b\\_"} for name, text in LETTERS.items()}) == [2]
    assert found({name: {"$like": f"_{text[1:]}%"} for name, text in LETTERS.items()}) == [0, 1, 2]
    assert found({"$or": [{name: {"$like": "☃%"}} for name in LETTERS]}) == []
    world.drop()


def test_a_json_column_can_only_be_asked_for_null(maria: Maria) -> None:
    """Documents compare differently on every engine."""
    assert [row["id"] for row in maria.call("query", table="orders", where={"doc": None})["rows"]] == [2]
    assert len(maria.call("query", table="orders", where={"doc": {"$null": False}})["rows"]) == 2
    for test in ("[]", {"$like": "%"}, {"$gt": "a"}, {"$in": ["[]"]}):
        assert maria.reason("query", table="orders", where={"doc": test}) == "bad_filter"


def test_filters_use_indexes(bent: Maria) -> None:
    """What the filter is turned into leaves the column bare."""
    from clitool_tools.database.mysql.condition import where as sql
    from clitool_tools.database.where import parse

    context = bent.context()
    try:
        engine = context.connection("")
        table = engine.table("t")
        for test in ({"v": "x"}, {"v": {"$gt": "x"}}, {"v": {"$like": "x%"}}, {"v": None}, {"v": {"$in": ["x", "y"]}}):
            plan = engine.session.run(f"EXPLAIN SELECT id FROM t WHERE {sql(parse(test, table))}").all()
            assert plan[0][5] == b"v", test  # the key in use
    finally:
        context.close()
