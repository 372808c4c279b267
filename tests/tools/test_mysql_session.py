"""The session with a MySQL server: pinned down, read-only unless it is a change, exact in what comes back."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from clitool_tools.database.mysql.server import kind, look, pin, version
from mariadb_world import Maria
from mysql_sessions import PINNED, count, is_gone, opened, refused, towards
from mysql_wires import WITH_EXTENSION
from services.fake_mysql import OK
from services.mariadb import MariaDB

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.database.mysql.session import Session
    from mysql_sessions import StartFake
    from services.fake_mysql import Conversation


@pytest.fixture
def session(maria: Maria) -> Iterator[Session]:
    found = opened(maria)
    yield found
    found.close()


# What the session is


def test_the_server_says_what_it_is(session: Session, mariadb: MariaDB) -> None:
    server = session.server

    assert (server.kind, server.lower_case_table_names) == ("mariadb", 0)
    assert server.tls == ("" if WITH_EXTENSION else "TLSv1.3")  # which a socket has not
    assert server.text == mariadb.rows("SELECT @@version")[0][0]
    assert server.text.startswith(".".join(map(str, server.version)))
    assert mariadb.rows(f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {server.id}") == [(1,)]


def test_nothing_is_opened_before_it_is_needed() -> None:
    found = towards(1)
    found.close()


ODD = (
    "SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE,ONLY_FULL_GROUP_BY,"
    "PAD_CHAR_TO_FULL_LENGTH,HIGH_NOT_PRECEDENCE';"
    "SET GLOBAL autocommit = 0; SET GLOBAL completion_type = 2; SET GLOBAL time_zone = '+05:00';"
    "SET GLOBAL sql_safe_updates = 1; SET GLOBAL sql_select_limit = 1; SET GLOBAL sql_auto_is_null = 1;"
    "SET GLOBAL foreign_key_checks = 0; SET GLOBAL unique_checks = 0; SET GLOBAL tx_read_only = 1;"
    "SET GLOBAL tx_isolation = 'READ-UNCOMMITTED'; SET GLOBAL character_set_client = latin1;"
    "SET GLOBAL character_set_results = latin1; SET GLOBAL collation_connection = latin1_swedish_ci;"
)


@pytest.fixture(scope="module")
def odd_world() -> Iterator[Maria]:
    """A server without TLS whose configuration is as far from ours as it can be."""
    server = MariaDB("--lower-case-table-names=1", "--character-set-server=latin1")
    world = Maria(server, "CREATE TABLE T (id INT PRIMARY KEY, s VARCHAR(10)) CHARACTER SET utf8mb4")
    server.run(ODD)
    yield world
    server.stop()


def test_the_servers_configuration_decides_nothing(odd_world: Maria) -> None:
    """Not what a literal means, nor what is written, nor when it lasts, nor how many rows come."""
    session = opened(odd_world)
    with session.change():
        session.run("INSERT INTO t VALUES (0, 'a\\'b'), (1, 'Zoë'), (2, 'x')")
        assert session.run("UPDATE t SET s = 'y' WHERE s = 'x' OR id + 0 = 2").affected == 1
    session.read()
    rows = session.run("SELECT id, s, \"z\", 'a' || 'b', @@session.time_zone, @@tx_isolation FROM t ORDER BY id").all()
    server = session.server
    session.close()

    assert [row[:2] for row in rows] == [(b"0", b"a'b"), (b"1", "Zoë".encode()), (b"2", b"y")]
    assert rows[0][2:] == (b"z", b"0", b"+00:00", b"REPEATABLE-READ")
    assert (server.lower_case_table_names, server.tls) == (1, "")
    assert "ONLY_FULL_GROUP_BY" in server.sql_mode  # the one choice that is the owner's
    assert "NO_BACKSLASH_ESCAPES" not in server.sql_mode


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (1, 'more than ten characters', 1, 1)",
        "INSERT INTO t VALUES (300, 'x', 1, 1)",
        "INSERT INTO t VALUES (1, 'x', '2024-02-31', 1)",
        "INSERT INTO t VALUES (1, 'x', 'nonsense', 1)",
        "INSERT INTO t VALUES ('1x', 'x', NULL, 1)",
        "INSERT INTO t (a) VALUES (1)",
    ],
)
def test_nothing_is_cut_to_fit_not_even_in_a_table_without_transactions(maria: Maria, sql: str) -> None:
    maria.run("CREATE TABLE t (a TINYINT, b VARCHAR(10), c DATE, d INT NOT NULL) ENGINE=MyISAM")
    session = opened(maria)
    with pytest.raises(ClitoolError), session.change():
        session.run(sql)
    session.close()

    assert maria.rows("SELECT * FROM t") == []


def test_zero_is_a_value_and_dates_with_zeros_can_be_written_back(maria: Maria) -> None:
    maria.run("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, d DATE)")
    session = opened(maria)
    with session.change():
        session.run("INSERT INTO t VALUES (0, '0000-00-00'), (NULL, '2024-00-15')")
    found = session.run("SELECT id, d FROM t WHERE d = '0000-00-00' OR d = '2024-00-15' ORDER BY id").all()
    session.close()

    assert found == [(b"0", b"0000-00-00"), (b"1", b"2024-00-15")]


# What a read may do


CHANGES = [
    "INSERT INTO orders (id) VALUES (99)",
    "UPDATE orders SET total = 1",
    "DELETE FROM orders",
    "REPLACE INTO orders (id) VALUES (1)",
    "CREATE TABLE made (id INT)",
    "CREATE TEMPORARY TABLE made (id INT) SELECT * FROM orders FOR UPDATE",
    "DROP TABLE orders",
    "ALTER TABLE orders ADD x INT",
    "TRUNCATE orders",
    "RENAME TABLE orders TO o",
    "CREATE VIEW v AS SELECT 1",
    "CREATE USER someone@'%'",
    "GRANT ALL ON *.* TO CURRENT_USER",
    "SET PASSWORD = PASSWORD('x')",
    "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
    "OPTIMIZE TABLE orders",
]


@pytest.mark.parametrize("sql", CHANGES)
def test_the_server_refuses_every_change_in_a_read(mariadb: MariaDB, maria: Maria, sql: str) -> None:
    """Also for an account that may do everything; the flag of the transaction alone would let half of these pass."""
    mariadb.run(f"GRANT ALL ON *.* TO {maria.name}@'%' WITH GRANT OPTION")
    before = maria.rows("SELECT * FROM orders")
    session = opened(maria)
    session.read()
    try:
        with pytest.raises(ClitoolError) as caught:
            session.run(sql).all()
    finally:
        session.close()

    assert caught.value.details["vendor_code"] in (1792, 1290)
    assert maria.rows("SELECT * FROM orders") == before


def test_a_read_sees_one_state_of_the_database(session: Session, maria: Maria) -> None:
    session.read()
    maria.run("DELETE FROM visits; INSERT INTO visits VALUES ('2024-01-01', 'new', 1)")

    assert session.run("SELECT * FROM visits").all() == []


def test_a_read_leaves_no_transaction_behind(session: Session, mariadb: MariaDB) -> None:
    session.read()
    session.run("SELECT * FROM orders").all()
    session.close()

    assert mariadb.comes_to([(0,)], "SELECT COUNT(*) FROM information_schema.INNODB_TRX")


def answers(talk: Conversation, reads_only: str, modes: str, charset: str = "utf8mb4") -> None:
    """Behave like a server that says it is as the client wants it."""
    talk.let_in()
    while query := talk.hear():
        if query[1:].startswith(b"SELECT @@version"):
            talk.rows(
                ("10.11.19-MariaDB", "0", modes, reads_only, "7", "999", charset, *["utf8mb4"] * 2, "+00:00", "1", "1")
            )
        else:
            talk.say(OK)


@pytest.mark.parametrize(
    ("reads_only", "modes", "charset"),
    [
        pytest.param("0", PINNED, "utf8mb4", id="not read-only"),
        pytest.param("1", "", "utf8mb4", id="no modes"),
        pytest.param("1", f"{PINNED},NO_BACKSLASH_ESCAPES", "utf8mb4", id="a mode that changes literals"),
        pytest.param("1", f"{PINNED},ANSI_QUOTES", "utf8mb4", id="another one"),
        pytest.param("1", PINNED, "gbk", id="another charset"),
        pytest.param("1", PINNED, "utf8mb4", id="no transaction begun"),
    ],
)
def test_nothing_is_read_unless_the_server_shows_that_it_is_read_only_and_pinned(
    fake_mysql: StartFake, reads_only: str, modes: str, charset: str
) -> None:
    """A proxy may answer OK to a SET that it does not pass on."""
    server = fake_mysql(lambda talk: answers(talk, reads_only, modes, charset))
    session = towards(server.place)
    with refused("database"):
        session.read()
    session.close()

    assert b"SELECT k FROM" not in server.heard


def test_a_server_that_lacks_what_is_needed_is_told_so(fake_mysql: StartFake) -> None:
    def behave(talk: Conversation) -> None:
        talk.let_in()
        talk.hear()
        talk.say(b"\xff\xa9\x04#HY000Unknown system variable 'max_statement_time'")

    session = towards(fake_mysql(behave).place)
    with refused("database") as found:
        session.read()

    assert "MariaDB 10 or MySQL 8" in found["error"]


# What a change does


def test_a_change_lasts_as_a_whole(session: Session, maria: Maria) -> None:
    with session.change():
        assert session.run("INSERT INTO orders (customer_id) VALUES (1), (2)").affected == 2
        assert count(maria) == 3

    assert count(maria) == 5


@pytest.mark.parametrize("how", ["dry run", "error of ours", "error of the server"])
def test_a_change_that_does_not_end_well_leaves_nothing(session: Session, maria: Maria, how: str) -> None:
    with suppress(ZeroDivisionError, ClitoolError), session.change(dry_run=how == "dry run"):
        session.run("INSERT INTO orders (customer_id) VALUES (1)")
        if how == "error of ours":
            _ = 1 / 0
        if how == "error of the server":
            session.run("INSERT INTO orders (customer_id) VALUES (99)")

    assert count(maria) == 3
    assert session.run("SELECT COUNT(*) FROM orders").all() == [(b"3",)]


def test_reads_and_changes_can_take_turns(session: Session, maria: Maria) -> None:
    session.read()
    with session.change():
        session.run("DELETE FROM orders WHERE id = 3")
    session.read()
    assert session.run("SELECT COUNT(*) FROM orders").all() == [(b"2",)]
    with refused("statement_not_allowed"):
        session.run("DELETE FROM orders")
    with session.change(dry_run=True):
        session.run("DELETE FROM orders")

    assert count(maria) == 2


def test_an_update_counts_the_rows_that_match(session: Session) -> None:
    with session.change():
        assert session.run("UPDATE orders SET customer_id = 1 WHERE customer_id = 1").affected == 2


def test_a_generated_key_is_told(session: Session) -> None:
    with session.change():
        assert session.run("INSERT INTO orders (customer_id) VALUES (1), (1)").last_id == 4


def test_two_statements_at_once_are_refused(session: Session, maria: Maria) -> None:
    """The driver's default would run both."""
    for sql in ("SELECT 1; DELETE FROM orders", "DELETE FROM orders; DELETE FROM visits", "SELECT 1;; SELECT 2"):
        with refused("bad_statement"):
            session.run(sql)

    assert count(maria) == 3


def test_the_rows_of_one_statement_are_read_before_the_next(session: Session) -> None:
    result = session.run("SELECT * FROM orders")
    with pytest.raises(TypeError):
        session.run("SELECT 1")
    result.close()

    assert session.run("SELECT 1").all() == [(b"1",)]


def test_misuse_is_seen(session: Session) -> None:
    with session.change():
        with pytest.raises(TypeError):
            session.read()
        with pytest.raises(TypeError), session.change():
            pass


# What comes back


def test_values_are_the_servers_own_text(session: Session) -> None:
    result = session.run(
        "SELECT 18446744073709551615 a, CAST('-838:59:59.000001' AS TIME(6)) b, CAST(NULL AS CHAR) c, '' d, 1.10 e,"
        " _binary X'00ff' f, CAST('0000-00-00' AS DATE) g"
    )

    assert result.all() == [
        (b"18446744073709551615", b"-838:59:59.000001", None, b"", b"1.10", b"\0\xff", b"0000-00-00")
    ]
    assert [(field.name, field.type) for field in result.fields[:3]] == [("a", 8), ("b", 11), ("c", 253)]
    assert [field.decimals for field in result.fields[:5]] == [0, 6, 0, 39, 2]
    assert result.fields[5].charset == 63
    assert result.fields[0].flags & 32


@pytest.fixture
def large(mariadb: MariaDB) -> Iterator[None]:
    """Let the server send rows of up to 128 MB."""
    mariadb.run("SET GLOBAL max_allowed_packet = 134217728")
    yield
    mariadb.run("SET GLOBAL max_allowed_packet = 16777216")


@pytest.mark.parametrize("length", [250, 251, 65_535, 65_536, 2**24 - 10, 2**24 - 5, 2**24 - 4, 2**24, 2**24 + 70_000])
def test_values_of_every_length_come_whole(large: None, maria: Maria, length: int) -> None:
    """Around 16 MB, the protocol cuts a row into packets."""
    session = opened(maria)
    ((value, after),) = session.run(f"SELECT REPEAT('x', {length}), 7").all()
    session.close()

    assert value is not None
    assert (len(value), value.strip(b"x"), after) == (length, b"", b"7")


def test_a_row_that_no_answer_can_have_is_not_read_into_memory(large: None, maria: Maria) -> None:
    session = opened(maria, timeout=20)
    with refused("too_large"):
        session.run("SELECT REPEAT('x', 90000000)").all()
    session.close()


def test_outside_of_a_change_nothing_changes(session: Session, maria: Maria) -> None:
    """Not even by a statement of ours that comes too early or too late."""
    with refused("statement_not_allowed"):
        session.run("DELETE FROM orders")
    with session.change():
        session.run("DELETE FROM orders WHERE id = 3")
    session.read()
    with refused("statement_not_allowed"):
        session.run("DELETE FROM orders")

    assert count(maria) == 2


def test_a_large_result_is_streamed_and_given_up_without_being_read(session: Session, mariadb: MariaDB) -> None:
    session.read()
    result = session.run("SELECT seq, REPEAT('x', 200) FROM seq_1_to_50000000")
    rows = result.rows()
    first = [next(rows)[0] for _ in range(1000)]
    number = session.server.id
    result.close()

    assert first[-1] == b"1000"
    assert is_gone(mariadb, number)
    session.read()
    assert session.run("SELECT 1").all() == [(b"1",)]


def test_a_statement_that_has_not_begun_to_answer_is_killed_too(maria: Maria, mariadb: MariaDB) -> None:
    session = opened(maria, timeout=20)
    session.read()
    result = session.run("SELECT REPEAT('x', 100), SLEEP(IF(seq > 1000, 20, 0)) FROM seq_1_to_2000")
    next(result.rows())
    number = session.server.id
    session.close()

    assert is_gone(mariadb, number)


def test_the_end_of_a_small_result_is_read_so_that_the_connection_can_stay(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clitool_tools.database.mysql.session._GLANCE", 5.0)  # however slow the machine is
    session.read()
    number = session.server.id
    for size in (1, 199, 200, 201, 1000):
        result = session.run(f"SELECT seq FROM seq_1_to_{size}")
        next(result.rows())
        result.close()

    assert session.run("SELECT CONNECTION_ID()").all() == [(str(number).encode(),)]


@pytest.mark.parametrize("mode", ["REQUIRED", "VERIFY_IDENTITY"])
def test_a_server_without_tls_is_refused_where_tls_is_asked_for(odd_world: Maria, mode: str) -> None:
    with refused("tls"):
        opened(odd_world.over_tcp(), ssl_mode=mode).read()


# Around it


def test_without_the_driver_the_extra_to_install_is_named() -> None:
    program = """
import sys
sys.modules["mysql"] = None
from clitool.errors import DriverMissing
from clitool_tools.database.mysql.driver import _opener
try:
    _opener()
except DriverMissing as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)

    assert "clitool-convention[mysql]" in done.stdout


def test_the_driver_is_loaded_without_what_nothing_uses_and_only_for_a_connection() -> None:
    """Look-ups in DNS take longer to import than all the rest; the C extension comes and goes with its libraries."""
    program = """
import sys
from clitool_tools.database.mysql import driver, session
assert "mysql" not in sys.modules
driver._opener()
assert "mysql" in sys.modules
print(*sorted({"dns", "_mysql_connector"} & set(sys.modules)))
import dns.resolver
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)

    assert done.stdout == "\n"


VERSIONS = [
    ("10.11.19-MariaDB-0+deb12u1", "mariadb", (10, 11, 19), "tx_read_only"),
    ("5.5.5-10.6.4-MariaDB", "mariadb", (10, 6, 4), "tx_read_only"),
    ("11.4.2-MariaDB-log", "mariadb", (11, 4, 2), "transaction_read_only"),
    ("8.0.39", "mysql", (8, 0, 39), "transaction_read_only"),
    ("8.4.0-azure", "mysql", (8, 4, 0), "transaction_read_only"),
    ("9.1.0-cloud", "mysql", (9, 1, 0), "transaction_read_only"),
]


@pytest.mark.parametrize(("text", "its_kind", "numbers", "flag"), VERSIONS)
def test_the_kind_of_server_decides_what_things_are_called(
    text: str, its_kind: str, numbers: tuple[int, ...], flag: str
) -> None:
    assert (kind(text), version(text)) == (its_kind, numbers)
    assert f"@@session.{flag} = 1" in pin(text, 2.5, reads_only=True)
    assert f"@@session.{flag}," in look(text)
    limit = "max_statement_time = 2.500" if its_kind == "mariadb" else "max_execution_time = 2500"
    assert f"@@session.{limit}" in pin(text, 2.5, reads_only=True)


def test_nothing_is_written_to_stderr(maria: Maria, capfd: pytest.CaptureFixture[str]) -> None:
    session = opened(maria)
    session.read()
    session.run("SELECT CAST('abc' AS INT), 1 / 0").all()
    session.close()

    assert capfd.readouterr() == ("", "")
