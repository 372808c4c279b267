"""The session with a MySQL server: pinned down, read-only where it says so, bounded in time, safe from the server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database import family
from clitool_tools.database.mysql.server import kind, look, pin, version
from clitool_tools.database.mysql.session import Session
from hypothesis import given, settings
from hypothesis import strategies as st
from mariadb_world import PASSWORD, Maria, hidden
from services.fake_mysql import NATIVE, OK, TLS, FakeMySQL
from services.mariadb import MariaDB

from clitool.errors import ClitoolError, report
from clitool.family import Origin
from clitool.tool import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from services.certificates import Authority
    from services.fake_mysql import Conversation


def opened(world: Maria, seconds: float = 30, **more: object) -> Session:
    return Session(parsed({**world.settings, **more}, world.folder), Deadline(seconds))


def parsed(values: dict[str, Any], folder: str = "/") -> Any:
    assert family.parse is not None
    return family.parse(hidden(values), Origin(folder))[""]


@contextmanager
def refused(reason: str) -> Iterator[dict[str, Any]]:
    """Expect an error with this reason; it is one line without the password."""
    found: dict[str, Any] = {}
    with pytest.raises(ClitoolError) as caught:
        yield found
    found.update(report(caught.value))
    assert PASSWORD not in repr(found)
    assert "\n" not in found["error"]
    assert found["details"]["reason"] == reason


@pytest.fixture
def session(maria: Maria) -> Iterator[Session]:
    found = opened(maria)
    yield found
    found.close()


@pytest.fixture
def fake() -> Iterator[Callable[..., FakeMySQL]]:
    """Start a server that behaves as told."""
    servers: list[FakeMySQL] = []

    def start(behave: Callable[[Conversation], None]) -> FakeMySQL:
        servers.append(FakeMySQL(behave))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def towards(port: int, seconds: float = 5, **more: object) -> Session:
    values = {
        "type": "mysql", "host": "127.0.0.1", "port": port, "user": "u", "password": PASSWORD, "database": "d",
        "allowed_tables": ["t"], "ssl_mode": "DISABLED", **more,
    }  # fmt: skip
    return Session(parsed(values), Deadline(seconds))


# What the session is


def test_the_server_says_what_it_is(session: Session, mariadb: MariaDB) -> None:
    server = session.server

    assert (server.kind, server.lower_case_table_names, server.tls) == ("mariadb", 0, "TLSv1.3")
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

    assert mariadb.rows("SELECT COUNT(*) FROM information_schema.INNODB_TRX") == [(0,)]


def answers(talk: Conversation, reads_only: str, modes: str, charset: str = "utf8mb4") -> None:
    """Behave like a server that says it is as the client wants it."""
    talk.let_in()
    while query := talk.hear():
        if query[1:].startswith(b"SELECT @@version"):
            talk.rows(
                ("10.11.19-MariaDB", "0", modes, reads_only, "7", "999", charset, "utf8mb4", "utf8mb4", "+00:00", "1")
            )
        else:
            talk.say(OK)


PINNED = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION"


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
    fake: Callable[..., FakeMySQL], reads_only: str, modes: str, charset: str
) -> None:
    """A proxy may answer OK to a SET that it does not pass on."""
    server = fake(lambda talk: answers(talk, reads_only, modes, charset))
    session = towards(server.port)
    with refused("database"):
        session.read()
    session.close()

    assert b"SELECT k FROM" not in server.heard


def test_a_server_that_lacks_what_is_needed_is_told_so(fake: Callable[..., FakeMySQL]) -> None:
    def behave(talk: Conversation) -> None:
        talk.let_in()
        talk.hear()
        talk.say(b"\xff\xa9\x04#HY000Unknown system variable 'max_statement_time'")

    session = towards(fake(behave).port)
    with refused("database") as found:
        session.read()

    assert "MariaDB 10 or MySQL 8" in found["error"]


# What a change does


def count(maria: Maria) -> int:
    found: int = maria.rows("SELECT COUNT(*) FROM orders")[0][0]
    return found


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


def test_the_end_of_a_small_result_is_read_so_that_the_connection_can_stay(session: Session) -> None:
    session.read()
    number = session.server.id
    for size in (1, 199, 200, 201, 1000):
        result = session.run(f"SELECT seq FROM seq_1_to_{size}")
        next(result.rows())
        result.close()

    assert session.run("SELECT CONNECTION_ID()").all() == [(str(number).encode(),)]


def is_gone(mariadb: MariaDB, number: int) -> bool:
    """Return whether the server ends a connection within a few seconds."""
    for _ in range(200):
        if mariadb.rows(f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {number}") == [(0,)]:
            return True
        time.sleep(0.02)
    return False


# Time


def test_the_server_stops_a_statement_at_its_time_and_the_connection_stays(maria: Maria) -> None:
    session = opened(maria, timeout=0.3)
    number = session.server.id
    with refused("timeout") as found:
        session.run("SELECT SLEEP(30)").all()

    assert found["details"]["vendor_code"] == 1969
    assert session.run("SELECT CONNECTION_ID()").all() == [(str(number).encode(),)]
    session.close()


def test_what_the_server_does_not_stop_is_killed(maria: Maria, mariadb: MariaDB) -> None:
    """Its own limit may be lifted, or count for SELECT only."""
    session = opened(maria, timeout=0.3)
    session.run("SET SESSION max_statement_time = 0")
    number = session.server.id
    with refused("timeout"):
        session.run("SELECT SLEEP(30)").all()

    assert is_gone(mariadb, number)
    session.close()


def test_a_change_whose_statement_was_killed_does_not_go_on(maria: Maria) -> None:
    """A new connection in its place would make the rest of the change last."""
    session = opened(maria, timeout=0.3)
    with refused("connection_lost"), session.change():
        session.run("SET SESSION max_statement_time = 0")
        session.run("DELETE FROM orders WHERE id = 1")
        with refused("timeout"):
            session.run("SELECT SLEEP(30)").all()
        session.run("DELETE FROM orders WHERE id = 2")
    session.close()

    assert count(maria) == 3


def test_the_deadline_of_the_call_goes_before_the_timeout_of_the_settings(maria: Maria) -> None:
    session = opened(maria, seconds=1.5, timeout=60)
    with refused("timeout"):
        session.run("SELECT SLEEP(30)").all()
    session.close()


def test_a_lock_is_told_from_a_slow_statement(maria: Maria, mariadb: MariaDB) -> None:
    with mariadb.owner(maria.name) as owner:
        owner.cmd_query("BEGIN")
        owner.cmd_query("UPDATE orders SET total = 1 WHERE id = 1")
        session = opened(maria, timeout=2.5)
        with refused("locked") as found, session.change():
            session.run("UPDATE orders SET total = 2 WHERE id = 1")
        session.close()

    assert found["details"]["vendor_code"] == 1205


def hang_up(talk: Conversation) -> None:
    talk.plain.shutdown(socket.SHUT_RDWR)


def say_nothing(talk: Conversation) -> None:
    talk.hear()


def say_little(talk: Conversation) -> None:
    for octet in b"\x50\0\0\0\x0a10.11.19-MariaDB\0" * 100:
        talk.plain.sendall(bytes([octet]))
        time.sleep(0.05)


def speak_http(talk: Conversation) -> None:
    talk.plain.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + b"x" * 100_000)


def speak_ssh(talk: Conversation) -> None:
    talk.plain.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def say_rubbish(talk: Conversation) -> None:
    talk.say(b"\x0a" + b"\xff" * 60)


def say_nothing_after_login(talk: Conversation) -> None:
    talk.greet()
    talk.hear()
    talk.hear()


def let_in_and_say_nothing(talk: Conversation) -> None:
    talk.let_in()
    talk.hear()
    talk.hear()


def is_full(talk: Conversation) -> None:
    talk.say(b"\xff\x10\x04Too many connections")


@pytest.mark.parametrize(
    ("behave", "reason"),
    [
        (hang_up, "unreachable"),
        (say_nothing, "unreachable"),
        (say_little, "unreachable"),
        (speak_http, "unreachable"),
        (speak_ssh, "unreachable"),
        (say_rubbish, "unreachable"),
        (say_nothing_after_login, "unreachable"),
        (let_in_and_say_nothing, "timeout"),
        (is_full, "unreachable"),
    ],
)
def test_a_server_that_does_not_answer_as_it_should_is_given_up_in_time(
    fake: Callable[..., FakeMySQL], behave: Callable[[Conversation], None], reason: str
) -> None:
    server = fake(behave)
    session = towards(server.port, seconds=2.5, timeout=0.5)
    with refused(reason):
        session.read()
    session.close()


def test_an_address_where_nobody_listens_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with refused("unreachable") as found:
        towards(port).read()

    assert "nothing answers" in found["error"]


def test_an_address_that_swallows_everything_is_unreachable() -> None:
    """The system itself would try for two minutes."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        waiting = []
        for _ in range(8):  # until the queue is full and the system drops what else comes
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
            waiting.append(client)
        with refused("unreachable"):
            towards(listener.getsockname()[1], timeout=0.4).read()
        for client in waiting:
            client.close()


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 64 + ".invalid"])
def test_a_host_that_does_not_exist_is_unreachable(host: str) -> None:
    with refused("unreachable") as found:
        towards(3306, host=host).read()

    assert "'host'" in found["error"]


def test_a_name_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's resolver takes no timeout."""
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(1.5))
    with refused("unreachable"):
        towards(3306, host="db.example.org", timeout=0.2).read()
    time.sleep(1.5)


def test_every_address_of_a_host_is_tried(maria: Maria, monkeypatch: pytest.MonkeyPatch) -> None:
    """localhost is often both ::1 and 127.0.0.1, and the server listens on one of them."""
    found = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", maria.settings["port"], 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", maria.settings["port"])),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    session = opened(maria, host="localhost")
    session.read()
    session.close()


@pytest.mark.parametrize("path", ["missing.sock", "x" * 200, "folder"])
def test_a_socket_that_is_none_is_unreachable_without_its_path(tmp_path: Any, path: str) -> None:
    (tmp_path / "folder").mkdir()
    values = {"type": "mysql", "socket": path, "user": "u", "database": "d", "allowed_tables": ["t"]}
    with refused("unreachable") as found:
        Session(parsed(values, str(tmp_path)), Deadline(5)).read()

    assert str(tmp_path) not in repr(found)


def test_the_servers_socket_is_as_good_as_its_port(maria: Maria) -> None:
    without = {key: value for key, value in maria.settings.items() if key not in ("host", "port")}
    session = Session(parsed({**without, "socket": maria.server.socket}), Deadline(5))

    assert session.server.tls == ""
    assert session.run("SELECT COUNT(*) FROM orders").all() == [(b"3",)]
    session.close()


# A server that dies


@pytest.fixture(scope="module")
def mortal_server(authority: Authority) -> Iterator[MariaDB]:
    server = MariaDB(authority=authority)
    yield server
    server.stop()


@pytest.fixture
def mortal(mortal_server: MariaDB) -> Iterator[Maria]:
    """A world on a server that may be killed, stopped and given other certificates."""
    world = Maria(mortal_server)
    yield world
    with suppress(ProcessLookupError):
        os.kill(mortal_server.process.pid, signal.SIGCONT)
        mortal_server.process.kill()
    mortal_server.restart()
    world.drop()


def test_a_server_that_dies_in_the_middle_of_rows_is_told(mortal: Maria) -> None:
    session = opened(mortal)
    session.read()
    rows = session.run("SELECT seq, REPEAT('x', 500) FROM seq_1_to_10000000").rows()
    next(rows)
    mortal.server.process.kill()
    with refused("connection_lost"):
        for _ in rows:
            pass
    session.close()


def test_a_change_on_a_server_that_dies_leaves_nothing(mortal: Maria) -> None:
    session = opened(mortal)
    with refused("connection_lost"), session.change():
        session.run("INSERT INTO orders (customer_id) VALUES (1), (2)")
        mortal.server.process.kill()
        session.run("INSERT INTO orders (customer_id) VALUES (1), (2)")
    session.close()
    mortal.server.restart()

    assert count(mortal) == 3


def test_a_commit_that_gets_no_answer_is_not_called_a_failure(mortal: Maria) -> None:
    """Nobody knows whether it was done."""
    session = opened(mortal, timeout=0.3)
    with refused("connection_lost") as found, session.change():
        session.run("INSERT INTO orders (customer_id) VALUES (1)")
        os.kill(mortal.server.process.pid, signal.SIGSTOP)
    session.close()

    assert "look whether it did" in found["error"]


@pytest.mark.parametrize("mode", ["read", "change"])
def test_closing_does_not_wait_for_a_server_that_stands_still(mortal: Maria, mode: str) -> None:
    session = opened(mortal, seconds=3)
    if mode == "read":
        session.read()
    else:
        with refused("timeout"), session.change():
            os.kill(mortal.server.process.pid, signal.SIGSTOP)
            session.run("DELETE FROM orders")
    os.kill(mortal.server.process.pid, signal.SIGSTOP)
    session.close()


# A server that wants more than it should get


def ask_for_the_password(talk: Conversation, plugin: str, data: bytes) -> None:
    talk.greet()
    talk.hear()
    talk.say(b"\xfe" + plugin.encode() + b"\0" + data)


SWITCHES = [
    pytest.param("mysql_clear_password", b"", "login_failed", id="in plain"),
    pytest.param("caching_sha2_password", b"\x04", "tls", id="in plain, by the method of MySQL 8"),
    pytest.param("sha256_password", b"12345678901234567890\0", "login_failed", id="in plain, by the one of 5.6"),
    pytest.param("dialog", b"\x02Password: ", "login_failed", id="by a dialogue"),
    pytest.param("authentication_oci_client", b"x" * 20, "login_failed", id="by a file of ours"),
    pytest.param("authentication_webauthn_client", b"x" * 20, "login_failed", id="by a key of ours"),
    pytest.param("client_ed25519", b"x" * 32, "login_failed", id="by MariaDB's own"),
    pytest.param("mysql_old_password", b"12345678\0", "login_failed", id="by the broken one"),
    pytest.param("..conversion", b"x", "login_failed", id="by another module"),
    pytest.param("'; \n\x1b[31m", b"x", "login_failed", id="by something with control characters"),
]


@pytest.mark.parametrize(("plugin", "data", "reason"), SWITCHES)
def test_the_password_is_never_sent_in_plain_whatever_the_server_asks_for(
    fake: Callable[..., FakeMySQL], plugin: str, data: bytes, reason: str
) -> None:
    """The connector sends it, unencrypted too, to a server that asks for the full login of MySQL 8."""
    server = fake(lambda talk: ask_for_the_password(talk, plugin, data))
    session = towards(server.port)
    with refused(reason) as found:
        session.read()
    session.close()

    assert PASSWORD.encode() not in server.heard
    assert "\x1b" not in found["error"]


def test_nor_is_it_when_the_server_asks_again_after_the_first_step(fake: Callable[..., FakeMySQL]) -> None:
    def behave(talk: Conversation) -> None:
        talk.greet(plugin="caching_sha2_password")
        talk.hear()
        talk.say(b"\x01\x04")

    server = fake(behave)
    with refused("tls"):
        towards(server.port).read()

    assert PASSWORD.encode() not in server.heard


@pytest.mark.parametrize("is_first", [True, False])
def test_the_login_of_mysql_8_works_where_it_is_encrypted(
    fake: Callable[..., FakeMySQL], authority: Authority, *, is_first: bool
) -> None:
    """There is no MySQL server for these tests; so its part is played."""
    plugin = "caching_sha2_password"

    def behave(talk: Conversation) -> None:
        talk.greet(version="8.0.39", plugin=plugin if is_first else NATIVE, more=TLS)
        talk.encrypt(authority.issue(f"mysql-{is_first}"))
        talk.hear()
        if not is_first:
            talk.say(b"\xfe" + plugin.encode() + b"\x0012345678901234567890\0")
            talk.hear()
        talk.say(b"\x01\x04")
        if talk.hear() == PASSWORD.encode() + b"\0":
            talk.say(OK)
            talk.hear()
            talk.say(OK)
            talk.hear()
            talk.rows(("8.0.39", "0", PINNED, "1", "7", "9", *["utf8mb4"] * 3, "+00:00", "1"))

    server = fake(behave)
    session = towards(server.port, ssl_mode="VERIFY_IDENTITY", ssl_ca=str(authority.path))
    found = session.server
    session.close()

    assert (found.kind, found.version, found.tls) == ("mysql", (8, 0, 39), "TLSv1.3")
    assert b"@@session.transaction_read_only" in server.heard
    assert b"@@session.max_execution_time = " in server.heard
    assert b"max_statement_time" not in server.heard


@pytest.mark.parametrize("mode", ["REQUIRED", "VERIFY_IDENTITY"])
def test_nothing_is_sent_to_a_server_that_takes_back_its_encryption(fake: Callable[..., FakeMySQL], mode: str) -> None:
    """Neither the account's name nor a proof of the password."""
    server = fake(lambda talk: talk.greet())
    with refused("tls"):
        towards(server.port, ssl_mode=mode).read()

    assert server.heard == b""


def test_what_was_said_before_the_encryption_is_not_taken_for_what_comes_after(fake: Callable[..., FakeMySQL]) -> None:
    def behave(talk: Conversation) -> None:
        talk.greet(more=TLS)
        talk.say(OK)

    server = fake(behave)
    with refused("tls"):
        towards(server.port, ssl_mode="REQUIRED").read()


def test_no_file_is_sent_to_a_server_that_asks_for_one(fake: Callable[..., FakeMySQL], tmp_path: Any) -> None:
    private = tmp_path / "private"
    private.write_text("TOP-SECRET")

    def behave(talk: Conversation) -> None:
        talk.let_in()
        talk.hear()
        talk.say(b"\xfb" + os.fsencode(private))
        talk.hear()

    server = fake(behave)
    with refused("connection_lost"):
        towards(server.port).read()

    assert b"TOP-SECRET" not in server.heard


FIELD = b"\x03def\0\0\0\x01a\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0"
END = b"\xfe\0\0\x02\0"
PIECES = [
    b"", b"\0", b"\0\0\0\x03\0\0\0", OK, b"\xff", b"\xff\x10\x04", b"\xff\x69\x04#HY000x\xff", b"\xfe", END, FIELD,
    b"\xfe\0\0\x0a\0", b"\xfb/etc/passwd", b"\x01", b"\x02", b"\xfc\xff\xff", b"\xfe\xff\xff\xff\x7f\0\0\0\0",
    b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff", b"\x03abc", b"\xfb", b"\x01a\x01b", b"\xfd\xff\xff\xffabc",
    b"\x02\xff\xff", b"\x01\x04", b"\x01\x03", b"x" * 300,
]  # fmt: skip
PROPER: list[Callable[[Conversation], None]] = [
    lambda talk: talk.greet(),
    lambda talk: talk.say(OK),
    lambda talk: talk.say(OK),
    lambda talk: talk.rows(("10.11.19-MariaDB", "0", PINNED, "1", "7", "99", *["utf8mb4"] * 3, "+00:00", "1")),
    lambda talk: talk.say(b"\0\0\0\x03\0\0\0"),
    lambda talk: talk.rows(("1",), ("2",)),
]


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    proper=st.integers(0, len(PROPER)),
    packets=st.lists(st.sampled_from(PIECES) | st.binary(max_size=90), max_size=8),
)
def test_whatever_a_server_says_is_an_error_of_ours_at_worst(proper: int, packets: list[bytes]) -> None:
    """Nothing unforeseen, nothing endless, and no memory for what a number promises."""

    def behave(talk: Conversation) -> None:
        for number, step in enumerate(PROPER[:proper]):
            if number:
                talk.hear()
            step(talk)
        if proper:
            talk.hear()
        for packet in packets:
            talk.say(packet)
        talk.plain.shutdown(socket.SHUT_WR)

    server = FakeMySQL(behave)
    session = towards(server.port, timeout=0.5)
    try:
        session.read()
        session.run("SELECT 1").all()
        reached = True
    except ClitoolError:
        reached = False
    finally:
        session.close()
        server.stop()

    assert reached or proper < len(PROPER)


@pytest.mark.parametrize(
    "greeting", ["", "MariaDB", "5.5.5-x-MariaDB", "9" * 5000, "9." * 2000, "\u0663.\u0661", "-" * 99]
)
def test_whatever_a_server_calls_its_version_is_an_error_of_ours_at_worst(
    fake: Callable[..., FakeMySQL], greeting: str
) -> None:
    def behave(talk: Conversation) -> None:
        talk.greet(version=greeting)
        for step in PROPER[1:]:
            talk.hear()
            step(talk)

    session = towards(fake(behave).port, timeout=0.5)
    with suppress(ClitoolError):
        session.read()
    session.close()


def test_the_server_is_not_told_who_we_are(fake: Callable[..., FakeMySQL]) -> None:
    server = fake(lambda talk: talk.let_in())
    with pytest.raises(ClitoolError):
        towards(server.port, timeout=0.3).read()

    assert b"u" in server.heard
    assert socket.gethostname().encode() not in server.heard
    assert b"connector" not in server.heard


def test_an_unknown_first_method_is_not_loaded(fake: Callable[..., FakeMySQL]) -> None:
    server = fake(lambda talk: talk.greet(plugin="authentication_kerberos_client"))
    with refused("unreachable"):
        towards(server.port, timeout=0.3).read()

    assert NATIVE.encode() in server.heard


# TLS


@pytest.fixture
def strangers(tmp_path: Any) -> Authority:
    from services.certificates import Authority

    return Authority(tmp_path, "strangers")


def test_the_right_authority_and_name_are_accepted(maria: Maria, authority: Authority) -> None:
    for mode in ("VERIFY_CA", "VERIFY_IDENTITY"):
        session = opened(maria, ssl_mode=mode, ssl_ca=str(authority.path))
        assert session.server.tls == "TLSv1.3"
        session.close()


@pytest.mark.parametrize("mode", ["VERIFY_CA", "VERIFY_IDENTITY"])
def test_another_authority_is_refused(maria: Maria, strangers: Authority, mode: str) -> None:
    with refused("tls") as found:
        opened(maria, ssl_mode=mode, ssl_ca=str(strangers.path)).read()

    assert "'ssl_ca'" in found["error"]


def test_without_an_authority_the_systems_own_are_asked(maria: Maria) -> None:
    with refused("tls"):
        opened(maria, ssl_mode="VERIFY_IDENTITY").read()


def test_a_certificate_for_another_host_is_refused_unless_only_the_authority_counts(
    mortal: Maria, authority: Authority
) -> None:
    mortal.server.show(authority.issue("elsewhere", ["DNS:elsewhere.example.org"]))
    with refused("tls") as found:
        opened(mortal, ssl_mode="VERIFY_IDENTITY", ssl_ca=str(authority.path)).read()
    session = opened(mortal, ssl_mode="VERIFY_CA", ssl_ca=str(authority.path))
    session.read()
    session.close()

    assert "'host'" in found["error"]


@pytest.mark.parametrize("mode", ["VERIFY_CA", "VERIFY_IDENTITY"])
def test_an_expired_certificate_is_refused(mortal: Maria, authority: Authority, mode: str) -> None:
    mortal.server.show(authority.issue("expired", days=-1))
    with refused("tls") as found:
        opened(mortal, ssl_mode=mode, ssl_ca=str(authority.path)).read()

    assert "expired" in found["error"]


@pytest.mark.parametrize("mode", ["REQUIRED", "VERIFY_IDENTITY"])
def test_a_server_without_tls_is_refused_where_tls_is_asked_for(odd_world: Maria, mode: str) -> None:
    with refused("tls"):
        opened(odd_world, ssl_mode=mode).read()


def test_a_server_that_may_want_tls_is_told_so(maria: Maria, mariadb: MariaDB) -> None:
    """MariaDB itself only says that it refuses the login."""
    mariadb.run("SET GLOBAL require_secure_transport = 1")
    try:
        with refused("login_failed") as found:
            opened(maria, ssl_mode="DISABLED").read()
    finally:
        mariadb.run("SET GLOBAL require_secure_transport = 0")

    assert "'ssl_mode'" in found["error"]


def test_an_account_that_needs_a_certificate_of_its_own_gets_it(
    maria: Maria, mariadb: MariaDB, authority: Authority
) -> None:
    mariadb.run(f"ALTER USER {maria.name}@'%' REQUIRE X509")
    with refused("login_failed"):
        opened(maria).read()
    client = authority.issue("client")
    session = opened(maria, ssl_mode="REQUIRED", ssl_cert=str(client.path), ssl_key=str(client.key))
    session.read()
    session.close()


@pytest.mark.parametrize("what", ["ssl_ca", "ssl_cert"])
@pytest.mark.parametrize("content", [None, "", "nonsense"])
def test_a_file_that_is_of_no_use_is_told_without_its_path(
    maria: Maria, tmp_path: Any, authority: Authority, what: str, content: str | None
) -> None:
    path = tmp_path / "file.pem"
    if content is not None:
        path.write_text(content)
    files = {"ssl_ca": {"ssl_ca": str(path)}, "ssl_cert": {"ssl_cert": str(path), "ssl_key": str(authority.key)}}
    with refused("tls") as found:
        opened(maria, **files[what]).read()

    assert what in found["error"]
    assert str(tmp_path) not in repr(found)


def test_a_key_with_a_passphrase_does_not_ask_for_it(maria: Maria, authority: Authority, tmp_path: Any) -> None:
    """OpenSSL would ask on the terminal."""
    key = tmp_path / "locked.key"
    subprocess.run(
        ["openssl", "rsa", "-aes256", "-passout", "pass:x", "-in", authority.key, "-out", key],
        check=True,
        capture_output=True,
    )
    with refused("tls"):
        opened(maria, ssl_mode="REQUIRED", ssl_cert=str(authority.path), ssl_key=str(key)).read()


# Around it


def test_without_the_driver_the_extra_to_install_is_named() -> None:
    program = """
import sys
sys.modules["mysql"] = None
from clitool.errors import DriverMissing
from clitool_tools.database.mysql.driver import connect
try:
    connect(None, None)
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
