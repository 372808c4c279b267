"""What goes wrong with MySQL, in our own words: a reason, one line, the server's numbers, and never a value."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database import family
from clitool_tools.database.mysql.driver import DriverError
from clitool_tools.database.mysql.fault_table import FAULTS
from clitool_tools.database.mysql.faults import is_transient, translated, unreachable
from clitool_tools.database.mysql.session import Session
from hypothesis import given, settings
from hypothesis import strategies as st
from mariadb_world import PASSWORD, Maria, hidden

from clitool.errors import ClitoolError, code_of, report
from clitool.family import Origin
from clitool.tool import Deadline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mariadb import MariaDB

VALUE = "VERY-PRIVATE"
THINGS = """
CREATE TABLE things (
    id INT PRIMARY KEY AUTO_INCREMENT, tiny TINYINT, short VARCHAR(5), day DATE, money DECIMAL(5, 2),
    choice ENUM('x', 'y'), some SET('a', 'b'), doc JSON, needed INT NOT NULL, single VARCHAR(50) UNIQUE,
    narrow VARCHAR(9) CHARACTER SET latin1, place POINT, address INET6, bits BIT(3), moment TIME,
    computed INT AS (tiny + 1),
    CHECK (tiny < 100), CONSTRAINT positive CHECK (money >= 0)
) ENGINE=InnoDB;
CREATE TABLE parts (id INT PRIMARY KEY, thing INT, FOREIGN KEY (thing) REFERENCES things (id)) ENGINE=InnoDB;
CREATE TRIGGER guard BEFORE INSERT ON parts FOR EACH ROW
    IF NEW.id = 7 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'VERY-PRIVATE'; END IF;
CREATE VIEW broken AS SELECT id FROM customers;
INSERT INTO things (id, needed, single) VALUES (1, 1, 'VERY-PRIVATE');
INSERT INTO parts VALUES (1, 1);
"""


@pytest.fixture
def session(maria: Maria) -> Iterator[Session]:
    with maria.server.owner(maria.name) as owner:
        for statement in filter(str.strip, THINGS.split(";\n")):  # the trigger holds semicolons of its own
            owner.cmd_query(statement)
    found = opened(maria)
    yield found
    found.close()


def opened(world: Maria, **more: Any) -> Session:
    assert family.parse is not None
    values = {key: value for key, value in {**world.settings, **more}.items() if value is not None}
    return Session(family.parse(hidden(values), Origin("/"))[""], Deadline(30))


@contextmanager
def refused(reason: str, code: int) -> Iterator[dict[str, Any]]:
    found: dict[str, Any] = {}
    with pytest.raises(ClitoolError) as caught:
        yield found
    found.update(report(caught.value))
    assert VALUE not in repr(found)
    assert PASSWORD not in repr(found)
    assert "127.0.0.1" not in repr(found)
    assert "\n" not in found["error"]
    assert (found["details"]["reason"], found["details"].get("vendor_code")) == (reason, code)
    assert len(found["details"]["sqlstate"]) == 5


@pytest.mark.parametrize(
    ("sql", "reason", "code", "part"),
    [
        ("INSERT INTO things (id, needed) VALUES (1, 1)", "duplicate_key", 1062, "'PRIMARY'"),
        (f"INSERT INTO things (needed, single) VALUES (1, '{VALUE}')", "duplicate_key", 1062, "'single'"),
        ("INSERT INTO things (needed) VALUES (NULL)", "constraint", 1048, "'needed'"),
        ("INSERT INTO things (tiny) VALUES (1)", "constraint", 1364, "'needed'"),
        ("INSERT INTO things (needed, tiny) VALUES (1, 101)", "constraint", 4025, "constraint"),
        ("INSERT INTO things (needed, money) VALUES (1, -1)", "constraint", 4025, "'positive'"),
        (f"INSERT INTO things (needed, doc) VALUES (1, '{VALUE}')", "constraint", 4025, "doc"),
        ("INSERT INTO parts VALUES (2, 99)", "constraint", 1452, "foreign key"),
        ("DELETE FROM things", "constraint", 1451, "foreign key"),
        ("INSERT INTO parts VALUES (7, NULL)", "constraint", 1644, "trigger"),
        ("INSERT INTO things (needed, tiny) VALUES (1, 300)", "bad_value", 1264, "'tiny'"),
        (f"INSERT INTO things (needed, tiny) VALUES (1, '{VALUE}')", "bad_value", 1366, "'tiny'"),
        (f"INSERT INTO things (needed, short) VALUES (1, '{VALUE}')", "bad_value", 1406, "'short'"),
        (f"INSERT INTO things (needed, day) VALUES (1, '{VALUE}')", "bad_value", 1292, "'day'"),
        ("INSERT INTO things (needed, day) VALUES (1, '2024-02-31')", "bad_value", 1292, "'day'"),
        ("INSERT INTO things (needed, moment) VALUES (1, '900:00:00')", "bad_value", 1292, "'moment'"),
        (f"INSERT INTO things (needed, money) VALUES (1, '{VALUE}')", "bad_value", 1366, "'money'"),
        ("INSERT INTO things (needed, money) VALUES (1, 123456)", "bad_value", 1264, "'money'"),
        (f"INSERT INTO things (needed, choice) VALUES (1, '{VALUE}')", "bad_value", 1265, "'choice'"),
        (f"INSERT INTO things (needed, some) VALUES (1, '{VALUE}')", "bad_value", 1265, "'some'"),
        (f"INSERT INTO things (needed, address) VALUES (1, '{VALUE}')", "bad_value", 1292, "'address'"),
        ("INSERT INTO things (needed, narrow) VALUES (1, '😀')", "bad_value", 1366, "'narrow'"),
        ("INSERT INTO things (needed, bits) VALUES (1, 9)", "bad_value", 1406, "'bits'"),
        (f"INSERT INTO things (needed, place) VALUES (1, '{VALUE}')", "bad_value", 1416, "column"),
        ("INSERT INTO things (needed, computed) VALUES (1, 1)", "bad_value", 1906, "generated"),
        ("UPDATE things SET needed = 1 / 0", "bad_value", 1365, "zero"),
        (f"UPDATE things SET tiny = 1 WHERE short = 1 OR single = 5 OR day = '{VALUE}'", "bad_value", 1292, "type"),
        ("SELECT 18446744073709551615 + 1", "bad_value", 1690, "large"),
        ("SELECT nothing FROM things", "column_unknown", 1054, "'nothing'"),
        (f"SELECT id FROM things WHERE `{'x' * 64}` = '{VALUE}'", "column_unknown", 1054, "xxx"),
        ("SELECT id FROM nowhere", "not_found", 1146, "table"),
        ("SELECT id FROM customers a, orders b", "bad_statement", 1052, "'id'"),
        (f"SELEKT '{VALUE}'", "bad_statement", 1064, "written"),
        ("SELECT nofunction(1)", "function_not_allowed", 1370, "function"),
        ("SELECT 1 UNION SELECT 1, 2", "bad_statement", 1222, "union"),
        ("SELECT (SELECT id, name FROM customers)", "bad_statement", 1241, "subquery"),
        ("SELECT (SELECT id FROM customers)", "bad_statement", 1242, "subquery"),
        ("SELECT a.id FROM orders a JOIN orders a", "bad_statement", 1066, "same name"),
        ("SELECT MAX(MAX(id)) FROM orders", "bad_statement", 1111, "group"),
        ("SELECT customers.* FROM orders", "bad_statement", 1051, "before a dot"),
        ("WITH x (a, b) AS (SELECT 1) SELECT * FROM x", "bad_statement", 4002, "common table expression"),
        ("SELECT SUM(id) OVER w FROM orders", "bad_statement", 4009, "window"),
        ("SELECT id FROM orders USE INDEX (nothing)", "bad_statement", 1176, "index"),
        ("SELECT *", "bad_statement", 1096, "no table"),
        ("SELECT 'x' COLLATE nothing", "bad_statement", 1273, "collation"),
        ("SELECT _latin1'x' COLLATE utf8mb4_bin", "bad_statement", 1253, "collation"),
        (f"SELECT POINT(1, 1) + '{VALUE}'", "bad_statement", 4078, "types"),
        ("SELECT CONCAT_WS()", "bad_statement", 1582, "arguments"),
        ("SELECT 'x' REGEXP '('", "bad_statement", 1139, "regular expression"),
        (f"SELECT UPDATEXML(1, CONCAT(0x7e, '{VALUE}'), 1)", "database", 1105, "1105"),
        ("SELECT EXTRACTVALUE(1, CONCAT(0x7e, (SELECT single FROM things)))", "database", 1105, "1105"),
        ("SELECT * FROM mysql.global_priv", "permission", 1142, "right"),
        ("SELECT 1 INTO OUTFILE '/tmp/x'", "permission", 1227, "right"),
        ("CREATE TABLE other (id INT)", "permission", 1142, "right"),
        ("SET GLOBAL max_connections = 1", "permission", 1227, "right"),
    ],
)  # fmt: skip
def test_what_the_server_refuses_is_told_in_our_words(
    session: Session, sql: str, reason: str, code: int, part: str
) -> None:
    """The server's own texts repeat values, other rows' among them, statements, accounts and names of hidden tables."""
    with refused(reason, code) as found, session.change():
        session.run(sql).all()

    assert part in found["error"]


def test_the_row_at_fault_is_named(session: Session) -> None:
    for sql, reason, code in (
        ("INSERT INTO things (id, needed) VALUES (1, 1)", "duplicate_key", 1062),
        ("INSERT INTO things (needed, tiny) VALUES (1, 300)", "bad_value", 1264),
    ):
        with refused(reason, code) as found, session.change():
            session.run(sql, row=4)

        assert found["error"].startswith("rows[4]: ")
        assert found["details"]["row"] == 4


def test_a_view_whose_table_is_gone_is_told_without_the_table(session: Session, maria: Maria) -> None:
    maria.run("CREATE TABLE hidden_one (id INT); CREATE VIEW v AS SELECT * FROM hidden_one; DROP TABLE hidden_one")
    with refused("database", 1356) as found:
        session.run("SELECT * FROM v").all()

    assert "hidden_one" not in repr(found)


def test_a_statement_larger_than_the_server_takes_is_refused_before_it_is_sent(session: Session) -> None:
    """The server would hang up."""
    most = session.server.max_packet
    with pytest.raises(ClitoolError) as caught:
        session.run(f"SELECT '{'x' * most}'")

    assert caught.value.reason == "too_large"
    assert session.run(f"SELECT '{'x' * (most - 20)}', 7").all()[0][1] == b"7"


def test_deadlocks_are_told_as_worth_another_try(maria: Maria) -> None:
    sessions = [opened(maria), opened(maria)]
    barrier = Barrier(2)

    def change(session: Session, first: int, second: int) -> ClitoolError | None:
        try:
            with session.change():
                session.run(f"UPDATE orders SET total = 1 WHERE id = {first}")
                barrier.wait(20)
                session.run(f"UPDATE orders SET total = 1 WHERE id = {second}")
        except ClitoolError as error:
            return error
        finally:
            session.close()
        return None

    with ThreadPoolExecutor() as pool:
        errors = list(filter(None, pool.map(change, sessions, (1, 2), (2, 1))))

    assert [(error.reason, error.details["vendor_code"]) for error in errors] == [("locked", 1213)]
    assert is_transient(errors[0])


# How one gets in


@pytest.mark.parametrize(
    ("change", "keys", "reason", "code"),
    [
        pytest.param("", {"password": VALUE}, "login_failed", 1045, id="wrong password"),
        pytest.param("", {"password": ""}, "login_failed", 1045, id="empty password"),
        pytest.param("", {"password": None}, "login_failed", 1045, id="no password"),
        pytest.param("", {"user": "nobody"}, "login_failed", 1045, id="no such account"),
        pytest.param("", {"database": "nowhere"}, "permission", 1044, id="a database without rights"),
        pytest.param("GRANT SELECT ON *.* TO {}", {"database": "nowhere"}, "not_found", 1049, id="no such database"),
        pytest.param("ALTER USER {} ACCOUNT LOCK", {}, "login_failed", 4151, id="locked"),
        pytest.param("ALTER USER {} PASSWORD EXPIRE", {}, "login_failed", 1820, id="expired"),
        pytest.param("ALTER USER {} IDENTIFIED VIA unix_socket", {}, "login_failed", 1698, id="of the system"),
        pytest.param("ALTER USER {} WITH MAX_CONNECTIONS_PER_HOUR 1", {}, "unreachable", 1226, id="too often"),
    ],
)
def test_a_login_that_fails_says_why(
    maria: Maria, mariadb: MariaDB, change: str, keys: dict[str, Any], reason: str, code: int
) -> None:
    if change:
        mariadb.run(change.format(f"{maria.name}@'%'"))
    with refused(reason, code) as found:
        for _ in range(2):
            session = opened(maria, **keys)
            session.read()
            session.close()

    assert "nobody" not in found["error"]
    assert maria.name not in found["error"]


def test_a_method_of_logging_in_that_we_do_not_have_is_named(maria: Maria, mariadb: MariaDB) -> None:
    mariadb.run("INSTALL SONAME 'auth_ed25519'")
    mariadb.run(f"ALTER USER {maria.name}@'%' IDENTIFIED VIA ed25519 USING PASSWORD('x')")
    try:
        with pytest.raises(ClitoolError) as caught:
            opened(maria, password="x").read()
    finally:
        mariadb.run("UNINSTALL SONAME 'auth_ed25519'")

    assert caught.value.reason == "login_failed"
    assert "client_ed25519" in str(caught.value)
    assert "caching_sha2_password" in str(caught.value)


@pytest.mark.parametrize("password", ["", "x", "p@ss:w/o#r?d%&=+ '\"\\`", "äöü 表 😀", " x ", "x" * 200])
def test_any_password_logs_in(maria: Maria, mariadb: MariaDB, password: str) -> None:
    from clitool_tools.database.mysql.connection_string import parts

    quoted = password.replace("\\", "\\\\").replace("'", "''")
    mariadb.run(f"ALTER USER {maria.name}@'%' IDENTIFIED BY '{quoted}'")
    session = opened(maria, password=password)
    session.read()
    session.close()
    raw = password.replace("%", "%25")

    assert parts(f"mysql://u:{raw}@h/d", "").get("password", "") == password


# Everything else that a server may say


@pytest.mark.parametrize("code", sorted(FAULTS.keys() - {1045}))
def test_every_number_has_a_reason_and_a_sentence_that_is_useful_alone(code: int) -> None:
    sentence, reason = FAULTS[code]
    error = translated(DriverError("server", code, "HY000", f"{VALUE} '{VALUE}' `{VALUE}`"), 5, row=2)

    assert error.code == code_of(reason)
    assert VALUE not in f"{error} {error.details}"
    assert str(error).startswith(f"rows[2]: {sentence}")
    assert error.details == {"vendor_code": code, "sqlstate": "HY000", "row": 2}


def test_a_denied_access_during_a_statement_is_no_login() -> None:
    """MySQL says the same for a statement that reads or writes files."""
    assert translated(DriverError("server", 1045, "28000"), 5).reason == "permission"
    assert unreachable(DriverError("server", 1045, "28000")).reason == "login_failed"


def test_no_number_stands_in_two_groups() -> None:
    from clitool_tools.database.mysql.fault_table import _GROUPS

    codes = [code for _, _, group in _GROUPS for code in group]

    assert len(codes) == len(set(codes))


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("08S01", "connection_lost"),
        ("21S01", "bad_statement"),
        ("22018", "bad_value"),
        ("23000", "constraint"),
        ("40001", "locked"),
        ("42000", "bad_statement"),
        ("45000", "constraint"),
        ("HY000", "database"),
        ("", "database"),
    ],
)
def test_an_unknown_number_is_told_by_its_class(state: str, reason: str) -> None:
    error = translated(DriverError("server", 9999, state, VALUE), 5)

    assert error.reason == reason
    assert VALUE not in f"{error} {error.details}"


HOSTILE = st.text(max_size=20) | st.just("a' for key 'b") | st.just("x for column 'LEAK' at row 1") | st.just("' in 'y")


@settings(deadline=None, derandomize=True, max_examples=200)
@given(code=st.sampled_from([1062, 1264, 1265, 1292, 1366, 1406]), before=HOSTILE, after=HOSTILE)
def test_no_part_of_a_value_is_taken_for_a_name(code: int, before: str, after: str) -> None:
    """A value may look like the words that stand around a name."""
    value = f"{before}LEAK{after}"
    text = {
        1062: f"Duplicate entry '{value}' for key 'real'",
        1264: f"Out of range value for column 'real' at row 1: '{value}'",
        1265: f"Data truncated for column 'real' at row 1{value!r}",
        1292: f"Truncated incorrect DOUBLE value: '{value}'",
        1366: f"Incorrect integer value: '{value}' for column `d`.`t`.`real` at row 12",
        1406: f"Data too long '{value}' for column 'real' at row 1",
    }[code]
    error = translated(DriverError("server", code, "22007", text), 5)

    assert "LEAK" not in str(error)


@pytest.mark.parametrize("kind", ["name", "connect", "slow", "lost", "protocol", "tls", "login"])
def test_every_kind_of_trouble_while_connecting_has_a_sentence(kind: str) -> None:
    error = unreachable(DriverError(kind, text=f"{VALUE}-$"))

    assert error.reason in ("unreachable", "tls", "login_failed")
    assert VALUE not in f"{error} {error.details}"
