"""Parts of the standard library without the wrappers around them, whose import takes longer than a call's own work.

The only module that names private ones. Each has its public module as the fallback, with the same answers.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime  # noqa: ICN001 - this is what others import
    import signal
    import socket
    import sqlite3
    from collections.abc import Callable
    from hashlib import sha256
    from hmac import compare_digest
    from importlib.util import MAGIC_NUMBER
    from typing import Any, NoReturn

    Pairs = Callable[[list[tuple[str, Any]]], Any]

    __all__ = [
        "MAGIC_NUMBER",
        "compare_digest",
        "datetime",
        "dumps",
        "loads",
        "sha256",
        "signal",
        "socket",
        "sqlite3",
        "string_writer",
        "writer",
    ]
else:
    try:
        from _frozen_importlib_external import MAGIC_NUMBER
    except ImportError:
        from importlib.util import MAGIC_NUMBER

    try:
        import _signal as signal
    except ImportError:
        import signal

    try:
        from _operator import _compare_digest as compare_digest
    except ImportError:
        from hmac import compare_digest

    try:
        if sys.version_info >= (3, 12):  # asked first, since to look for what is not there costs as much as to load it
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

    def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module
        """Import a module for whoever asks: sockets without their classes, dates without those written in Python."""
        if name == "sqlite3":
            return _driver()
        if name not in ("datetime", "socket"):
            raise AttributeError(name)
        return _shortest(name)

    def _driver() -> Any:  # noqa: ANN401 - as above
        """Import SQLite's driver: without its package, which has converters, and without `functools`.

        Of that it takes `lru_cache` alone, for its cache of statements, and would wait for it longer than for itself.
        """
        if "functools" not in sys.modules:
            try:
                from _functools import _lru_cache_wrapper

                sys.modules["functools"] = _Functools(_lru_cache_wrapper)
                return __import__("_sqlite3")
            except ImportError:
                pass
            finally:
                sys.modules.pop("functools", None)
        return _shortest("sqlite3")

    class _Functools:
        """What SQLite's driver takes of `functools`."""

        def __init__(self, cached: Callable[..., object]) -> None:
            self._cached = cached

        def lru_cache(self, size: int) -> Callable[[object], object]:
            return lambda statements: self._cached(statements, size, False, tuple)

    def _shortest(name: str) -> Any:  # noqa: ANN401 - as above
        try:
            return __import__("_" + name)
        except ImportError:
            return __import__(name)


_BLANKS = " \t\n\r"  # JSON's


def dumps(value: object, default: Callable[[object], object] | None = None) -> str:
    """Return `value` as compact, strict, ASCII-only JSON, as `json.dumps` does.

    Args:
        value: what to write.
        default: called with whatever JSON does not have; returns something else to write instead, or raises TypeError.

    Raises:
        ValueError, TypeError, RecursionError: there is no such JSON.
    """
    return _writer({}, default)(value)


def writer() -> Callable[[object], str]:
    """Return a function that writes one value after the other as `dumps` does, and raises what that raises."""
    return _writer(None, None)


def string_writer() -> Callable[[str], str]:
    """Return the function that writes strings as `dumps` does."""
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import encode_basestring_ascii
    return encode_basestring_ascii


def _writer(open_values: dict[int, Any] | None, default: Callable[[object], object] | None) -> Callable[[object], str]:
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        import json

        return json.JSONEncoder(allow_nan=False, default=default, separators=(",", ":")).encode
    encode = make_encoder(open_values, default or _refuse, encode_basestring_ascii, None, ":", ",", False, False, False)
    return lambda value: "".join(encode(value, 0))


def _refuse(value: object) -> object:
    raise TypeError(type(value).__name__)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class _Reading:
    """How the scanner reads: what `json.JSONDecoder` has of that."""

    strict = True
    object_hook = None

    def __init__(
        self,
        pairs: Pairs | None,
        constant: Callable[[str], Any],
        integer: Callable[[str], Any],
        real: Callable[[str], Any],
    ) -> None:
        self.object_pairs_hook = pairs
        self.parse_constant = constant
        self.parse_int = integer
        self.parse_float = real


def loads(
    text: str,
    pairs: Pairs | None = None,
    constant: Callable[[str], Any] = _refuse_constant,
    *,
    integer: Callable[[str], Any] = int,
    real: Callable[[str], Any] = float,
) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value that `text` spells, as `json.loads` does, but without NaN and infinities.

    Args:
        text: one JSON value, perhaps with blanks around it.
        pairs: called with the names and values of each object, returns what stands for it; by default a dict.
        constant: called with ``NaN`` and the like, returns what stands for it or raises; by default a ValueError.
        integer: called with the digits of each whole number, returns what stands for it or raises.
        real: the same for each other number.

    Raises:
        ValueError: it is not JSON (`json.JSONDecodeError`), or a number is too long.
        RecursionError: it nests too deeply.
    """
    try:
        from _json import make_scanner

        scan: Any = make_scanner(_Reading(pairs, constant, integer, real))  # type: ignore[arg-type]  # declared as its own argument
        value, end = scan(text, len(text) - len(text.lstrip(_BLANKS)))
    except (ImportError, StopIteration, SystemError):
        # StopIteration: no value where one must begin. SystemError: any other fault, while nobody has imported the
        # module whose exception it would be (until Python 3.12).
        end = -1
    if end >= 0 and not text[end:].strip(_BLANKS):
        return value
    import json  # which says what is wrong, and where

    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_int=integer, parse_float=real)
