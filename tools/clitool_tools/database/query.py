"""The tool that reads rows without any SQL of the caller's."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.names import shown
from clitool_tools.database.policy import CONNECTION, FORMAT, TABLE, WHERE, choose_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import Any, ClassVar

    from clitool.tool import Context
    from clitool_tools.database.engine import Selection
    from clitool_tools.database.interface import Engine
    from clitool_tools.database.page import Page
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.table import Column, Sort, Table
    from clitool_tools.database.where import Node


class DatabaseQuery:
    """Rows of one table, filtered, ordered, page by page."""

    name: ClassVar[str] = "database_query"
    description: ClassVar[str] = (
        "Read rows of one table: columns, filter (where), order and limit as data, no SQL. A result that is cut off"
        " says truncated: true and gives next_cursor to go on with, if the table has a unique key."
    )
    required_scope: ClassVar[str] = "database:read"
    effect: ClassVar[str] = "read"
    idempotent: ClassVar[bool] = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "table": TABLE,
            "columns": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": 2000,
                "description": "the columns to return; all if left out",
            },
            "where": WHERE,
            "order_by": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 50,
                "description": 'columns to sort by, "-col" for descending; null sorts first',
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1_000_000,
                "default": 100,
                "description": "rows to return; the client's max_rows is the upper bound",
            },
            "cursor": {
                "type": "string",
                "minLength": 1,
                "maxLength": 16_384,
                "description": "next_cursor of the page before; the other parameters stay the same",
            },
            "format": FORMAT,
            "connection": CONNECTION,
        },
        "required": ["table"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(self, *, table: str, connection: str | None = None, **_: object) -> Mapping[str, str]:
        """Return which table of which connection would be read."""
        return {"connection": choose_table(self.context.settings, connection, table).name, "table": table}

    def execute(
        self,
        *,
        table: str,
        columns: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        order_by: Sequence[str] | None = None,
        limit: int = 100,
        cursor: str | None = None,
        format: str = "relaxed",  # noqa: A002 - the parameter's name
        connection: str | None = None,
    ) -> Mapping[str, Any]:
        """Return ``{rows, columns, truncated, next_cursor}``, and perhaps `hint` if there are none; see the schema."""
        what = self.decide(table=table, connection=connection)
        self.context.touched(**what)
        settings: Connection = self.context.settings[what["connection"]]
        engine: Engine = self.context.connection(settings.name)
        selection = _selection(engine, engine.table(table), columns, where, order_by, min(limit, settings.max_rows))
        selection.is_canonical = _is_canonical(selection.table, format)
        return _query(selection.table)(engine, settings, selection, [where or {}, order_by or []]).answer(cursor)


class Query:
    """A selection with what its cursors depend on.

    Args:
        engine: answers it.
        settings: of the connection.
        selection: what is asked.
        asked: `where` and `order_by` as the caller wrote them.
    """

    def __init__(self, engine: Engine, settings: Connection, selection: Selection, asked: Sequence[object]) -> None:
        self.engine = engine
        self.settings = settings
        self.selection = selection
        self.asked = asked

    def answer(self, cursor: str | None) -> Mapping[str, Any]:
        """Return the page after `cursor`, or the first one."""
        from clitool_tools.database.page import collect

        selection = self.selection
        if cursor is not None:
            selection.after = self.position(cursor)
        columns = selection.columns
        documents = [position for position, column in enumerate(columns) if column.kind == "json"]
        page = collect(
            [column.name for column in columns],
            self.engine.select(selection),
            selection.limit,
            self.settings.max_bytes,
            documents,
        )
        return {
            "rows": page.rows,
            "columns": [{"name": column.name, "type": column.type} for column in columns],
            "truncated": page.truncated,
            "next_cursor": self.next(page) if page.truncated else None,
        }

    def position(self, cursor: str) -> Sequence[Any]:
        """Return the sort values in a cursor; raises `InvalidParams` (bad_cursor)."""
        from clitool_tools.database.cursor import decode

        return decode(cursor, self.digest(), len(self.selection.order) if self.selection.is_total else -1)

    def next(self, page: Page) -> str | None:
        """Return the cursor behind a page, or None if the order cannot be continued there."""
        if not self.selection.is_total or page.last is None:
            return None
        from clitool_tools.database.cursor import encode

        return encode(self.digest(), page.last[len(self.selection.columns) :])

    def digest(self) -> str:
        """Return what tells this query from others."""
        from clitool_tools.database.cursor import digest

        columns = [column.name for column in self.selection.columns]
        return digest(self.settings.name, self.selection.table.name, columns, *self.asked)


def _query(table: Table) -> type[Query]:
    if not table.is_open:
        return Query
    from clitool_tools.database.document_query import DocumentQuery

    return DocumentQuery


def _is_canonical(table: Table, word: str) -> bool:
    if word == "canonical" and not table.is_open:
        raise InvalidParams("format is for MongoDB; rows of a SQL database have one format: leave it out")
    return word == "canonical"


def _selection(
    engine: Engine,
    table: Table,
    columns: Sequence[str] | None,
    where: Mapping[str, Any] | None,
    order_by: Sequence[str] | None,
    limit: int,
) -> Selection:
    from clitool_tools.database.engine import Selection

    chosen = table.columns if columns is None else _distinct(table, "columns", [table.column(name) for name in columns])
    order = [_sort(table, word) for word in order_by or ()]
    _distinct(table, "order_by", [sort.column for sort in order])
    ending = engine.order(table)
    tree = _filter(table, where) if where else None
    return Selection(table, chosen, tree, [*order, *(ending or ())], limit, is_total=ending is not None)


def _filter(table: Table, where: Mapping[str, Any]) -> Node:
    from clitool_tools.database.where import parse

    return parse(where, table)


def _sort(table: Table, word: str) -> Sort:
    """Return the sort for ``col`` or ``-col``; a column that is itself called ``-col`` goes first."""
    from clitool_tools.database.table import Sort

    descending = word.startswith("-") and not table.has(word)
    return Sort(table.column(word[1:] if descending else word), descending=descending)


def _distinct(table: Table, parameter: str, columns: Sequence[Column]) -> Sequence[Column]:
    seen: set[Hashable] = set()
    for column in columns:
        if table.fold(column.name) in seen:
            raise InvalidParams(f"{parameter} names {shown(column.name)} twice")
        seen.add(table.fold(column.name))
    return columns
