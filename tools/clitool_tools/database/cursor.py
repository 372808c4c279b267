"""Cursors: where a page ended, as an opaque text that grants nothing.

A cursor holds a version, a checksum of the query that it belongs to, and the sort values of the last row. Whatever a
caller makes of it, its values are only ever bound: table and columns come from the new call and are checked there. So
the checksum need not be hard to forge; it tells a caller who mixes up cursors.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64

from clitool.errors import InvalidParams
from clitool_tools.database.values import LARGEST, RawText, is_unicode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clitool_tools.database.values import Stored

VERSION = "1"
LONGEST = 16_384  # characters; a row whose sort values need more ends the paging


def digest(*query: object) -> str:
    """Return what tells this query from others; `query` is JSON."""
    from zlib import adler32, crc32

    data = _canonical(query).encode("utf-8", "surrogatepass")
    return f"{crc32(data):08x}{adler32(data):08x}"


def encode(query: str, values: Sequence[object]) -> str | None:
    """Return the cursor behind a row with these sort values, or None if it would be too long."""
    cursor = ".".join([VERSION, query, *map(_packed, values)])
    return cursor if len(cursor) <= LONGEST else None


def decode(cursor: str, query: str, length: int) -> list[Stored]:
    """Return the sort values of a cursor.

    Args:
        cursor: as the caller sent it.
        query: the digest of the query that it is used with.
        length: how many values that query sorts by.

    Raises:
        InvalidParams: damaged, or another query's (bad_cursor).
    """
    version, _, rest = cursor.partition(".")
    found, *values = rest.split(".")
    if version != VERSION or len(found) != len(query):
        raise _damaged()
    if found != query:
        raise InvalidParams(
            "the cursor belongs to another query; table, columns, where and order_by must stay as they were",
            "bad_cursor",
        )
    if len(values) != length:
        raise _damaged()
    return [_unpacked(value) for value in values]


def _canonical(value: object) -> str:
    """Return the same text for equal JSON values, whatever the order of their keys."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{key!r}:{_canonical(item)}" for key, item in value.items())) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return repr(value)


def _packed(value: object) -> str:
    """Return a sort value as a letter for its kind and what follows from that; never with a dot."""
    if value is None:
        return "n"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return "r" + value.hex().replace(".", "_")
    if isinstance(value, str):
        return "t" + _base64(value.encode("utf-8", "surrogateescape"))
    return "b" + _base64(value) if isinstance(value, bytes) else ""


def _unpacked(text: str) -> Stored:
    unpack = _KINDS.get(text[:1])
    try:
        if unpack is not None:
            return unpack(text[1:])
    except (ValueError, OverflowError):
        pass
    raise _damaged()


def _null(content: str) -> None:
    if content:
        raise ValueError(content)


def _integer(content: str) -> int:
    value = int(content) if content.isascii() and len(content) <= 20 else LARGEST + 1
    if not -LARGEST - 1 <= value <= LARGEST:
        raise ValueError(content)
    return value


def _real(content: str) -> float:
    value = float.fromhex(content.replace("_", "."))
    if value != value:  # noqa: PLR0124 - only NaN is unequal to itself
        raise ValueError(content)
    return value


def _bytes(content: str) -> bytes:
    if "=" in content:
        raise ValueError(content)
    return a2b_base64(content.translate(_FROM_URL) + "=" * (-len(content) % 4), strict_mode=True)


def _text(content: str) -> str | RawText:
    data = _bytes(content)
    text = data.decode("utf-8", "surrogateescape")
    return text if is_unicode(text) else RawText(data)


_KINDS: dict[str, Callable[[str], Stored]] = {"n": _null, "i": _integer, "r": _real, "t": _text, "b": _bytes}


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode().translate(_TO_URL).rstrip("=")


def _damaged() -> InvalidParams:
    return InvalidParams("the cursor is damaged; start again without one", "bad_cursor")


_TO_URL = str.maketrans("+/", "-_")
_FROM_URL = str.maketrans("-_", "+/")
