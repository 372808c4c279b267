"""Values and names in SQL text: exact, and never more than one value or one name, in whatever mode the server is."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.mysql.literal import literal, quoted
from clitool_tools.database.mysql.session import Session
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.errors import InvalidParams
from clitool.tool import Deadline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mariadb_world import Maria
    from services.mariadb import MariaDB

Cell = bytes | None
MODES = ["", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE"]


@pytest.fixture
def session(maria: Maria) -> Iterator[Session]:
    opened = Session(maria.context().settings[""], Deadline(60))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def owner(mariadb: MariaDB) -> Iterator[Any]:
    with mariadb.owner() as handle:
        yield handle


def row(session: Session, sql: str) -> tuple[Cell, ...]:
    (found,) = session.run(sql).all()
    return found


NASTY = [
    pytest.param("", id="empty"),
    pytest.param("it's", id="quote"),
    pytest.param("''", id="two quotes"),
    pytest.param("\\", id="backslash"),
    pytest.param("\\' OR 1=1 -- ", id="escaped quote"),
    pytest.param("' UNION SELECT k FROM secret -- ", id="union"),
    pytest.param("\\' UNION SELECT k FROM secret -- '", id="the mode that makes backslashes plain"),
    pytest.param('"; DROP TABLE secret; --', id="double quotes"),
    pytest.param("`; DROP TABLE secret; --", id="backticks"),
    pytest.param("/*!50000 x */ /*M! y */ -- z\n# w", id="comments"),
    pytest.param("%s %(x)s %% ? :name", id="what other drivers put values into"),
    pytest.param("a\0b", id="NUL"),
    pytest.param("\x1a\r\n\t\b", id="control characters"),
    pytest.param("\xbf' OR 1=1", id="half of a character in gbk"),
    pytest.param("\u2019\uff07\u02bc", id="quotes of other scripts"),
    pytest.param("Zoë 😀 \U0010ffff", id="beyond the basic plane"),
    pytest.param("e\u0301 \u202e \ufeff \ufffe", id="combining, turning and non-characters"),
    pytest.param("x" * 70_000, id="long"),
    pytest.param("x'" * 70_000, id="long with quotes"),
]


@pytest.mark.parametrize("text", NASTY)
def test_a_text_is_itself_in_every_mode_of_the_server(session: Session, text: str) -> None:
    """No literal depends on the session's SQL mode, though that is pinned, too."""
    for mode in MODES:
        session.run(f"SET SESSION sql_mode = '{mode}'")

        assert row(session, f"SELECT {literal(text)}, 7, CHARSET({literal(text)})") == (text.encode(), b"7", b"utf8mb4")


@pytest.mark.parametrize(
    "value", [b"", b"a", b"\0\xff'\\\"", bytes(range(256)), b"12", b"0x41", pytest.param(b"\xff" * 70_000, id="long")]
)
def test_bytes_are_themselves_and_no_number(session: Session, value: bytes) -> None:
    sql = f"SELECT {literal(value)}, CHARSET({literal(value)}), CONCAT({literal(value)}, {literal(b'')})"

    assert row(session, sql) == (value, b"binary", value)


@pytest.mark.parametrize("value", [b"12", b"1"])
def test_bytes_compare_as_bytes_with_bytes(session: Session, value: bytes) -> None:
    assert row(session, f"SELECT {literal(value)} = CAST('{value.decode()}' AS BINARY)") == (b"1",)


@pytest.mark.parametrize(
    "value",
    [
        0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, -(2**64), 10**64, -(10**65) + 1,
        True, False,
    ],
)  # fmt: skip
def test_whole_numbers_keep_every_digit(session: Session, value: int) -> None:
    assert row(session, f"SELECT {literal(value)}, 1e0*{literal(value)}")[0] == str(int(value)).encode()


@pytest.mark.parametrize(
    "value",
    [
        0.0, 0.1, 1.0, -1.5, 1e22, 1e23, 123456789.12345679, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
        1 / 3, 2**53 + 2.0, 1e-7,
    ],
)  # fmt: skip
def test_doubles_are_doubles_to_the_last_bit(session: Session, value: float) -> None:
    """Without an exponent the server would take 0.1 for a decimal number."""
    for sign in (1, -1):
        (text,) = row(session, f"SELECT {literal(sign * value)}")

        assert text is not None
        assert float(text) == sign * value
    field = session.run(f"SELECT {literal(value)}")
    assert (field.all(), field.fields[0].type)[1] == 5  # DOUBLE


@pytest.mark.parametrize(
    "value", ["0", "-0.00", "10.10", "1E+5", "1E-30", "9" * 65, "-" + "9" * 35 + "." + "9" * 30, "0.000"]
)
def test_decimal_numbers_keep_their_digits_and_their_scale(session: Session, value: str) -> None:
    (text,) = row(session, f"SELECT {literal(Decimal(value))}")

    assert text is not None
    assert Decimal(text.decode()).as_tuple()[1:] == Decimal(format(Decimal(value), "f")).as_tuple()[1:]
    assert Decimal(text.decode()) == Decimal(value)


def test_none_is_null(session: Session) -> None:
    assert row(session, f"SELECT {literal(None)}, {literal(None)} IS NULL") == (None, b"1")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(math.inf, id="infinity"),
        pytest.param(-math.inf, id="minus infinity"),
        pytest.param(math.nan, id="not a number"),
        pytest.param(Decimal("Infinity"), id="infinite decimal"),
        pytest.param(Decimal("NaN"), id="decimal that is not a number"),
        pytest.param(Decimal("sNaN"), id="signalling"),
        pytest.param(10**65, id="66 digits"),
        pytest.param(-(10**65), id="minus 66 digits"),
        pytest.param(10**5000, id="more digits than Python would print"),
        pytest.param(Decimal("1E+65"), id="66 digits by exponent"),
        pytest.param(Decimal("1E+999999999"), id="a decimal that would fill the memory"),
        pytest.param(Decimal("1E-31"), id="31 digits after the point"),
        pytest.param(Decimal("1E-999999999"), id="too small"),
        pytest.param("\ud800", id="half a surrogate pair"),
        pytest.param("a\udcff'", id="a byte that was not UTF-8"),
    ],
)
def test_what_the_server_cannot_hold_is_refused_not_changed(value: object) -> None:
    with pytest.raises(InvalidParams) as caught:
        literal(value)

    assert caught.value.reason == "bad_value"


@pytest.mark.parametrize("value", [[], {}, object(), ("a",), 1j])
def test_what_nobody_said_how_to_write_is_a_mistake_of_ours(value: object) -> None:
    with pytest.raises(TypeError):
        literal(value)


VALUES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(alphabet="'\"\\`\0\n%_-#/*!;\x1a\xbf\u00a5\u20a9 aé😀"),
)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(text=VALUES, data=st.binary(), mode=st.sampled_from(MODES))
def test_every_text_and_every_bytes_make_the_round_trip(owner: Any, text: str, data: bytes, mode: str) -> None:
    """Read by the connector's own cursor, so that nothing of ours is on the way back."""
    owner.cmd_query(f"SET SESSION sql_mode = '{mode}'")
    owner.cmd_query(f"SELECT {literal(text)}, {literal(data)}, 1")
    (found,), _ = owner.get_rows(raw=True)

    assert tuple(found) == (text.encode(), data, b"1")


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    whole=st.integers(-(10**65) + 1, 10**65 - 1),
    double=st.floats(allow_nan=False, allow_infinity=False),
    decimal=st.decimals(allow_nan=False, allow_infinity=False, places=10, min_value=-(10**50), max_value=10**50),
)
def test_every_number_makes_the_round_trip(owner: Any, whole: int, double: float, decimal: Decimal) -> None:
    owner.cmd_query(f"SELECT {literal(whole)}, {literal(double)}, {literal(decimal)}, 1")
    (found,), _ = owner.get_rows(raw=True)

    assert (int(found[0]), float(found[1]), Decimal(found[2].decode())) == (whole, double, decimal)


@pytest.mark.parametrize(
    "name",
    [
        "a", "A b", "`", "``", "a`b", "a.b", "a'b", 'a"b', "a\\", "a--b", "a/*b", "a;b", "select", "äöü", "表", "1",
        "a%s", "\x01", "\uffff", "x" * 64,
    ],
)  # fmt: skip
def test_a_name_is_itself_in_every_mode(owner: Any, maria: Maria, name: str) -> None:
    for mode in MODES:
        owner.cmd_query(f"SET SESSION sql_mode = '{mode}'")
        owner.cmd_query(f"CREATE TABLE {maria.name}.{quoted(name)} ({quoted(name)} INT)")
        found = maria.rows(
            f"SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{maria.name}'"
            f" AND TABLE_NAME = {literal(name)}"
        )
        owner.cmd_query(f"DROP TABLE {maria.name}.{quoted(name)}")

        assert found == [(name,)]


@pytest.mark.parametrize("name", ["", "a\0b", "\0", "x" * 65, "a ", "😀", "\ud800", "a\udc80"])
def test_a_name_that_nothing_can_have_is_refused(name: str) -> None:
    """A server would end it, cut it, or put question marks into it, and find another table."""
    with pytest.raises(InvalidParams) as caught:
        quoted(name)

    assert caught.value.reason == "bad_value"
