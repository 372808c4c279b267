"""One connection to the server: opened at the first use, bounded in time by its call, closed in any event."""

from __future__ import annotations

from clitool.errors import ClitoolError, ExecutionError, InvalidParams
from clitool_tools.database.mysql import driver
from clitool_tools.database.mysql.clock import Clock
from clitool_tools.database.mysql.driver import DriverError
from clitool_tools.database.mysql.server import look, pin, seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clitool.tool import Deadline
    from clitool_tools.database.mysql.driver import Field, Reply, Row, Wire
    from clitool_tools.database.mysql.server import Server
    from clitool_tools.database.mysql.transaction import Change
    from clitool_tools.database.settings import Connection

_MARGIN = 0.8  # seconds before the call's deadline, to stop a statement and say in our own words what happened
_SHARE = 0.5  # of what is left of the call, which is the most that the margin may take of a short one
_GRACE = 0.2  # seconds that the client waits longer than the server, which can stop without losing the connection
_GLANCE = 0.005  # seconds to see whether an answer is complete
_FAREWELL = 0.5  # seconds for what is done for the server's sake when the call is over
_PATIENCE = 1.0  # seconds for a server that kept silent since the last call; it may have forgotten us


class Result:
    """What a statement gave.

    Attributes:
        fields: its columns.
        affected: rows that it inserted or deleted, or that matched what it updates.
        last_id: the first number that AUTO_INCREMENT gave, or 0.
        warnings: how many warnings the server has.
    """

    __slots__ = ("_reply", "_session", "affected", "fields", "is_open", "last_id", "warnings")

    def __init__(self, session: Session, reply: Reply) -> None:
        self._session = session
        self._reply = reply
        self.is_open = bool(reply.fields)
        self.fields: tuple[Field, ...] = reply.fields
        self.affected = reply.affected
        self.last_id = reply.last_id
        self.warnings = reply.warnings

    def rows(self) -> Iterator[Row]:
        """Yield the rows as they come: each value as the server's text in bytes, or None."""
        try:
            for batch in self._reply.batches:
                yield from batch
        except DriverError as error:
            self.is_open = False
            raise self._session.fault(error) from None
        self.is_open = False

    def all(self) -> list[Row]:
        """Return all rows, where they are known to be few."""
        return list(self.rows())

    def close(self) -> None:
        """Be done with it: what is still to come is not read; if that may be much, the server is told to stop."""
        if self.is_open:
            self.is_open = False
            self._session.abandon(self._reply)


class Session:
    """The connection of a call, and of the next one if that takes it over.

    Args:
        connection: the settings; its address is an `Address`.
        deadline: of the call.
    """

    __slots__ = ("_allowed", "_clock", "_connection", "_deadline", "_mode", "_result", "_server", "_wire")

    def __init__(self, connection: Connection, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline
        self._clock = Clock(0)
        self._allowed = 0.0  # seconds that the last statement had
        self._wire: Wire | None = None
        self._server: Server | None = None
        self._result: Result | None = None
        self._mode = ""  # which transaction it is in: "", "read" or "change"

    @property
    def seconds(self) -> float:
        """How long the next statement may take."""
        self._deadline.check()
        left = self._deadline.remaining()
        return max(0.01, min(self._connection.timeout, left - min(_MARGIN, _SHARE * left)))

    @property
    def server(self) -> Server:
        """What the server is."""
        return self._opened()[1]

    def read(self) -> None:
        """Let the following statements see one state of the database, and let the server refuse every change.

        Raises:
            ExecutionError: the server cannot be reached, or does not do what this asks for.
        """
        if self._mode == "read":
            return
        if self._mode:
            raise TypeError("a read transaction in the middle of a change")
        _, server = self._opened()
        if not server.reads_only:
            self._set_reads_only(reads_only=True)
        self._begin("read", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")

    def run(self, sql: str, *, row: int | None = None) -> Result:
        """Run one statement, whose values and names were put in by `literal` and `quoted`; only a change may change.

        Args:
            sql: the statement.
            row: which of the caller's rows it is about, to name it in an error.

        Returns:
            The result; its rows must be read, or it must be closed, before the next statement.

        Raises:
            ClitoolError: what the server says against it, or the time is over.
        """
        wire, _ = self._opened()
        self._result = Result(self, self._send(wire, sql, row))
        return self._result

    def change(self, *, dry_run: bool = False) -> Change:
        """Return a transaction for a ``with`` block: all of it, or, after an error or for `dry_run`, nothing."""
        from clitool_tools.database.mysql.transaction import Change

        return Change(self, dry_run=dry_run)

    def begin_change(self) -> None:
        """Begin the transaction of a change."""
        if self._mode == "change":
            raise TypeError("a change in the middle of a change")
        self.end()
        _, server = self._opened(reads_only=False)
        if server.reads_only:
            self._set_reads_only(reads_only=False)
        self._begin("change", "START TRANSACTION READ WRITE")

    def fault(self, error: DriverError, row: int | None = None) -> ClitoolError:
        """Return what to raise for an error during a statement; drop the connection if it is of no more use."""
        if error.kind in ("slow", "large"):
            self._drop(kill=True)
        elif error.kind != "server":
            self._drop()
        from clitool_tools.database.mysql.faults import translated

        return translated(error, self._allowed, row)

    def abandon(self, reply: Reply) -> None:
        """Read what is still to come of an answer if it is little; else drop the connection and stop the statement."""
        self._clock.wind(_GLANCE)
        try:
            for _ in reply.batches:
                pass
        except DriverError as error:
            self._drop(kill=error.kind == "slow")

    def park(self) -> bool:
        """End a call, so that nothing of it remains; return whether another call can have the connection."""
        if self._result is not None:
            self._result.close()
        self._mode = ""
        return self._wire is not None and self._did(self._wire.reset, _FAREWELL)

    def resume(self, deadline: Deadline) -> bool:
        """Begin another call with another login on the connection; return whether it is as a new one would be."""
        self._deadline = deadline
        wire = self._wire
        if wire is None:
            return False
        try:
            seconds = self.seconds
            if self._did(wire.log_in, min(_PATIENCE, seconds / 2)):
                self._pin(wire, seconds, reads_only=True)
        except ClitoolError:
            self._drop()
        return self._wire is not None and not self.server.greets

    def _did(self, step: Callable[[], None], seconds: float) -> bool:
        """Return whether the server did something for us in time; else hang up."""
        self._clock.wind(seconds)
        try:
            step()
        except DriverError:
            self._drop()
        return self._wire is not None

    def close(self) -> None:
        """Take back what was not committed, and hang up; without waiting for a server that is gone."""
        self.end()
        if self._wire is not None:
            self._clock.wind(_FAREWELL)
            self._wire.close()
            self._wire = None

    def _opened(self, *, reads_only: bool = True) -> tuple[Wire, Server]:
        """Return the connection and what is at its end; connect if that was not done yet, or is to be done again."""
        if self._wire is None or self._server is None:
            if self._mode:
                raise ExecutionError("the connection to the server ended in the middle", "connection_lost")
            self._connect(reads_only=reads_only)
        if self._wire is None or self._server is None:
            raise TypeError("connected to nothing")
        return self._wire, self._server

    def _connect(self, *, reads_only: bool) -> None:
        seconds = self.seconds
        self._clock.wind(seconds)
        address = self._connection.address
        try:
            wire = driver.connect(address, self._clock)
        except DriverError as error:
            from clitool_tools.database.mysql.faults import unreachable

            in_plain = address.ssl_mode == "DISABLED" and not address.socket
            raise unreachable(error, in_plain=in_plain) from None
        self._wire = wire
        try:
            self._pin(wire, seconds, reads_only=reads_only)
        except BaseException as error:
            self._drop()
            if isinstance(error, InvalidParams):  # nothing of it was the caller's
                raise ExecutionError(
                    "the server lacks what this program needs: it must be MariaDB 10 or MySQL 8, or later", "database"
                ) from None
            raise

    def _pin(self, wire: Wire, seconds: float, *, reads_only: bool) -> None:
        self._send(wire, pin(wire.version, seconds, reads_only=reads_only))
        self._look(wire)

    def _look(self, wire: Wire) -> None:
        """Ask the server what it and the session are; raises if the session is not as it must be."""
        self._server = seen(Result(self, self._send(wire, look(wire.version))).all(), wire.tls)

    def _set_reads_only(self, *, reads_only: bool) -> None:
        wire, _ = self._opened()
        self._send(wire, f"SET SESSION TRANSACTION READ {'ONLY' if reads_only else 'WRITE'}")
        self._look(wire)

    def _begin(self, mode: str, sql: str) -> None:
        wire, server = self._opened()
        if not self._send(wire, sql).in_transaction or server.reads_only != (mode == "read"):
            raise ExecutionError("the server does not begin the transaction that it was asked for", "database")
        self._mode = mode

    def _send(self, wire: Wire, sql: str, row: int | None = None) -> Reply:
        if self._result is not None and self._result.is_open:
            raise TypeError("the rows of the last statement are still to be read")
        self._check_size(sql)
        self._allowed = self.seconds
        self._clock.wind(self._allowed + _GRACE)
        try:
            return wire.query(sql)
        except DriverError as error:
            raise self.fault(error, row) from None

    def _check_size(self, sql: str) -> None:
        """Raise `InvalidParams` (too_large) for what the server would only answer by hanging up."""
        most = self._server.max_packet if self._server is not None else len(sql) * 4 + 1
        if len(sql) * 4 >= most and len(sql.encode()) >= most:  # a character has at most 4 bytes
            from clitool_tools.database.mysql.fault_table import TOO_LARGE

            raise InvalidParams(TOO_LARGE, "too_large")

    def commit(self) -> None:
        """Make a change last; raises `ExecutionError` (connection_lost) if nobody knows whether it does."""
        wire, _ = self._opened()
        self._allowed = self.seconds
        self._clock.wind(self._allowed + _GRACE)
        try:
            wire.query("COMMIT")
        except DriverError as error:
            known = self.fault(error)
            if error.kind == "server":
                raise known from None
            raise ExecutionError(
                "the connection to the server ended while it was to make the change last; look whether it did",
                "connection_lost",
            ) from None
        self._mode = ""

    def end(self) -> None:
        """Take the transaction back, if there is one; the server does so itself if the connection is gone."""
        if self._result is not None:
            self._result.close()
        mode, self._mode = self._mode, ""
        if mode and self._wire is not None:
            self._clock.wind(_FAREWELL)
            try:
                self._wire.query("ROLLBACK")
            except DriverError:
                self._drop()

    def _drop(self, *, kill: bool = False) -> None:
        """Hang up; with `kill` the server is told to stop what it does for us, as far as it can be reached."""
        wire, self._wire = self._wire, None
        if self._mode == "read":
            self._mode = ""
        if wire is not None:
            wire.abort()
            if kill and self._server is not None:
                self._kill(self._server.id)

    def _kill(self, number: int) -> None:
        self._clock.wind(_FAREWELL)
        try:
            other = driver.connect(self._connection.address, self._clock)
            try:
                other.query(f"KILL {number:d}")
            finally:
                other.abort()
        except DriverError:
            return
