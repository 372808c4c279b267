"""The seam between the engine and the connector: bytes in, bytes out, one kind of error.

Behind it stand the connector's C extension (see `extension`), where it can be had and keeps what the settings promise,
and else the connector's pure-Python protocol (see `connector`); to the engine they are the same.
"""

from __future__ import annotations

import os
import sys

from clitool.errors import DriverMissing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    from clitool_tools.database.mysql.address import Address
    from clitool_tools.database.mysql.clock import Clock

    Row = tuple[bytes | None, ...]

    class Wire(Protocol):
        """One connection to a server, logged in."""

        version: str
        """As the server said it at the beginning."""
        id: int
        """The number by which another connection can kill this one."""
        tls: str
        """The version of TLS in use, or empty."""

        def query(self, sql: str) -> Reply:
            """Send one statement and return the beginning of the answer; raises `DriverError`."""

        def reset(self) -> None:
            """Let the server forget the session: its transaction, settings, variables, locks and temporary tables.

            The rows of the last reply must have been read. Raises `DriverError`; the connection is of no more use then.
            """

        def log_in(self) -> None:
            """Log in again, so that the password, the account and its rights count as they are now; else as `reset`."""

        def abort(self) -> None:
            """Close the socket at once, whatever is still to come."""

        def close(self) -> None:
            """Say goodbye, without waiting for an answer, and close the socket."""


class Field:
    """What the server says about one column of a result.

    Attributes:
        name: of the column or expression; bytes that are not UTF-8 as surrogate escapes.
        type: its type's number in the protocol, for example 3 for INT.
        flags: the protocol's flags, for example 1 for NOT NULL and 32 for UNSIGNED.
        charset: the number of its collation; 63 is ``binary``.
        decimals: digits after the point; 31 or 39 if they vary.
    """

    __slots__ = ("charset", "decimals", "flags", "name", "type")

    def __init__(self, name: str, type_: int, flags: int, charset: int, decimals: int) -> None:
        self.name = name
        self.type = type_
        self.flags = flags
        self.charset = charset
        self.decimals = decimals


class Reply:
    """The answer to one statement.

    Attributes:
        fields: the columns; empty if the statement has no rows.
        batches: its rows as the server sends them, some at a time; each value is its text as bytes, or None. Raises
            `DriverError`.
        affected: how many rows an INSERT, UPDATE or DELETE changed, or, for an UPDATE, matched.
        last_id: the first number that AUTO_INCREMENT gave, or 0.
        warnings: how many the server has.
        in_transaction: whether it is in one now.
    """

    __slots__ = ("affected", "batches", "fields", "in_transaction", "last_id", "warnings")

    def __init__(
        self,
        fields: tuple[Field, ...] = (),
        batches: Iterator[Sequence[Row]] = iter(()),  # noqa: B008 - empty for all
        affected: int = 0,
        last_id: int = 0,
        warnings: int = 0,
        *,
        in_transaction: bool = False,
    ) -> None:
        self.fields = fields
        self.batches = batches
        self.affected = affected
        self.last_id = last_id
        self.warnings = warnings
        self.in_transaction = in_transaction


class DriverError(Exception):
    """Anything that went wrong below the seam.

    Attributes:
        kind: ``server`` if the server refuses; else where the trouble is: ``name`` (no such host), ``connect``,
            ``login``, ``tls``, ``lost`` (the conversation ended), ``slow`` (the clock ran out), ``large`` (a row is,
            or has columns, more than any answer can have), ``protocol``.
        code: the server's own number, or 0.
        state: its SQLSTATE, or empty.
        text: what the server or the system says; may hold values, so it is never shown as it is.
    """

    def __init__(self, kind: str, code: int = 0, state: str = "", text: str = "") -> None:
        super().__init__(kind, code)
        self.kind = kind
        self.code = code
        self.state = state
        self.text = text


def connect(address: Address, clock: Clock) -> Wire:
    """Return a connection, logged in to the database of `address`.

    Args:
        address: where.
        clock: bounds this, and later each statement; its owner winds it.

    Raises:
        DriverError: for whatever goes wrong.
        DriverMissing: the connector is not installed.
    """
    wire = _by_extension(address, clock) if _suits_extension(address) else None
    return wire or _opener()(address, clock)


def _suits_extension(address: Address) -> bool:
    """Return whether the connector's C extension keeps, for this address, all that the settings promise.

    In any other mode of TLS than VERIFY_IDENTITY it goes on unencrypted with a server that wants it so, and a server
    that it reached unencrypted, it gives the password under a key of that server's. The authorities of the system are
    not those of its own OpenSSL, and for a locked key of a certificate that would ask on the terminal.
    """
    is_verified = address.ssl_mode == "VERIFY_IDENTITY" and address.ssl_ca and not address.ssl_cert
    return bool(address.socket or is_verified) and not any(name.startswith("LIBMYSQL_") for name in os.environ)


# What tells that a process has an OpenSSL already, or is one that may want it later, for other servers.
_BEFORE = {"_hashlib", "_ssl", "socket"}


def _by_extension(address: Address, clock: Clock) -> Wire | None:
    """Return a connection of the C extension, or None if it cannot be loaded, or does not tell why there is none.

    It brings an OpenSSL of its own, which is another one than Python was built for, and knows no authorities. It cannot
    be loaded after Python's, and what loads that later gets the other one. So only a process that does nothing else,
    as one for a single call, loads the extension.
    """
    if "_mysql_connector" not in sys.modules and not _BEFORE.isdisjoint(sys.modules):
        return None
    try:
        from clitool_tools.database.mysql.extension import Unexplained, open_wire
    except ImportError:
        return None
    try:
        return open_wire(address, clock)
    except Unexplained:
        return None


# What the connector imports if it is there, for what nothing here uses: SRV records of DNS, which take longer than all
# the rest, and its C extension.
_UNUSED = ("dns", "_mysql_connector")


def _opener() -> Callable[[Address, Clock], Wire]:
    """Import the connector and return what opens a connection with its pure-Python protocol."""
    hidden = [name for name in _UNUSED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None there means that it cannot be imported
    try:
        from clitool_tools.database.mysql.connector import open_wire
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("mysql"):
            raise
        raise DriverMissing("mysql-connector-python", "clitool-convention[mysql]") from None
    finally:
        for name in hidden:
            del sys.modules[name]
    return open_wire
