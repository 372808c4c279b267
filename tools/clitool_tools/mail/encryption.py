"""What `clitool check --connect` says about the encryption of a connection."""

from __future__ import annotations

from clitool.family import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.mail.wire import Wire

_FEW_DAYS = 14


def encryption(wire: Wire, prefix: str) -> Finding:
    """Return the finding about an open connection; `prefix` stands before the setting's key."""
    from clitool_tools.mail.certificates import issuer_and_days

    protocol = wire.endpoint.protocol
    server, key = f"the {protocol.upper()} server", f"{prefix}{protocol}_tls"
    if not wire.encrypted:
        return Finding("warning", key, f"the connection to {server} is not encrypted")
    issuer, days = issuer_and_days(wire.certificate())
    level = "ok" if days >= _FEW_DAYS else "warning"
    return Finding(level, key, f"{server}'s certificate, issued by {issuer}, is valid for {days} more days")
