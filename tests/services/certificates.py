"""An authority of the tests' own, and the certificates that it gives to servers; made with the openssl command."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from services.process import program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LOOPBACK = ("DNS:localhost", "IP:127.0.0.1", "IP:127.0.0.2", "IP:::1")
# Python 3.13 refuses an authority without key usage, and a leaf without both key identifiers.
_AUTHORITY = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign")
_LEAF = (
    "basicConstraints=critical,CA:FALSE",
    "keyUsage=critical,digitalSignature,keyEncipherment",
    "extendedKeyUsage=serverAuth,clientAuth",
    "subjectKeyIdentifier=hash",
    "authorityKeyIdentifier=keyid",
)


class Certificate:
    """Paths of a certificate and its private key."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.pem"
        self.key = folder / f"{name}.key"


class Authority(Certificate):
    """A certificate authority in its own folder; `path` is what clients trust."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        super().__init__(folder, name)
        self.folder = folder
        options = [word for extension in _AUTHORITY for word in ("-addext", extension)]
        _openssl("req", "-x509", *_new_key(self), "-days", "30", "-subj", f"/CN={name}", *options, "-out", self.path)

    def issue(self, name: str, hosts: Sequence[str] = LOOPBACK, *, days: int = 30) -> Certificate:
        """Return a server's certificate for `hosts`, as ``DNS:name`` or ``IP:address``."""
        leaf = Certificate(self.folder, name)
        request, extensions = self.folder / f"{name}.req", self.folder / f"{name}.ext"
        extensions.write_text("\n".join((f"subjectAltName={','.join(hosts)}", *_LEAF)))
        _openssl("req", *_new_key(leaf), "-subj", f"/CN={name}", "-out", request)
        authority = ("-CA", self.path, "-CAkey", self.key, "-CAcreateserial")
        dates = ("-days", str(days), "-extfile", extensions)
        _openssl("x509", "-req", "-in", request, *authority, *dates, "-out", leaf.path)
        return leaf


def _new_key(certificate: Certificate) -> tuple[str | Path, ...]:
    return ("-newkey", "rsa:2048", "-nodes", "-keyout", certificate.key)


def _openssl(*words: str | Path) -> None:
    subprocess.run([program("openssl"), *map(str, words)], check=True, capture_output=True)
