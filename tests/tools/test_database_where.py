"""The filter language: its errors, and its meaning held against an evaluator in plain Python."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from database_world import Shop
from hypothesis import given, settings
from hypothesis import strategies as st
from where_reference import filters, matches

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def nested(depth: int) -> dict[str, Any]:
    document: dict[str, Any] = {"id": 1}
    for _ in range(depth):
        document = {"$not": document}
    return document


@pytest.mark.parametrize(
    ("where", "words"),
    [
        pytest.param({"$nad": [{"id": 1}]}, "did you mean '$and'", id="misspelt combination"),
        pytest.param({"$nor": [{"id": 1}]}, "$or", id="unknown combination"),
        pytest.param({"$eq": 1}, "belongs below a column", id="operator above"),
        pytest.param({"$where": "1"}, "unknown operator", id="code"),
        pytest.param({"id": {"$gtt": 1}}, "did you mean '$gt", id="misspelt operator"),
        pytest.param({"id": {"gt": 1}}, "did you mean '$gt'", id="operator without dollar"),
        pytest.param({"id": {"$EQ": 1}}, "did you mean '$eq'", id="operator in capitals"),
        pytest.param({"id": {" $eq": 1}}, "did you mean '$eq'", id="operator with a blank"),
        pytest.param({"id": {"$and": [{"id": 1}]}}, "stands above columns", id="combination below"),
        pytest.param({"id": {"$not": {"$gt": 1}}}, "stands above columns", id="not below"),
        pytest.param({"id": {"$regex": "x"}}, "unknown operator '$regex' below column 'id'; use $like", id="regex"),
        pytest.param({"id": {"$exists": True}}, "use $null", id="$exists"),
        pytest.param({"id": {"$eq": 1, "$binary": {"base64": ""}}}, "unknown operator", id="value among operators"),
        pytest.param({"id": {}}, "empty condition", id="empty condition"),
        pytest.param({"id": [1, 2]}, "$in", id="list without $in"),
        pytest.param({"id": {"a": 1}}, "unknown operator", id="object"),
        pytest.param({"id": {"$eq": [1]}}, "one value", id="list as a value"),
        pytest.param({"id": {"$eq": {"a": 1}}}, "one value", id="object as a value"),
        pytest.param({"id": {"$in": 1}}, "list", id="$in without a list"),
        pytest.param({"id": {"$in": "12"}}, "list", id="$in with a text"),
        pytest.param({"id": {"$in": [[1]]}}, "one value", id="list in $in"),
        pytest.param({"id": {"$gt": None}}, "null", id="range with null"),
        pytest.param({"id": {"$null": 1}}, "true or false", id="$null with a number"),
        pytest.param({"id": {"$null": None}}, "true or false", id="$null with null"),
        pytest.param({"id": {"$like": "1%"}}, "text", id="$like on numbers"),
        pytest.param({"name": {"$like": 1}}, "pattern", id="$like with a number"),
        pytest.param({"name": {"$like": None}}, "pattern", id="$like with null"),
        pytest.param({"name": {"$like": "x\\"}}, "backslash", id="pattern that ends in an escape"),
        pytest.param({"name": {"$like": "x" * 1001}}, "1000", id="long pattern"),
        pytest.param({"name": {"$like": "a\0b"}}, "NUL", id="pattern with nul"),
        pytest.param({"$and": []}, "at least one", id="empty $and"),
        pytest.param({"$or": {}}, "at least one", id="$or with an object"),
        pytest.param({"$and": [{}]}, "at least one", id="empty filter inside"),
        pytest.param({"$not": {}}, "at least one", id="empty $not"),
        pytest.param({"$not": [{"id": 1}]}, "object", id="$not with a list"),
        pytest.param({"$or": [1]}, "object", id="number as a filter"),
        pytest.param({"id": 1, "ID": 2}, "twice", id="a column twice"),
        pytest.param(nested(17), "deep", id="deep nesting"),
        pytest.param(nested(2000), "deep", id="very deep nesting"),
        pytest.param({"$or": [{"id": n} for n in range(301)]}, "more than 300", id="many conditions"),
        pytest.param({"id": {"$in": list(range(10_001))}}, "10000", id="many values"),
        pytest.param({"$or": [{"id": {"$in": list(range(4000))}}] * 3}, "10000", id="many values in several lists"),
    ],
)
def test_a_malformed_filter_is_refused(shop: Shop, where: dict[str, Any], words: str) -> None:
    """Everything that is not in the language is an error that says what to write."""
    document = shop.refusal("query", table="customers", where=where)

    assert document["details"]["reason"] == "bad_filter"
    assert words in document["error"]


@pytest.mark.parametrize(
    "where",
    [
        pytest.param({"id": "x"}, id="text for a number"),
        pytest.param({"id": "01"}, id="leading zero"),
        pytest.param({"id": "1.5"}, id="fraction as text"),
        pytest.param({"id": " 1"}, id="blank before digits"),
        pytest.param({"id": "١"}, id="digits of another script"),  # noqa: RUF001 - that is the point
        pytest.param({"id": 2**63}, id="an integer beyond 64 bits"),
        pytest.param({"id": "9223372036854775808"}, id="the same as text"),
        pytest.param({"id": {"$in": [1, "x"]}}, id="one of several"),
        pytest.param({"name": 1}, id="number for a text"),
        pytest.param({"name": True}, id="truth value for a text"),
        pytest.param({"name": {"$binary": {"base64": "AA=="}}}, id="bytes for a text"),
        pytest.param({"name": "\ud800"}, id="half a surrogate pair"),
        pytest.param({"name": {"$like": "\udfff%"}}, id="half a surrogate pair in a pattern"),
        pytest.param({"id": {"$binary": {"base64": "AA=="}}}, id="bytes for a number"),
        pytest.param({"note": {"$binary": {"base64": "?"}}}, id="broken base64"),
        pytest.param({"note": {"$numberDouble": "NaN"}}, id="not a number"),
        pytest.param({"id": float("nan")}, id="not a number, bare"),
    ],
)
def test_a_value_of_another_kind_is_refused(shop: Shop, where: dict[str, Any]) -> None:
    assert shop.reason("query", table="customers", where=where) == "bad_value"


def test_a_json_column_can_only_be_asked_for_null(shop: Shop) -> None:
    """Documents compare differently on every engine."""
    assert [row["id"] for row in shop.call("query", table="orders", where={"doc": None})["rows"]] == [2]
    assert len(shop.call("query", table="orders", where={"doc": {"$null": False}})["rows"]) == 2
    for test in ("[]", {"$like": "%"}, {"$gt": "a"}, {"$in": ["[]"]}):
        assert shop.reason("query", table="orders", where={"doc": test}) == "bad_filter"


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        pytest.param({}, [1, 2, 3], id="no filter"),
        pytest.param({"id": {"$in": []}}, [], id="in nothing"),
        pytest.param({"id": {"$nin": []}}, [1, 2, 3], id="not in nothing"),
        pytest.param({"email": None}, [2, 3], id="null equals null"),
        pytest.param({"email": {"$eq": None}}, [2, 3], id="eq null"),
        pytest.param({"email": {"$ne": None}}, [1], id="ne null"),
        pytest.param({"email": {"$in": [None, "ada@example.org"]}}, [1, 2, 3], id="null in a list"),
        pytest.param({"email": {"$nin": [None]}}, [1], id="null in a list of others"),
        pytest.param({"email": {"$ne": "ada@example.org"}}, [2, 3], id="ne includes null"),
        pytest.param({"email": {"$nin": ["ada@example.org"]}}, [2, 3], id="nin includes null"),
        pytest.param({"$not": {"email": "ada@example.org"}}, [2, 3], id="not includes null"),
        pytest.param({"$not": {"email": {"$gt": "a"}}}, [2, 3], id="not of a range includes null"),
        pytest.param({"$not": {"$not": {"email": "ada@example.org"}}}, [1], id="not not"),
        pytest.param({"name": "ADA"}, [1], id="equality without case"),
        pytest.param({"name": {"$like": "ADA"}}, [1], id="pattern without case"),
        pytest.param({"name": {"$like": "zo_"}}, [3], id="one character of two bytes"),
        pytest.param({"email": {"$like": "ADA%"}}, [], id="pattern with case"),
        pytest.param({"id": "2"}, [2], id="digits"),
        pytest.param({"id": True}, [1], id="true"),
        pytest.param({"id": 2.0}, [2], id="a whole float"),
        pytest.param({"id": {"$gt": 1.5, "$lt": 3}}, [2], id="two bounds"),
        pytest.param({"note": 7}, [3], id="number where texts are"),
        pytest.param({"note": {"$gt": "a"}}, [2], id="range of texts where numbers are"),
        pytest.param({"note": {"$lt": 100}}, [3], id="range of numbers where texts are"),
        pytest.param({"note": {"$ne": 7}}, [1, 2], id="ne includes other kinds"),
        pytest.param({"id": {"$in": list(range(10_000))}}, [1, 2, 3], id="a long list"),
        pytest.param({"$or": [{"id": n} for n in range(300)]}, [1, 2, 3], id="many conditions"),
        pytest.param(nested(16), [1], id="as deep as may be"),
    ],
)
def test_a_filter_means(shop: Shop, where: dict[str, Any], ids: list[int]) -> None:
    assert [row["id"] for row in shop.call("query", table="customers", where=where)["rows"]] == ids


def test_a_text_that_looks_like_a_number_compares_as_text(shop: Shop) -> None:
    """SQLite would make a number of it because of the column's type, and every text is greater than that."""
    found = shop.call("query", table="orders", where={"placed": {"$gte": "2025"}})

    assert found["rows"] == []


def test_that_holds_for_a_view_too(tmp_path: Path) -> None:
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (d DATE); INSERT INTO t VALUES ('2024-01-31');
        CREATE VIEW v AS SELECT max(d) AS m, CAST(d AS NUMERIC) AS n, d FROM t;
        """,
        allowed_tables=["v"],
    )

    assert shop.call("query", table="v", where={"d": {"$gte": "2025"}})["rows"] == []
    assert shop.call("query", table="v", where={"m": {"$gte": "2025"}})["rows"] == []
    assert shop.call("query", table="v", where={"n": 2024})["rows"]


# The columns of the table that filters are compared on: name -> declaration, what SQLite takes for its collation.
COLUMNS = {
    "i": "INTEGER",
    "r": "REAL",
    "t": "TEXT",
    "n": "TEXT COLLATE NOCASE",
    "s": "TEXT COLLATE RTRIM",
    "b": "BLOB",
    "a": "",
    "d": "DATE",
}

TEXTS = st.text(st.sampled_from("aAbB %_\\*?[]1é😀"), max_size=4)
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(-3, 3),
    st.floats(allow_nan=False),
    st.sampled_from([2**53, 2**53 + 1, float(2**53), 0.5]),
)
BYTES = st.binary(max_size=2)
STORED = st.one_of(st.none(), NUMBERS, TEXTS, BYTES)
ROWS = st.lists(st.fixed_dictionaries(dict.fromkeys(COLUMNS, STORED)), min_size=1, max_size=6)


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "i": NUMBERS,
    "r": NUMBERS,
    "t": TEXTS,
    "n": TEXTS,
    "s": TEXTS,
    "b": BYTES,
    "a": st.one_of(NUMBERS, TEXTS, BYTES),
    "d": st.one_of(NUMBERS, TEXTS, BYTES),
}
FILTERS = filters(VALUES, "tnsad")


def collated(column: str, text: str) -> str:
    """Return what SQLite compares of a text under the column's collation."""
    if column == "n":
        return "".join(letter.lower() if letter.isascii() else letter for letter in text)
    return text.rstrip(" ") if column == "s" else text


def filled(folder: str, rows: list[dict[str, object]]) -> Iterator[dict[str, Any]]:
    """Put the rows into a database in the folder and yield them as SQLite has stored them."""
    columns = ", ".join(f"{name} {declared}" for name, declared in COLUMNS.items())
    shop = Shop(Path(folder), f"CREATE TABLE t (id INTEGER PRIMARY KEY, {columns})", allowed_tables=["t"])
    shop.write("INSERT INTO t VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", [tuple(row.values()) for row in rows])
    for row in shop.rows("SELECT * FROM t"):
        yield dict(zip(["id", *COLUMNS], row, strict=True))


@settings(deadline=None, derandomize=True, max_examples=200)
@given(rows=ROWS, where=FILTERS)
def test_sqlite_and_plain_python_agree(rows: list[dict[str, object]], where: dict[str, Any]) -> None:
    """Whatever is stored and whatever is asked, a filter means what the reference says."""
    with tempfile.TemporaryDirectory() as folder:
        stored = list(filled(folder, rows))
        shop = Shop(Path(folder), "", allowed_tables=["t"])

        found = shop.call("query", table="t", columns=["id"], where=where)

    assert [row["id"] for row in found["rows"]] == [row["id"] for row in stored if matches(where, row, collated)]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(rows=ROWS, where=FILTERS)
def test_what_is_deleted_is_what_would_have_been_found(rows: list[dict[str, object]], where: dict[str, Any]) -> None:
    """The filter of a change means the same as that of a query."""
    with tempfile.TemporaryDirectory() as folder:
        stored = list(filled(folder, rows))
        shop = Shop(Path(folder), "", allowed_tables=["t"])

        affected = shop.call("delete", table="t", where=where)["affected"]

        assert affected == sum(matches(where, row, collated) for row in stored)
        assert [row[0] for row in shop.rows("SELECT id FROM t")] == [
            row["id"] for row in stored if not matches(where, row, collated)
        ]


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        pytest.param("a%", ["a", "a%", "a_", "abc"], id="any text"),
        pytest.param("a\\%", ["a%"], id="a literal per cent"),
        pytest.param("a\\_", ["a_"], id="a literal underscore"),
        pytest.param("\\\\", ["\\"], id="a literal backslash"),
        pytest.param("\\a", ["a"], id="an escape that is not needed"),
        pytest.param("*", ["*"], id="a star is a star"),
        pytest.param("[a]", ["[a]"], id="brackets are brackets"),
        pytest.param("_", ["*", "?", "A", "\\", "a"], id="one character"),
        pytest.param("", [""], id="nothing"),
        pytest.param("%", ["", "*", "?", "A", "[a]", "\\", "a", "a%", "a_", "abc"], id="everything"),
    ],
)
def test_a_pattern_matches(tmp_path: Path, pattern: str, matching: list[str]) -> None:
    shop = Shop(tmp_path, "CREATE TABLE t (b TEXT, n TEXT COLLATE NOCASE)", allowed_tables=["t"])
    texts = ["", "a", "A", "a%", "a_", "abc", "\\", "*", "?", "[a]"]
    shop.write("INSERT INTO t VALUES (?, ?)", [(text, text) for text in texts])

    def found(column: str) -> list[str]:
        rows = shop.call("query", table="t", where={column: {"$like": pattern}})["rows"]
        return sorted(row[column] for row in rows)

    assert found("b") == matching
    assert found("n") == sorted(text for text in texts if text.lower() in [each.lower() for each in matching])
