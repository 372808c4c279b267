"""What is written comes back: for every kind of column and every value that JSON can stand for."""

from __future__ import annotations

import base64
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from clitool_tools.database.kinds import looks_numeric
from database_world import Shop
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.answer import encode

SCRIPT = """
CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, f BOOLEAN, r REAL, m DECIMAL(20, 4), t TEXT, b BLOB, j JSON, a,
                d DATE);
CREATE TABLE s (id INTEGER PRIMARY KEY, i INT, r REAL, t TEXT, b BLOB, a ANY) STRICT;
"""
COLUMNS = {"t": "ifrmtbjad", "s": "irtba"}


def binary(data: bytes) -> dict[str, Any]:
    return {"$binary": {"base64": base64.b64encode(data).decode(), "subType": "00"}}


def raw_text(data: bytes) -> dict[str, Any]:
    return {"$rawText": {"base64": base64.b64encode(data).decode()}}


def is_not_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


INFINITE = st.sampled_from([{"$numberDouble": "Infinity"}, {"$numberDouble": "-Infinity"}])
INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.one_of(st.text(), st.binary(max_size=6).filter(is_not_utf8).map(raw_text))
BINARIES = st.binary().map(binary)
# Documents that survive: a double keeps 15 digits, and a large integer would become a text.
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.sampled_from([0.5, -1.25, 1e300]), st.text()
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
).filter(lambda document: isinstance(document, (list, dict)))

KINDS: dict[str, st.SearchStrategy[Any]] = {
    "i": INTEGERS,
    "f": st.sampled_from([0, 1]),
    "r": FLOATS | INFINITE,
    "m": FLOATS | INTEGERS,
    "t": TEXTS,
    "b": BINARIES,
    "j": DOCUMENTS,
    "a": INTEGERS | FLOATS | INFINITE | TEXTS | BINARIES,
    "d": INTEGERS
    | FLOATS
    | INFINITE
    | BINARIES
    | TEXTS.filter(lambda text: not (isinstance(text, str) and looks_numeric(text))),
}


def rows_of(table: str) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({name: st.one_of(st.none(), KINDS[name]) for name in COLUMNS[table]})


def equal(one: object, two: Any) -> bool:
    """Say whether two JSON values are the same; 5 and 5.0 are, and a large integer and its digits."""
    if isinstance(one, (int, float)) and isinstance(two, str):
        two = int(two)
    return (one == two and json.dumps(one).startswith("-") == json.dumps(two).startswith("-")) or one == two == 0


def given_back(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row that was shown as one to insert: a large integer in a column for dates is no text there."""
    day = row.get("d")
    return {**row, "d": int(day)} if isinstance(day, str) and looks_numeric(day) else row


@pytest.mark.parametrize("table", ["t", "s"])
@settings(deadline=None, derandomize=True, max_examples=100)
@given(data=st.data())
def test_what_insert_wrote_query_returns(table: str, data: st.DataObject) -> None:
    """Every value of every kind survives the round trip, also a second one."""
    rows = data.draw(st.lists(rows_of(table), min_size=1, max_size=3))
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder), SCRIPT, allowed_tables=["t", "s"])
        shop.call("insert", table=table, rows=rows)
        once = shop.call("query", table=table, columns=list(COLUMNS[table]))["rows"]
        shop.call("insert", table=table, rows=[given_back(row) for row in once])
        twice = shop.call("query", table=table, columns=list(COLUMNS[table]))["rows"]

    for row, returned in zip(rows, once, strict=True):
        for name, value in row.items():
            assert equal(value, returned[name]), name
    assert twice == [*once, *once]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(value=st.one_of(INTEGERS, FLOATS, INFINITE, TEXTS, BINARIES))
def test_a_row_is_found_by_the_value_it_shows(value: Any) -> None:
    """What a query returns can be asked for."""
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder), SCRIPT, allowed_tables=["t"])
        shop.call("insert", table="t", rows=[{"a": value}])
        shown = shop.call("query", table="t", columns=["a"])["rows"][0]["a"]

        assert len(shop.call("query", table="t", where={"a": shown})["rows"]) == 1


@settings(deadline=None, derandomize=True, max_examples=300)
@given(text=st.text(st.sampled_from("0123456789+-.eExX_ \n\tiInfNaN٣"), max_size=6))
def test_what_looks_numeric_is_what_sqlite_makes_a_number_of(text: str) -> None:
    import sqlite3

    handle = sqlite3.connect(":memory:")
    handle.execute("CREATE TABLE t (d DATE)")
    handle.execute("INSERT INTO t VALUES (?)", [text])
    stored = handle.execute("SELECT typeof(d) FROM t").fetchone()[0]
    handle.close()

    assert looks_numeric(text) == (stored != "text")


def store(folder: Path, column: str, value: Any) -> Any:
    """Insert one value and return what the owner then reads."""
    shop = Shop(folder, SCRIPT, allowed_tables=["t"])
    shop.call("insert", table="t", rows=[{column: value}])
    return shop.rows(f"SELECT {column} FROM t")[0][0]


@pytest.mark.parametrize(
    ("column", "value", "stored"),
    [
        pytest.param("i", "9223372036854775807", 2**63 - 1, id="large integer as text"),
        pytest.param("i", "-9223372036854775808", -(2**63), id="small integer as text"),
        pytest.param("i", "0", 0, id="zero as text"),
        pytest.param("i", 5.0, 5, id="whole float"),
        pytest.param("i", True, 1, id="true"),
        pytest.param("f", False, 0, id="false"),
        pytest.param("f", True, 1, id="true in a boolean column"),
        pytest.param("r", 3, 3.0, id="integer in a real column"),
        pytest.param("r", {"$numberDouble": "-Infinity"}, -math.inf, id="infinity"),
        pytest.param("m", "10.10", 10.1, id="decimal as text"),
        pytest.param("m", "-0.000001", -0.000001, id="small decimal as text"),
        pytest.param("m", "123456789012345", 123456789012345, id="integer as decimal text"),
        pytest.param("b", binary(b"\0\xff"), b"\0\xff", id="bytes"),
        pytest.param("b", {"$binary": {"base64": ""}}, b"", id="no bytes, without a subtype"),
        pytest.param("t", "a\0b", "a\0b", id="nul in a text"),
        pytest.param("t", raw_text(b"a\xff"), "a\udcff", id="text that is not UTF-8"),
        pytest.param("t", raw_text(b"abc"), "abc", id="text that is UTF-8 after all"),
        pytest.param("j", {"a": [1, None]}, '{"a":[1,null]}', id="object"),
        pytest.param("j", [], "[]", id="array"),
        pytest.param("j", '"text"', '"text"', id="JSON text"),
        pytest.param("j", '{"a": 1.10}', '{"a": 1.10}', id="JSON text of an object"),
        pytest.param("a", True, 1, id="true in a column of any kind"),
        pytest.param("a", "007", "007", id="digits in a column of any kind"),
        pytest.param("d", "2024-01-31", "2024-01-31", id="date"),
    ],
)
def test_a_value_is_stored(tmp_path: Path, column: str, value: Any, stored: object) -> None:
    found = store(tmp_path, column, value)

    assert (found, type(found)) == (stored, type(stored))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        pytest.param("i", 1.5, id="fraction in an integer column"),
        pytest.param("i", 2**63, id="integer beyond 64 bits"),
        pytest.param("i", -(2**63) - 1, id="integer below 64 bits"),
        pytest.param("i", 10**400, id="integer beyond everything"),
        pytest.param("i", "1e3", id="exponent in an integer column"),
        pytest.param("i", "007", id="leading zeros"),
        pytest.param("i", "+7", id="plus"),
        pytest.param("i", "", id="empty text in an integer column"),
        pytest.param("i", "٣", id="digit of another script"),
        pytest.param("i", 1e300, id="large float in an integer column"),
        pytest.param("i", {"$numberDouble": "Infinity"}, id="infinity in an integer column"),
        pytest.param("i", [1], id="list in an integer column"),
        pytest.param("r", "1.5", id="text in a real column"),
        pytest.param("r", 2**53 + 1, id="integer that a double cannot hold"),
        pytest.param("r", 10**400, id="integer beyond every double"),
        pytest.param("r", float("nan"), id="not a number"),
        pytest.param("r", {"$numberDouble": "NaN"}, id="not a number, written"),
        pytest.param("r", {"$numberDouble": "1.5"}, id="a double that needs no object"),
        pytest.param("m", "1.2345678901234567", id="more digits than a double holds"),
        pytest.param("m", "1e400", id="more than a double holds"),
        pytest.param("m", "1e-400", id="less than a double holds"),
        pytest.param("d", raw_text(b"123"), id="bytes of digits that would become a number"),
        pytest.param("j", {"$numberDouble": "Infinity"}, id="infinity in a JSON column"),
        pytest.param("m", "ten", id="a word for a decimal"),
        pytest.param("m", " 1", id="blank before a decimal"),
        pytest.param("t", 5, id="number in a text column"),
        pytest.param("t", binary(b"x"), id="bytes in a text column"),
        pytest.param("t", "\ud800", id="half a surrogate pair"),
        pytest.param("t", {"a": 1}, id="object in a text column"),
        pytest.param("b", "text", id="text in a column of bytes"),
        pytest.param("b", raw_text(b"\xff"), id="raw text in a column of bytes"),
        pytest.param("b", {"$binary": {"base64": "A"}}, id="broken base64"),
        pytest.param("b", {"$binary": {"base64": "AA=="} | {"x": 1}}, id="unknown key in $binary"),
        pytest.param("b", {"$binary": {"base64": "AA==", "subType": "04"}}, id="subtype of another engine"),
        pytest.param("b", {"$binary": {"base64": "AA==\n"}}, id="newline in base64"),
        pytest.param("b", {"$binary": {"base64": 5}}, id="number as base64"),
        pytest.param("b", {"$binary": "AA=="}, id="text as $binary"),
        pytest.param("t", {"$rawText": {"base64": "AA==", "subType": "00"}}, id="subtype of a raw text"),
        pytest.param("j", "{broken", id="no JSON"),
        pytest.param("j", "[NaN]", id="NaN in JSON"),
        pytest.param("j", [float("nan")], id="NaN in a list"),
        pytest.param("j", ["\ud800"], id="half a surrogate pair in a list"),
        pytest.param("j", True, id="true in a JSON column"),
        pytest.param("a", {"a": 1}, id="object in a column of any kind"),
        pytest.param("a", [1], id="list in a column of any kind"),
        pytest.param("a", {"$oid": "x"}, id="an object of another engine"),
        pytest.param("a", 2**63, id="large integer in a column of any kind"),
        pytest.param("d", "20240131", id="text that would become a number"),
        pytest.param("d", " 1e5 ", id="text that would become a number, with blanks"),
    ],
)
def test_a_value_that_would_not_come_back_is_refused(tmp_path: Path, column: str, value: Any) -> None:
    """Nothing is bent to fit, and nothing is stored."""
    shop = Shop(tmp_path, SCRIPT, allowed_tables=["t"])

    assert shop.reason("insert", table="t", rows=[{"i": 1}, {column: value}]) == "bad_value"
    assert shop.reason("update", table="t", where={"id": 1}, values={column: value}) == "bad_value"
    assert shop.rows("SELECT * FROM t") == []


def test_a_refused_value_is_not_repeated(tmp_path: Path) -> None:
    """An error says of what kind the value was, never what it was."""
    shop = Shop(tmp_path, SCRIPT, allowed_tables=["t"])

    document = shop.refusal("insert", table="t", rows=[{"i": 1}, {"i": "hunter2"}])

    assert document["error"] == (
        "rows[1]: column 'i' takes a whole number of at most 64 bits, also as a string of digits, not this string"
    )
    assert document["details"]["row"] == 1


def test_large_integers_leave_as_strings_and_come_back(tmp_path: Path) -> None:
    """The answer writes what a double cannot hold as a string, and an integer column takes that."""
    shop = Shop(tmp_path, SCRIPT, allowed_tables=["t"])
    shop.write("INSERT INTO t (i) VALUES (?)", [(2**53 + 1,)])

    answer = json.loads(encode(shop.call("query", table="t", columns=["i"])))
    shop.call("insert", table="t", rows=answer["rows"])

    assert answer["rows"] == [{"i": "9007199254740993"}]
    assert shop.rows("SELECT DISTINCT i FROM t") == [(2**53 + 1,)]


def test_text_that_is_not_utf8_breaks_no_query(tmp_path: Path) -> None:
    shop = Shop(tmp_path, SCRIPT, allowed_tables=["t"])
    shop.run("INSERT INTO t (t) VALUES ('ok'), (CAST(x'61ff62' AS TEXT)), ('ok too')")

    rows = shop.call("query", table="t", columns=["t"])["rows"]

    assert rows == [{"t": "ok"}, {"t": raw_text(b"a\xffb")}, {"t": "ok too"}]
    assert shop.call("query", table="t", columns=["id"], where={"t": raw_text(b"a\xffb")})["rows"] == [{"id": 2}]
    assert shop.call("sql", sql="SELECT t FROM t WHERE t = CAST(? AS TEXT)", params=[binary(b"a\xffb")])["rows"] == [
        rows[1]
    ]
    assert shop.reason("sql", sql="SELECT ?", params=[raw_text(b"a\xffb")]) == "bad_value"


def test_a_database_of_utf16_text_takes_no_bytes_for_text(tmp_path: Path) -> None:
    """There they would be read as UTF-16; everything else works as ever."""
    shop = Shop(tmp_path, f"PRAGMA encoding='UTF-16'; {SCRIPT}", allowed_tables=["t"])

    shop.call("insert", table="t", rows=[{"t": "zo\u00eb \U0001f600"}])

    assert shop.call("query", table="t", columns=["t"], where={"t": {"$like": "zo_ _"}})["rows"] == [
        {"t": "zo\u00eb \U0001f600"}
    ]
    assert shop.reason("insert", table="t", rows=[{"t": raw_text(b"\xff")}]) == "bad_value"
    assert shop.reason("query", table="t", where={"t": raw_text(b"\xff")}) == "bad_value"
