"""The connector's pure-Python protocol behind the seam, with what it leaves open closed.

It asks no server for less than it promised (encryption), lets none choose how the password is sent, sends no file,
keeps to a clock as a whole, and trusts the authorities that the settings name and no others. For that it overrides
methods that are not part of the connector's interface; `pyproject.toml` pins its major version, and the tests of the
session and of the faults see each of these rules.
"""

from __future__ import annotations

import socket
import struct

from mysql.connector import errors
from mysql.connector.authentication import MySQLAuthenticator
from mysql.connector.connection import MySQLConnection
from mysql.connector.constants import ClientFlag, ServerCmd
from mysql.connector.network import MySQLTCPSocket
from mysql.connector.protocol import MySQLProtocol
from mysql.connector.utils import read_lc_string

from clitool_tools.database.mysql.driver import DriverError, Field, Reply
from clitool_tools.database.mysql.packets import HEADER, Packets, values
from clitool_tools.database.mysql.stream import ClockedSocket, dial

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator, Sequence
    from typing import Any, NoReturn

    from mysql.connector.network import MySQLSocket

    from clitool_tools.database.mysql.address import Address
    from clitool_tools.database.mysql.clock import Clock
    from clitool_tools.database.mysql.driver import Row

_NATIVE = "mysql_native_password"
_METHODS = (_NATIVE, "caching_sha2_password", "sha256_password")
_END, _SHORT = b"\xfe", 9  # how the packet begins that ends a result, and what its length is less than
_NO_HEADER = bytes(HEADER)  # for methods of the connector that skip it
_COLUMNS = 4096  # that a table or result can have
_BATCH = 200  # rows to take from the connector at once
_ENOUGH = 1_000_000  # bytes of such rows, with which a batch ends early
_CLIENT = 2000  # from here on, numbers are the connector's own
_GONE = (2006, 2013, 2055)  # that the conversation ended
_FLAGS = [
    -ClientFlag.MULTI_STATEMENTS,
    -ClientFlag.LOCAL_FILES,
    -ClientFlag.CAN_HANDLE_EXPIRED_PASSWORDS,
    -ClientFlag.CONNECT_ARGS,  # no need to tell the server this machine's name and our process number
    ClientFlag.FOUND_ROWS,  # an UPDATE counts the rows that match, also those that stay as they are
]


def open_wire(address: Address, clock: Clock) -> ConnectorWire:
    """Return a connection, logged in; raises `DriverError`."""
    handle = _Handle(address, clock)
    try:
        handle.connect(
            host=address.host,
            port=address.port or 0,
            unix_socket=address.socket or None,
            user=address.user,
            password=address.password.reveal(),
            database=address.database,
            client_flags=_FLAGS,
            charset="utf8mb4",
            allow_local_infile=False,
            connection_timeout=3600,  # not looked at: the clock is
            ssl_disabled=address.ssl_mode == "DISABLED" or bool(address.socket),
        )
    except Exception as error:
        handle.shutdown()
        raise translated(error, handle.stage) from error
    handle.link.password = b""
    return ConnectorWire(handle)


class ConnectorWire:
    """See `driver.Wire`."""

    def __init__(self, handle: _Handle) -> None:
        self._handle = handle
        self.version: str = handle.greeting["server_version_original"]
        self.id: int = handle.greeting["server_threadid"]
        self.tls = handle.link.stream.version()

    def query(self, sql: str) -> Reply:
        """Send one statement."""
        try:
            return self._reply(self._handle.cmd_query(sql))
        except Exception as error:
            raise translated(error, "lost") from error

    def _reply(self, found: Any) -> Reply:  # noqa: ANN401 - the connector's dictionaries
        if "columns" in found:
            fields = tuple(Field(*each) for each in found["columns"])
            return Reply(fields, self._batches(len(fields)))
        counts = (found["affected_rows"], found["insert_id"], found["warning_count"])
        return Reply((), iter(()), *counts, in_transaction=self._handle.in_transaction)

    def _batches(self, width: int) -> Iterator[Sequence[Row]]:
        end = None
        while end is None:
            try:
                rows, end = self._handle.get_rows(_BATCH, raw=True)
            except Exception as error:
                raise translated(error, "lost") from error
            if any(len(row) != width for row in rows):
                raise DriverError("protocol", text="rows of another width")
            yield rows

    def reset(self) -> None:
        """Forget the session; the connector's own method takes a refusal, and a lost connection, for an answer."""
        try:
            self._handle._handle_ok(self._handle._send_cmd(ServerCmd.RESET_CONNECTION))  # noqa: SLF001 - see the module
        except Exception as error:
            raise translated(error, "lost") from error

    def log_in(self) -> None:
        """Log in again on the same connection."""
        try:
            self._handle.log_in()
        except Exception as error:
            raise translated(error, "lost") from error

    def abort(self) -> None:
        """Close the socket."""
        self._handle.shutdown()

    def close(self) -> None:
        """Say goodbye."""
        self._handle.close()


class _Handle(MySQLConnection):
    """The connector's connection.

    Attributes:
        link: its socket.
        stage: what a failure to connect is about.
        greeting: what the server said first.
    """

    def __init__(self, address: Address, clock: Clock) -> None:
        super().__init__()
        self._address = address
        self._authenticator = _Authenticator()
        self.link = _Link(address, clock)
        self.stage = "connect"
        self.greeting: dict[str, Any] = {}

    def _get_connection(self) -> _Link:
        self._protocol = _Protocol()
        return self.link

    def _do_handshake(self) -> None:
        super()._do_handshake()
        greeting: Any = self._handshake
        self.greeting = greeting
        if greeting["auth_plugin"] not in _METHODS:
            greeting["auth_plugin"] = _NATIVE  # the server will say again what the account needs
        if self._address.ssl_mode not in ("DISABLED", "PREFERRED") and not self._client_flags & ClientFlag.SSL:
            raise DriverError("tls", text="none")
        self.stage = "login"

    def log_in(self) -> None:
        """Log in again on the same connection."""
        secret = self._address.password.reveal()
        self.link.password = secret.encode()
        self.cmd_change_user(self._address.user, secret, self._address.database)
        self.link.password = b""

    def _post_connection(self) -> None:
        """Do nothing: the session says itself how it wants the connection, in one statement, and looks."""

    def _handle_load_data_infile(self, *_args: object, **_more: object) -> NoReturn:
        raise DriverError("protocol", text="the server asks for a file")


class _Link(MySQLTCPSocket):
    """The connector's socket; `stream` is the real one, `packets` what comes through it."""

    stream: ClockedSocket
    packets: Packets

    def __init__(self, address: Address, clock: Clock) -> None:
        super().__init__(address.host, address.port)
        self._to = address
        self._clock = clock
        self._is_private = bool(address.socket)
        self.password = address.password.reveal().encode()

    def open_connection(self) -> None:
        """Connect."""
        try:
            plain = dial(self._to.host, self._to.port, self._to.socket, self._clock)
        except socket.gaierror as error:
            raise DriverError("name", text=str(error)) from error
        except TimeoutError:
            raise
        except OSError as error:
            raise DriverError("connect", text=str(error)) from error
        self.sock = self.stream = ClockedSocket(plain, self._clock)  # type: ignore[assignment]  # all that it uses
        self.packets = Packets(self.stream)

    def send(
        self,
        payload: bytes,
        packet_number: int | None = None,
        compressed_packet_number: int | None = None,
        write_timeout: int | None = None,
    ) -> None:
        """Send, but the password itself only where nobody can listen: some methods do so when the server asks."""
        if self.password and not self._is_private and bytes(payload).rstrip(b"\0") == self.password:
            raise DriverError("login", text="plain")
        super().send(payload, packet_number, compressed_packet_number, write_timeout)

    def recv(self, read_timeout: int | None = None) -> bytearray:  # noqa: ARG002 - the clock bounds it
        """Return the next packet."""
        header, content = self.packets.next()
        broker: Any = self._netbroker
        broker._pktnr = header[3]  # noqa: SLF001 - see the module; what is sent next has the next number
        return bytearray(header + content)

    def build_ssl_context(self, *_args: object, **_options: object) -> ssl.SSLContext:
        """Return a context that trusts the authorities of the settings alone, or the system's if they name none."""
        import ssl

        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = self._to.ssl_mode == "VERIFY_IDENTITY"
            if self._to.ssl_ca:
                context.load_verify_locations(self._to.ssl_ca)
            elif self._to.ssl_mode == "VERIFY_IDENTITY":
                context.load_default_certs()
            else:
                context.verify_mode = ssl.CERT_NONE
            if self._to.ssl_cert:
                context.load_cert_chain(self._to.ssl_cert, self._to.ssl_key, password="")
        except (OSError, ValueError) as error:
            raise DriverError("tls", text="files") from error
        return context

    def switch_to_ssl(self, ssl_context: ssl.SSLContext, host: str) -> None:
        """Go on encrypted."""
        import ssl

        try:
            self.stream.wrap(ssl_context, host)
        except ssl.SSLCertVerificationError as error:
            raise DriverError("tls", error.verify_code, text="certificate") from error
        except TimeoutError:
            raise
        except OSError as error:
            raise DriverError("tls", text="handshake") from error
        self._is_private = True


class _Authenticator(MySQLAuthenticator):
    """Logs in by methods that are known to be safe, whatever the server asks for; it could name any module."""

    def _switch_auth_strategy(
        self,
        new_strategy_name: str,
        strategy_class: str | None = None,
        username: str | None = None,
        password_factor: int = 1,
    ) -> None:
        if new_strategy_name not in _METHODS:
            raise DriverError("login", text=new_strategy_name)
        super()._switch_auth_strategy(new_strategy_name, strategy_class, username, password_factor)


class _Protocol(MySQLProtocol):
    """Keeps of a column what the connector drops, and makes room for no more columns and rows than are wanted."""

    def read_text_result(
        self,
        sock: MySQLSocket,
        version: tuple[int, ...],  # noqa: ARG002 - the connector's interface
        count: int = 1,
        read_timeout: int | None = None,  # noqa: ARG002 - the clock bounds it
    ) -> Any:  # noqa: ANN401 - the connector's own types
        """Return rows, and what ends the result if that came; fewer rows than asked for where they are long."""
        link: Any = sock  # a `_Link`
        packets: Packets = link.packets
        rows: list[Row] = []
        size = 0
        while len(rows) < count and size < _ENOUGH:
            data = packets.content()
            if data[:1] == _END and len(data) < _SHORT:
                return rows, self.parse_eof(_NO_HEADER + data)
            row = values(data)
            if row is None:
                raise errors.get_exception(_NO_HEADER + data)
            rows.append(row)
            size += len(data)
        return rows, None

    @staticmethod
    def parse_column_count(packet: bytes) -> int | None:
        """Return how many columns a result has."""
        count = MySQLProtocol.parse_column_count(packet)
        if count is not None and count > _COLUMNS:
            raise DriverError("large")
        return count

    @staticmethod
    def parse_column(packet: bytes, encoding: str = "utf-8") -> Any:  # noqa: ANN401 - only our own code sees it
        """Return the arguments of a `Field`."""
        rest = bytes(packet[4:])
        for _ in range(4):  # catalogue, database, table, and the table behind an alias
            rest, _ = read_lc_string(rest)
        rest, name = read_lc_string(rest)
        rest, _ = read_lc_string(rest)
        charset, type_, flags, decimals = struct.unpack("<xH4xBHBxx", rest)
        return (name or b"").decode(encoding, "surrogateescape"), type_, flags, charset, decimals


_SLOW = (TimeoutError, errors.ReadTimeoutError, errors.WriteTimeoutError, errors.ConnectionTimeoutError)


def translated(error: Exception, kind: str) -> DriverError:
    """Return the seam's error for one of the connector's; `kind` is what one without a number is about."""
    if isinstance(error, DriverError):
        return error
    if isinstance(error, _SLOW):
        return DriverError("slow")
    if isinstance(error, (OSError, EOFError)):
        return DriverError("lost")
    if not isinstance(error, errors.Error):
        return DriverError("protocol", text=type(error).__name__)
    code: int = error.errno
    if code <= 0 or _CLIENT <= code < _CLIENT + 1000:
        return DriverError("lost" if code in _GONE else kind)
    return DriverError("server", code, error.sqlstate or "", error.msg or "")
