"""Encryption on the way to a MySQL server, and who is trusted."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from mariadb_world import Maria
from mysql_sessions import opened, refused
from services.certificates import Authority
from services.mariadb import MariaDB

if TYPE_CHECKING:
    from mariadb_world import Maria
    from services.certificates import Authority
    from services.mariadb import MariaDB


@pytest.fixture
def maria(maria: Maria) -> Maria:
    return maria.over_tcp()


@pytest.fixture
def mortal(mortal: Maria) -> Maria:
    return mortal.over_tcp()


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
