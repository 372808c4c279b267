"""Which servers, account and database a MongoDB connection string means; read without the driver, and more strictly.

https://www.mongodb.com/docs/manual/reference/connection-string/
"""

from __future__ import annotations

import os

from clitool.errors import SettingsError
from clitool.family import Secret
from clitool_tools.database.names import shown
from clitool_tools.database.percent import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool.family import Origin

_SCHEMES = ("mongodb://", "mongodb+srv://")
_USAGE = "write mongodb://user:password@host:27017/database, or mongodb+srv://user:password@cluster/database"
_ESCAPES = "write %40 for @, %3A for :, %2F for /, %3F for ?, %23 for # and %25 for % there"
_OWN_DATABASES = ("admin", "config", "local", "$external")
_FORBIDDEN = '/\\. "$*<>:|?'  # in the name of a database
X509 = "MONGODB-X509"


class Address:
    """One database on one server or set of servers, and how to log in; without a way to show the password.

    Attributes:
        scheme: ``mongodb://`` or ``mongodb+srv://``.
        hosts: names or addresses with their ports, or absolute paths of Unix sockets ending in ``.sock``.
        database: the one that is used.
        user, password: the account; empty if there is none.
        options: for the driver, under its names; paths are absolute, and the passphrase of a key is a `Secret`.
    """

    __slots__ = ("database", "hosts", "options", "password", "scheme", "user")

    def __init__(self, scheme: str, hosts: tuple[str, ...], database: str, account: tuple[str, str]) -> None:
        self.scheme = scheme
        self.hosts = hosts
        self.database = database
        self.user, password = account
        self.password = Secret(password)
        self.options: dict[str, Any] = {}

    @property
    def is_encrypted(self) -> bool:
        """Whether the connection is encrypted; then the server's certificate is always verified."""
        return bool(self.options.get("tls", self.scheme == _SCHEMES[1]))


def address(settings: Mapping[str, Any], origin: Origin, prefix: str) -> Address:
    """Return what `connection_string` means.

    Raises:
        SettingsError: missing or malformed, without a database or with one of the server's own, or with an option that
            is unknown or would make the connection less safe; never with anything that could be the password.
    """
    from clitool_tools.database.mongodb.options import options

    key = prefix + "connection_string"
    given = settings.get("connection_string")
    if given is None:
        raise SettingsError(key, "'connection_string' is missing")
    text = given.reveal() if isinstance(given, Secret) else given
    scheme = next((each for each in _SCHEMES if text.startswith(each)), None)
    if scheme is None:
        raise SettingsError(key, _USAGE)
    account, at, rest = text[len(scheme) :].rpartition("@")
    if "#" in rest:
        raise SettingsError(key, "has a # behind the account; write %23")
    servers, _, query = rest.partition("?")
    hosts, _, database = servers.partition("/")
    login = _account(account, key) if at else ("", "")
    found = Address(scheme, _hosts(hosts, scheme, key), _database(database, key), login)
    found.options = {name: _absolute(name, value, origin) for name, value in options(query, key).items()}
    _check(found, key)
    return found


def _account(text: str, key: str) -> tuple[str, str]:
    if not text.isprintable() or any(character in text for character in "@/?#[]") or text.count(":") > 1:
        raise SettingsError(key, f"has an unescaped character in the user, the password or an option; {_ESCAPES}")
    user, colon, password = (_decoded(part, "the user or the password", key) for part in text.partition(":"))
    if not user or (colon and not password):
        raise SettingsError(key, "has an @ without a user, or a user with an empty password")
    return user, password


def _hosts(text: str, scheme: str, key: str) -> tuple[str, ...]:
    hosts = tuple(_host(part, key) for part in text.split(","))
    if scheme == _SCHEMES[1] and (len(hosts) > 1 or ":" in hosts[0] or hosts[0].count(".") < 2 or "/" in hosts[0]):
        raise SettingsError(key, "names with mongodb+srv:// one host with a domain, and no port: cluster.example.org")
    return hosts


def _host(text: str, key: str) -> str:
    plain = _decoded(text, "a host", key)
    if plain.startswith("/") and plain.endswith(".sock") and plain.isprintable():
        return plain
    name, colon, port = plain.rpartition(":") if not plain.endswith("]") else (plain, "", "")
    if not colon:
        name = plain
    if colon and not (port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) < 65536):
        raise SettingsError(key, "has a malformed port; it is a number from 1 to 65535")
    if not _is_name(name):
        raise SettingsError(
            key,
            "has no host, or a malformed one; an IPv6 address stands in brackets, a Unix socket is %2Fpath%2Fx.sock",
        )
    return plain


def _is_name(name: str) -> bool:
    if name.startswith("[") and name.endswith("]"):
        return ":" in name and not name[1:-1].strip("0123456789abcdefABCDEF:.")
    return name.isascii() and name.replace("-", "").replace("_", "").replace(".", "").isalnum()


def _database(text: str, key: str) -> str:
    name = _decoded(text, "the database", key)
    if not name:
        raise SettingsError(key, f"names no database; {_USAGE}")
    if name in _OWN_DATABASES:
        raise SettingsError(
            key, f"names {shown(name)}, which is the server's own; where the account is kept is said by authSource"
        )
    if any(character in name for character in _FORBIDDEN) or not name.isprintable() or len(name.encode()) > 63:
        raise SettingsError(key, "has a malformed database; after the host stands one name, then perhaps ? and options")
    return name


def _absolute(name: str, value: Any, origin: Origin) -> Any:  # noqa: ANN401 - texts, numbers and booleans
    return os.path.join(origin.folder, value) if name.endswith("File") else value


def _check(found: Address, key: str) -> None:
    """Raise `SettingsError` for what does not go together."""
    given = found.options
    if not found.is_encrypted:
        for name in given:
            if name.startswith("tls") and name != "tls":
                raise SettingsError(key, f"has {name}, which is only of use with tls=true")
    if given.get("directConnection") and (len(found.hosts) > 1 or found.scheme == _SCHEMES[1]):
        raise SettingsError(key, "has directConnection, which goes with one host only")
    _check_login(found, key)


def _check_login(found: Address, key: str) -> None:
    given = found.options
    by_certificate = given.get("authMechanism") == X509
    if by_certificate and ("tlsCertificateKeyFile" not in given or found.password.reveal()):
        raise SettingsError(key, f"has {X509}, which needs tlsCertificateKeyFile and takes no password")
    if by_certificate != (given.get("authSource", "$external" if by_certificate else "") == "$external"):
        raise SettingsError(key, f"has an authSource that does not go with its authMechanism; $external is for {X509}")
    if found.user and not by_certificate and not found.password.reveal():
        raise SettingsError(key, "names a user without a password")


def _decoded(text: str, what: str, key: str) -> str:
    try:
        return decoded(text)
    except ValueError:
        raise SettingsError(
            key, f"has a % in {what} without two hexadecimal digits after it, or is not UTF-8; write %25 for %"
        ) from None
