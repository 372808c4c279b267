"""Documents as bytes, and the one writer of standard output: strict JSON, ASCII, one newline."""

from __future__ import annotations

import os

from clitool.errors import ExecutionError
from clitool.lean import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeGuard

    from clitool.json_array import JsonArray

MAX_BYTES = 64 * 1024 * 1024
SAFE_INTEGER = 2**53 - 1  # beyond it, hosts that read numbers as float64 change digits
_LARGE = [lead + b"9" * 16 for lead in (b":", b",", b"[", b"-", b" ")]  # what may stand before one, and 16 digits
_DIGITS = 17  # what stands before one, and 16 digits: so far one part of a text reaches into the next
_PART = 1 << 20
_DIGITS_AS_NINES = bytes(57 if 48 <= octet <= 57 else octet for octet in range(256))


def encode(document: object, *, pretty: bool = False) -> bytes:
    """Return `document` as one line of strict, ASCII-only JSON (indented if `pretty`), ending in a newline.

    Integers beyond ±(2^53-1) become strings; `bytes`, `Decimal`, dates, times and sets are converted as
    docs/convention.md says.

    Raises:
        ExecutionError: a value has no JSON form (bad_result), or the whole is too large (answer_size).
    """
    return b"".join(pieces(document, pretty=pretty))


def pieces(document: object, *, pretty: bool = False) -> list[bytes]:
    """Return what `encode` does, in pieces: what is written already (`clitool.json_array`) is not copied."""
    try:
        texts, arrays = _written(document, pretty=pretty)
        if any(map(_may_hold_large, texts)):  # look closely, and only then
            texts, arrays = _written(_safe(document), pretty=pretty)
    except (ValueError, TypeError, BufferError, RecursionError) as error:
        raise ExecutionError("the tool's result holds a value that JSON cannot express", "bad_result") from error
    found = texts[:1]
    for array, text in zip(arrays, texts[1:], strict=True):
        found += [*array.pieces(), text]
    if sum(map(len, found)) >= MAX_BYTES:
        raise ExecutionError("the answer is too large; ask for less", "answer_size")
    return [*found, b"\n"]


def _written(document: object, *, pretty: bool) -> tuple[list[bytes], list[JsonArray]]:
    """Return the texts before, between and behind the arrays that are written already, and these."""
    arrays: list[JsonArray] = []
    mark = os.urandom(16).hex()  # stands for an array; no other text can be the same, by chance or by design

    def convert(value: object) -> Any:  # noqa: ANN401 - any JSON value
        if not _is_array(value):
            return _convert(value)
        if pretty:
            return list(value)
        arrays.append(value)
        return mark

    dump = _dump_pretty if pretty else dumps
    return dump(document, convert).encode().split(f'"{mark}"'.encode()), arrays


def _is_array(value: object) -> TypeGuard[JsonArray]:
    return type(value).__module__ == "clitool.json_array"  # without importing it, as `_convert` does


def _may_hold_large(text: bytes) -> bool:
    """Return whether an integer beyond the safe ones may be in it; a part of the text at a time, to copy no more."""
    for start in range(0, len(text), _PART):
        nines = (b"," + text[start : start + _PART + _DIGITS]).translate(_DIGITS_AS_NINES)
        if any(large in nines for large in _LARGE):
            return True
    return False


def write(descriptor: int, data: bytes | memoryview) -> bool:
    """Write all of `data`, also to a pipe that takes little at a time; False if nobody reads any more."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            from select import select

            select([], [descriptor], [])
        except OSError:
            return False
    return True


def _dump_pretty(document: object, default: Callable[[object], object]) -> str:
    import json

    return json.dumps(document, allow_nan=False, default=default, indent=2)


def _convert(value: object) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, (bytes, bytearray, memoryview)):
        from base64 import b64encode

        return {"$binary": {"base64": b64encode(value).decode(), "subType": "00"}}
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if kind in ("decimal.Decimal", "uuid.UUID"):
        return str(value)
    if kind in ("datetime.datetime", "datetime.date", "datetime.time"):
        return value.isoformat()  # type: ignore[attr-defined]  # the three kinds have it
    raise TypeError(kind)


def _safe(value: object) -> object:
    if isinstance(value, dict):
        return {key: _safe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_safe(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return _safe(_convert(value))
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > SAFE_INTEGER:
        return str(value)
    return value
