"""The connection string ``mysql://user:password@host:3306/database?ssl-mode=…``, taken apart and decoded."""

from __future__ import annotations

from clitool.errors import SettingsError
from clitool_tools.database.names import hint, shown
from clitool_tools.database.percent import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEME = "mysql://"
OPTIONS = {
    "ssl-mode": "ssl_mode",
    "ssl-ca": "ssl_ca",
    "ssl-cert": "ssl_cert",
    "ssl-key": "ssl_key",
    "socket": "socket",
    "charset": "charset",
}
_USAGE = "write mysql://user:password@host:3306/database?ssl-mode=VERIFY_IDENTITY"


def parts(text: str, key: str) -> dict[str, Any]:
    """Return what the text says, under the names of the separate settings; what it leaves out is not there.

    The account ends at the last ``@``, so that a password may hold any character; only ``%`` must be written ``%25``.
    The account, the database and the options may be percent-encoded, and the host too, to name a socket:
    ``mysql://user@%2Frun%2Fmysqld%2Fmysqld.sock/database``.

    Raises:
        SettingsError: for `key`; its sentence shows nothing that could be part of the password.
    """
    if not text.startswith(SCHEME):
        raise SettingsError(key, _USAGE)
    account, at, rest = text[len(SCHEME) :].rpartition("@")
    if any(f"{before}{option}=" in account for before in "?&" for option in OPTIONS):
        raise SettingsError(key, "has an @ after its options; write %40 there (and %3F for ? in a password)")
    if "#" in rest:
        raise SettingsError(key, "has a # after the account; write %23")
    server, question, options = rest.partition("?")
    host, _, database = server.partition("/")
    found = {**_account(account, key), **_server(host, key)} if at else _server(host, key)
    if database:
        found["database"] = _decoded(database, "the database", key)
    for name, value in (_options(options, key) if question else {}).items():
        if name in found:
            raise SettingsError(key, f"names the {name} twice")
        found[name] = value
    return found


def _account(text: str, key: str) -> dict[str, Any]:
    user, colon, password = text.partition(":")
    found = {"user": _decoded(user, "the user", key)}
    return {**found, "password": _decoded(password, "the password", key)} if colon else found


def _server(text: str, key: str) -> dict[str, Any]:
    host, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        host, port = text, ""
    host = _decoded(host, "the host", key)
    if host.startswith("/"):
        if colon:
            raise SettingsError(key, "names a socket, which has no port")
        return {"socket": host}
    if host.startswith("[") != host.endswith("]") or (":" in host and not host.startswith("[")):
        raise SettingsError(key, "has a malformed host; an IPv6 address stands in brackets: [::1]:3306")
    host = host[1:-1] if host.startswith("[") else host
    return {**({"host": host} if host else {}), **({"port": _port(port, key)} if colon else {})}


def _port(text: str, key: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and 0 < int(text) < 65536):
        raise SettingsError(key, "has a malformed port; it is a number from 1 to 65535")
    return int(text)


def _options(text: str, key: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for option in text.split("&"):
        name, _, value = option.partition("=")
        if name not in OPTIONS:
            offer = hint(name, OPTIONS) or f"; there are {', '.join(OPTIONS)}"
            raise SettingsError(key, f"has an unknown option {shown(name)}{offer}")
        if OPTIONS[name] in found:
            raise SettingsError(key, f"has the option {name} twice")
        if not value:
            raise SettingsError(key, f"has the option {name} without a value")
        plain = _decoded(value, name, key)
        found[OPTIONS[name]] = plain.upper() if name == "ssl-mode" else plain
    return found


def _decoded(text: str, what: str, key: str) -> str:
    try:
        return decoded(text)
    except ValueError:
        raise SettingsError(
            key, f"has a % in {what} without two hexadecimal digits after it, or is not UTF-8; write %25 for %"
        ) from None
