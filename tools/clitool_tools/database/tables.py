"""The tools that tell which tables there are, and what one of them looks like."""

from __future__ import annotations

from clitool_tools.database.policy import CONNECTION, TABLE, choose, choose_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from clitool.tool import Context
    from clitool_tools.database.interface import Engine
    from clitool_tools.database.table import Table


class DatabaseTables:
    """The tables that the client may reach."""

    name: ClassVar[str] = "database_tables"
    description: ClassVar[str] = "List the tables and views that this client may use and that exist."
    required_scope: ClassVar[str] = "database:read"
    effect: ClassVar[str] = "read"
    idempotent: ClassVar[bool] = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"connection": CONNECTION},
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(self, *, connection: str | None = None) -> Mapping[str, str]:
        """Return which connection would be asked."""
        return {"connection": choose(self.context.settings, connection).name}

    def execute(self, *, connection: str | None = None) -> Mapping[str, Any]:
        """Return ``{tables: [{name, type}]}`` by name; type is ``table`` or ``view``."""
        what = self.decide(connection=connection)
        self.context.touched(**what)
        engine: Engine = self.context.connection(what["connection"])
        return {"tables": [_entry(table) for table in engine.tables()]}


class DatabaseDescribe:
    """The columns, keys and indexes of one table."""

    name: ClassVar[str] = "database_describe"
    description: ClassVar[str] = (
        "Describe one table or view: columns with type, kind, null, default, primary key and collation; indexes;"
        " foreign keys. Tables that this client may not use are shown as null."
    )
    required_scope: ClassVar[str] = "database:read"
    effect: ClassVar[str] = "read"
    idempotent: ClassVar[bool] = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"table": TABLE, "connection": CONNECTION},
        "required": ["table"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(self, *, table: str, connection: str | None = None) -> Mapping[str, str]:
        """Return which table of which connection would be described."""
        return {"connection": choose_table(self.context.settings, connection, table).name, "table": table}

    def execute(self, *, table: str, connection: str | None = None) -> Mapping[str, Any]:
        """Return ``{name, type, columns, indexes, foreign_keys}``, for a view also ``base_tables``."""
        what = self.decide(table=table, connection=connection)
        self.context.touched(**what)
        engine: Engine = self.context.connection(what["connection"])
        found = engine.table(table)
        return {**_entry(found), **engine.describe(found)}


def _entry(table: Table) -> dict[str, Any]:
    return {"name": table.name, "type": "view" if table.is_view else "table"}
