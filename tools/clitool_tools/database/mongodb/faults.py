"""MongoDB's errors in the words of this project: one sentence and one reason for each, never a value or an address.

The server's own sentences hold values and the driver's hold addresses, so neither is ever repeated: what an error is
comes from its number and its type.
"""

from __future__ import annotations

from clitool.errors import ClitoolError, ExecutionError, InvalidParams
from clitool_tools.database.mongodb.codes import DUPLICATE, FAULTS, LARGE, TIMEOUT, UNAUTHORIZED
from clitool_tools.database.mongodb.driver import bson, pymongo
from clitool_tools.database.names import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self

_INVALID = 121
_OURS = ("bad_value", "too_large", "table_not_allowed")  # reasons that are about the caller's values


class Faults:
    """A context for work on the server: bounded in time, the driver's errors turned into ours.

    Args:
        seconds: that the work may take.
        last_seen: gives what kept each server from answering, None for one that answers.
        is_anonymous: whether the connection string names no account.
        running: those that were entered and not yet left; this one puts itself there.

    Attributes:
        first: the number of the caller's row that the driver counts as 0, to tell which one is refused.
    """

    __slots__ = ("_clock", "_is_anonymous", "_last_seen", "_running", "_seconds", "first")

    def __init__(
        self,
        seconds: float,
        last_seen: Callable[[], Sequence[BaseException | None]],
        *,
        is_anonymous: bool = False,
        running: list[Faults] | None = None,
    ) -> None:
        self._seconds = seconds
        self._last_seen = last_seen
        self._is_anonymous = is_anonymous
        self._clock = pymongo.timeout(seconds)
        self._running: list[Faults] = [] if running is None else running
        self.first = 0

    def __enter__(self) -> Self:
        self._clock.__enter__()
        self._running.append(self)
        return self

    def leave(self) -> None:
        """Stop the clock, which bounds whatever the driver does, in other calls, too; harmless when repeated."""
        if self in self._running:
            self._running.remove(self)
            self._clock.__exit__(None, None, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()
        if isinstance(error, _DRIVERS):
            raise self.translated(error) from error

    def translated(self, error: BaseException) -> ClitoolError:
        """Return what to raise for an error of the driver or the server."""
        if isinstance(error, pymongo.errors.ServerSelectionTimeoutError):
            return _unreachable(self._last_seen())
        if isinstance(error, pymongo.errors.BulkWriteError):
            return self._of_a_row(error.details)
        if isinstance(error, pymongo.errors.OperationFailure):
            return self._of_the_server(error.code or 0, error.details or {})
        if isinstance(error, pymongo.errors.PyMongoError) and error.timeout:
            return self._too_long()
        return _of_the_driver(error)

    def _of_a_row(self, details: Mapping[str, Any]) -> ClitoolError:
        failed = (details.get("writeErrors") or details.get("writeConcernErrors") or [{}])[0]
        found = self._of_the_server(failed.get("code", 0), failed)
        if "index" not in failed:
            return found
        row = self.first + failed["index"]
        return type(found)(f"rows[{row}]: {found}", found.reason, **found.details, row=row)

    def _of_the_server(self, code: int, details: Mapping[str, Any]) -> ClitoolError:
        if code in TIMEOUT:
            return self._too_long()
        if code == UNAUTHORIZED and self._is_anonymous:
            return ExecutionError(
                "the server wants a login; name user and password in connection_string",
                "login_failed",
                vendor_code=code,
            )
        if code in DUPLICATE:
            keys = listed(details.get("keyPattern") or ())
            sentence = "a document with the same unique key exists already" + (f" ({keys})" if keys else "")
            return ExecutionError(sentence, "duplicate_key", vendor_code=code)
        if code == _INVALID:
            names = listed(dict.fromkeys(_broken(details.get("errInfo"))))
            sentence = "the collection's validation rules refuse the document" + (f" ({names})" if names else "")
            return ExecutionError(sentence, "constraint", vendor_code=code)
        reason, sentence = FAULTS.get(code) or _other(code, details)
        kind = InvalidParams if reason in _OURS else ExecutionError
        return kind(sentence, reason, vendor_code=code)

    def _too_long(self) -> ExecutionError:
        return ExecutionError(
            f"the statement took longer than {self._seconds:.3g} s and was stopped; ask for less", "timeout"
        )


_DRIVERS = (pymongo.errors.PyMongoError, bson.errors.BSONError, OverflowError, UnicodeError)


def _broken(explanation: Any) -> Iterator[str]:  # noqa: ANN401 - what the server says, or a part of it
    """Yield the names of the fields that break a rule; the values stand beside them and stay there."""
    if isinstance(explanation, list):
        for part in explanation:
            yield from _broken(part)
    elif isinstance(explanation, dict):
        names = [explanation.get("propertyName"), *explanation.get("missingProperties", ())]
        yield from (name for name in names if isinstance(name, str))
        for key in ("details", "schemaRulesNotSatisfied", "propertiesNotSatisfied"):
            yield from _broken(explanation.get(key))


def _other(code: int, details: Mapping[str, Any]) -> tuple[str, str]:
    name = str(details.get("codeName", ""))[:100]
    return "database", f"MongoDB reports the error {code}" + (f" ({name})" if name else "")


def _of_the_driver(error: BaseException) -> ClitoolError:
    if isinstance(error, pymongo.errors.DocumentTooLarge):
        return InvalidParams(LARGE, "too_large")
    if isinstance(error, pymongo.errors.AutoReconnect):
        return ExecutionError("the connection to the server ended in the middle of the call", "connection_lost")
    if isinstance(error, pymongo.errors.ConfigurationError):
        return unusable(error)
    if isinstance(error, pymongo.errors.PyMongoError):
        return ExecutionError(f"the driver reports {type(error).__name__}", "database")
    return InvalidParams("MongoDB takes no such value", "bad_value")


def _unreachable(last_seen: Sequence[BaseException | None]) -> ExecutionError:
    texts = [str(error) for error in last_seen if error is not None]  # with the host's name, in small letters
    if any("SSL" in text for text in texts):
        return ExecutionError(
            "the server's certificate or encryption is not what the connection string asks for", "tls"
        )
    if any("Connection reset" in text or "connection closed" in text for text in texts):
        return ExecutionError("the server ends the connection at once; perhaps it wants tls=true", "tls")
    if any(isinstance(error, pymongo.errors.ProtocolError) for error in last_seen):
        return ExecutionError("what answers at the server's address is no MongoDB; look at the port", "unreachable")
    is_other = any(isinstance(error, pymongo.errors.ConfigurationError) for error in last_seen)
    if is_other or len(texts) < len(last_seen) or not last_seen:  # the driver forgets those of another replica set
        return ExecutionError(
            "a server answers, but it is no primary of the replica set that the connection string names", "unreachable"
        )
    return ExecutionError("the server cannot be reached: nothing answers at its address", "unreachable")


def unusable(error: BaseException) -> ExecutionError:
    """Return what to raise if the driver cannot even begin to connect."""
    from ssl import SSLError

    if isinstance(error, OSError) and not isinstance(error, SSLError):
        return ExecutionError("a file that the connection string names cannot be read", "tls")
    text = str(error).lower()
    if "dns" in text or "srv" in text:
        return ExecutionError("the name of the cluster cannot be found in the DNS", "unreachable")
    if "tls" in text or "ssl" in text or "pem" in text:
        return ExecutionError("the certificates that the connection string names cannot be used", "tls")
    return ExecutionError("the driver cannot use the connection string", "unreachable")
