"""What the server sends, as the values that `clitool_tools.database.values.show` takes: by the kind of a column.

The text protocol gives every value as the server itself writes it, so that nothing is lost on the way: dates with
zeros, times beyond a day, all digits of a DECIMAL. Only a FLOAT is rounded there, to six digits; `selecting` says how a
structured query gets them all.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from clitool_tools.database.mysql.driver import Field

    Reader = Callable[[bytes], Any]

_BINARY = 63  # the number of the collation of what is no text
_ZEROFILL = 64  # the flag

# Numbers of types in the protocol: https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html
_WHOLE = (1, 2, 3, 8, 9, 13)  # TINYINT, SMALLINT, INT, BIGINT, MEDIUMINT, YEAR
_REAL = (4, 5)
_DECIMAL = (0, 246)
_TIMESTAMP = 7
_DATETIME = 12
_BIT = 16
_PLAIN = (10, 11, 14, 245)  # DATE, TIME, DATE again, JSON: text whatever their collation says
_BYTES = (242, 255)  # VECTOR, GEOMETRY


def readers(fields: Sequence[Field]) -> list[Reader]:
    """Return for each column of a result what makes a value of its bytes; null is not given to it."""
    return [_reader(field) for field in fields]


def text(raw: bytes) -> str:
    """Return a text; bytes that are not UTF-8 as surrogate escapes."""
    return raw.decode("utf-8", "surrogateescape")


def single(raw: bytes) -> float:
    """Return the number that a FLOAT, sent as a DOUBLE, was given as: the shortest that rounds to the same FLOAT."""
    from clitool_tools.database.mysql.single import shortest

    return shortest(float(raw))


def _reader(field: Field) -> Reader:
    if field.type in _WHOLE:
        return int
    if field.type in _REAL:
        return float
    if field.type in _DECIMAL:
        return _unfilled if field.flags & _ZEROFILL else _ascii
    if field.type in _OTHERS:
        return _OTHERS[field.type]
    return bytes if field.charset == _BINARY else text


def _ascii(raw: bytes) -> str:
    return raw.decode("ascii")


def _unfilled(raw: bytes) -> str:
    """Return a DECIMAL without the zeros before it that ZEROFILL adds."""
    digits = raw.decode("ascii").lstrip("0")
    return digits if digits[:1].isdigit() else "0" + digits


def _moment(raw: bytes) -> str:
    return raw.decode("ascii").replace(" ", "T")


def _moment_in_utc(raw: bytes) -> str:
    return raw.decode("ascii").replace(" ", "T") + "Z"


def _bits(raw: bytes) -> int:
    return int.from_bytes(raw, "big")


_OTHERS: dict[int, Reader] = {
    _TIMESTAMP: _moment_in_utc,
    _DATETIME: _moment,
    _BIT: _bits,
    **dict.fromkeys(_PLAIN, text),
    **dict.fromkeys(_BYTES, bytes),
}
