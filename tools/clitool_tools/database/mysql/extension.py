"""The connector's C extension behind the seam: quick to load, and quick with many rows.

It speaks the protocol by itself, so that nothing of `connector` holds here. What takes its place:

- `driver` gives it only addresses for which it can keep what the settings promise.
- The server can name the methods of logging in that the library has by heart and mysql_native_password, and no file.
- C code hears of no clock. So whatever waits for the server runs in a thread that is left behind when the time is over.
- It reads a row whole, up to 1 GB; one that is larger than any answer is refused after that, not before.
- For an error while connecting that is neither the server's nor the clock's it raises `Unexplained`: the other way of
  connecting tells what it is.
"""

from __future__ import annotations

import os
import sys
from itertools import islice

import _mysql_connector  # type: ignore[import-not-found]  # it has no types
from _mysql_connector import MySQL, MySQLInterfaceError

from clitool.lean import datetime
from clitool_tools.database.mysql.driver import DriverError, Field, Reply
from clitool_tools.database.mysql.errand import Errand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from clitool_tools.database.mysql.address import Address
    from clitool_tools.database.mysql.clock import Clock
    from clitool_tools.database.mysql.driver import Row

_NOWHERE = "/dev/null"  # no file lies in it
_FOUND_ROWS = 2  # the protocol's flag: an UPDATE counts the rows that match, also those that stay as they are
_IN_TRANSACTION = 1  # the flag in the server's status
_OF_THE_PROTOCOL = 0x7FFF  # flags of a column; the library adds one of its own
_LONG = (242, 245, 249, 250, 251, 252, 255)  # types whose values can be large: vectors, JSON, texts, bytes, places
_LARGEST = 64 * 1024 * 1024  # bytes of a row, the most that an answer may have
_COLUMNS = 4096  # that a table or result can have
_BATCH = 500  # rows to take from the library at once
_ENOUGH = 1_000_000  # bytes of such rows, with which a batch ends early
_LONGEST = 3600  # seconds for one wait of the library's, in case that it was left behind; no statement may take longer
_SERVERS = 1000  # the first of the servers' errors
_OWN = range(2000, 3000)  # the library's errors among them
_NO_ROOM = (2008, 2020)  # those for more columns, or a larger row, than it takes


class Unexplained(Exception):
    """There is no connection, and the extension does not tell why in a way that a user could make use of."""


def open_wire(address: Address, clock: Clock) -> ExtensionWire:
    """Return a connection, logged in.

    Raises:
        DriverError: the server refuses, or the clock ran out.
        Unexplained: anything else.
    """
    wire = ExtensionWire(address, clock)
    try:
        wire.open()
    except BaseException as error:
        wire.abort()
        if isinstance(error, DriverError) and error.kind not in ("server", "slow"):
            raise Unexplained from error
        raise
    return wire


class ExtensionWire:
    """See `driver.Wire`."""

    def __init__(self, address: Address, clock: Clock) -> None:
        self._address = address
        self._clock = clock
        self._handle = _handle(int(clock.left()) + 1)
        self._errand: Errand | None = None
        self.version = self.tls = ""
        self.id = 0

    def open(self) -> None:
        """Connect and log in."""
        options = {**_place(self._address), **self._account()}
        self._do(lambda: self._handle.connect(**_OPTIONS, **options))
        self.version = self._handle.get_server_info()
        self.id = self._handle.thread_id()
        self.tls = _tls(self._handle.get_ssl_cipher())
        if not (self.tls or self._address.socket):
            raise DriverError("tls", text="none")

    def _account(self) -> dict[str, str]:
        address = self._address
        return {"user": address.user, "password": address.password.reveal(), "database": address.database}

    def query(self, sql: str) -> Reply:
        """Send one statement."""
        reply: Reply = self._do(lambda: self._reply(sql))
        return reply

    def _reply(self, sql: str) -> Reply:
        handle = self._handle
        handle.query(sql)
        if handle.have_result_set:
            fields = tuple(map(_field, handle.fetch_fields()))
            if len(fields) > _COLUMNS:
                raise DriverError("large")
            is_long = any(field.type in _LONG for field in fields)
            return Reply(fields, self._batches(is_long, *self._batch(is_long)))
        counts = (handle.affected_rows(), handle.insert_id(), handle.warning_count())
        return Reply((), iter(()), *counts, in_transaction=bool(handle.st_server_status() & _IN_TRANSACTION))

    def _batches(self, is_long: bool, rows: list[Row], is_last: bool) -> Iterator[Sequence[Row]]:
        yield rows
        while not is_last:
            rows, is_last = self._do(lambda: self._batch(is_long))
            yield rows

    def _batch(self, is_long: bool) -> tuple[list[Row], bool]:
        """Return some rows, and whether they are the last ones."""
        rows: list[Row] = []
        size = 0
        try:
            for row in islice(iter(self._handle.fetch_row, None), _BATCH):
                rows.append(row)
                size += _length(row) if is_long else 0
                if size > _ENOUGH:
                    return rows, False
        except MySQLInterfaceError:
            self._handle.free_result()  # whose columns would be taken for those of the next result
            raise
        if len(rows) < _BATCH:
            self._handle.free_result()
        return rows, len(rows) < _BATCH

    def reset(self) -> None:
        """Forget the session."""
        self._do(self._reset)

    def _reset(self) -> None:
        if not self._handle.reset_connection():
            self._handle.insert_id()  # raises what went wrong, which the other only says no to
            raise DriverError("lost")

    def log_in(self) -> None:
        """Log in again on the same connection."""
        account = self._account()
        self._do(lambda: self._handle.change_user(**account))

    def abort(self) -> None:
        """Close the socket at once; or, if a thread is still waiting for the server, when it no longer is."""
        if self._errand is None or self._errand.leave():
            self._handle.close()

    close = abort  # the library says goodbye, and waits for no answer

    def _do(self, work: Callable[[], object]) -> Any:  # noqa: ANN401 - whatever the work returns
        """Return what `work` returns, if it does so before the time is over."""
        if self._errand is not None and self._errand.is_left:
            raise DriverError("lost")
        try:
            seconds = self._clock.left()
            self._errand = Errand(work, self._handle.close)
            return self._errand.result(seconds)
        except Exception as error:
            raise _translated(error) from error


_OPTIONS = {
    "client_flags": _FOUND_ROWS,
    "local_infile": 0,
    "read_timeout": _LONGEST,
    "write_timeout": _LONGEST,
}


def _place(address: Address) -> dict[str, Any]:
    """Return where the server is, and what it must show."""
    if address.socket:
        return {"unix_socket": address.socket, "ssl_disabled": True}
    return {
        "host": address.host,
        "port": address.port,
        "ssl_disabled": False,
        "ssl_ca": address.ssl_ca,
        "ssl_verify_cert": True,
        "ssl_verify_identity": True,
        "tls_versions": "TLSv1.2,TLSv1.3",
    }


def _tls(cipher: str | None) -> str:
    """Return the version of TLS that has these ciphers: all of 1.3 begin with `TLS_`, none of 1.2 does."""
    if cipher is None:
        return ""
    return "TLSv1.3" if cipher.startswith("TLS_") else "TLSv1.2"


def _field(found: tuple[Any, ...]) -> Field:
    name, charset, type_, flags, decimals = (found[4], found[6], *found[8:])
    if not isinstance(name, str):
        name = name.decode("utf-8", "surrogateescape")
    return Field(name, type_, flags & _OF_THE_PROTOCOL, charset, decimals)


def _length(row: Row) -> int:
    length = sum(map(len, filter(None, row)))
    if length > _LARGEST:
        raise DriverError("large")
    return length


def _translated(error: Exception) -> DriverError:
    """Return the seam's error for one of the library's."""
    if isinstance(error, DriverError):
        return error
    if isinstance(error, TimeoutError):
        return DriverError("slow")
    if not isinstance(error, MySQLInterfaceError):
        return DriverError("protocol", text=type(error).__name__)
    code: int = getattr(error, "errno", None) or 0
    if code in _NO_ROOM:
        return DriverError("large")
    if code < _SERVERS or code in _OWN:
        return DriverError("lost")
    return DriverError("server", code, getattr(error, "sqlstate", None) or "", str(getattr(error, "msg", "")))


def _handle(seconds: int) -> Any:  # noqa: ANN401 - the library has no types
    """Return an object that can connect, within so many seconds for each of the server's addresses.

    It imports `datetime`, for values that are not left raw. Without the part in Python that takes a fifth of the time.
    """
    is_lent = sys.modules.setdefault("datetime", datetime) is datetime
    try:
        return MySQL(
            buffered=False,
            raw=True,
            charset_name="utf8mb3",  # of the account's name: that of MySQL 8's utf8mb4 is unknown to MariaDB
            connection_timeout=seconds,
            use_unicode=False,
            plugin_dir=_NOWHERE,
        )
    finally:
        if is_lent and datetime.__name__ != "datetime":
            del sys.modules["datetime"]


def _load_native_password() -> None:
    """Have the library load the one method of logging in that is a file of its own; from `_NOWHERE` come no others."""
    folder = os.path.join(os.path.dirname(_mysql_connector.__file__), "mysql", "vendor", "plugin")
    told = {"LIBMYSQL_PLUGIN_DIR": folder, "LIBMYSQL_PLUGINS": "mysql_native_password"}
    os.environ.update(told)
    try:
        _handle(1).connect(unix_socket=f"{_NOWHERE}/none")
    except MySQLInterfaceError:
        pass  # as meant: the library is ready when it notices that there is no such socket
    finally:
        for name in told:
            del os.environ[name]


_load_native_password()
