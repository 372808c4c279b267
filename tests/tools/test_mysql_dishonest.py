"""A MySQL server that wants more than it should get, or talks nonsense."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mariadb_world import PASSWORD
from mysql_sessions import PINNED, refused, towards
from mysql_wires import WITH_EXTENSION
from services.certificates import Authority
from services.fake_mysql import NATIVE, OK, TLS, FakeMySQL

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mysql_sessions import StartFake
    from services.certificates import Authority
    from services.fake_mysql import Conversation


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
    fake_mysql: StartFake, plugin: str, data: bytes, reason: str
) -> None:
    """The connector sends it, unencrypted too, to a server that asks for the full login of MySQL 8."""
    server = fake_mysql(lambda talk: ask_for_the_password(talk, plugin, data), over_tcp=True)
    session = towards(server.place)
    with refused(reason) as found:
        session.read()
    session.close()

    assert PASSWORD.encode() not in server.heard
    assert "\x1b" not in found["error"]


def test_nor_is_it_when_the_server_asks_again_after_the_first_step(fake_mysql: StartFake) -> None:
    def behave(talk: Conversation) -> None:
        talk.greet(plugin="caching_sha2_password")
        talk.hear()
        talk.say(b"\x01\x04")

    server = fake_mysql(behave, over_tcp=True)
    with refused("tls"):
        towards(server.place).read()

    assert PASSWORD.encode() not in server.heard


@pytest.mark.parametrize("is_first", [True, False])
def test_the_login_of_mysql_8_works_where_it_is_encrypted(
    fake_mysql: StartFake, authority: Authority, *, is_first: bool
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
            talk.rows(("8.0.39", "0", PINNED, "1", "7", "9", *["utf8mb4"] * 3, "+00:00", "1", "1"))

    server = fake_mysql(behave, over_tcp=True)
    session = towards(server.place, ssl_mode="VERIFY_IDENTITY", ssl_ca=str(authority.path))
    found = session.server
    session.close()

    assert (found.kind, found.version, found.tls) == ("mysql", (8, 0, 39), "TLSv1.3")
    assert b"@@session.transaction_read_only" in server.heard
    assert b"@@session.max_execution_time = " in server.heard
    assert b"max_statement_time" not in server.heard


@pytest.mark.parametrize("mode", ["REQUIRED", "VERIFY_IDENTITY"])
def test_nothing_is_sent_to_a_server_that_takes_back_its_encryption(fake_mysql: StartFake, mode: str) -> None:
    """Neither the account's name nor a proof of the password."""
    server = fake_mysql(lambda talk: talk.greet(), over_tcp=True)
    with refused("tls"):
        towards(server.place, ssl_mode=mode).read()

    assert server.heard == b""


def test_what_was_said_before_the_encryption_is_not_taken_for_what_comes_after(fake_mysql: StartFake) -> None:
    def behave(talk: Conversation) -> None:
        talk.greet(more=TLS)
        talk.say(OK)

    server = fake_mysql(behave, over_tcp=True)
    with refused("tls"):
        towards(server.place, ssl_mode="REQUIRED").read()


def test_no_file_is_sent_to_a_server_that_asks_for_one(fake_mysql: StartFake, tmp_path: Any) -> None:
    private = tmp_path / "private"
    private.write_text("TOP-SECRET")

    def behave(talk: Conversation) -> None:
        talk.let_in()
        talk.hear()
        talk.say(b"\xfb" + os.fsencode(private))
        talk.hear()
        talk.say(OK)

    server = fake_mysql(behave)
    with refused("connection_lost"):
        towards(server.place).read()

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
    lambda talk: talk.rows(("10.11.19-MariaDB", "0", PINNED, "1", "7", "99", *["utf8mb4"] * 3, "+00:00", "1", "1")),
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

    server = FakeMySQL(behave, on_socket=WITH_EXTENSION)
    session = towards(server.place, timeout=0.5)
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
def test_whatever_a_server_calls_its_version_is_an_error_of_ours_at_worst(fake_mysql: StartFake, greeting: str) -> None:
    def behave(talk: Conversation) -> None:
        talk.greet(version=greeting)
        for step in PROPER[1:]:
            talk.hear()
            step(talk)

    session = towards(fake_mysql(behave).place, timeout=0.5)
    with suppress(ClitoolError):
        session.read()
    session.close()


def test_the_server_is_not_told_who_we_are(fake_mysql: StartFake) -> None:
    server = fake_mysql(lambda talk: talk.let_in())
    with pytest.raises(ClitoolError):
        towards(server.place, timeout=0.3).read()

    assert b"u" in server.heard
    assert socket.gethostname().encode() not in server.heard
    assert b"connector" not in server.heard


def test_an_unknown_first_method_is_not_loaded(fake_mysql: StartFake) -> None:
    server = fake_mysql(lambda talk: talk.greet(plugin="authentication_kerberos_client"))
    with refused("unreachable"):
        towards(server.place, timeout=0.3).read()

    assert b"_password\0" in server.heard
    assert b"kerberos" not in server.heard
