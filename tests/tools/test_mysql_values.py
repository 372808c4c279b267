"""What is written to MySQL and MariaDB comes back, and is found again: every type, every value that JSON stands for."""

from __future__ import annotations

import base64
import json
import struct
from datetime import UTC, datetime
from decimal import Context, Decimal
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any

import pytest
from answers import answered
from clitool_tools.database.mysql.single import LARGEST, below, nearest, shortest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mariadb_world import Maria

from clitool.answer import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mariadb import MariaDB


def binary(data: bytes) -> dict[str, Any]:
    return {"$binary": {"base64": base64.b64encode(data).decode(), "subType": "00"}}


def raw_text(data: bytes) -> dict[str, Any]:
    return {"$rawText": {"base64": base64.b64encode(data).decode()}}


def as_single(number: float) -> float:
    """Return the number that a FLOAT would keep."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def with_digits(fraction: int, digits: int) -> str:
    """Return a part of a second."""
    return f".{fraction:06d}"[: digits + 1] if digits else ""


def dates(first: int = 0) -> st.SearchStrategy[str]:
    real = st.dates().map(str).filter(lambda text: int(text[:4]) >= first)
    with_zeros = st.tuples(st.integers(first, 9999), st.integers(0, 12), st.just(0)).map(
        lambda parts: "{:04d}-{:02d}-{:02d}".format(*parts)
    )
    return st.one_of(real, with_zeros, st.sampled_from(["0000-00-00", "2024-00-31", "2024-02-29", "9999-12-31"]))


def moments(digits: int) -> st.SearchStrategy[str]:
    clock = st.times().map(lambda time: f"{time:%H:%M:%S}" + with_digits(time.microsecond, digits))
    return st.tuples(dates(), clock).map("T".join)


def times(digits: int) -> st.SearchStrategy[str]:
    parts = st.tuples(st.integers(0, 837), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999_999))
    return st.tuples(parts, st.booleans()).map(lambda drawn: one_time(*drawn[0], digits=digits, is_negative=drawn[1]))


def one_time(hours: int, minutes: int, seconds: int, micro: int, *, digits: int, is_negative: bool) -> str:
    text = f"{hours:02d}:{minutes:02d}:{seconds:02d}" + with_digits(micro, digits)
    return f"-{text}" if is_negative and text.strip("0:.") else text


def decimals(digits: int, scale: int, low: int | None = None) -> st.SearchStrategy[str]:
    bound = 10**digits - 1
    numbers = st.integers(-bound if low is None else low, bound)
    return numbers.map(lambda number: f"{Decimal(number).scaleb(-scale, Context(prec=digits)):f}")


PLAIN = st.characters(exclude_categories=["Cs"])
TEXTS = st.text(PLAIN, max_size=8)
LATIN = st.text(st.characters(max_codepoint=255, exclude_characters="".join(map(chr, range(128, 160)))), max_size=8)
BASIC = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=8)
SURROGATES = st.sampled_from([b"\xed\xa0\x80", b"a\xed\xbf\xbfb"]).map(raw_text)  # MariaDB takes them for characters
INNER = st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.sampled_from([0.5, -1e300]), TEXTS)
DOCUMENTS = st.recursive(INNER, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=5).filter(
    lambda document: isinstance(document, (list, dict))
)
POINTS = st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.floats(-9, 9)).map(
    lambda point: binary(struct.pack("<IBIdd", 0, 1, 1, *point))
)
STAMPS = st.integers(1, 2**31 - 2).flatmap(lambda seconds: st.integers(0, 999).map(lambda milli: stamp(seconds, milli)))
MEMBERS = ["a", "B", "it's", "back\\slash", "é", "two words"]


def stamp(seconds: int, milli: int) -> str:
    """Return a time stamp by its number of seconds."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{milli:03d}Z"


# Name of a column -> its declaration, and values that it can have in the form in which they are shown.
COLUMNS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "tiny": ("TINYINT", st.integers(-128, 127)),
    "medium": ("MEDIUMINT UNSIGNED ZEROFILL", st.integers(0, 2**24 - 1)),
    "big": ("BIGINT", st.integers(-(2**63), 2**63 - 1)),
    "unsigned": ("BIGINT UNSIGNED", st.integers(0, 2**64 - 1)),
    "flag": ("BOOLEAN", st.integers(0, 1)),
    "exact": ("DECIMAL(65, 30)", decimals(65, 30)),
    "filled": ("DECIMAL(8, 3) UNSIGNED ZEROFILL", decimals(8, 3, 0)),
    "whole": ("DECIMAL(20)", decimals(20, 0)),
    "single": ("FLOAT", st.floats(width=32, allow_nan=False, allow_infinity=False)),
    "scaled": ("FLOAT(7, 3)", st.integers(-999_999, 999_999).map(lambda number: number / 1000)),
    "double": ("DOUBLE", st.floats(allow_nan=False, allow_infinity=False)),
    "bits": ("BIT(64)", st.integers(0, 2**64 - 1)),
    "bit": ("BIT", st.integers(0, 1)),
    "date": ("DATE", dates()),
    "moment": ("DATETIME", moments(0)),
    "moment6": ("DATETIME(6)", moments(6)),
    "stamp": ("TIMESTAMP(3) NULL", STAMPS | st.just("0000-00-00T00:00:00.000Z")),
    "time": ("TIME", times(0)),
    "time6": ("TIME(6)", times(6)),
    "year": ("YEAR", st.integers(1901, 2155) | st.just(0)),
    "char": ("CHAR(8)", TEXTS.map(lambda text: text.rstrip(" "))),
    "varchar": ("VARCHAR(10)", TEXTS | SURROGATES),
    "latin": ("VARCHAR(8) CHARACTER SET latin1", LATIN),
    "basic": ("VARCHAR(8) CHARACTER SET utf8mb3", BASIC),
    "tinytext": ("TINYTEXT", st.text(PLAIN, max_size=60)),
    "longtext": ("LONGTEXT", TEXTS),
    "fixed": ("BINARY(4)", st.binary(min_size=4, max_size=4).map(binary)),
    "bytes": ("VARBINARY(6)", st.binary(max_size=6).map(binary)),
    "blob": ("BLOB", st.binary().map(binary)),
    "doc": ("JSON", DOCUMENTS),
    "choice": ("ENUM('a', 'B', 'it''s', 'back\\\\slash', 'é', 'two words')", st.sampled_from(MEMBERS)),
    "choices": ("SET('x', 'y', 'z')", st.sets(st.sampled_from("xyz")).map(lambda some: ",".join(sorted(some)))),
    "place": ("GEOMETRY", POINTS),
    "uuid": ("UUID", (st.uuids(version=1) | st.uuids(version=4)).map(str)),
    "inet6": ("INET6", st.integers(0, 2**128 - 1).map(lambda number: str(IPv6Address(number)))),
    "inet4": ("INET4", st.integers(0, 2**32 - 1).map(lambda number: str(IPv4Address(number)))),
}
DECLARED = ", ".join(f"`{name}` {declaration}" for name, (declaration, _) in COLUMNS.items())
ROWS = st.fixed_dictionaries({name: st.none() | values for name, (_, values) in COLUMNS.items()})


@pytest.fixture(scope="module")
def types(mariadb: MariaDB) -> Iterator[Maria]:
    """A table with a column of every type."""
    world = Maria(mariadb, f"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, {DECLARED})", allowed_tables=["t"])
    yield world
    world.drop()


def is_same(name: str, given: Any, returned: Any) -> bool:
    """Say whether a value came back: exactly, but for the zeros that a DECIMAL has at its end."""
    if name in ("exact", "filled", "whole") and given is not None:
        return isinstance(returned, str) and Decimal(given) == Decimal(returned)
    if name == "single" and given is not None:
        return as_single(returned) == given
    if name == "inet6" and given is not None:
        return IPv6Address(returned) == IPv6Address(given)
    return bool(given == returned)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(rows=st.lists(ROWS, min_size=1, max_size=2))
def test_what_insert_wrote_query_returns(types: Maria, rows: list[dict[str, Any]]) -> None:
    """Every value of every type survives the way in and out, and what was shown survives it again."""
    types.run("DELETE FROM t")
    types.call("insert", table="t", rows=rows)
    once = types.call("query", table="t", columns=list(COLUMNS))["rows"]
    types.call("insert", table="t", rows=once)
    twice = types.call("query", table="t", columns=list(COLUMNS))["rows"]

    for row, returned in zip(rows, once, strict=True):
        for name, value in row.items():
            assert is_same(name, answered(value), returned[name]), (name, value, returned[name])
    assert twice == [*once, *once]


@settings(deadline=None, derandomize=True, max_examples=40)
@given(row=ROWS)
def test_a_row_is_found_by_each_value_that_it_shows(types: Maria, row: dict[str, Any]) -> None:
    """What a query returns can be asked for, also what a FLOAT or a date with zeros is shown as."""
    types.run("DELETE FROM t")
    types.call("insert", table="t", rows=[row])
    shown = types.call("query", table="t", columns=list(COLUMNS))["rows"][0]
    where = {name: value for name, value in shown.items() if name != "doc"}

    others = {"$or": [{name: {"$ne": value}} for name, value in where.items()]}

    assert len(types.call("query", table="t", where=where, columns=["id"])["rows"]) == 1
    assert types.call("query", table="t", where=others, columns=["id"])["rows"] == []


# Declaration, what its owner writes, and how it is shown.
SHOWN = [
    pytest.param("BIGINT", "9223372036854775807", 2**63 - 1, id="an integer that no double holds"),
    pytest.param("BIGINT UNSIGNED", "18446744073709551615", 2**64 - 1, id="the largest"),
    pytest.param("INT(5) ZEROFILL", "42", 42, id="zeros before a number"),
    pytest.param("TINYINT(1)", "2", 2, id="no truth value"),
    pytest.param("DECIMAL(10, 2)", "10.1", "10.10", id="the zeros of a decimal"),
    pytest.param("DECIMAL(8, 3) ZEROFILL", "0.5", "0.500", id="a decimal filled with zeros"),
    pytest.param("DECIMAL(65, 30)", "1e-30", "0." + "0" * 29 + "1", id="the smallest decimal"),
    pytest.param("FLOAT", "0.1", 0.1, id="a FLOAT without the rest of its bits"),
    pytest.param("FLOAT", "3.1415927", 3.1415927, id="more digits of a FLOAT than the server sends"),
    pytest.param("FLOAT", "16777216", 16777216.0, id="a large FLOAT"),
    pytest.param("FLOAT", "-3.4028234663852886e38", -3.4028234663852886e38, id="the smallest FLOAT"),
    pytest.param("DOUBLE", "0.1", 0.1, id="a DOUBLE"),
    pytest.param("DOUBLE", "1.7976931348623157e308", 1.7976931348623157e308, id="the largest DOUBLE"),
    pytest.param("BIT(64)", "b'1010'", 10, id="bits"),
    pytest.param("BIT(64)", "0xFFFFFFFFFFFFFFFF", 2**64 - 1, id="all bits"),
    pytest.param("DATE", "'0000-00-00'", "0000-00-00", id="a date of zeros"),
    pytest.param("DATE", "'2024-00-15'", "2024-00-15", id="a date without a month"),
    pytest.param("DATETIME", "'0000-00-00'", "0000-00-00T00:00:00", id="a moment of zeros"),
    pytest.param("DATETIME(6)", "'2024-01-01 10:00:00.5'", "2024-01-01T10:00:00.500000", id="a part of a second"),
    pytest.param("TIMESTAMP NULL", "'2024-01-01 10:00:00'", "2024-01-01T10:00:00Z", id="a time stamp"),
    pytest.param("TIMESTAMP NULL", "'0000-00-00'", "0000-00-00T00:00:00Z", id="a time stamp of zeros"),
    pytest.param("TIME(6)", "'-838:59:59.000001'", "-838:59:59.000001", id="a negative time"),
    pytest.param("TIME", "'838:59:59'", "838:59:59", id="a time beyond a day"),
    pytest.param("YEAR", "'0000'", 0, id="the year zero"),
    pytest.param("YEAR", "2024", 2024, id="a year"),
    pytest.param("CHAR(5)", "'a  '", "a", id="the blanks of a CHAR"),
    pytest.param("VARCHAR(5)", "'a  '", "a  ", id="the blanks of a VARCHAR"),
    pytest.param("VARCHAR(5)", "''", "", id="an empty text, which is not null"),
    pytest.param("VARCHAR(9) CHARACTER SET latin1", "'é€'", "é€", id="another character set"),
    pytest.param("VARCHAR(5)", "_utf8mb4 X'EDA080'", raw_text(b"\xed\xa0\x80"), id="half a surrogate pair"),
    pytest.param("BINARY(3)", "'a'", binary(b"a\0\0"), id="bytes that the server filled up"),
    pytest.param("BLOB", "X'FF00'", binary(b"\xff\0"), id="bytes"),
    pytest.param("ENUM('b', 'a')", "1", "b", id="a member"),
    pytest.param("SET('x', 'y', 'z')", "'z,x'", "x,z", id="members in their order"),
    pytest.param("SET('x', 'y', 'z')", "''", "", id="no members"),
    pytest.param("JSON", '\'{"a": 1.10, "big": 1}\'', {"a": 1.1, "big": 1}, id="a document"),
    pytest.param("POINT", "POINT(1, 2)", binary(struct.pack("<IBIdd", 0, 1, 1, 1, 2)), id="a place"),
    pytest.param("INET6", "'0:0::1'", "::1", id="an address"),
    pytest.param("INT", "NULL", None, id="null"),
]


@pytest.mark.parametrize(("declared", "written", "shown"), SHOWN)
def test_a_value_is_shown_without_loss(maria: Maria, declared: str, written: str, shown: Any) -> None:
    """By a query or a statement of the caller's; to that, a FLOAT has six digits, and a document is a text."""
    maria.settings["allowed_tables"] = ["t"]
    maria.run(f"CREATE TABLE t (v {declared}); SET time_zone = '+00:00'; INSERT INTO t VALUES ({written})")

    assert maria.call("query", table="t")["rows"] == [{"v": answered(shown)}]
    if declared not in ("FLOAT", "JSON"):
        assert maria.call("sql", sql="SELECT v FROM t")["rows"] == [{"v": answered(shown)}]


def test_numbers_beyond_53_bits_leave_the_program_as_strings(maria: Maria) -> None:
    """Readers of JSON that know doubles only would round them."""
    maria.settings["allowed_tables"] = ["t"]
    maria.run("CREATE TABLE t (v BIGINT UNSIGNED); INSERT INTO t VALUES (9007199254740991), (18446744073709551615)")

    answer = json.loads(encode(maria.call("query", table="t")["rows"]))

    assert answer == [{"v": 9007199254740991}, {"v": "18446744073709551615"}]


@settings(deadline=None, derandomize=True, max_examples=200)
@given(number=st.floats(width=32, allow_nan=False, allow_infinity=False), step=st.integers(-3, 3))
@example(number=LARGEST, step=0)
def test_a_float_is_shown_as_the_shortest_number_that_means_it(number: float, step: int) -> None:
    for _ in range(abs(step)):
        number = below(number) if step < 0 else -below(-number)
    if abs(number) <= LARGEST:
        assert abs(shortest(number)) <= LARGEST
        assert nearest(shortest(number)) == number
        assert below(number) < number
        assert nearest((below(number) + number) / 2) in (below(number), number)
