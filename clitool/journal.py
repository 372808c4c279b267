"""What one call leaves behind: its reference, its log lines, its audit line."""

from __future__ import annotations

import os
from time import monotonic

from clitool.errors import ClitoolError, ExecutionError
from clitool.lean import dumps, loads
from clitool.log import Logger, audit, open_sink
from clitool.places import LogSettings, log_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from clitool.clients import Clients
    from clitool.pipeline import Caller
    from clitool.tool import Context


class Journal:
    """The traces of one call.

    Attributes:
        reference: names the call in log, audit and unforeseen errors.
        log: where it writes; until `open`, what the environment says.
    """

    def __init__(self, tool: str, environment: Mapping[str, str]) -> None:
        self.reference = os.urandom(6).hex()
        self._environment = environment
        self.log: LogSettings = log_settings(None, environment)
        self._tool = tool[:64]
        self._client: str | None = None
        self._context: Context | None = None
        self._started = monotonic()

    def open(self, clients: Clients) -> None:
        """Write from now on where the clients file says."""
        self.log = log_settings(clients, self._environment)

    def caller(self, caller: Caller) -> None:
        """Remember who calls."""
        self._client = caller.client.name

    def rejected(self, clients: Clients, token: bytes) -> None:
        """Log why a token was refused, which the caller is never told (host.md V4)."""
        from clitool.pipeline import today
        from clitool.rejection import why_rejected

        Logger(self.log, "core", self.reference).warn(why_rejected(clients, token, today()))

    def logged_under(self) -> str:
        """Return the reference under which the log has this call, or nothing if there is no log."""
        return self.reference if self.log.directory else ""

    def logger(self, family: str) -> Logger:
        """Return the logger of a family's tools for this call."""
        return Logger(self.log, f"tool_{family}", self.reference)

    def sink(self) -> int:
        """Return a descriptor for what tools print."""
        return open_sink(self.log, "output")

    def attempt(self, context: Context) -> None:
        """Note that the tool is about to run; where audit is required, no line means no execution."""
        self._context = context
        record = {**self._record("attempt"), "touched": context.touches}
        if self.log.audit == "required" and not audit(self.log, record):
            message = "the call was not made: its audit line cannot be written; run `clitool check`"
            raise ExecutionError(message, "audit")

    def outcome(self, error: BaseException | None) -> None:
        """Write the call's audit line, and the traceback of an unforeseen error to the log."""
        if error is not None:
            self._log(error)
        touched = self._context.touches if self._context else {}
        audit(self.log, {**self._record("outcome"), **_verdict(error), "ms": self._milliseconds(), "touched": touched})

    def facts(self) -> bytes:
        """Return what `close_for_lost_worker` needs, for a supervisor that may have to end this call."""
        log = [self.log.directory, self.log.keep_days, self.log.audit]
        return dumps([log, self._record("outcome")]).encode()

    def _record(self, phase: str) -> dict[str, object]:
        return {"phase": phase, "reference": self.reference, "client": self._client, "tool": self._tool}

    def _milliseconds(self) -> int:
        return round((monotonic() - self._started) * 1000)

    def _log(self, error: BaseException) -> None:
        core = Logger(self.log, "core", self.reference)
        if not isinstance(error, ClitoolError):
            core.traceback(error)
            return
        for problem in getattr(error, "problems", ()):
            core.error(problem)


def close_for_lost_worker(facts: bytes, error: BaseException, seconds: float) -> None:
    """Write the audit line of a call whose worker was killed or crashed."""
    log, record = loads(facts.decode())
    audit(LogSettings(*log), {**record, **_verdict(error), "ms": round(seconds * 1000), "touched": {}})


def _verdict(error: BaseException | None) -> dict[str, object]:
    if error is None:
        return {"code": "ok", "reason": None}
    if isinstance(error, ClitoolError):
        return {"code": error.code, "reason": error.reason}
    return {"code": "execution_error", "reason": "internal"}
