"""The connection to MongoDB: made at the first use, bounded in time by the call that has it, closed without waiting."""

from __future__ import annotations

from math import inf

from clitool.errors import ClitoolError, ExecutionError
from clitool_tools.database.mongodb.driver import pymongo
from clitool_tools.database.mongodb.faults import Faults, unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    from clitool.tool import Deadline
    from clitool_tools.database.mongodb.address import Address
    from clitool_tools.database.settings import Connection

    Documents: TypeAlias = Generator[Sequence[Any], None, None]

_SELECTION = 5.0  # seconds to find a server that answers; the driver's own 30 would be the call's end
_MARGIN = 0.3  # seconds before the call's deadline, to say in our own words what happened
_SHARE = 0.5  # of what is left of the call, which is the most that the margin may take of a short one
_SHORTEST = 0.01  # seconds; to the driver, zero means no bound at all
_PATIENCE = 1.0  # seconds for a server to say that it is still there


class Session:
    """Servers, account and database of one connection.

    Args:
        connection: the client's settings for the database.
        deadline: when the call must be over; another call brings another one.
    """

    def __init__(self, connection: Connection, deadline: Deadline) -> None:
        self.connection = connection
        self._deadline = deadline
        self._client: pymongo.MongoClient[dict[str, Any]] | None = None
        self._hello: Mapping[str, Any] | None = None
        self._running: list[Faults] = []

    @property
    def seconds(self) -> float:
        """How long a statement that starts now may take."""
        left = self._deadline.remaining()
        return max(_SHORTEST, min(self.connection.timeout, left - min(_MARGIN, _SHARE * left)))

    def faults(self, most: float = inf) -> Faults:
        """Return a context for work on the server: bounded in time, the driver's errors turned into ours."""
        self._deadline.check()
        seconds = min(most, self.seconds)
        return Faults(seconds, self._last_seen, is_anonymous=self._is_anonymous, running=self._running)

    @property
    def _is_anonymous(self) -> bool:
        address: Address = self.connection.address
        return not address.user and "authMechanism" not in address.options

    def _last_seen(self) -> list[BaseException | None]:
        if self._client is None:
            return []
        servers = self._client.topology_description.server_descriptions().values()
        return [server.error or (None if server.is_server_type_known else TimeoutError()) for server in servers]

    @property
    def client(self) -> pymongo.MongoClient[dict[str, Any]]:
        """The driver's client."""
        if self._client is None:
            self._client = self._connect()
        return self._client

    @property
    def database(self) -> pymongo.database.Database[dict[str, Any]]:
        """The database, for use inside of `faults`; the tools reach no other one."""
        return self.client[self.connection.address.database]

    @property
    def server(self) -> Mapping[str, Any]:
        """What the server says about itself (the answer to its command ``hello``)."""
        if self._hello is None:
            client = self.client
            with self.faults():
                self._hello = client.admin.command("hello")
        return self._hello

    @property
    def has_transactions(self) -> bool:
        """Whether the server is part of a replica set or stands for a sharded cluster; a standalone one has none."""
        return "setName" in self.server or self.server.get("msg") == "isdbgrid"

    def park(self, given: Iterable[Documents]) -> bool:
        """End a call: end what was given to it and is half read; return whether another call can have the client."""
        self._hello = None
        for faults in reversed(self._running.copy()):
            faults.leave()
        try:
            with self.faults(_PATIENCE):
                for documents in given:
                    documents.close()
        except ClitoolError:
            return False
        return None in self._last_seen()

    def resume(self, deadline: Deadline) -> bool:
        """Begin another call; return whether the server is there, takes changes, and knows who we are."""
        self._deadline = deadline
        if self._client is None:
            return False
        try:
            with self.faults(_PATIENCE):
                self._hello = self._client.admin.command("hello")
                return self._hello.get("isWritablePrimary", False) and self._is_known()
        except ClitoolError:
            return False

    def _is_known(self) -> bool:
        """Return whether the login still stands: it ends with the account, also if that comes to be again."""
        if self._is_anonymous:
            return True
        status = self.client.admin.command("connectionStatus")
        return bool(status.get("authInfo", {}).get("authenticatedUsers"))

    def close(self) -> None:
        """Close the connection and let the driver's threads end; a server that is gone does not hold it up."""
        if self._client is not None:
            with pymongo.timeout(_MARGIN):
                self._client.close()
            self._client = None

    def _connect(self) -> pymongo.MongoClient[dict[str, Any]]:
        address: Address = self.connection.address
        # Of the settings, not of the call: the driver's own thread goes by it, for as long as there is the client.
        milliseconds = max(1, int(1000 * min(_SELECTION, self.connection.timeout)))
        try:
            client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(
                _target(address),
                serverSelectionTimeoutMS=milliseconds,
                connectTimeoutMS=milliseconds,
                serverMonitoringMode="poll",  # one thread and one socket less
                tz_aware=True,
                uuidRepresentation="standard",
                datetime_conversion="DATETIME_AUTO",
                unicode_decode_error_handler="replace",
                **_options(address),
            )
        except (pymongo.errors.PyMongoError, OSError, ValueError) as error:
            raise unusable(error) from error
        if address.options.get("directConnection"):
            self._require_primary(client)
        return client

    def _require_primary(self, client: pymongo.MongoClient[dict[str, Any]]) -> None:
        """Raise `ExecutionError` for a secondary, which may be behind and takes no changes."""
        self._client = client
        with self.faults():
            if not client.is_primary:
                self.close()
                raise ExecutionError(
                    "the server is not the primary of its set; name all of them, or that one", "unreachable"
                )


def _target(address: Address) -> str:
    """Return a connection string without account and options, so that no error of the driver's can show them."""
    from urllib.parse import quote

    hosts = ",".join(quote(host, "") if host.startswith("/") else host for host in address.hosts)
    return f"{address.scheme}{hosts}/{quote(address.database, '')}"


def _options(address: Address) -> dict[str, Any]:
    given = {"appName": "clitool", **address.options}
    if "tlsCertificateKeyFilePassword" in given:
        given["tlsCertificateKeyFilePassword"] = given["tlsCertificateKeyFilePassword"].reveal()
    if address.user:
        given["username"] = address.user
    if address.password.reveal():
        given["password"] = address.password.reveal()
    return given
