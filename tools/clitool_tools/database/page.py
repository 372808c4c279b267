"""One page of rows: as JSON objects, bounded in number and bytes, with the exact word whether there is more."""

from __future__ import annotations

from clitool_tools.database.values import is_unicode, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Row = Sequence[Any]


class Page:
    """Rows that were read.

    Attributes:
        rows: JSON objects, one for each row.
        truncated: whether more rows match than are here.
        last: the last row as the engine gave it, or None.
    """

    __slots__ = ("last", "rows", "truncated")

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.truncated = False
        self.last: Row | None = None


def collect(
    names: Sequence[str], rows: Iterable[Row], limit: int, max_bytes: int, documents: Sequence[int] = ()
) -> Page:
    """Take rows until `limit` or `max_bytes` is reached; the first row is always kept.

    Args:
        names: keys of the objects, all different; a row may be longer than they are.
        rows: as an engine reads them, at least one more than `limit` if there are so many.
        limit: rows, at least one.
        max_bytes: size of the rows as ASCII JSON.
        documents: positions of the columns that hold JSON documents.
    """
    page = Page()
    width = len(names)
    frame = 3 + sum(json_size(name) + 2 for name in names)  # braces, comma; colon and comma for each name
    size, is_exact = 0, False
    for row in rows:
        values: Sequence[Any] = row[:width]
        bound = _bound(values)
        if bound is None:
            values = [show(value) for value in values]
        size += frame + (_size(values) if is_exact or bound is None else bound)
        if size > max_bytes and not is_exact:  # perhaps the bounds were too cautious: from here on by exact sizes
            is_exact = True
            size = sum(frame + _size(shown) for shown in (*(each.values() for each in page.rows), values))
        if page.rows and (size > max_bytes or len(page.rows) == limit):
            page.truncated = True
            break
        page.rows.append(dict(zip(names, values, strict=True)))
        page.last = row
    for position in documents:
        _embed(page.rows, names[position])
    return page


def collect_documents(rows: Iterable[Row], limit: int, max_bytes: int) -> Page:
    """Take documents until `limit` or `max_bytes` is reached; the first one is always kept.

    Args:
        rows: each begins with the document as JSON; at least one more than `limit` if there are so many.
        limit: documents, at least one.
        max_bytes: size of the documents as ASCII JSON.
    """
    from json import JSONEncoder

    encode = JSONEncoder(separators=(",", ":")).encode
    page = Page()
    size = 0
    for row in rows:
        size += len(encode(row[0])) + 1  # a comma
        if page.rows and (size > max_bytes or len(page.rows) == limit):
            page.truncated = True
            break
        page.rows.append(row[0])
        page.last = row
    return page


def _bound(values: Iterable[Any]) -> int | None:
    """Return a size that the values as JSON surely do not exceed, or None if one of them must be shown in another way.

    This is the loop over every value of an answer, and cheap because it does not look at each character.
    """
    bound = 0
    for value in values:
        kind = type(value)
        if kind is str:
            if value.isprintable() and value.isascii() and '"' not in value and "\\" not in value:
                bound += 2 + len(value)
            elif is_unicode(value):
                bound += 2 + 12 * len(value)  # a character beyond the basic plane is written as two escapes
            else:
                return None
        elif kind is int or value is None:
            bound += len(repr(value)) + 2  # a large one gets quotes
        elif kind is float and value - value == 0:  # finite
            bound += 24
        else:
            return None
    return bound


def _size(values: Iterable[Any]) -> int:
    """Return the exact size of shown values as ASCII JSON."""
    return sum(map(_size_of_one, values))


def _size_of_one(value: Any) -> int:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return json_size(value)
    if not isinstance(value, dict):
        return len(repr(value))
    (content,) = value.values()
    return 40 + len(content if isinstance(content, str) else content["base64"])


def json_size(text: str) -> int:
    """Return the length of `text` as an ASCII JSON string, with its quotes."""
    if text.isascii():
        if text.isprintable() and '"' not in text and "\\" not in text:
            return 2 + len(text)
        narrow, wide = text.encode(), 0
    else:
        narrow = text.encode("ascii", "ignore")
        wide = len(text.encode("utf-16-le")) // 2 - len(narrow)
    short = sum(map(narrow.count, b'"\\\n\r\t\b\f'))
    long = len(narrow.translate(None, _PLAIN))
    return 2 + len(narrow) + short + 5 * long + 6 * wide


_PLAIN = bytes(range(0x20, 0x7F)) + b"\n\r\t\b\f"  # the rest is written as \\u00XX


def _embed(rows: Iterable[dict[str, Any]], name: str) -> None:
    """Replace the texts of a column by the JSON documents that they spell."""
    from clitool_tools.database.documents import embedded

    for row in rows:
        if isinstance(row[name], str):
            row[name] = embedded(row[name])
