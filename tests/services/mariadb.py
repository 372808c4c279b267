"""A real MariaDB for the tests, in a folder of its own, on a free loopback port and a short socket path."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.process import Process, free_port, program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.certificates import Authority, Certificate

_PLACE = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # in memory: making a table on a disk takes long
_PATIENCE = 10.0  # seconds; the machine may be busy
_USER = "mysql"  # the server refuses to run as root
# What was committed outlives the server's process, though not the machine.
_FAST = ("--skip-log-bin", "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=32M", "--skip-name-resolve")


class MariaDB:
    """A running server; its owner is root without a password, over the socket only.

    Args:
        options: more of the server's own, for example ``--lower-case-table-names=1``.
        authority: issues the server's certificate; without one the server speaks no TLS.
        certificate: the server's, if it is not to be a new and good one.
    """

    def __init__(
        self, *options: str, authority: Authority | None = None, certificate: Certificate | None = None
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="maria-", dir=_PLACE))  # not pytest's: the server's user must get in
        self.folder.chmod(0o755)
        self.port = free_port()
        self.socket = str(self.folder / "s")  # at most 107 bytes
        self.authority = authority
        self._tmpdir = f"--tmpdir={self.folder}"  # a server that starts removes what others have in a common one
        self._numbers = count(1)
        self._options = options
        try:
            data = self._install()
            self._argv = [
                program("mariadbd"), "--no-defaults", f"--datadir={data}", self._tmpdir, f"--socket={self.socket}",
                f"--port={self.port}", "--bind-address=127.0.0.1", f"--pid-file={self.folder / 'pid'}",
                *_as_user(), *_FAST, *self._encryption(certificate), *options,
            ]  # fmt: skip
            self.process = self._start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def restart(self) -> None:
        """Start it again after its process was ended; nothing that was committed is lost."""
        self.process = self._start()

    def show(self, certificate: Certificate) -> None:
        """Show new connections another certificate, of the same or another authority."""
        self._place(certificate)
        self.run("FLUSH SSL")

    def stop(self) -> None:
        """End it and remove its folder."""
        self.process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def owner(self, database: str | None = None) -> Iterator[Any]:
        """Give a connection of the owner's; what it does is committed at once."""
        from mysql.connector import connect

        handle = connect(
            unix_socket=self.socket, user="root", database=database, autocommit=True, use_pure=True,
            charset="utf8mb4", connection_timeout=10,
        )  # fmt: skip
        with closing(handle):
            yield handle

    def run(self, script: str, database: str | None = None) -> None:
        """Run statements as the owner."""
        with self.owner(database) as handle:
            for result in handle.cmd_query_iter(script):
                if "columns" in result:
                    handle.get_rows()

    def rows(self, sql: str, database: str | None = None) -> list[Any]:
        """Return what the owner reads."""
        with self.owner(database) as handle, closing(handle.cursor()) as cursor:
            cursor.execute(sql)
            found: list[Any] = cursor.fetchall()
            return found

    def comes_to(self, expected: list[Any], sql: str) -> bool:
        """Return whether the owner reads that in some seconds: the server ends in its own time what a client left."""
        end = time.monotonic() + _PATIENCE
        while self.rows(sql) != expected:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def unused_name(self) -> str:
        """Return a name that no database and no account here has."""
        return f"w{next(self._numbers)}"

    def _install(self) -> Path:
        data = self.folder / "data"
        if not _as_user():
            data.mkdir()
        else:
            shutil.chown(self.folder, _USER)
        done = subprocess.run(
            [
                program("mariadb-install-db"), "--no-defaults", *_as_user(), f"--datadir={data}", self._tmpdir,
                "--auth-root-authentication-method=normal", "--skip-test-db",
                *(option for option in self._options if option.startswith("--lower-case-table-names")),
            ],
            capture_output=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return data

    def _encryption(self, certificate: Certificate | None) -> list[str]:
        if self.authority is None:
            return ["--skip-ssl"]
        self._place(certificate or self.authority.issue(self.folder.name))
        return [f"--ssl-{what}={self.folder / what}" for what in ("ca", "cert", "key")]

    def _place(self, certificate: Certificate) -> None:
        authority = self.authority or certificate
        for source, name in ((authority.path, "ca"), (certificate.path, "cert"), (certificate.key, "key")):
            shutil.copy(source, self.folder / name)
            if _as_user():
                shutil.chown(self.folder / name, _USER)

    def _start(self) -> Process:
        return Process(self._argv, self.folder / "log", self._answers)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(self.socket)
            except OSError:
                return False
            return bool(probe.recv(1))


def _as_user() -> list[str]:
    return [f"--user={_USER}"] if os.geteuid() == 0 else []
