"""The tools that add rows: insert, and upsert by a unique key."""

from __future__ import annotations

from clitool_tools.database.policy import CONNECTION, TABLE, choose_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from clitool.tool import Context
    from clitool_tools.database.interface import Engine

_ROWS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "object"},
    "minItems": 1,
    "maxItems": 10_000,
    "description": (
        'the rows as objects, each with the columns it has: {"name": "Ada", "age": 36}. Bytes are'
        ' {"$binary": {"base64": "…", "subType": "00"}}; integers beyond 2^53 may be strings'
    ),
}


class DatabaseInsert:
    """New rows."""

    name: ClassVar[str] = "database_insert"
    description: ClassVar[str] = (
        "Insert rows into one table: all of them or, if one is refused, none. Columns that a row leaves out take their"
        " defaults. Returns the count and, where the database numbers rows itself, their ids."
    )
    required_scope: ClassVar[str] = "database:write"
    effect: ClassVar[str] = "write"
    idempotent: ClassVar[bool] = False
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"table": TABLE, "rows": _ROWS, "connection": CONNECTION},
        "required": ["table", "rows"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(self, *, table: str, connection: str | None = None, **_: object) -> Mapping[str, str]:
        """Return which table of which connection would get the rows."""
        return {"connection": choose_table(self.context.settings, connection, table).name, "table": table}

    def execute(
        self, *, table: str, rows: Sequence[Mapping[str, object]], connection: str | None = None
    ) -> Mapping[str, Any]:
        """Return ``{inserted, ids}``; `ids` only where the primary key is the row's number."""
        from clitool_tools.database.assignments import all_assigned

        what = self.decide(table=table, connection=connection)
        self.context.touched(**what, rows=len(rows))
        engine: Engine = self.context.connection(what["connection"])
        found = engine.table(table, change=True)
        return engine.insert(found, all_assigned(found, rows))


class DatabaseUpsert:
    """Rows that may exist already."""

    name: ClassVar[str] = "database_upsert"
    description: ClassVar[str] = (
        "Store rows by a unique key: a row with the same key is updated, otherwise one is inserted; all rows or none."
        " Columns that a row leaves out stay as they are. A conflict with another unique key is an error."
    )
    required_scope: ClassVar[str] = "database:write"
    effect: ClassVar[str] = "write"
    idempotent: ClassVar[bool] = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "table": TABLE,
            "rows": _ROWS,
            "key": {
                "type": ["array", "string"],
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": 50,
                "description": "exactly the columns of one unique index or the primary key (a name, if it is one);"
                " not null in any row",
            },
            "connection": CONNECTION,
        },
        "required": ["table", "rows", "key"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(self, *, table: str, connection: str | None = None, **_: object) -> Mapping[str, str]:
        """Return which table of which connection would get the rows."""
        return {"connection": choose_table(self.context.settings, connection, table).name, "table": table}

    def execute(
        self,
        *,
        table: str,
        rows: Sequence[Mapping[str, object]],
        key: Sequence[str] | str,
        connection: str | None = None,
    ) -> Mapping[str, Any]:
        """Return ``{inserted, updated, unchanged}``, which together are the number of rows given."""
        from clitool_tools.database.assignments import all_assigned, require_key, unique_key

        what = self.decide(table=table, connection=connection)
        self.context.touched(**what, rows=len(rows))
        engine: Engine = self.context.connection(what["connection"])
        found = engine.table(table, change=True)
        unique = unique_key(found, engine.uniques(found), [key] if isinstance(key, str) else key)
        stored = all_assigned(found, rows)
        require_key(unique, stored)
        return engine.upsert(found, unique, stored)
