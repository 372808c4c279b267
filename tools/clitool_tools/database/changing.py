"""The tools that change or remove the rows a filter names: update and delete."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.policy import CONNECTION, TABLE, WHERE, choose_table, require_filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from clitool.tool import Context
    from clitool_tools.database.interface import Engine
    from clitool_tools.database.table import Table
    from clitool_tools.database.where import Node

_MAX_AFFECTED: dict[str, Any] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 1_000_000_000,
    "default": 1000,
    "description": "if more rows match, nothing is changed and the call fails",
}
_DRY_RUN: dict[str, Any] = {
    "type": "boolean",
    "default": False,
    "description": "do it in a transaction that is taken back, and say how many rows it would be",
}


class DatabaseUpdate:
    """New values for the rows that match."""

    name: ClassVar[str] = "database_update"
    description: ClassVar[str] = (
        "Set columns of all rows that match a filter. The filter is required; more than max_affected rows are refused,"
        " and dry_run only counts. Returns how many rows matched."
    )
    required_scope: ClassVar[str] = "database:write"
    effect: ClassVar[str] = "write"
    idempotent: ClassVar[bool] = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "table": TABLE,
            "where": WHERE,
            "values": {"type": "object", "description": 'columns with their new values: {"state": "paid"}'},
            "max_affected": _MAX_AFFECTED,
            "dry_run": _DRY_RUN,
            "connection": CONNECTION,
        },
        "required": ["table", "where", "values"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(
        self, *, table: str, where: Mapping[str, Any], connection: str | None = None, **_: object
    ) -> Mapping[str, str]:
        """Return which table of which connection would be changed."""
        settings = choose_table(self.context.settings, connection, table)
        require_filter(where)
        return {"connection": settings.name, "table": table}

    def execute(
        self,
        *,
        table: str,
        where: Mapping[str, Any],
        values: Mapping[str, object],
        max_affected: int = 1000,
        dry_run: bool = False,
        connection: str | None = None,
    ) -> Mapping[str, Any]:
        """Return ``{affected, dry_run}``, and perhaps `hint` if there are none."""
        from clitool_tools.database.assignments import assigned
        from clitool_tools.database.engine import Bounds
        from clitool_tools.database.where import parse

        what = self.decide(table=table, where=where, connection=connection)
        self.context.touched(**what)
        engine: Engine = self.context.connection(what["connection"])
        found = engine.table(table, change=True)
        if not values:
            raise InvalidParams("values must name at least one column", "bad_value")
        bounds, tree = Bounds(max_affected, dry_run=dry_run), parse(where, found)
        affected = engine.update(found, tree, assigned(found, values), bounds)
        self.context.touched(affected=affected, dry_run=dry_run)
        return _answer(found, tree, affected, dry_run=dry_run)


class DatabaseDelete:
    """The end of the rows that match."""

    name: ClassVar[str] = "database_delete"
    description: ClassVar[str] = (
        "Delete all rows that match a filter. The filter is required; more than max_affected rows are refused, and"
        " dry_run only counts. Returns how many rows matched."
    )
    required_scope: ClassVar[str] = "database:delete"
    effect: ClassVar[str] = "delete"
    idempotent: ClassVar[bool] = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "table": TABLE,
            "where": WHERE,
            "max_affected": _MAX_AFFECTED,
            "dry_run": _DRY_RUN,
            "connection": CONNECTION,
        },
        "required": ["table", "where"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(
        self, *, table: str, where: Mapping[str, Any], connection: str | None = None, **_: object
    ) -> Mapping[str, str]:
        """Return which table of which connection would lose rows."""
        settings = choose_table(self.context.settings, connection, table)
        require_filter(where)
        return {"connection": settings.name, "table": table}

    def execute(
        self,
        *,
        table: str,
        where: Mapping[str, Any],
        max_affected: int = 1000,
        dry_run: bool = False,
        connection: str | None = None,
    ) -> Mapping[str, Any]:
        """Return ``{affected, dry_run}``, and perhaps `hint` if there are none."""
        from clitool_tools.database.engine import Bounds
        from clitool_tools.database.where import parse

        what = self.decide(table=table, where=where, connection=connection)
        self.context.touched(**what)
        engine: Engine = self.context.connection(what["connection"])
        found = engine.table(table, change=True)
        bounds, tree = Bounds(max_affected, dry_run=dry_run), parse(where, found)
        affected = engine.delete(found, tree, bounds)
        self.context.touched(affected=affected, dry_run=dry_run)
        return _answer(found, tree, affected, dry_run=dry_run)


def _answer(table: Table, where: Node, affected: int, *, dry_run: bool) -> dict[str, Any]:
    advice = None if affected else table.advice(where)
    return {"affected": affected, "dry_run": dry_run, **({} if advice is None else {"hint": advice})}
