"""Whose certificates are trusted, and what it means when one is not."""

from __future__ import annotations

import ssl

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_UNKNOWN_AUTHORITY = "is from an authority that this machine does not trust; if it is yours, set tls_ca to its file"
_OTHER_NAME = "is for another name; set {host} to a name in the certificate"
# X509_V_ERR_… of OpenSSL (x509_vfy.h)
_FAULTS = {
    9: "is not valid yet; check the clock of this machine",
    10: "has expired; it must be renewed on the server",
    18: "is self-signed; if it is yours, set tls_ca to the file with it",
    19: _UNKNOWN_AUTHORITY,
    20: _UNKNOWN_AUTHORITY,
    21: _UNKNOWN_AUTHORITY,
    62: _OTHER_NAME,
    64: _OTHER_NAME,
}


def client_context(tls_ca: str | None) -> ssl.SSLContext:
    """Return how servers are verified: always, by the system's authorities or those in the file `tls_ca`.

    Raises:
        ExecutionError: `settings` if the file cannot be used.
    """
    try:
        context = ssl.create_default_context(cafile=tls_ca)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError; ValueError: a NUL in the path
        message = "the file that tls_ca names cannot be read, or has no certificate in PEM form; run `clitool check`"
        raise ExecutionError(message, "settings") from error
    if tls_ca is not None:
        # Python 3.13 refuses ordinary authorities of one's own (github.com/python/cpython/issues/107361).
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def fault(error: ssl.SSLCertVerificationError, protocol: str) -> str:
    """Return what is wrong with a server's certificate and what to set, to go after 'its certificate'."""
    other = f"cannot be verified ({error.verify_message})"
    return _FAULTS.get(error.verify_code, other).format(host=f"{protocol}_host")


def issuer_and_days(certificate: Mapping[str, Any]) -> tuple[str, int]:
    """Return who issued a verified certificate, and for how many days more it is valid.

    Args:
        certificate: as `ssl.SSLSocket.getpeercert` gives it.
    """
    from time import time

    names = {key: value for group in certificate.get("issuer", ()) for key, value in group}
    issuer = names.get("organizationName") or names.get("commonName") or "an authority without a name"
    return issuer, int((ssl.cert_time_to_seconds(certificate["notAfter"]) - time()) // 86_400)
