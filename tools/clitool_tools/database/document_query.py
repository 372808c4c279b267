"""Queries on open tables: whole documents, whose fields and types are known only once they were read."""

from __future__ import annotations

from clitool_tools.database.query import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from clitool_tools.database.page import Page
    from clitool_tools.database.table import Fields, OpenTable

_SHAPES = 256  # to remember, so that documents which are all different take no memory


class DocumentQuery(Query):
    """A selection of documents with what its cursors depend on; a cursor holds one text, which the table makes."""

    @property
    def table(self) -> OpenTable:
        """The table as what it is."""
        table: Any = self.selection.table
        found: OpenTable = table
        return found

    def answer(self, cursor: str | None) -> Mapping[str, Any]:
        """Return the page after `cursor`, or the first one."""
        from clitool_tools.database.page import collect_documents

        selection = self.selection
        if cursor is not None:
            selection.after = self.position(cursor)
        fields: Fields = {}
        rows = noting(self.engine.select(selection), fields)
        page = collect_documents(rows, selection.limit, self.settings.max_bytes)
        advice = None if page.rows or selection.where is None else selection.table.advice(selection.where)
        return {
            "rows": page.rows,
            "columns": self.table.seen(fields),
            "truncated": page.truncated,
            "next_cursor": self.next(page) if page.truncated else None,
            **({} if advice is None else {"hint": advice}),
        }

    def position(self, cursor: str) -> Sequence[Any]:
        """Return the text in a cursor, which the engine checks; raises `InvalidParams` (bad_cursor)."""
        from clitool_tools.database.cursor import decode

        return decode(cursor, self.digest(), 1 if self.selection.is_total else -1)

    def next(self, page: Page) -> str | None:
        """Return the cursor behind a page, or None if the order cannot be continued there."""
        from clitool_tools.database.cursor import encode

        if not self.selection.is_total or page.last is None:
            return None
        text = self.table.packed(page.last[1])
        return None if text is None else encode(self.digest(), [text])


def noting(rows: Iterator[Sequence[Any]], fields: Fields) -> Iterable[Sequence[Any]]:
    """Yield the rows and note the fields of each that was taken: whoever asks for the next one has kept the last."""
    known: set[Any] = set()  # shapes; most documents have that of an earlier one
    for row in rows:
        yield row
        shape = row[2]
        if shape not in known:
            if len(known) == _SHAPES:
                known.clear()
            known.add(shape)
            for name, kind in zip(*shape, strict=True):
                fields.setdefault(name, {})[kind] = None
