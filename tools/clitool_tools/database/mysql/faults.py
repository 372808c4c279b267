"""The server's and the driver's errors in the words of this project: one sentence and one reason for each.

Never the statement, a value, the password, the server's files, nor who the account is: servers put all of that into
their texts. Of these only names are taken over, each from a place where no value can stand.
"""

from __future__ import annotations

from clitool.errors import ClitoolError, ExecutionError, InvalidParams, code_of
from clitool_tools.database.mysql.fault_table import CLASSES, FAULTS
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.database.mysql.driver import DriverError

_TRANSIENT = (1020, 1205, 1213, 1412, 1615, 3101)  # may go well the next time, from the beginning of the transaction

_ACCESS_DENIED = 1045

# A certificate's fault by OpenSSL's number (https://docs.openssl.org/master/man3/X509_STORE_CTX_get_error/).
_CERTIFICATES = {
    9: "is not valid yet",
    10: "has expired",
    62: "is for another host name; 'host' must be one that it names",
    64: "is for another address; 'host' must be one that it names",
}
_UNTRUSTED = "does not come from an authority that is trusted; name it in 'ssl_ca'"
_TLS = {
    "none": "the server speaks no TLS, which 'ssl_mode' asks for; nothing was sent",
    "handshake": "the server and this program could not agree on TLS",
    "files": "a file that 'ssl_ca', 'ssl_cert' or 'ssl_key' names cannot be used",
}
_UNREACHABLE = {
    "name": "the server's name is unknown here; see 'host'",
    "connect": "the server cannot be reached: nothing answers at its address",
    "slow": "the server cannot be reached: it did not answer in time",
    "lost": "the server cannot be reached: it hung up before the login was done",
    "protocol": "what answers at the server's address speaks another protocol",
}


class UnknownColumn(InvalidParams):
    """A statement has a column that none of its tables has; `name` is how the server says it, perhaps ``t.c``."""

    def __init__(self, message: str, reason: str, name: str, **details: object) -> None:
        super().__init__(message, reason, **details)
        self.name = name


def translated(error: DriverError, timeout: float, row: int | None = None) -> ClitoolError:
    """Return what to raise for an error during a statement.

    Args:
        error: what happened.
        timeout: seconds that the statement had, for the sentence.
        row: which of the caller's rows was at work; then the sentence begins with it, and `details.row` is it.
    """
    if error.kind == "slow":
        return ExecutionError(
            f"the statement took longer than {timeout:.3g} s and was stopped; ask for less", "timeout"
        )
    if error.kind == "large":
        return InvalidParams(
            "a row is larger, or has more columns, than an answer may have; leave some out", "too_large"
        )
    if error.kind != "server":
        return ExecutionError("the connection to the server ended in the middle", "connection_lost")
    if error.code == _ACCESS_DENIED:  # also for a statement that reads or writes files
        return _made(*FAULTS[1227], error, row)
    return _made(*_known(error), error, row)


def unreachable(error: DriverError, *, in_plain: bool = False) -> ClitoolError:
    """Return what to raise for an error while connecting and logging in; `in_plain` if that was not encrypted."""
    if error.kind == "tls":
        what = f"the server's certificate {_CERTIFICATES.get(error.code, _UNTRUSTED)}"
        return ExecutionError(_TLS.get(error.text, what), "tls")
    if error.kind == "login":
        return _login(error.text)
    if error.kind != "server":
        return ExecutionError(_UNREACHABLE[error.kind], "unreachable")
    sentence, reason = _known(error)
    if error.code == 1044:
        sentence = "the account may not use the database of the settings, or there is none"
    elif error.code == _ACCESS_DENIED and in_plain:  # what MariaDB says if it is the encryption that it misses
        sentence += ", or asks for an encrypted connection; see 'ssl_mode'"
    return _made(sentence, reason, error)


def is_transient(error: ClitoolError) -> bool:
    """Return whether the same transaction may go well if it is tried again: a deadlock, or rows that were changed."""
    return error.details.get("vendor_code") in _TRANSIENT


def _login(method: str) -> ClitoolError:
    if method == "plain":
        return ExecutionError(
            "the server asks for the password itself, which is only sent encrypted: set 'ssl_mode'", "tls"
        )
    named = f" by {method}," if method.isascii() and method.replace("_", "").isalnum() and len(method) < 64 else ""
    return ExecutionError(
        f"the account logs in{named or ' in a way'} which this program does not do; give it mysql_native_password or"
        " caching_sha2_password",
        "login_failed",
    )


def _made(sentence: str, reason: str, error: DriverError, row: int | None = None) -> ClitoolError:
    details: dict[str, object] = {"vendor_code": error.code}
    if error.state:
        details["sqlstate"] = error.state
    if row is not None:
        details["row"] = row
        sentence = f"rows[{row}]: {sentence}"
    if reason == "column_unknown":
        return UnknownColumn(sentence, reason, _name(error.code, error.text), **details)
    kind = InvalidParams if code_of(reason) == InvalidParams.code else ExecutionError
    return kind(sentence, reason, **details)


def _known(error: DriverError) -> tuple[str, str]:
    found = FAULTS.get(error.code) or CLASSES.get(error.state[:2])
    if found is None:
        return f"the server reports error {error.code}", "database"
    sentence, reason = found
    name = _name(error.code, error.text)
    return (f"{sentence} ({shown(name)})" if name else sentence), reason


# Where in the server's text, up to which words, a name of the schema stands.
_NAMED = {
    1048: ("Column '", "' cannot be null"),
    1054: ("Unknown column '", "' in "),
    1052: ("Column '", "' in "),
    1364: ("Field '", "' doesn't have a default value"),
    3819: ("Check constraint '", "' is violated"),
    4025: ("CONSTRAINT `", "` failed for "),
}
_AT_COLUMN = (1264, 1265, 1292, 1366, 1406)


def _name(code: int, text: str) -> str:
    if code in _NAMED:
        before, after = _NAMED[code]
        return text.removeprefix(before).rpartition(after)[0] if text.startswith(before) else ""
    if code in (1062, 1586):
        return _last(text.rpartition(" for key ")[2])
    if code in _AT_COLUMN:
        before, _, number = text.rpartition(" at row ")
        return _last(before.rpartition(" for column ")[2]) if number.isdecimal() else ""  # else a value ends the text
    return ""


def _last(text: str) -> str:
    """Return the last part of a name that stands in quotes as a whole, or part by part in backticks."""
    if text[:1] == "`":
        return text.strip("`").rpartition("`.`")[2]
    return text[1:-1].rpartition(".")[2] if text[:1] == text[-1:] == "'" else ""
