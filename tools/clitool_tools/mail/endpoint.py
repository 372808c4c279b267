"""Where a mail server is and how the connection to it is encrypted."""

from __future__ import annotations

from clitool.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

IMPLICIT, STARTTLS, NONE = "implicit", "starttls", "none"
# RFC 8314, 3.3 and 7.3: encryption from the first byte is the default; 25 is what a relay on this machine listens on.
_PORTS = {
    "imap": {IMPLICIT: 993, STARTTLS: 143, NONE: 143},
    "smtp": {IMPLICIT: 465, STARTTLS: 587, NONE: 25},
}
_NEVER_IN_HOSTS = frozenset("/@[] ")
_STARTTLS_PORTS = frozenset((25, 143, 587))


class Endpoint:
    """One server of an account.

    Attributes:
        protocol: ``imap`` or ``smtp``; its settings are called ``imap_…`` or ``smtp_…``.
        host: name or address; the certificate must be for it.
        port: where it listens.
        tls: ``implicit`` (from the first byte), ``starttls`` (after a command) or ``none`` (loopback only).
    """

    __slots__ = ("host", "port", "protocol", "tls")

    def __init__(self, protocol: str, host: str, port: int, tls: str) -> None:
        self.protocol = protocol
        self.host = host
        self.port = port
        self.tls = tls

    def __str__(self) -> str:
        """Return the server for a sentence: ``the IMAP server mail.example.org:993``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"the {self.protocol.upper()} server {host}:{self.port}"


def parse_endpoint(protocol: str, values: Mapping[str, Any], prefix: str) -> Endpoint | None:
    """Return the server that ``<protocol>_host``, ``_port`` and ``_tls`` describe, or None if there is no host.

    Raises:
        SettingsError: a host that is none, a port or tls without a host, or no encryption off this machine.
    """
    host_key, port_key, tls_key = (f"{protocol}_{what}" for what in ("host", "port", "tls"))
    host = values.get(host_key)
    if host is None:
        for key in (port_key, tls_key):
            if key in values:
                raise SettingsError(prefix + key, f"{key!r} is of no use without {host_key!r}")
        return None
    _check_host(host, prefix + host_key)
    tls = values.get(tls_key) or (STARTTLS if values.get(port_key) in _STARTTLS_PORTS else IMPLICIT)
    if tls == NONE and not _is_this_machine(host):
        message = (
            "'none' sends passwords in the clear and is for servers on this machine only; use implicit or starttls"
        )
        raise SettingsError(prefix + tls_key, message)
    return Endpoint(protocol, host, values.get(port_key) or _PORTS[protocol][tls], tls)


def _check_host(host: str, key: str) -> None:
    if _NEVER_IN_HOSTS.intersection(host) or not host.isprintable() or not host.isascii():
        raise SettingsError(key, "must be the name or address of a server and nothing else: mail.example.org or ::1")
    if host.count(":") == 1:
        raise SettingsError(
            key, f"give the port as {key.rpartition('.')[2].replace('host', 'port')!r}, not in the host"
        )


def _is_this_machine(host: str) -> bool:
    parts = host.split(".")
    in_127 = len(parts) == 4 and parts[0] == "127" and all(part.isdecimal() for part in parts)
    return in_127 or host.lower() in ("localhost", "::1")
