"""The two ways to a MySQL server say the same, and the C extension does no more than the other one.

Runs where the extension is loaded, see `mysql_wires`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.mysql import connector, extension
from clitool_tools.database.mysql.clock import Clock
from clitool_tools.database.mysql.driver import DriverError, connect
from mariadb_world import PASSWORD, Maria
from mysql_sessions import parsed, towards
from services.certificates import LOOPBACK, Authority
from services.fake_mysql import OK, TLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.database.mysql.driver import Reply, Wire
    from mysql_sessions import StartFake
    from services.fake_mysql import Conversation
    from services.mariadb import MariaDB


@pytest.fixture
def wires(maria: Maria) -> Iterator[tuple[Wire, Wire]]:
    address = parsed(maria.settings).address
    clock = Clock(60)
    both = connect(address, clock), connector.open_wire(address, clock)
    assert [type(wire).__name__ for wire in both] == ["ExtensionWire", "ConnectorWire"]
    yield both
    for wire in both:
        wire.close()


def told(wire: Wire, sql: str) -> dict[str, Any]:
    """Return all that the seam says about a statement, its error included."""
    try:
        reply = wire.query(sql)
        return {**facts(reply), "rows": [row for batch in reply.batches for row in batch]}
    except DriverError as error:
        return {name: getattr(error, name) for name in ("kind", "code", "state", "text")}


def facts(reply: Reply) -> dict[str, Any]:
    fields = [{name: getattr(field, name) for name in field.__slots__} for field in reply.fields]
    names = ("affected", "last_id", "warnings", "in_transaction")
    return {"fields": fields, **{name: getattr(reply, name) for name in names}}


TYPES = (
    "TINYINT", "SMALLINT UNSIGNED", "MEDIUMINT ZEROFILL", "INT NOT NULL AUTO_INCREMENT", "BIGINT UNSIGNED", "YEAR",
    "FLOAT", "DOUBLE", "FLOAT(7, 3)", "DECIMAL(30, 10)", "DECIMAL(9, 3) ZEROFILL", "BIT", "BIT(64)", "BOOLEAN", "DATE",
    "DATETIME", "DATETIME(6)", "TIMESTAMP(3) NULL", "TIME", "TIME(6)", "CHAR(8)", "VARCHAR(20)",
    "VARCHAR(20) CHARACTER SET latin1", "VARCHAR(20) COLLATE utf8mb4_bin", "BINARY(4)", "VARBINARY(9)", "TINYTEXT",
    "TEXT", "MEDIUMTEXT", "LONGTEXT", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "JSON", "ENUM('a', 'ä')",
    "SET('x', 'y')", "GEOMETRY", "POINT", "UUID", "INET6", "INET4",
)  # fmt: skip
VALUES = (
    "1", "65535", "7", "3", "18446744073709551615", "0000", "1.1", "1e300", "1.5", "-1.10", "0.5", "1",
    "0xFFFFFFFFFFFFFFFF", "2", "'0000-00-00'", "'2024-00-15'", "'2024-02-29 10:00:00.5'", "'2024-01-01'",
    "'-838:59:59'", "'00:00:00.000001'", "'a  '", "'Zoë 😀'", "'é€'", "''", "'a'", "X'00FF'", "'t'", "REPEAT('ü', 300)",
    "'m'", "REPEAT('l', 70000)", "X'FF'", "X'00'", "REPEAT(X'FE', 300)", "''", "'[1, \"ä\"]'", "'ä'", "'x,y'",
    "POINT(1, 2)", "POINT(0, 0)", "'123e4567-e89b-12d3-a456-426655440000'", "'::1'", "'1.2.3.4'",
)  # fmt: skip
assert len(TYPES) == len(VALUES)
STATEMENTS = [
    "SELECT * FROM everything ORDER BY c3",
    "SELECT COUNT(*), SUM(c9), MAX(c21), GROUP_CONCAT(c2), NOW() > 0, c0 + c1, c6 + 0e0 FROM everything GROUP BY c3",
    "SELECT 1 AS ``, 2 AS `ä 😀`, NULL, '', _binary X'00FF', 1.10, 1e0, DATE '2024-01-01', TRUE",
    "SELECT seq, REPEAT('x', seq) FROM seq_1_to_1234",
    "SELECT seq FROM seq_1_to_500",
    "SELECT seq FROM seq_1_to_499",
    "SELECT * FROM orders WHERE id = -1",
    "SHOW CREATE TABLE orders",
    "SELECT 'a' + 1, 1 / 0",
    "INSERT INTO orders (customer_id) VALUES (1), (2)",
    "UPDATE orders SET total = total",
    "UPDATE orders SET total = 7 WHERE id = 1",
    "DELETE FROM orders WHERE id > 3",
    "INSERT INTO customers VALUES (1, 'x', NULL, NULL)",
    "SELECT * FROM nowhere",
    "SELECT (SELECT id FROM orders)",
    "SELEKT 1",
    "SELECT 1; SELECT 2",
    "",
    "SELECT 18446744073709551615 + seq FROM seq_0_to_9",
    "SELECT 1 / IF(seq > 900, 0, 1), EXP(IF(seq > 900, 1000, 1)) FROM seq_1_to_1000",
    "SELECT * FROM mysql.user",
    "SET @a = 'ä'",
    "START TRANSACTION",
    "SELECT '\ud800'",
]


def test_they_say_the_same_about_every_type_and_every_outcome(wires: tuple[Wire, Wire], maria: Maria) -> None:
    """Bytes, nulls, columns, counts, warnings, errors in the middle of rows."""
    columns = ", ".join(f"c{number} {declared}" for number, declared in enumerate(TYPES))
    nulls = ", ".join("7" if "NOT NULL" in declared else "NULL" for declared in TYPES)
    maria.run(
        f"SET sql_mode = '', NAMES utf8mb4; CREATE TABLE everything ({columns}, KEY (c3));"
        f"INSERT INTO everything VALUES ({', '.join(VALUES)}), ({nulls})"
    )
    for sql in STATEMENTS:
        found = []
        for wire in wires:
            wire.query("SET NAMES utf8mb4")
            wire.query("START TRANSACTION")
            found.append(told(wire, sql))
            wire.query("ROLLBACK")
        ours, reference = found
        # Each insert takes new numbers, also if it is taken back.
        for each in found:
            each["last_id"] = bool(each.get("last_id"))

        assert ours == reference, sql
    assert len(told(wires[0], STATEMENTS[0])["rows"]) == 2


@pytest.mark.parametrize("count", [4096, 4097, 60_000, 2**24 - 1])
def test_no_more_columns_are_taken_than_a_table_can_have(fake_mysql: StartFake, count: int) -> None:
    def behave(talk: Conversation) -> None:
        talk.let_in()
        talk.hear()
        talk.say(b"\xfd" + count.to_bytes(3, "little"))
        for _ in range(min(count, 4097)):
            talk.say(b"\x03def\0\0\0\x01a\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0")
        talk.say(b"\xfe\0\0\x02\0")
        talk.say(b"\xfe\0\0\x02\0")

    wire = connect(towards(fake_mysql(behave).place)._connection.address, Clock(2))
    outcome = told(wire, "SELECT 1")
    wire.abort()

    assert len(outcome.get("fields", ())) == (4096 if count == 4096 else 0)
    assert count == 4096 or outcome["kind"] in ("large", "slow")


METHODS = [
    "mysql_clear_password", "mysql_old_password", "dialog", "client_ed25519", "authentication_oci_client",
    "authentication_webauthn_client", "authentication_ldap_sasl_client", "authentication_kerberos_client",
    "authentication_openid_connect_client", "../plugin/authentication_oci_client", "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("is_first", [True, False], ids=["in the greeting", "later"])
def test_a_server_cannot_have_a_method_of_logging_in_loaded(
    fake_mysql: StartFake, capfd: pytest.CaptureFixture[str], method: str, *, is_first: bool
) -> None:
    """The library looks for a file of the name that the server says; some of these read files or ask the user."""

    def behave(talk: Conversation) -> None:
        talk.greet(plugin=method) if is_first else talk.greet()
        talk.hear()
        if not is_first:
            talk.say(b"\xfe" + method.encode() + b"\0" + b"x" * 20)
            talk.hear()

    server = fake_mysql(behave)
    address = towards(server.place)._connection.address
    with pytest.raises((DriverError, extension.Unexplained)):
        extension.open_wire(address, Clock(0.3))

    assert PASSWORD.encode() not in server.heard
    assert capfd.readouterr() == ("", "")
    if sys.platform == "linux":
        loaded = {
            Path(line.split()[-1]).name for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line
        }
        assert not {name for name in loaded if name.startswith("authentication_")}


@pytest.mark.parametrize("what", ["no encryption", "stranger", "other name", "expired"])
def test_nothing_is_said_to_a_server_that_is_not_the_one(
    fake_mysql: StartFake, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The authorities of the settings alone are asked, whatever else the environment names."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
    trusted = Authority(tmp_path, "strangers") if what == "stranger" else authority
    days, hosts = (
        (-1 if what == "expired" else 30),
        (["DNS:elsewhere.example.org"] if what == "other name" else LOOPBACK),
    )
    certificate = authority.issue(what.replace(" ", "-"), hosts, days=days)

    def behave(talk: Conversation) -> None:
        talk.greet(more=0 if what == "no encryption" else TLS)
        if what != "no encryption":
            talk.encrypt(certificate)
        talk.heard = b""
        talk.hear()

    server = fake_mysql(behave, over_tcp=True)
    settings = {"ssl_mode": "VERIFY_IDENTITY", "ssl_ca": str(trusted.path)}
    with pytest.raises(extension.Unexplained):
        extension.open_wire(towards(server.place, **settings)._connection.address, Clock(5))

    assert b"u\0" not in server.heard
    assert what != "no encryption" or server.heard == b""


def test_the_library_is_told_of_its_plugins_only_while_it_starts(maria: Maria) -> None:
    """Children of this process must not find them in their environment."""
    import os

    connect(parsed(maria.settings).address, Clock(5)).close()

    assert not [name for name in os.environ if name.startswith("LIBMYSQL_")]


def test_what_is_wrong_with_a_connection_is_told_by_the_other_way(maria: Maria, mariadb: MariaDB) -> None:
    mariadb.run("INSTALL SONAME 'auth_ed25519'")
    mariadb.run(f"ALTER USER {maria.name}@'%' IDENTIFIED VIA ed25519 USING PASSWORD('x')")
    address = parsed({**maria.settings, "password": "x"}).address
    try:
        with pytest.raises(extension.Unexplained):
            extension.open_wire(address, Clock(5))
        with pytest.raises(DriverError) as caught:
            connect(address, Clock(5))
    finally:
        mariadb.run("UNINSTALL SONAME 'auth_ed25519'")

    assert (caught.value.kind, caught.value.text) == ("login", "client_ed25519")


def test_a_wrong_password_is_tried_once(maria: Maria, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accounts may be locked after some failures."""
    monkeypatch.setattr("clitool_tools.database.mysql.driver._opener", lambda: pytest.fail("tried again"))
    with pytest.raises(DriverError) as caught:
        connect(parsed({**maria.settings, "password": "wrong"}).address, Clock(5))

    assert (caught.value.kind, caught.value.code, caught.value.state) == ("server", 1045, "28000")


def test_a_wire_that_was_left_in_the_middle_is_closed_when_the_server_goes_on(fake_mysql: StartFake) -> None:
    """C code cannot be interrupted: the thread that waits is left behind, and hangs up once it can."""
    from threading import Event

    left, ended = Event(), Event()

    def behave(talk: Conversation) -> None:
        talk.let_in()
        talk.hear()
        assert left.wait(10)
        talk.say(OK)
        while talk.hear():
            pass
        ended.set()

    wire = connect(towards(fake_mysql(behave).place)._connection.address, Clock(0.3))
    assert told(wire, "SELECT 1")["kind"] == "slow"
    wire.abort()
    assert told(wire, "SELECT 1")["kind"] == "lost"
    left.set()

    assert ended.wait(10)
