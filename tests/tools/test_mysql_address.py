"""Where a MySQL connection leads: connection strings, separate keys, what contradicts, and what is never shown."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any
from urllib.parse import quote

import pytest
from clitool_tools.database.mysql import locate
from clitool_tools.database.mysql.address import Address, is_loopback
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.errors import SettingsError
from clitool.family import Origin, Secret

ORIGIN = Origin("/srv/conf")
SECRET = "s3cr3t"


def address(text: str | None = None, **keys: Any) -> Address:
    if text is not None:
        keys["connection_string"] = Secret(text)
    if "password" in keys:
        keys["password"] = Secret(keys["password"])
    return locate(keys, ORIGIN, "shop.")


def seen(found: Address) -> dict[str, Any]:
    values = {name: getattr(found, name) for name in Address.__slots__}
    values["password"] = found.password.reveal()
    return {name: value for name, value in values.items() if value}


def refusal(text: str | None = None, **keys: Any) -> tuple[str, str]:
    """Return key and sentence of settings that must be refused; no part of the password is in the sentence."""
    with pytest.raises(SettingsError) as caught:
        address(text, **keys)
    assert SECRET not in repr(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value)
    return caught.value.key, str(caught.value)


LOCAL: dict[str, Any] = {"port": 3306, "ssl_mode": "PREFERRED"}
REMOTE: dict[str, Any] = {"port": 3306, "ssl_mode": "VERIFY_IDENTITY"}
U_D: dict[str, Any] = {"user": "u", "database": "d"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("mysql://u:p@h/d", {**U_D, **REMOTE, "host": "h", "password": "p"}, id="plain"),
        pytest.param("mysql://u@h/d", {**U_D, **REMOTE, "host": "h"}, id="no password"),
        pytest.param("mysql://u:@h/d", {**U_D, **REMOTE, "host": "h"}, id="empty password"),
        pytest.param("mysql://u:p@h:3307/d", {**U_D, **REMOTE, "host": "h", "port": 3307, "password": "p"}, id="port"),
        pytest.param("mysql://u:a@b@c@h/d", {**U_D, **REMOTE, "host": "h", "password": "a@b@c"}, id="at signs"),
        pytest.param("mysql://u:a:b@h/d", {**U_D, **REMOTE, "host": "h", "password": "a:b"}, id="colon"),
        pytest.param("mysql://u:a/b@h/d", {**U_D, **REMOTE, "host": "h", "password": "a/b"}, id="slash"),
        pytest.param("mysql://u:a?b=c&d@h/d", {**U_D, **REMOTE, "host": "h", "password": "a?b=c&d"}, id="question"),
        pytest.param("mysql://u:a#b@h/d", {**U_D, **REMOTE, "host": "h", "password": "a#b"}, id="hash"),
        pytest.param("mysql://u:a%25b@h/d", {**U_D, **REMOTE, "host": "h", "password": "a%b"}, id="percent"),
        pytest.param("mysql://u:%2525@h/d", {**U_D, **REMOTE, "host": "h", "password": "%25"}, id="decoded once"),
        pytest.param("mysql://u:a+b@h/d", {**U_D, **REMOTE, "host": "h", "password": "a+b"}, id="plus stays"),
        pytest.param("mysql://u:%C3%A4ö@h/d", {**U_D, **REMOTE, "host": "h", "password": "äö"}, id="umlauts"),
        pytest.param("mysql://a%40b:p@h/d", {**U_D, **REMOTE, "host": "h", "user": "a@b", "password": "p"}, id="user"),
        pytest.param("mysql://u@h/d%2Fx%20y", {**U_D, **REMOTE, "host": "h", "database": "d/x y"}, id="database"),
        pytest.param("mysql://u@[::1]/d", {**U_D, **LOCAL, "host": "::1"}, id="IPv6"),
        pytest.param("mysql://u@[2001:db8::7]:3307/d", {**U_D, **REMOTE, "host": "2001:db8::7", "port": 3307}, id="v6"),
        pytest.param("mysql://u@127.0.0.1/d", {**U_D, **LOCAL, "host": "127.0.0.1"}, id="loopback"),
        pytest.param("mysql://u@localhost/d", {**U_D, **LOCAL, "host": "localhost"}, id="localhost"),
        pytest.param(
            "mysql://u@%2Frun%2Fmy.sock/d", {**U_D, "socket": "/run/my.sock", "ssl_mode": "DISABLED"}, id="socket"
        ),
        pytest.param(
            "mysql://u@/d?socket=/run/my.sock", {**U_D, "socket": "/run/my.sock", "ssl_mode": "DISABLED"}, id="option"
        ),
        pytest.param(
            "mysql://u@localhost/d?socket=s.sock",
            {**U_D, "socket": "/srv/conf/s.sock", "ssl_mode": "DISABLED"},
            id="relative socket",
        ),
        pytest.param(
            "mysql://u@h/d?ssl-mode=verify_ca&ssl-ca=ca.pem&charset=UTF8MB4",
            {**U_D, **REMOTE, "host": "h", "ssl_mode": "VERIFY_CA", "ssl_ca": "/srv/conf/ca.pem"},
            id="options",
        ),
        pytest.param(
            "mysql://u@h/d?ssl-cert=/c.pem&ssl-key=a%40b.pem",
            {**U_D, **REMOTE, "host": "h", "ssl_cert": "/c.pem", "ssl_key": "/srv/conf/a@b.pem"},
            id="client certificate",
        ),
        pytest.param(
            "mysql://u@127.0.0.1/d?ssl-ca=ca.pem",
            {**U_D, **REMOTE, "host": "127.0.0.1", "ssl_ca": "/srv/conf/ca.pem"},
            id="an authority asks for verification on this machine, too",
        ),
        pytest.param(
            "mysql://u@h/d?ssl-mode=REQUIRED", {**U_D, **REMOTE, "host": "h", "ssl_mode": "REQUIRED"}, id="required"
        ),
    ],
)
def test_a_connection_string_says_what_it_should(text: str, expected: dict[str, Any]) -> None:
    assert seen(address(text)) == expected


@pytest.mark.parametrize(
    ("text", "key", "part"),
    [
        pytest.param("postgres://u:s3cr3t@h/d", "connection_string", "write mysql://", id="another scheme"),
        pytest.param("MYSQL://u:s3cr3t@h/d", "connection_string", "write mysql://", id="case of the scheme"),
        pytest.param("mysql:u:s3cr3t@h/d", "connection_string", "write mysql://", id="no slashes"),
        pytest.param("mysql://u:s3cr3t@h", "database", "missing", id="no database"),
        pytest.param("mysql://u:s3cr3t@h/", "database", "missing", id="empty database"),
        pytest.param("mysql://u:s3cr3t@h/mysql", "database", "belongs to the server", id="the accounts"),
        pytest.param("mysql://u:s3cr3t@h/Information_Schema", "database", "belongs to the server", id="the schema"),
        pytest.param("mysql://u:s3cr3t@h/performance_schema", "database", "belongs to the server", id="the sessions"),
        pytest.param("mysql://u:s3cr3t@h/SYS", "database", "belongs to the server", id="views of these"),
        pytest.param("mysql://u:s3cr3t@/d", "host", "missing", id="no host"),
        pytest.param("mysql://h/d", "user", "missing", id="no user"),
        pytest.param("mysql://:s3cr3t@h/d", "user", "missing", id="empty user"),
        pytest.param("mysql://u:s3cr3t%@h/d", "connection_string", "%25", id="bare percent"),
        pytest.param("mysql://u:s3cr3t%4@h/d", "connection_string", "%25", id="half an escape"),
        pytest.param("mysql://u:s3cr3t%+4@h/d", "connection_string", "%25", id="a sign is no digit"),
        pytest.param("mysql://u:s3cr3t%ff@h/d", "connection_string", "UTF-8", id="not UTF-8"),
        pytest.param("mysql://u:s3cr3t%00@h/d", "password", "cannot have", id="NUL in the password"),
        pytest.param("mysql://u%00:s3cr3t@h/d", "user", "cannot have", id="NUL in the user"),
        pytest.param("mysql://u:s3cr3t@h:0/d", "connection_string", "port", id="port 0"),
        pytest.param("mysql://u:s3cr3t@h:65536/d", "connection_string", "port", id="port too large"),
        pytest.param("mysql://u:s3cr3t@h:/d", "connection_string", "port", id="empty port"),
        pytest.param("mysql://u:s3cr3t@h:3306x/d", "connection_string", "port", id="port with a letter"),
        pytest.param("mysql://u:s3cr3t@h:٣٣٠٦/d", "connection_string", "port", id="digits of another script"),
        pytest.param("mysql://u:s3cr3t@::1/d", "connection_string", "brackets", id="IPv6 without brackets"),
        pytest.param("mysql://u:s3cr3t@[::1/d", "connection_string", "malformed", id="bracket not closed"),
        pytest.param("mysql://u:s3cr3t@[]/d", "host", "missing", id="nothing in brackets"),
        pytest.param("mysql://u:s3cr3t@[::zz]/d", "host", "neither", id="no IPv6 address"),
        pytest.param("mysql://u:s3cr3t@h1,h2/d", "host", "neither", id="two hosts"),
        pytest.param("mysql://u:s3cr3t@h h/d", "host", "neither", id="a blank in the host"),
        pytest.param("mysql://u:s3cr3t@h%0a/d", "host", "neither", id="a line end in the host"),
        pytest.param("mysql://u:s3cr3t@hö/d", "host", "neither", id="a host that is not ASCII"),
        pytest.param("mysql://u:s3cr3t@%2Frun%2Fs:3306/d", "connection_string", "no port", id="a socket with a port"),
        pytest.param("mysql://u:s3cr3t@h/d#x", "connection_string", "%23", id="a fragment"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl_mode=X", "connection_string", "'ssl-mode'", id="near option"),
        pytest.param("mysql://u:s3cr3t@h/d?sslmode=X", "connection_string", "'ssl-mode'", id="near option, no hyphen"),
        pytest.param("mysql://u:s3cr3t@h/d?local_infile=1", "connection_string", "unknown option", id="unknown option"),
        pytest.param("mysql://u:s3cr3t@h/d?", "connection_string", "unknown option", id="empty options"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-ca=", "connection_string", "without a value", id="empty value"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-ca", "connection_string", "without a value", id="no value"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-ca=a&ssl-ca=a", "connection_string", "twice", id="an option twice"),
        pytest.param("mysql://u:s3cr3t@h/d?password=x", "connection_string", "unknown option", id="password as option"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-mode=STRICT", "ssl_mode", "one of", id="unknown mode"),
        pytest.param("mysql://u:s3cr3t@h/d?charset=latin1", "charset", "utf8mb4", id="another charset"),
        pytest.param("mysql://u:s3cr3t@h/d?charset=gbk", "charset", "utf8mb4", id="a charset that breaks quoting"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-ca=/a@b/c", "connection_string", "%40", id="an at sign in an option"),
        pytest.param("mysql://u:s3cr3t@h/d@b", "database", "missing", id="an at sign in the database"),
        pytest.param("mysql://u:s3cr3t@h/d?socket=/s", "socket", "'host'", id="host and socket"),
        pytest.param("mysql://u:s3cr3t@localhost:3306/d?socket=/s", "socket", "'host'", id="port and socket"),
        pytest.param("mysql://u:s3cr3t@%2Fa/d?socket=/b", "connection_string", "twice", id="two sockets"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-cert=/c", "ssl_cert", "together", id="certificate without key"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-key=/c", "ssl_cert", "together", id="key without certificate"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-ca=/c&ssl-mode=DISABLED", "ssl_ca", "contradicts", id="CA, no TLS"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-ca=/c&ssl-mode=REQUIRED", "ssl_ca", "VERIFY", id="CA not looked at"),
        pytest.param("mysql://u:s3cr3t@h/d?ssl-mode=VERIFY_CA", "ssl_mode", "ssl_ca", id="any public authority"),
        pytest.param("mysql://u@%2Fs/d?ssl-mode=REQUIRED", "ssl_mode", "Unix socket", id="TLS on a socket"),
        pytest.param("mysql://u@%2Fs/d?ssl-ca=/c", "ssl_mode", "Unix socket", id="an authority for a socket"),
        pytest.param("mysql://u:s3cr3t@h/%20d", "database", "blank", id="a blank that the driver would drop"),
        pytest.param("mysql://u%20:s3cr3t@h/d", "user", "blank", id="a blank after the user"),
    ],
)
def test_a_malformed_connection_string_is_refused_without_the_password(text: str, key: str, part: str) -> None:
    """Nothing is guessed, and no sentence repeats what could be the password."""
    found, sentence = refusal(text)

    assert found == f"shop.{key}"
    assert part in sentence


KEYS: dict[str, Any] = {"host": "h", "port": 3307, "user": "u", "password": SECRET, "database": "d"}


def test_separate_keys_say_the_same_as_a_connection_string() -> None:
    more = {"ssl_mode": "VERIFY_CA", "ssl_ca": "ca.pem", "charset": "utf8mb4"}

    assert seen(address(**KEYS, **more)) == seen(
        address(f"mysql://u:{SECRET}@h:3307/d?ssl-mode=VERIFY_CA&ssl-ca=ca.pem&charset=utf8mb4")
    )
    assert seen(address("mysql://u@h:3307/d", **KEYS)) == seen(address(**KEYS))
    assert seen(address("mysql://h/d", user="u")) == seen(address(host="h", user="u", database="d"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("host", "other"),
        ("host", "H"),
        ("port", 3308),
        ("user", "root"),
        ("password", "another"),
        ("password", ""),
        ("database", "D"),
        ("ssl_mode", "DISABLED"),
        ("ssl_ca", "/other.pem"),
        ("charset", "latin1"),
    ],
)
def test_a_contradiction_between_string_and_key_names_both(key: str, value: object) -> None:
    """Which of two values is meant is never guessed."""
    text = f"mysql://u:{SECRET}@h:3307/d?ssl-mode=VERIFY_CA&ssl-ca=ca.pem&charset=utf8mb4"

    found, sentence = refusal(text, **{key: value})

    assert found == f"shop.{key}"
    assert repr(key) in sentence
    assert "'connection_string'" in sentence


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        pytest.param({"user": "u", "database": "d"}, "host", id="no server"),
        pytest.param({"host": "h", "database": "d"}, "user", id="no user"),
        pytest.param({"host": "h", "user": "u"}, "database", id="no database"),
        pytest.param({**KEYS, "socket": "/s"}, "socket", id="two ways"),
        pytest.param({"user": "u", "database": "d", "socket": "/s", "port": 3306}, "socket", id="a socket has no port"),
        pytest.param({**KEYS, "host": "h:3306"}, "host", id="a port in the host"),
        pytest.param({**KEYS, "host": "/run/s"}, "host", id="a path in the host"),
        pytest.param({**KEYS, "password": f"{SECRET}\0"}, "password", id="NUL"),
        pytest.param({**KEYS, "password": f"{SECRET}\udcff"}, "password", id="bytes that are not UTF-8"),
        pytest.param({**KEYS, "charset": "utf8"}, "charset", id="the charset without all characters"),
        pytest.param({**KEYS, "ssl_mode": "VERIFY_CA"}, "ssl_mode", id="no authority"),
    ],
)
def test_separate_keys_that_say_too_little_or_too_much_are_refused(keys: dict[str, Any], key: str) -> None:
    assert refusal(**keys)[0] == f"shop.{key}"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_needs_no_certificate(host: str) -> None:
    assert is_loopback(host)
    assert address(host=host, user="u", database="d").ssl_mode == "PREFERRED"


@pytest.mark.parametrize("host", ["localhost.evil.org", "127.0.0.1.evil.org", "128.0.0.1", "0.0.0.0", "::", "10.0.0.1"])
def test_any_other_machine_must_show_who_it_is_unless_the_settings_say_otherwise(host: str) -> None:
    """Encryption that anyone could offer is never what silence means."""
    found = address(host=host, user="u", database="d")

    assert not found.is_local
    assert found.ssl_mode == "VERIFY_IDENTITY"


@settings(deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(["127", "0", "1", "255", "256", "00", "01", "1000", "-1", "", "x", "²", "\u0661"])))
def test_the_addresses_of_this_machine_are_those_that_ipaddress_knows(octets: list[str]) -> None:
    host = ".".join(["127", *octets])
    try:
        expected = ip_address(host).is_loopback
    except ValueError:
        expected = False

    assert is_loopback(host) == expected


def test_an_address_does_not_show_its_password() -> None:
    found = address(f"mysql://u:{SECRET}@h/d")

    assert SECRET not in f"{found!r} {found.password!r} {found.password}"


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    user=st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1),
    password=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)
def test_every_account_survives_its_encoding(user: str, password: str) -> None:
    found = address(f"mysql://{quote(user, safe='')}:{quote(password, safe='')}@h/d")

    assert (found.user, found.password.reveal()) == (user, password)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0%")))
def test_a_password_needs_no_encoding_but_for_the_percent_sign(password: str) -> None:
    """The account ends at the last at sign."""
    assert address(f"mysql://u:{password}@h/d").password.reveal() == password


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(alphabet="ab:/@?#%[]&=.-1 \0ssl", max_size=30))
def test_no_text_is_more_than_refused(text: str) -> None:
    try:
        found = address(f"mysql://{text}")
    except SettingsError:
        return
    assert found.user
    assert found.database
    assert bool(found.host) != bool(found.socket)
