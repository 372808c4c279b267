"""JSON documents in a column: an object or array goes in and comes out as such, everything else as its text."""

from __future__ import annotations

from clitool.lean import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SAFE_INTEGER = 2**53 - 1
_DIGITS = 15  # a double keeps every decimal number of so many digits


def written(value: object) -> str | None:
    """Return `value` as the text to store, or None if it is no JSON; a string must be a JSON text already."""
    try:
        if not isinstance(value, str):
            return _text(value)
        loads(value)
    except (ValueError, RecursionError):
        return None
    return value


def _text(value: object) -> str:
    from json import dumps  # which leaves characters as they are

    return dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def embedded(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the object or array that `text` spells; `text` itself if it is neither, or would lose something."""
    if not text.lstrip(" \t\r\n").startswith(("{", "[")):
        return text
    try:
        return loads(text, _object, integer=_integer, real=_float)
    except (ValueError, RecursionError):
        return text


def _integer(text: str) -> int:
    value = int(text)
    return value if abs(value) <= _SAFE_INTEGER else _refuse(text)


def _float(text: str) -> float:
    value = float(text)
    digits = text.lower().partition("e")[0].lstrip("-").replace(".", "").strip("0")
    return value if len(digits) <= _DIGITS and abs(value) < float("inf") else _refuse(text)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _refuse("a key twice")


def _refuse(text: str) -> Any:  # noqa: ANN401 - stands where any value is expected
    raise ValueError(text)
