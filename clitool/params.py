"""The parameters of a call: from `--params` to one JSON object, strictly read (host.md C3-C13)."""

from __future__ import annotations

import os
import stat

from clitool.errors import InvalidParams
from clitool.lean import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

MAX_BYTES = 10 * 1024 * 1024
MAX_DEPTH = 100
_BOM = "\ufeff"


def read(argument: str | None, rest_of_stdin: Callable[[int], bytes]) -> dict[str, Any]:
    """Return the parameters that `--params` stands for; none at all are `{}`.

    Args:
        argument: JSON text, `@FILE`, `@-` for what follows the token line on standard input, or None.
        rest_of_stdin: called with a limit, returns that many bytes and one more at most.

    Raises:
        InvalidParams: whatever is wrong, without an echo of the text.
    """
    if argument is None:
        return {}
    if argument == "@-":
        return parse(_bounded(rest_of_stdin(MAX_BYTES)))
    if argument.startswith("@"):
        return parse(_file(argument[1:]))
    return parse(_bounded(os.fsencode(argument)))


def parse(data: bytes) -> dict[str, Any]:
    """Parse one JSON object: UTF-8, no duplicate keys, no NaN, no infinity, no lone surrogates, bounded depth."""
    text = _decode(data)
    try:
        value = loads(text, _object, _constant)
    except (ValueError, RecursionError) as error:
        _refuse(_fault(error))
    if value is None:
        return {}
    if not isinstance(value, dict):
        _refuse('the parameters must be a JSON object, for example \'{"path": "notes.txt"}\'')
    _inspect(value, MAX_DEPTH, surrogates="\\u" in text)
    return value


def _fault(error: ValueError | RecursionError) -> str:
    from json import JSONDecodeError

    if isinstance(error, JSONDecodeError):
        return f"the parameters are not JSON: {error.msg} at line {error.lineno} column {error.colno}"
    return "the parameters hold a number that is too long, or nest too deeply"  # thousands of digits, or of brackets


def _decode(data: bytes) -> str:
    try:
        text = data.decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        raise InvalidParams(f"the parameters are not UTF-8 (byte {error.start})", "params_json") from None
    if not text.strip():
        _refuse("the parameters are empty; leave --params out or write '{}' (a shell may have eaten the quotes)")
    return text


def _inspect(value: object, depth: int, *, surrogates: bool) -> None:
    # Lone surrogates can only have come from an escape, so most texts need no look at each string.
    if depth == 0:
        _refuse(f"the parameters nest more than {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        for key, item in value.items():
            _inspect(key, depth, surrogates=surrogates)
            _inspect(item, depth - 1, surrogates=surrogates)
    elif isinstance(value, list):
        for item in value:
            _inspect(item, depth - 1, surrogates=surrogates)
    elif isinstance(value, float) and value - value != 0:
        _refuse("a number of the parameters is too large")
    elif surrogates and isinstance(value, str) and not _is_unicode(value):
        _refuse("the parameters hold half of a surrogate pair, which is no character")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        _refuse("an object of the parameters has the same key twice")
    return result


def _constant(_: str) -> NoReturn:
    _refuse("NaN and Infinity are not JSON")


def _file(path: str) -> bytes:
    # Non-blocking, so that a FIFO that nobody writes to cannot hold the call up before its type is known.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a possible path"
        raise InvalidParams(f"the parameter file {path[:200]!r} cannot be opened: {why}", "params_file") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InvalidParams(f"the parameter file {path[:200]!r} is not a regular file", "params_file")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return _bounded(file.read(MAX_BYTES + 1))
    except OSError as error:
        message = f"the parameter file {path[:200]!r} cannot be read: {error.strerror}"
        raise InvalidParams(message, "params_file") from None
    finally:
        os.close(descriptor)


def _bounded(data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise InvalidParams(f"the parameters are larger than {MAX_BYTES} bytes", "params_size")
    return data


def _refuse(message: str) -> NoReturn:
    raise InvalidParams(message, "params_json")
