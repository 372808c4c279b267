"""Cursors: where a page ended, as an opaque text that grants nothing.

A cursor holds a version, a digest of the query that it belongs to, and the sort values of the last row. Whatever a
caller makes of it, its values are only ever bound: table and columns come from the new call and are checked there.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.values import scalar, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from clitool_tools.database.values import Stored

VERSION = 1
LONGEST = 16_384  # characters; a row whose sort values need more ends the paging


def digest(*query: object) -> str:
    """Return what tells this query from others; `query` is JSON."""
    import json
    from hashlib import sha256

    return sha256(json.dumps(query, sort_keys=True).encode()).hexdigest()[:24]


def encode(query: str, values: Sequence[object]) -> str | None:
    """Return the cursor behind a row with these sort values, or None if it would be too long."""
    import json
    from binascii import b2a_base64

    text = json.dumps([VERSION, query, [show(value) for value in values]], separators=(",", ":"))
    cursor = b2a_base64(text.encode(), newline=False).decode().translate(_TO_URL).rstrip("=")
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
    content = _content(cursor)
    if not isinstance(content, list) or len(content) != 3 or content[0] != VERSION:
        raise InvalidParams("the cursor is damaged; start again without one", "bad_cursor")
    if content[1] != query:
        raise InvalidParams("the cursor belongs to another query; table, columns, where and order_by must stay as they"
                            " were", "bad_cursor")
    values = content[2]
    if not isinstance(values, list) or len(values) != length:
        raise InvalidParams("the cursor is damaged; start again without one", "bad_cursor")
    return [_value(value) for value in values]


def _content(cursor: str) -> object:
    import json
    from binascii import a2b_base64

    padded = cursor.translate(_FROM_URL) + "=" * (-len(cursor) % 4)
    try:
        content: object = json.loads(a2b_base64(padded, strict_mode=True))
    except (ValueError, RecursionError):
        return None
    return content


def _value(value: object) -> Stored:
    try:
        return scalar(value)
    except InvalidParams:
        raise InvalidParams("the cursor is damaged; start again without one", "bad_cursor") from None


_TO_URL = str.maketrans("+/", "-_")
_FROM_URL = str.maketrans("-_", "+/")
