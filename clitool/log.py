"""Daily logs and the audit trail: whole lines, appended by many processes at once."""

from __future__ import annotations

import os
from stat import S_ISREG
from time import gmtime, strftime, time_ns

from clitool.errors import one_line
from clitool.lean import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from clitool.places import LogSettings

MAX_LINE = 8 * 1024  # bytes, newline included
MAX_AUDIT_LINE = 16 * 1024
MAX_TRACEBACK_LINES = 100  # the innermost frames and the error itself come last
AUDIT_FILE = "audit.jsonl"

_AUDIT_FIELDS = ("phase", "reference", "client", "tool", "code", "reason", "ms")  # besides time and touched
_DAY = 24 * 60 * 60 * 10**9  # nanoseconds
_FAULTS = (OSError, ValueError)  # ValueError: a NUL or a lone surrogate in a path


class Logger:
    """Writes lines about one call to one of the day's files; a line that cannot be written is lost silently.

    Args:
        settings: where the files are.
        stem: name of the file without ``.log``: ``core`` or ``tool_<family>``.
        reference: names the call; in every line.
    """

    __slots__ = ("_reference", "_settings", "_stem")

    def __init__(self, settings: LogSettings, stem: str, reference: str) -> None:
        self._settings = settings
        self._stem = stem
        self._reference = reference

    def debug(self, message: str) -> None:
        """Note what only matters when looking for a fault."""
        self.try_write("debug", message)

    def info(self, message: str) -> None:
        """Note what happened as it should."""
        self.try_write("info", message)

    def warn(self, message: str) -> None:
        """Note what someone should look at; the call goes on."""
        self.try_write("warn", message)

    def error(self, message: str) -> None:
        """Note why the call failed."""
        self.try_write("error", message)

    def traceback(self, error: BaseException) -> None:
        """Note where an unforeseen error came from, one log line for each line of its traceback."""
        if self._settings.directory is None:
            return
        from traceback import format_exception

        lines = "".join(format_exception(error)).splitlines()
        self.try_write("error", *lines[-MAX_TRACEBACK_LINES:])

    def try_write(self, level: str, *messages: str) -> bool:
        """Append a line for each message, together; return whether all of it was written.

        Args:
            level: ``debug``, ``info``, ``warn`` or ``error``.
            messages: any text; what does not print becomes an escape, what is too long is cut.
        """
        now = time_ns()
        prefix = f"{_stamp(now)} {level} [{self._reference}] "
        data = b"".join(_line(f"{prefix}{message}") for message in messages)
        return _append(self._settings, f"{self._stem}.log", now, data)


def audit(settings: LogSettings, record: Mapping[str, object]) -> bool:
    """Append one line of JSON to the day's audit file; return whether all of it is there (on the disk, if required).

    Args:
        settings: where the file is, and whether the line must reach the disk.
        record: phase (``attempt`` or ``outcome``), reference, client, tool, code (``ok`` or the error's), reason, ms
            and touched, a mapping without values or secrets. Whatever else it holds is not written.
    """
    now = time_ns()
    return _append(settings, AUDIT_FILE, now, _audit_line(_stamp(now), record), sync=settings.audit == "required")


def open_sink(settings: LogSettings, stem: str) -> int:
    """Return a descriptor for stray output: appended as it comes to the day's file, or lost if there is no log."""
    try:
        return _open(settings, f"{stem}.log", time_ns())
    except _FAULTS:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


def _append(settings: LogSettings, name: str, now: int, data: bytes, *, sync: bool = False) -> bool:
    try:
        descriptor = _open(settings, name, now)
    except _FAULTS:
        return False
    try:
        data = _line_break(descriptor) + data
        whole = os.write(descriptor, data) == len(data)
        if sync:
            os.fsync(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return whole


def _line_break(descriptor: int) -> bytes:
    """Return a newline if the file ends within a line: a full disk or a kill cut it, and the next one shall be whole.

    Another process that is writing at this moment looks the same; then an empty line appears, which readers skip.
    """
    size = os.fstat(descriptor).st_size
    return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""


def _open(settings: LogSettings, name: str, now: int) -> int:
    """Open a file of the day for appending, the day's folder made if it is not there; no link is followed."""
    if not settings.directory:
        raise FileNotFoundError
    folder = _open_day(settings.directory, settings.keep_days, now)
    try:
        # RDWR: the last byte is read, and a FIFO in the file's place does not make us wait for its reader.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=folder)
    finally:
        os.close(folder)
    found = os.fstat(descriptor)
    if S_ISREG(found.st_mode) and found.st_nlink == 1:
        return descriptor
    os.close(descriptor)
    raise OSError(f"{name} is not a regular file with one name")


def _open_day(directory: str, keep_days: int, now: int) -> int:
    path = os.path.join(directory, _day(now))
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        from clitool.log_days import make_day

        make_day(path, _day(max(0, now - keep_days * _DAY)))
        return os.open(path, flags)


def _day(now: int) -> str:
    return strftime("%Y-%m-%d", gmtime(now // 10**9))


def _stamp(now: int) -> str:
    seconds, rest = divmod(now, 10**9)
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(seconds))}.{rest // 10**6:03d}Z"


def _line(text: str) -> bytes:
    data = one_line(text[:MAX_LINE]).encode()
    if len(data) >= MAX_LINE:
        data = data[: MAX_LINE - 8].decode(errors="ignore").encode() + b" [cut]"
    return data + b"\n"


def _audit_line(stamp: str, record: Mapping[str, object]) -> bytes:
    known = {"time": stamp, **{field: _short(record[field]) for field in _AUDIT_FIELDS if field in record}}
    touched = record.get("touched", {})
    line = _json({**known, "touched": touched})
    if not 0 < len(line) < MAX_AUDIT_LINE:
        line = _json({**known, "touched": _outline(touched)})
    if len(line) >= MAX_AUDIT_LINE:
        line = _json({**known, "touched": {"shortened": True}})
    return line + b"\n"


def _outline(touched: object) -> dict[str, object]:
    """Return the first keys of `touched`, each with the beginning of its value."""
    pairs = list(touched.items())[:16] if isinstance(touched, dict) else []
    return {"shortened": True, **{str(_short(key)): _short(value) for key, value in pairs}}


def _short(value: object) -> object:
    """Return a number or null as it is, of a text its beginning, of anything else the beginning of its JSON."""
    if value is None or (isinstance(value, (int, float)) and -1e300 < value < 1e300):
        return value
    return value[:128] if isinstance(value, str) else _json(value)[:128].decode()


def _json(value: object) -> bytes:
    """Return `value` as one printable line of strict ASCII JSON, or nothing if it has no such form."""
    try:
        return dumps(value).encode()
    except (TypeError, ValueError, RecursionError):
        return b""
