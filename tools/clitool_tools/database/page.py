"""One page of rows: as JSON objects, bounded in number and bytes, with the exact word whether there is more."""

from __future__ import annotations

from clitool.json_array import JsonArray
from clitool.lean import string_writer, writer
from clitool_tools.database.values import is_unicode, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    Row = Sequence[Any]
    Write = Callable[[Any], str]

_SAFE_INTEGER = 2**53 - 1  # an answer has larger ones as strings


class Page:
    """Rows that were read.

    Attributes:
        rows: JSON objects, one for each row.
        truncated: whether more rows match than are here.
        last: the last row as the engine gave it, or None.
    """

    __slots__ = ("last", "rows", "truncated")

    def __init__(self) -> None:
        self.rows = JsonArray()
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
        max_bytes: size of the rows as ASCII JSON, each with a comma.
        documents: positions of the columns that hold JSON documents.
    """
    return _filled(rows, _row_writer(names, documents), limit, max_bytes)


def collect_documents(rows: Iterable[Row], limit: int, max_bytes: int) -> Page:
    """Take documents until `limit` or `max_bytes` is reached; the first one is always kept.

    Args:
        rows: each begins with the document as JSON; at least one more than `limit` if there are so many.
        limit: documents, at least one.
        max_bytes: size of the documents as ASCII JSON, each with a comma.
    """
    write = writer()
    return _filled(rows, lambda row: write(row[0]), limit, max_bytes)


def _filled(rows: Iterable[Row], write: Callable[[Row], str], limit: int, max_bytes: int) -> Page:
    page = Page()
    append = page.rows.append
    size = 0
    for count, row in enumerate(rows):
        text = write(row)
        size += len(text) + 1  # a comma
        if count and (size > max_bytes or count == limit):
            page.truncated = True
            break
        append(text)
        page.last = row
    return page


def _row_writer(names: Sequence[str], documents: Sequence[int]) -> Callable[[Row], str]:
    quoted = string_writer()
    template = "{" + ",".join(quoted(name).replace("%", "%%") + ":%s" for name in names) + "}"
    width = len(names)
    cells = _cell_writers(quoted, writer())

    def write(row: Row) -> str:
        return template % tuple([cells[type(value)](value) for value in row[:width]])

    def write_with_documents(row: Row) -> str:
        values = list(row)
        for position in documents:
            if isinstance(values[position], str):
                values[position] = _Document(values[position])
        return write(values)

    return write_with_documents if documents else write


class _Document(str):
    """A text that is to be shown as the JSON document that it spells."""

    __slots__ = ()


def _cell_writers(quoted: Callable[[str], str], write: Callable[[object], str]) -> dict[type, Callable[[Any], str]]:
    """Return for each type of a stored value what writes one as `values.show` shows it."""

    def document(text: str) -> str:
        from clitool_tools.database.documents import embedded

        try:
            return write(embedded(text) if is_unicode(text) else show(text))
        except RecursionError:  # it could be read, but is too deep to be written
            return quoted(text)

    return {
        str: lambda value: quoted(value) if value.isascii() or is_unicode(value) else write(show(value)),
        int: lambda value: repr(value) if -_SAFE_INTEGER <= value <= _SAFE_INTEGER else f'"{value}"',
        float: lambda value: repr(value) if value - value == 0 else write(show(value)),
        bytes: lambda value: write(show(value)),
        type(None): lambda _: "null",
        _Document: document,
    }
