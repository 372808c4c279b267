"""The database family: the same safe, structured tools on SQLite, MySQL and MariaDB, and MongoDB."""

from __future__ import annotations

from clitool.family import Family, Finding
from clitool_tools.database.engine import module
from clitool_tools.database.settings import SETTINGS_SCHEMA, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clitool.tool import Deadline
    from clitool_tools.database.interface import Engine
    from clitool_tools.database.settings import Connection


def connect(connections: Mapping[str, Connection], name: str, deadline: Deadline) -> Engine:
    """Return the engine for one of a client's databases; it opens the database at the first use."""
    connection = connections[name]
    return module(connection.type).connect(connection, deadline)


def check(connections: Mapping[str, Connection], probe: bool) -> Iterable[Finding]:
    """Yield the findings of `clitool check` about all databases of a client."""
    for name, connection in connections.items():
        prefix = f"connections.{name}." if name else ""
        for finding in module(connection.type).check(connection, prefix, probe=probe):
            yield Finding(finding.level, finding.key, f"connection {name!r}: {finding.message}") if name else finding


family = Family(
    name="database",
    tools={
        "database_query": "clitool_tools.database.query:DatabaseQuery",
        "database_tables": "clitool_tools.database.tables:DatabaseTables",
        "database_describe": "clitool_tools.database.tables:DatabaseDescribe",
        "database_insert": "clitool_tools.database.writing:DatabaseInsert",
        "database_upsert": "clitool_tools.database.writing:DatabaseUpsert",
        "database_update": "clitool_tools.database.changing:DatabaseUpdate",
        "database_delete": "clitool_tools.database.changing:DatabaseDelete",
        "database_sql": "clitool_tools.database.sql:DatabaseSql",
        "database_aggregate": "clitool_tools.database.aggregating:DatabaseAggregate",
    },
    settings_schema=SETTINGS_SCHEMA,
    settings_required=True,
    parse=parse,
    connect=connect,
    check=check,
)
