"""A whole mail system: Postfix and Dovecot with one authority, and more accounts than there are tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from services.certificates import Authority
from services.dovecot import Dovecot
from services.postfix import DOMAIN, Postfix

_USERS = [f"u{number:03}@{DOMAIN}" for number in range(1000)]
NAMED = tuple(f"{name}@{DOMAIN}" for name in ("alice", "bob", "jörg", "full"))


class User:
    """An account.

    Attributes:
        address: also the name that it logs in with.
        password, token: for a login with a password, or with XOAUTH2.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        local = address.partition("@")[0]
        self.password, self.token = f"{local}-pw", f"{local}-token"


class MailServers:
    """Postfix and Dovecot, both running.

    Attributes:
        authority: what signed their certificate; `authority.path` is for `tls_ca`.
        dovecot, postfix: the servers, with their ports.
    """

    def __init__(self) -> None:
        # Not pytest's folder: the path of a Unix socket has a hundred characters at most, and others must get in.
        self._folder = Path(tempfile.mkdtemp(prefix="mail"))
        self._folder.chmod(0o755)
        try:
            self._start()
        except BaseException:
            shutil.rmtree(self._folder)
            raise
        self._numbers = count()

    def _start(self) -> None:
        for name in ("tls", "dovecot", "postfix"):
            (self._folder / name).mkdir()
        self.authority = Authority(self._folder / "tls")
        certificate = self.authority.issue("localhost")
        users = [*_USERS, *NAMED]
        self.postfix = Postfix(self._folder / "postfix", certificate, users)
        self.dovecot = Dovecot(self._folder / "dovecot", self.postfix.sockets, certificate, users)
        try:
            self.postfix.start()
        except BaseException:
            self.dovecot.stop()
            raise

    def user(self) -> User:
        """Return an account that nobody has used."""
        return User(_USERS[next(self._numbers)])

    def stop(self) -> None:
        """End both and remove what they kept."""
        self.postfix.stop()
        self.dovecot.stop()
        shutil.rmtree(self._folder)


def start() -> MailServers:
    """Start a mail system; Postfix changes users, so only root can."""
    if os.geteuid() != 0:
        assert not os.environ.get("CI"), "CI must run these as root"
        pytest.skip("Postfix and Dovecot need root to start")
    return MailServers()
