"""Parts of the standard library without the wrappers around them, whose import takes longer than a call's own work.

The only module that names private ones. Each has its public module as the fallback, with the same answers.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from hashlib import sha256
    from hmac import compare_digest

    __all__ = ["compare_digest", "dumps", "sha256", "signal"]
else:
    try:
        import _signal as signal
    except ImportError:
        import signal

    try:
        from _operator import _compare_digest as compare_digest
    except ImportError:
        from hmac import compare_digest

    try:
        from _sha2 import sha256
    except ImportError:
        try:
            from _sha256 import sha256  # until Python 3.11
        except ImportError:
            from hashlib import sha256


def dumps(value: object, default: Callable[[object], object] | None = None) -> str:
    """Return `value` as compact, strict, ASCII-only JSON, as `json.dumps` does.

    Args:
        value: what to write.
        default: called with whatever JSON does not have; returns something else to write instead, or raises TypeError.

    Raises:
        ValueError, TypeError, RecursionError: there is no such JSON.
    """
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        import json

        return json.dumps(value, allow_nan=False, default=default, separators=(",", ":"))
    encode = make_encoder({}, default or _refuse, encode_basestring_ascii, None, ":", ",", False, False, False)
    return "".join(encode(value, 0))


def _refuse(value: object) -> object:
    raise TypeError(type(value).__name__)
