"""Which connection and which table a call is about, and whether the client may have it; without effect."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.names import hint, listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool_tools.database.settings import Connection

# Parameters that several tools take.
CONNECTION: dict[str, Any] = {
    "type": "string",
    "maxLength": 64,
    "description": "which database; needed only if the client has several",
}
TABLE: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 1000, "description": "an allowed table or view"}
FORMAT: dict[str, Any] = {
    "type": "string",
    "enum": ["relaxed", "canonical"],
    "default": "relaxed",
    "description": "MongoDB only: canonical Extended JSON names the type of every value",
}
WHERE: dict[str, Any] = {
    "type": "object",
    "description": (
        'the filter: {"col": value} or {"col": {"$gt": 3}} with $eq $ne $gt $gte $lt $lte $in $nin $like $null,'
        " combined by $and, $or (lists) and $not (a filter). Null equals null; $ne, $nin and $not include null. Text"
        " follows the column's collation (see database_describe), $like too: % any text, _ one character, \\ makes the"
        " next one literal"
    ),
}


def choose(connections: Mapping[str, Connection], name: str | None) -> Connection:
    """Return the connection that a call means; raises `InvalidParams` (connection_unknown) with the choices."""
    if name is None and len(connections) == 1:
        return next(iter(connections.values()))
    if name and name in connections:
        return connections[name]
    raise InvalidParams(_unknown(connections, name), "connection_unknown")


def choose_table(connections: Mapping[str, Connection], name: str | None, table: str) -> Connection:
    """Return the connection that a call means, if the table is allowed there; raises `InvalidParams`."""
    connection = choose(connections, name)
    connection.require(table)
    return connection


def require_filter(where: Mapping[str, Any]) -> None:
    """Raise `InvalidParams` (filter_required) for a change of every row."""
    if not where:
        raise InvalidParams('where must say which rows, for example {"id": 7}; it cannot be empty', "filter_required")


def _unknown(connections: Mapping[str, Connection], name: str | None) -> str:
    if "" in connections:
        return f"there is no connection {shown(name or '')}; this client has one without a name: leave connection out"
    known = listed(sorted(connections))
    if name is None:
        return f"say which connection: {known}"
    return f"there is no connection {shown(name)}{hint(name, connections) or f'; there are {known}'}"
