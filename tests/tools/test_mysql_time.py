"""A MySQL server that is slow, silent, gone or dies: everything ends in time, and is told."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.mysql.session import Session
from keeping import freeze
from mariadb_world import Maria
from mysql_sessions import count, is_gone, opened, parsed, refused, towards
from services.mariadb import MariaDB

from clitool.tool import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable

    from mariadb_world import Maria
    from mysql_sessions import StartFake
    from services.fake_mysql import Conversation
    from services.mariadb import MariaDB


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
    fake_mysql: StartFake, behave: Callable[[Conversation], None], reason: str
) -> None:
    server = fake_mysql(behave)
    session = towards(server.place, seconds=2.5, timeout=0.5)
    with refused(reason):
        session.read()
    session.close()


def test_a_short_call_has_time_for_the_server_as_well_as_for_its_own_last_words() -> None:
    """The margin before the deadline is for long calls; it left nothing of a call of a second."""
    assert 0.1 < towards(1, seconds=0.6).seconds < 0.5


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
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", maria.server.port, 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", maria.server.port)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    session = opened(maria.over_tcp(), host="localhost")
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
        freeze(mortal.server.process)
    session.close()

    assert "look whether it did" in found["error"]


@pytest.mark.parametrize("mode", ["read", "change"])
def test_closing_does_not_wait_for_a_server_that_stands_still(mortal: Maria, mode: str) -> None:
    session = opened(mortal, seconds=3)
    if mode == "read":
        session.read()
    else:
        with refused("timeout"), session.change():
            freeze(mortal.server.process)
            session.run("DELETE FROM orders")
    freeze(mortal.server.process)
    session.close()
