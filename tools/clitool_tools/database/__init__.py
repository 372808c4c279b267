"""The database family: the same safe, structured tools on SQLite, MySQL and MariaDB, and MongoDB."""

from __future__ import annotations

from clitool.family import Family, Finding
from clitool_tools.database.aggregating import DatabaseAggregate
from clitool_tools.database.changing import DatabaseDelete, DatabaseUpdate
from clitool_tools.database.engine import module
from clitool_tools.database.reading import DatabaseDescribe, DatabaseQuery, DatabaseTables
from clitool_tools.database.settings import SETTINGS_SCHEMA, parse
from clitool_tools.database.sql import DatabaseSql
from clitool_tools.database.writing import DatabaseInsert, DatabaseUpsert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clitool.tool import Deadline
    from clitool_tools.database.engine import Engine
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
    tools=(
        DatabaseQuery,
        DatabaseTables,
        DatabaseDescribe,
        DatabaseInsert,
        DatabaseUpsert,
        DatabaseUpdate,
        DatabaseDelete,
        DatabaseSql,
        DatabaseAggregate,
    ),
    settings_schema=SETTINGS_SCHEMA,
    settings_required=True,
    parse=parse,
    connect=connect,
    check=check,
)
