"""MongoDB connection strings: what they mean, what is refused, and that no password is ever shown."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from clitool_tools.database.mongodb.address import Address, address
from clitool_tools.database.settings import parse

from clitool.errors import SettingsError
from clitool.family import Origin, Secret

ORIGIN = Origin("/etc/clients")
PASSWORD = "Pa55-word"


def read(text: str) -> Address:
    return address({"connection_string": Secret(text)}, ORIGIN, "")


def seen(found: Address) -> dict[str, Any]:
    """Return what an address says, its secrets revealed."""
    options = {name: value.reveal() if isinstance(value, Secret) else value for name, value in found.options.items()}
    return {
        "hosts": found.hosts,
        "database": found.database,
        **({"user": found.user} if found.user else {}),
        **({"password": found.password.reveal()} if found.password.reveal() else {}),
        **options,
    }


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        pytest.param("mongodb://h/db", {"hosts": ("h",), "database": "db"}, id="least"),
        pytest.param(
            "mongodb://h:1/db?", {"hosts": ("h:1",), "database": "db"}, id="no options behind a question mark"
        ),
        pytest.param(
            "mongodb://a.b:27017,127.0.0.1:2,[::1]:3,[fe80::1]/db",
            {"hosts": ("a.b:27017", "127.0.0.1:2", "[::1]:3", "[fe80::1]"), "database": "db"},
            id="several hosts",
        ),
        pytest.param(
            "mongodb://%2Frun%2Fmongodb%2Fm.sock/db", {"hosts": ("/run/mongodb/m.sock",), "database": "db"}, id="socket"
        ),
        pytest.param(
            "mongodb://u:p%40s%3As%2F%3F%23%5B%25%C3%A9@h/db",
            {"hosts": ("h",), "database": "db", "user": "u", "password": "p@s:s/?#[%é"},
            id="escaped password",
        ),
        pytest.param("mongodb://h/%64b-1_é", {"hosts": ("h",), "database": "db-1_é"}, id="escaped database"),
        pytest.param(
            "mongodb+srv://u:p@cluster0.abc.mongodb.net/db?retryWrites=true&w=majority&appName=Cluster0",
            {
                "hosts": ("cluster0.abc.mongodb.net",),
                "database": "db",
                "user": "u",
                "password": "p",
                "retryWrites": True,
                "appName": "Cluster0",
            },
            id="as Atlas gives it",
        ),
        pytest.param(
            "mongodb://u:p@h/db?TLS=true&tlscafile=ca.pem&tlsCertificateKeyFile=%2Fk.pem&tlsCertificateKeyFilePassword=x",
            {
                "hosts": ("h",),
                "database": "db",
                "user": "u",
                "password": "p",
                "tls": True,
                "tlsCAFile": "/etc/clients/ca.pem",
                "tlsCertificateKeyFile": "/k.pem",
                "tlsCertificateKeyFilePassword": "x",
            },
            id="files beside the clients file, names in any case",
        ),
        pytest.param(
            "mongodb://h/db?ssl=true&authMechanism=MONGODB-X509&tlsCertificateKeyFile=k",
            {
                "hosts": ("h",),
                "database": "db",
                "tls": True,
                "authMechanism": "MONGODB-X509",
                "tlsCertificateKeyFile": "/etc/clients/k",
            },
            id="login by certificate",
        ),
        pytest.param(
            "mongodb://u:p@h/db?authSource=admin&replicaSet=rs0&readConcernLevel=majority&authMechanism=SCRAM-SHA-256",
            {
                "hosts": ("h",),
                "database": "db",
                "user": "u",
                "password": "p",
                "authSource": "admin",
                "replicaSet": "rs0",
                "readConcernLevel": "majority",
                "authMechanism": "SCRAM-SHA-256",
            },
            id="the usual options",
        ),
        pytest.param(
            "mongodb://h/db?directConnection=true&retryWrites=false",
            {"hosts": ("h",), "database": "db", "directConnection": True, "retryWrites": False},
            id="one server directly",
        ),
        pytest.param(
            "mongodb://h/db?readPreference=primary&tlsInsecure=false&journal=true&uuidRepresentation=standard",
            {"hosts": ("h",), "database": "db"},
            id="what is so anyway",
        ),
    ],
)
def test_a_connection_string_means(text: str, meant: dict[str, Any]) -> None:
    assert seen(read(text)) == meant


REFUSED = [
    pytest.param("", "mongodb://", id="empty"),
    pytest.param("localhost:27017", "mongodb://", id="no scheme"),
    pytest.param("MONGODB://h/db", "mongodb://", id="upper case"),
    pytest.param("mysql://h/db", "mongodb://", id="another scheme"),
    pytest.param("mongodb:h/db", "mongodb://", id="no slashes"),
    pytest.param("mongodb://", "no host", id="nothing behind it"),
    pytest.param("mongodb:///db", "no host", id="no host"),
    pytest.param("mongodb://h,/db", "no host", id="a host missing in a list"),
    pytest.param("mongodb://h", "no database", id="no database"),
    pytest.param("mongodb://h/", "no database", id="empty database"),
    pytest.param("mongodb://h/?tls=true", "no database", id="options without a database"),
    pytest.param("mongodb://h/admin", "server's own", id="admin"),
    pytest.param("mongodb://h/config", "server's own", id="config"),
    pytest.param("mongodb://h/local", "server's own", id="local"),
    pytest.param("mongodb://h/%24external", "server's own", id="external"),
    pytest.param("mongodb://h/%61dmin", "server's own", id="admin in disguise"),
    pytest.param("mongodb://h/db/x", "malformed database", id="path"),
    pytest.param("mongodb://h/db.orders", "malformed database", id="a collection"),
    pytest.param("mongodb://h/a%00b", "malformed database", id="NUL in the database"),
    pytest.param("mongodb://h/a%20b", "malformed database", id="blank in the database"),
    pytest.param("mongodb://h/$cmd", "malformed database", id="dollar in the database"),
    pytest.param("mongodb://h/" + "x" * 64, "malformed database", id="long database"),
    pytest.param("mongodb://h:0/db", "port", id="port zero"),
    pytest.param("mongodb://h:65536/db", "port", id="large port"),
    pytest.param("mongodb://h:x/db", "port", id="no number"),
    pytest.param("mongodb://h:/db", "port", id="empty port"),
    pytest.param("mongodb://::1/db", "brackets", id="address without brackets"),
    pytest.param("mongodb://[::1/db", "host", id="half a bracket"),
    pytest.param("mongodb://[x]/db", "host", id="no address in brackets"),
    pytest.param("mongodb://a b/db", "host", id="blank in a host"),
    pytest.param("mongodb://%2Frun%2Fm/db", "host", id="socket that is none"),
    pytest.param("mongodb+srv://h/db", "domain", id="cluster without a domain"),
    pytest.param("mongodb+srv://a.b.c:1/db", "no port", id="cluster with a port"),
    pytest.param("mongodb+srv://a.b.c,d.e.f/db", "one host", id="two clusters"),
    pytest.param(f"mongodb://u:{PASSWORD}@x@h/db", "%40", id="at sign in the password"),
    pytest.param(f"mongodb://u@x:{PASSWORD}@h/db", "%40", id="at sign in the user"),
    pytest.param(f"mongodb://u:{PASSWORD}/x@h/db", "%2F", id="slash in the password"),
    pytest.param(f"mongodb://u:{PASSWORD}:x@h/db", "%3A", id="colon in the password"),
    pytest.param(f"mongodb://u:{PASSWORD}?x@h/db", "%3F", id="question mark in the password"),
    pytest.param(f"mongodb://u:{PASSWORD}#x@h/db", "%23", id="hash in the password"),
    pytest.param(f"mongodb://u:{PASSWORD}%@h/db", "%25", id="percent in the password"),
    pytest.param(f"mongodb://u:{PASSWORD}%zz@h/db", "%25", id="wrong escape in the password"),
    pytest.param(f"mongodb://u:{PASSWORD}%ff@h/db", "%25", id="password that is not UTF-8"),
    pytest.param(f"mongodb://u:{PASSWORD}\n@h/db", "unescaped", id="line feed in the password"),
    pytest.param(f"mongodb://h/db?tlsCAFile=a@{PASSWORD}", "unescaped", id="at sign in an option"),
    pytest.param(f"mongodb://u:{PASSWORD}/db", "port", id="host forgotten"),
    pytest.param("mongodb://@h/db", "without a user", id="empty user"),
    pytest.param("mongodb://u:@h/db", "empty password", id="empty password"),
    pytest.param("mongodb://u@h/db", "without a password", id="no password"),
    # Options that would make the connection less safe
    pytest.param("mongodb://h/db?tlsInsecure=true", "tlsCAFile", id="insecure"),
    pytest.param("mongodb://h/db?tlsAllowInvalidCertificates=true", "tlsCAFile", id="any certificate"),
    pytest.param("mongodb://h/db?tlsAllowInvalidHostnames=true", "tlsCAFile", id="any host"),
    pytest.param("mongodb://h/db?TLSALLOWINVALIDHOSTNAMES=TRUE", "tlsCAFile", id="the same in upper case"),
    pytest.param("mongodb://h/db?tlsInsecur%65=true", "unknown option", id="escaped name"),
    pytest.param("mongodb://h/db?tlsDisableOCSPEndpointCheck=true", "verified", id="revoked certificates"),
    pytest.param("mongodb://h/db?ssl_cert_reqs=CERT_NONE", "unknown option", id="option of old"),
    pytest.param("mongodb://h/db?readPreference=secondary", "primary", id="stale reads"),
    pytest.param("mongodb://h/db?readPreference=nearest", "primary", id="stale reads, perhaps"),
    pytest.param("mongodb://h/db?readPreferenceTags=dc:x", "readPreferenceTags", id="tags"),
    pytest.param("mongodb://h/db?maxStalenessSeconds=90", "maxStalenessSeconds", id="staleness"),
    pytest.param("mongodb://h/db?readConcernLevel=available", "readConcernLevel", id="orphans"),
    pytest.param("mongodb://h/db?w=0", "majority", id="writes without an answer"),
    pytest.param("mongodb://h/db?w=1", "majority", id="writes that one server knows"),
    pytest.param("mongodb://h/db?journal=false", "crash", id="writes without a journal"),
    pytest.param("mongodb://h/db?wTimeoutMS=1", "'timeout'", id="write timeout"),
    pytest.param("mongodb://h/db?timeoutMS=0", "'timeout'", id="no timeout"),
    pytest.param("mongodb://h/db?connectTimeoutMS=0", "'timeout'", id="no timeout to connect"),
    pytest.param("mongodb://h/db?socketTimeoutMS=0", "'timeout'", id="no timeout of sockets"),
    pytest.param("mongodb://h/db?serverSelectionTimeoutMS=600000", "'timeout'", id="long selection"),
    pytest.param("mongodb://h/db?authMechanism=PLAIN", "authMechanism", id="password in the clear"),
    pytest.param("mongodb://h/db?authMechanism=MONGODB-AWS", "authMechanism", id="login by the machine's role"),
    pytest.param("mongodb://h/db?authMechanism=MONGODB-OIDC", "authMechanism", id="login by another server"),
    pytest.param("mongodb://h/db?authMechanism=GSSAPI", "authMechanism", id="login by Kerberos"),
    pytest.param("mongodb://h/db?authMechanismProperties=X:y", "authMechanismProperties", id="properties"),
    pytest.param("mongodb://h/db?appName=a%0Ab", "appName", id="line feed in the name"),
    pytest.param("mongodb://h/db?appName=" + "x" * 129, "appName", id="long name"),
    pytest.param("mongodb://h/db?uuidRepresentation=pythonLegacy", "standard", id="UUIDs of old"),
    pytest.param("mongodb://h/db?loadBalanced=true", "transactions", id="load balancer"),
    pytest.param("mongodb://h/db?compressors=zlib", "compressors", id="compression"),
    pytest.param("mongodb://h/db?proxyHost=evil", "unknown option", id="proxy"),
    pytest.param("mongodb://h/db?maxPoolSize=1000", "maxPoolSize", id="pool"),
    # Options that are wrong
    pytest.param("mongodb://h/db?replicaset_=x", "'replicaSet'", id="misspelt"),
    pytest.param("mongodb://h/db?tlsCAfiles=x", "'tlsCAFile'", id="nearly"),
    pytest.param("mongodb://h/db?x", "unknown option", id="no value, no option"),
    pytest.param("mongodb://h/db?tls", "tls", id="no value"),
    pytest.param("mongodb://h/db?tls=yes", "tls", id="no flag"),
    pytest.param("mongodb://h/db?tls=true&tls=false", "twice", id="twice"),
    pytest.param("mongodb://h/db?tls=true&ssl=true", "twice", id="twice by its two names"),
    pytest.param("mongodb://h/db?tls=true;replicaSet=x", "tls", id="semicolon"),
    pytest.param("mongodb://h/db?&tls=true", "unknown option", id="empty option"),
    pytest.param("mongodb://h/db?replicaSet=%", "%25", id="wrong escape"),
    pytest.param("mongodb://h/db?replicaSet=", "replicaSet", id="empty value"),
    pytest.param("mongodb://h/db?tlsCAFile=x", "tls=true", id="authority without TLS"),
    pytest.param("mongodb+srv://a.b.c/db?tls=false&tlsCAFile=x", "tls=true", id="authority with TLS switched off"),
    pytest.param("mongodb://h,i/db?directConnection=true", "one host", id="two servers directly"),
    pytest.param("mongodb+srv://a.b.c/db?directConnection=true", "one host", id="a cluster directly"),
    pytest.param("mongodb://h/db?tls=true&authMechanism=MONGODB-X509", "tlsCertificateKeyFile", id="no certificate"),
    pytest.param(
        f"mongodb://u:{PASSWORD}@h/db?tls=true&authMechanism=MONGODB-X509&tlsCertificateKeyFile=x",
        "no password",
        id="certificate and password",
    ),
    pytest.param("mongodb://u:p@h/db?authSource=%24external", "authSource", id="external without a certificate"),
    pytest.param("mongodb://h/db#x", "%23", id="fragment"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_a_connection_string_is_refused_without_showing_what_could_be_the_password(text: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(text)
    assert words in str(caught.value)
    assert caught.value.key == "connection_string"
    assert PASSWORD not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_connection_string_is_an_error() -> None:
    with pytest.raises(SettingsError, match="missing"):
        address({}, ORIGIN, "")


def test_no_password_shows_itself() -> None:
    found = read(
        f"mongodb://u:{PASSWORD}@h/db?tls=true&tlsCertificateKeyFile=k&tlsCertificateKeyFilePassword={PASSWORD}"
    )
    assert PASSWORD not in repr(found) + repr(found.options) + repr(found.password)


@pytest.mark.parametrize(
    ("text", "is_encrypted"),
    [("mongodb://h/db", False), ("mongodb://h/db?tls=true", True), ("mongodb+srv://a.b.c/db", True)],
)
def test_an_address_says_whether_it_is_encrypted(text: str, *, is_encrypted: bool) -> None:
    assert read(text).is_encrypted is is_encrypted


@pytest.mark.parametrize("name", ["system.users", "system.views", "oplog.$main", "$cmd", "a$b", "system.buckets.x"])
def test_the_servers_own_collections_can_never_be_allowed(name: str) -> None:
    settings = {"type": "mongodb", "connection_string": Secret("mongodb://h/db"), "allowed_tables": [name]}
    with pytest.raises(SettingsError, match="never"):
        parse(settings, ORIGIN)
    everything = parse({**settings, "allowed_tables": "all"}, ORIGIN)[""]
    assert not everything.allows(name)


def test_a_setting_that_means_nothing_here_is_refused() -> None:
    """There are no triggers and cascades, so nobody shall believe that a list of their tables protects something."""
    settings = {"type": "mongodb", "connection_string": Secret("mongodb://h/db"), "allowed_tables": ["orders"]}
    with pytest.raises(SettingsError, match="not a setting of type mongodb"):
        parse({**settings, "allow_side_effects": ["audit"]}, ORIGIN)


@pytest.mark.parametrize(("allowed", "asked"), [("orders", "Orders"), ("Straße", "STRASSE"), ("é", "e\u0301")])
def test_names_of_collections_are_exact(allowed: str, asked: str) -> None:
    settings = {"type": "mongodb", "connection_string": Secret("mongodb://h/db"), "allowed_tables": [allowed]}
    connection = parse(settings, ORIGIN)[""]
    assert connection.allows(allowed)
    assert not connection.allows(asked)


def test_settings_are_read_without_the_driver() -> None:
    """Reading the clients file costs no import of a driver, and works where none is installed."""
    script = (
        "import sys; from clitool_tools.database.settings import parse; from clitool.family import Origin\n"
        "text = 'mongodb://u:p@h/db?tls=true'\n"
        "parse({'type': 'mongodb', 'connection_string': text, 'allowed_tables': 'all'}, Origin('/'))\n"
        "print(*sorted({'pymongo', 'bson', 're', 'ssl', 'urllib', 'ipaddress'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""
