"""A real MongoDB for the tests: a standalone server or a replica set of one, on a free loopback port."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from services.process import SERVICES, Process, accepts, free_port, program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pymongo import MongoClient
    from services.certificates import Authority, Certificate

SET = "rs0"
OWNER, PASSWORD = "owner", "owner's"
# A cache of a quarter of a gigabyte now and then refuses a single document of 16 MB, as too large for it.
_SMALL = (
    "--wiredTigerCacheSizeGB", "1", "--oplogSize", "32", "--quiet",
    "--setParameter", "diagnosticDataCollectionEnabled=false",
    "--setParameter", "scramSHA256IterationCount=5000",
    "--setParameter", "scramIterationCount=5000",
    "--setParameter", "enableTestCommands=1",
)  # fmt: skip


class Mongod:
    """A running server in a folder of its own.

    Args:
        replica_set: whether it is the one member of a replica set, so that it has transactions.
        auth: whether it asks for a password; then `OWNER` may do everything.
        authority: issues the server's certificate; without one the server speaks no TLS.
        certificate: the server's, if it is not to be a new and good one.
        options: more of the server's own.
    """

    def __init__(
        self,
        *options: str,
        replica_set: bool = False,
        auth: bool = False,
        authority: Authority | None = None,
        certificate: Certificate | None = None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mongod-"))
        self.port = free_port()
        self.authority = authority
        self.auth = auth
        self._numbers = count(1)
        try:
            (self.folder / "data").mkdir()
            self._argv = [
                program("mongod", str(SERVICES)), "--dbpath", str(self.folder / "data"), "--port", str(self.port),
                "--bind_ip", "127.0.0.1", "--unixSocketPrefix", str(self.folder), *_SMALL,
                *self._membership(replica_set=replica_set), *self._encryption(certificate), *options,
            ]  # fmt: skip
            self.process = self._start()
            self._prepare(replica_set=replica_set)
        except BaseException:
            self.stop()
            raise

    def restart(self) -> None:
        """Start it again after its process was ended, and wait until it takes writes."""
        self.process = self._start()
        self._wait_for_writes()

    def stop(self) -> None:
        """End it and remove its folder."""
        if hasattr(self, "process"):
            self.process.kill()  # its data is of no use to anybody
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def host(self) -> str:
        """Where it listens, for a connection string."""
        return f"127.0.0.1:{self.port}"

    @property
    def socket(self) -> str:
        """The path of its Unix socket."""
        return str(self.folder / f"mongodb-{self.port}.sock")

    def address(self, database: str, user: str = "", password: str = "", **options: object) -> str:
        """Return a connection string for it."""
        login = f"{quote(user, '')}:{quote(password, '')}@" if user else ""
        query = "&".join(f"{key}={quote(str(value), '')}" for key, value in options.items())
        return f"mongodb://{login}{self.host}/{database}?{query}"

    @contextmanager
    def owner(self, **options: Any) -> Iterator[MongoClient[dict[str, Any]]]:
        """Give a client of the owner's, who may do everything."""
        with closing(self.client(**options)) as client:
            yield client

    def client(self, **options: Any) -> MongoClient[dict[str, Any]]:
        """Return a client of the owner's, to be closed."""
        return self._client(login=self.auth, **options)

    def unused_name(self) -> str:
        """Return a name that no database and no account here has."""
        return f"w{next(self._numbers)}"

    def _client(self, *, login: bool, **options: Any) -> MongoClient[dict[str, Any]]:
        from pymongo import MongoClient

        account = {"username": OWNER, "password": PASSWORD} if login else {}
        tls = {"tlsCAFile": str(self.authority.path)} if self.authority else {}
        return MongoClient(
            self.host, directConnection=True, serverSelectionTimeoutMS=30_000, uuidRepresentation="standard",
            w=1,  # what tests put there need not survive
            **account, **tls, **options,
        )  # fmt: skip

    def _membership(self, *, replica_set: bool) -> list[str]:
        words = ["--replSet", SET] if replica_set else []
        if not self.auth:
            return words
        key = self.folder / "key"
        key.write_text("c2VjcmV0" * 4)
        key.chmod(0o400)
        return [*words, *(["--keyFile", str(key)] if replica_set else ["--auth"])]

    def _encryption(self, certificate: Certificate | None) -> list[str]:
        if self.authority is None:
            return ["--tlsMode", "disabled"]
        certificate = certificate or self.authority.issue(self.folder.name)
        both = self.folder / "server.pem"
        both.write_bytes(certificate.path.read_bytes() + certificate.key.read_bytes())
        return [
            "--tlsMode", "requireTLS", "--tlsCertificateKeyFile", str(both), "--tlsCAFile", str(self.authority.path),
            "--tlsAllowConnectionsWithoutCertificates",
        ]  # fmt: skip

    def _start(self) -> Process:
        return Process(self._argv, self.folder / "log", lambda: accepts(self.port))

    def _prepare(self, *, replica_set: bool) -> None:
        with closing(self._client(login=False)) as client:
            if replica_set:
                members = [{"_id": 0, "host": self.host}]
                client.admin.command("replSetInitiate", {"_id": SET, "members": members})
                self._wait_for_writes()
            if self.auth:  # whoever comes first from this machine may make the first account
                client.admin.command("createUser", OWNER, pwd=PASSWORD, roles=["root"])

    def _wait_for_writes(self) -> None:
        from pymongo import MongoClient

        tls = {"tlsCAFile": str(self.authority.path)} if self.authority else {}
        with closing(MongoClient(self.host, directConnection=True, **tls)) as client:
            self.process._wait(lambda: client.admin.command("hello")["isWritablePrimary"])
