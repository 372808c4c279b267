"""When the C extension of MySQL's connector is used, that it is used then, and that the tests pass on it, too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.mysql import driver
from clitool_tools.database.mysql.clock import Clock
from mariadb_world import PASSWORD
from mysql_sessions import parsed
from mysql_wires import WITH_EXTENSION

if TYPE_CHECKING:
    from pathlib import Path

    from mariadb_world import Maria

LOCAL = {"socket": "/run/mysqld/mysqld.sock"}
REMOTE = {"host": "db.example.org"}
CA = {"ssl_ca": "/ca.pem"}
OWN = {"ssl_cert": "/own.pem", "ssl_key": "/own.key"}
ADDRESSES: list[Any] = [
    pytest.param(LOCAL, True, id="a socket"),
    pytest.param({**REMOTE, **CA}, True, id="authorities, and so the server's identity"),
    pytest.param({**REMOTE, **CA, "ssl_mode": "VERIFY_IDENTITY"}, True, id="both"),
    pytest.param({**REMOTE, **CA, "ssl_mode": "VERIFY_CA"}, False, id="any server of an authority"),
    pytest.param(REMOTE, False, id="the authorities of the system"),
    pytest.param({**REMOTE, **CA, **OWN}, False, id="a certificate of one's own"),
    pytest.param({**REMOTE, "ssl_mode": "REQUIRED"}, False, id="encryption without identity"),
    pytest.param({**REMOTE, "ssl_mode": "PREFERRED"}, False, id="perhaps encryption"),
    pytest.param({**REMOTE, "ssl_mode": "DISABLED"}, False, id="in plain"),
    pytest.param({"host": "127.0.0.1"}, False, id="this machine"),
    pytest.param({"host": "127.0.0.1", **CA}, True, id="this machine, with authorities"),
]


@pytest.mark.parametrize(("place", "suits"), ADDRESSES)
def test_it_serves_only_where_it_keeps_what_the_settings_promise(place: dict[str, Any], *, suits: bool) -> None:
    """It goes on in plain if the server wants that, and gives the password under whatever key the server sends."""
    assert driver._suits_extension(address(place)) is suits


@pytest.mark.parametrize("name", ["LIBMYSQL_ENABLE_CLEARTEXT_PLUGIN", "LIBMYSQL_PLUGINS", "LIBMYSQL_PLUGIN_DIR"])
def test_it_does_not_serve_where_its_library_was_told_more(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Such a variable lets a server ask for the password itself, or has more methods of logging in loaded."""
    monkeypatch.setenv(name, "1")

    assert not driver._suits_extension(address(LOCAL))


def address(place: dict[str, Any]) -> Any:
    account = {"user": "u", "password": PASSWORD, "database": "d", "allowed_tables": ["t"]}
    return parsed({"type": "mysql", **account, **place}).address


# In a process of its own, since this one has loaded OpenSSL.

PROGRAM = """
import json, sys
{first}
from clitool.errors import DriverMissing
from clitool_tools.database.mysql import driver
from clitool_tools.database.mysql.address import Address
from clitool_tools.database.mysql.clock import Clock

def kind(**more):
    wire = driver.connect(Address({{**given, **more}}), Clock(20))
    (row,) = next(iter(wire.query("SELECT 1, NULL").batches))
    assert row == (b"1", None)
    wire.close()
    return type(wire).__name__

given = json.loads(sys.stdin.read())
{then}
"""


def said(world: Maria, then: str, first: str = "", **more: str) -> list[str]:
    """Return the words that a new process prints."""
    keys = ("socket", "host", "port", "user", "password", "database")
    given = {key: value for key, value in world.settings.items() if key in keys} | more
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(first=first, then=then)],
        input=json_text(given), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def json_text(value: object) -> str:
    import json

    return json.dumps(value)


@pytest.fixture
def by_socket(maria: Maria) -> Maria:
    for key in ("host", "port"):
        maria.settings.pop(key, None)
    maria.settings["socket"] = maria.server.socket
    return maria


def test_it_is_loaded_where_the_connector_is_installed(by_socket: Maria) -> None:
    """If this fails, calls are slow without any other sign: the extension, or what it is told, must be looked at."""
    assert said(by_socket, "print(kind())") == ["ExtensionWire"]


def test_it_is_loaded_for_a_server_whose_identity_is_verified(maria: Maria) -> None:
    authority = str(maria.server.authority.path) if maria.server.authority else ""
    then = "print(kind(ssl_mode='VERIFY_IDENTITY'), kind(ssl_mode='VERIFY_CA'), 'ssl' in sys.modules)"

    assert said(maria.over_tcp(), then, ssl_ca=authority) == ["ExtensionWire", "ConnectorWire", "True"]


@pytest.mark.parametrize("module", ["ssl", "hashlib", "socket", "clitool.resident.daemon"])
def test_it_is_not_loaded_in_a_process_that_may_speak_with_others_too(by_socket: Maria, module: str) -> None:
    """Its OpenSSL would be in the place of Python's, whose authorities it does not know."""
    then = "print(kind(), '_mysql_connector' in sys.modules)"

    assert said(by_socket, then, f"import {module}") == ["ConnectorWire", "False"]


def test_without_it_the_other_way_is_taken(by_socket: Maria) -> None:
    assert said(by_socket, "print(kind())", "sys.modules['_mysql_connector'] = None") == ["ConnectorWire"]


def test_what_python_does_with_its_openssl_later_is_as_strict(by_socket: Maria, tmp_path: Path) -> None:
    """Certificates are still verified, by the authorities that are named, and old versions refused."""
    from services.certificates import Authority

    strangers = Authority(tmp_path, "strangers")
    then = f"""
over_tcp = {{"host": "127.0.0.1", "port": {by_socket.server.port}, "socket": "", "ssl_mode": "VERIFY_CA"}}
print(kind())
import ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
print(context.minimum_version.name, context.verify_mode.name, context.check_hostname)
print(kind(**over_tcp, ssl_ca={str(by_socket.server.authority and by_socket.server.authority.path)!r}))
try:
    kind(**over_tcp, ssl_ca={str(strangers.path)!r})
except driver.DriverError as error:
    print(error.kind, error.text)
"""
    assert said(by_socket, then) == [
        "ExtensionWire", "TLSv1_2", "CERT_REQUIRED", "True", "ConnectorWire", "tls", "certificate",
    ]  # fmt: skip


def test_the_other_tests_go_the_way_that_they_are_meant_to(by_socket: Maria) -> None:
    wire = driver.connect(parsed(by_socket.settings).address, Clock(20))
    wire.close()

    assert type(wire).__name__ == ("ExtensionWire" if WITH_EXTENSION else "ConnectorWire")


def test_the_tests_of_the_seam_pass_on_it_too(on_extension: subprocess.Popen[str]) -> None:
    output, _ = on_extension.communicate(timeout=400)
    passed = re.search(r"(\d+) passed", output)

    assert on_extension.returncode == 0, output[-3000:]
    assert passed
    assert int(passed[1]) > 600
    assert "skipped" not in output or not os.environ.get("CI")
