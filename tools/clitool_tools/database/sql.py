"""The tool that runs a SELECT of the caller's own, under the full guard of the engine."""

from __future__ import annotations

from clitool_tools.database.policy import CONNECTION, choose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, ClassVar

    from clitool.tool import Context
    from clitool_tools.database.engine import Statement
    from clitool_tools.database.interface import Engine
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.values import Stored

    Params = Sequence[object] | Mapping[str, object]


class DatabaseSql:
    """One SELECT."""

    name: ClassVar[str] = "database_sql"
    description: ClassVar[str] = (
        "Run one SELECT (also WITH or VALUES) with bound parameters over the allowed tables: joins, subqueries,"
        " aggregates, window functions. It can change nothing. On SQLite the tables behind a view must be allowed, too."
    )
    required_scope: ClassVar[str] = "database:sql"
    effect: ClassVar[str] = "read"
    idempotent: ClassVar[bool] = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "sql": {
                "type": "string",
                "minLength": 1,
                "maxLength": 100_000,
                "description": "the statement, with ? or :name where values belong",
            },
            "params": {"type": ["array", "object"], "description": "the values: a list for ?, an object for :name"},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1_000_000,
                "default": 100,
                "description": "rows to return; the client's max_rows is the upper bound",
            },
            "connection": CONNECTION,
        },
        "required": ["sql"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context
        self._statement: Statement | None = None

    def decide(
        self,
        *,
        sql: str,
        params: Params | None = None,
        connection: str | None = None,
        **_: object,
    ) -> Mapping[str, Any]:
        """Have the database compile the statement, which alone can tell what it reads; it does not start."""
        settings = choose(self.context.settings, connection)
        statement = self._admitted(settings, sql, params or ())
        return {"connection": settings.name, "tables": sorted(statement.tables)}

    def execute(
        self,
        *,
        sql: str,
        params: Params | None = None,
        limit: int = 100,
        connection: str | None = None,
    ) -> Mapping[str, Any]:
        """Return ``{rows, columns, truncated}``; the type of a column is that of the values returned."""
        from clitool_tools.database.page import collect

        settings = choose(self.context.settings, connection)
        statement = self._admitted(settings, sql, params or ())
        names = _distinct(statement.names())
        self.context.touched(connection=settings.name, tables=sorted(statement.tables))
        types: list[set[type]] = [set() for _ in names]
        page = collect(names, _noting(statement.rows, types), min(limit, settings.max_rows), settings.max_bytes)
        statement.rows.close()  # while the database is open
        columns = [{"name": name, "type": _shown(found)} for name, found in zip(names, types, strict=True)]
        return {"rows": page.rows, "columns": columns, "truncated": page.truncated}

    def _admitted(self, settings: Connection, sql: str, params: Params) -> Statement:
        from clitool_tools.database.engine import module

        if self._statement is None:
            module(settings.type).screen(sql)
            engine: Engine = self.context.connection(settings.name)
            self._statement = engine.statement(sql, _bound(params))
        return self._statement


def _bound(params: Params) -> Sequence[Stored] | Mapping[str, Stored]:
    from clitool_tools.database.kinds import parameter

    if hasattr(params, "items"):
        return {name: parameter(value) for name, value in params.items()}
    return [parameter(value) for value in params]


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names with a number behind those that stood there already: ``a``, ``a_2``."""
    taken = set(names)
    numbers: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        number = numbers.setdefault(name, 1)
        numbered = name
        while number > 1 and (numbered := f"{name}_{number}") in taken:
            number += 1
        numbers[name] = number + 1
        taken.add(numbered)
        result.append(numbered)
    return result


def _noting(rows: Iterable[Sequence[object]], types: Sequence[set[type]]) -> Iterator[Sequence[object]]:
    """Yield the rows and note the types of each that was taken: whoever asks for the next one has kept the last."""
    for row in rows:
        yield row
        for found, value in zip(types, row, strict=True):
            found.add(type(value))


_NULL = type(None)
_TYPES = {int: "integer", float: "real", str: "text", bytes: "binary"}


def _shown(types: set[type]) -> str:
    """Return the one type that the values of a column have; ``any`` if they differ, ``null`` if there are none."""
    found = {_TYPES[each] for each in types - {_NULL}}
    return "null" if not found else found.pop() if len(found) == 1 else "any"
