"""Which server, account and database the settings mean: a connection string, separate keys, or both if they agree."""

from __future__ import annotations

import os

from clitool.errors import SettingsError
from clitool.family import Secret
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool.family import Origin

_PORT = 3306
_FILES = ("socket", "ssl_ca", "ssl_cert", "ssl_key")
_MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
_SERVERS_OWN = ("information_schema", "mysql", "performance_schema", "sys")
_VERIFYING = ("VERIFY_CA", "VERIFY_IDENTITY")


class Address:
    """One database on one server, and how to log in; without a way to show the password.

    Attributes:
        host, port: of the server; empty and 0 if it is reached through a socket.
        socket: absolute path of its Unix socket, or empty.
        user, password: the account; the password may be empty.
        database: the one that is used.
        ssl_mode: ``DISABLED``, ``PREFERRED``, ``REQUIRED``, ``VERIFY_CA`` or ``VERIFY_IDENTITY``, as MySQL's own
            clients understand them; ``VERIFY_IDENTITY`` if the settings say nothing and the server is not on this
            machine, or if they name authorities to trust.
        ssl_ca, ssl_cert, ssl_key: absolute paths, or empty.
    """

    __slots__ = ("database", "host", "password", "port", "socket", "ssl_ca", "ssl_cert", "ssl_key", "ssl_mode", "user")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.socket: str = values.get("socket", "")
        self.host: str = "" if self.socket else values["host"]
        self.port: int = 0 if self.socket else values.get("port", _PORT)
        self.user: str = values["user"]
        self.password = Secret(values.get("password", ""))
        self.database: str = values["database"]
        self.ssl_ca: str = values.get("ssl_ca", "")
        self.ssl_cert: str = values.get("ssl_cert", "")
        self.ssl_key: str = values.get("ssl_key", "")
        self.ssl_mode: str = values.get("ssl_mode") or self._default_mode()

    @property
    def is_local(self) -> bool:
        """Whether nobody outside of this machine can listen on the way to the server."""
        return bool(self.socket) or is_loopback(self.host)

    def _default_mode(self) -> str:
        if self.socket:
            return "DISABLED"
        return "PREFERRED" if self.is_local and not self.ssl_ca else "VERIFY_IDENTITY"


def address(settings: Mapping[str, Any], origin: Origin, prefix: str) -> Address:
    """Return what the settings mean.

    Raises:
        SettingsError: something is missing, malformed, or said twice in different ways; never with the password.
    """
    values = _merged(settings, prefix)
    for key in _FILES:
        if key in values:
            values[key] = os.path.join(origin.folder, values[key])
    for key in ("user", "database"):
        if not values.get(key):
            raise SettingsError(prefix + key, f"{key!r} is missing: give it here or in 'connection_string'")
    if values["database"].casefold() in _SERVERS_OWN:
        raise SettingsError(
            prefix + "database", f"{shown(values['database'])} belongs to the server and cannot be used"
        )
    _check_texts(values, prefix)
    _check_server(values, prefix)
    _check_encryption(values, prefix)
    return Address(values)


def is_loopback(host: str) -> bool:
    """Return whether the name or address of a host always means this machine."""
    if host.casefold().rstrip(".") == "localhost":
        return True
    if ":" not in host:  # `ipaddress` would say the same, but its import takes longer than the whole of this module
        octets = host.split(".")
        return len(octets) == 4 and octets[0] == "127" and all(map(_is_octet, octets))
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_octet(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 3 and int(text) < 256 and str(int(text)) == text


def _merged(settings: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return what the connection string and the keys say together."""
    values = _parts(settings.get("connection_string"), prefix + "connection_string")
    for key, value in settings.items():
        if key in _OWN:
            value = _revealed(value)  # noqa: PLW2901 - the same without its wrapping
            if key in values and values[key] != value:
                raise SettingsError(prefix + key, f"{key!r} contradicts 'connection_string'; say it once")
            values[key] = value
    return values


def _parts(connection_string: Any, key: str) -> dict[str, Any]:  # noqa: ANN401 - a secret, a text or None
    if connection_string is None:
        return {}
    from clitool_tools.database.mysql.connection_string import parts

    return parts(_revealed(connection_string), key)


_OWN = (
    "host",
    "port",
    "socket",
    "user",
    "password",
    "database",
    "ssl_mode",
    "ssl_ca",
    "ssl_cert",
    "ssl_key",
    "charset",
)


def _revealed(value: Any) -> Any:  # noqa: ANN401 - of any type that the schema has
    return value.reveal() if isinstance(value, Secret) else value


def _check_texts(values: Mapping[str, Any], prefix: str) -> None:
    for key, value in values.items():
        if isinstance(value, str) and not _is_sound(value):
            raise SettingsError(prefix + key, f"{key!r} holds a character that it cannot have")
    for key in ("user", "database"):
        if values[key] != values[key].strip():
            raise SettingsError(prefix + key, f"{key!r} has a blank at its beginning or end")


def _is_sound(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _check_server(values: dict[str, Any], prefix: str) -> None:
    host = values.get("host", "")
    if "socket" in values:
        # "localhost" beside a socket is how connection strings say that the server is on this machine.
        if (host and host != "localhost") or "port" in values:
            raise SettingsError(prefix + "socket", "'socket' and 'host' contradict each other; give one of them")
    elif not host:
        raise SettingsError(prefix + "host", "'host' is missing: give it, or 'socket', here or in 'connection_string'")
    if host and not _is_host(host):
        raise SettingsError(prefix + "host", "'host' is neither a name nor an address of one server")
    if values.get("charset", "utf8mb4").casefold() != "utf8mb4":
        raise SettingsError(prefix + "charset", "'charset' can only be utf8mb4, which holds every character")


def _is_host(host: str) -> bool:
    if ":" not in host:
        return host.isascii() and host.replace("-", "").replace("_", "").replace(".", "").isalnum()
    from ipaddress import ip_address

    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _check_encryption(values: Mapping[str, Any], prefix: str) -> None:
    mode = values.get("ssl_mode", "")
    if mode and mode not in _MODES:
        raise SettingsError(
            prefix + "ssl_mode", f"'ssl_mode' cannot be {shown(mode)}; it is one of {', '.join(_MODES)}"
        )
    if ("ssl_cert" in values) != ("ssl_key" in values):
        raise SettingsError(prefix + "ssl_cert", "'ssl_cert' and 'ssl_key' are only of use together")
    files = [key for key in ("ssl_ca", "ssl_cert") if key in values]
    if "socket" in values and (mode not in ("", "DISABLED", "PREFERRED") or files):
        raise SettingsError(prefix + "ssl_mode", "a Unix socket is not encrypted, and need not be; leave 'ssl_…' out")
    if files and mode == "DISABLED":
        raise SettingsError(prefix + files[0], f"{files[0]!r} contradicts 'ssl_mode': DISABLED")
    if "ssl_ca" in values and mode and mode not in _VERIFYING:
        raise SettingsError(
            prefix + "ssl_ca", "'ssl_ca' is only looked at where 'ssl_mode' is VERIFY_CA or VERIFY_IDENTITY"
        )
    if mode == "VERIFY_CA" and "ssl_ca" not in values:
        raise SettingsError(
            prefix + "ssl_mode", "VERIFY_CA needs 'ssl_ca': a public authority certifies anyone; or use VERIFY_IDENTITY"
        )
