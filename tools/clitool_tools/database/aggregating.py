"""The tool that runs an aggregation pipeline of the caller's own on MongoDB, under a list of what may stand in it."""

from __future__ import annotations

from clitool_tools.database.policy import CONNECTION, FORMAT, TABLE, choose_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from clitool.tool import Context
    from clitool_tools.database.interface import Engine
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.table import Fields


class DatabaseAggregate:
    """One pipeline."""

    name: ClassVar[str] = "database_aggregate"
    description: ClassVar[str] = (
        "Run a MongoDB aggregation pipeline over one allowed collection or view; $lookup, $unionWith and $graphLookup"
        " reach the other allowed ones. It can change nothing: no $out, no $merge, no JavaScript. Values that JSON has"
        ' no word for are Extended JSON, as in {"$match": {"_id": {"$oid": "…"}}}.'
    )
    required_scope: ClassVar[str] = "database:sql"
    effect: ClassVar[str] = "read"
    idempotent: ClassVar[bool] = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "table": TABLE,
            "pipeline": {
                "type": "array",
                "items": {"type": "object"},
                "maxItems": 100,
                "description": 'the stages, as in [{"$match": {"paid": true}}, {"$group": {"_id": "$city"}}]',
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1_000_000,
                "default": 100,
                "description": "documents to return; the client's max_rows is the upper bound",
            },
            "format": FORMAT,
            "connection": CONNECTION,
        },
        "required": ["table", "pipeline"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(
        self, *, table: str, pipeline: Sequence[Any], connection: str | None = None, **_: object
    ) -> Mapping[str, Any]:
        """Return which tables of which connection would be read; the database is not asked."""
        from clitool_tools.database.engine import module

        settings = choose_table(self.context.settings, connection, table)
        named = module(settings.type).screen_pipeline(settings, pipeline)
        return {"connection": settings.name, "tables": sorted({table, *named})}

    def execute(
        self,
        *,
        table: str,
        pipeline: Sequence[Any],
        limit: int = 100,
        format: str = "relaxed",  # noqa: A002 - the parameter's name
        connection: str | None = None,
    ) -> Mapping[str, Any]:
        """Return ``{rows, columns, truncated}``; the types of a column are those of the values returned."""
        from clitool_tools.database.document_query import noting
        from clitool_tools.database.page import collect_documents

        what = self.decide(table=table, pipeline=pipeline, connection=connection)
        self.context.touched(**what)
        settings: Connection = self.context.settings[what["connection"]]
        engine: Engine = self.context.connection(settings.name)
        found: Any = engine.table(table)  # an open one: only its engine admits pipelines
        most = min(limit, settings.max_rows)
        fields: Fields = {}
        documents = engine.aggregate(found, pipeline, most, is_canonical=format == "canonical")
        page = collect_documents(noting(documents, fields), most, settings.max_bytes)
        return {"rows": page.rows, "columns": found.seen(fields), "truncated": page.truncated}
