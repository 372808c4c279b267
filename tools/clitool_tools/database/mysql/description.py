"""What `database_describe` tells about a table, without the names of tables that the client may not reach."""

from __future__ import annotations

from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.definition import reads_of
from clitool_tools.database.mysql.literal import literal
from clitool_tools.database.mysql.table import PRIMARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.mysql.table import Index, MysqlColumn, MysqlTable


def describe(database: Database, table: MysqlTable) -> dict[str, Any]:
    """Return columns, indexes, foreign keys, and the engine of a table or the tables behind a view.

    `base_tables` is None if the account may not see how the view is made.
    """
    database.session.read()
    described: dict[str, Any] = {
        "columns": [_column(column) for column in table.all],
        "indexes": [_index(index) for index in table.indexes],
        "foreign_keys": [] if table.is_view else list(_foreign_keys(database, table)),
    }
    if table.is_view:
        described["base_tables"] = _base_tables(database, table.name)
    else:
        described["engine"] = table.engine
    return described


def _column(column: MysqlColumn) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "kind": column.kind,
        "nullable": column.nullable,
        "default": column.default,
        "primary_key": column.key,
        "generated": column.generated,
    }
    if column.collation and column.kind == "text":
        described["collation"] = column.collation
    if column.is_numbered:
        described["auto_increment"] = True
    if column.is_invisible:
        described["invisible"] = True
    if column.comment:
        described["comment"] = column.comment
    return described


def _index(index: Index) -> dict[str, Any]:
    """Return an index; an expression in it is shown as null, and it is partial if it is not over whole columns."""
    return {
        "name": index.name,
        "columns": index.parts,
        "unique": index.is_unique,
        "primary_key": index.name == PRIMARY,
        "partial": not index.is_whole,
    }


def _foreign_keys(database: Database, table: MysqlTable) -> Iterator[dict[str, Any]]:
    """Yield the foreign keys; the table that one refers to, and its columns, only if that is allowed."""
    name = literal(table.name)
    rows = database.session.run(
        "SELECT k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME,"  # noqa: S608 - a literal
        " k.REFERENCED_TABLE_SCHEMA = DATABASE(), r.UPDATE_RULE, r.DELETE_RULE"
        " FROM information_schema.KEY_COLUMN_USAGE k LEFT JOIN information_schema.REFERENTIAL_CONSTRAINTS r"
        f" ON r.CONSTRAINT_SCHEMA = DATABASE() AND r.TABLE_NAME = {name} AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME"
        f" WHERE k.TABLE_SCHEMA = DATABASE() AND k.TABLE_NAME = {name} AND k.REFERENCED_TABLE_NAME IS NOT NULL"
        " ORDER BY k.CONSTRAINT_NAME, k.ORDINAL_POSITION"
    ).all()
    keys: dict[str, dict[str, Any]] = {}
    for row in rows:
        constraint, column, other, its_column, is_here, on_update, on_delete = map(schema.text, row)
        allowed = is_here == "1" and database.allows(other)
        key = keys.setdefault(
            constraint,
            {
                "columns": [],
                "table": other if allowed else None,
                "references": [],
                "on_update": on_update or None,
                "on_delete": on_delete or None,
            },
        )
        key["columns"].append(column)
        key["references"].append(its_column if allowed else None)
    yield from keys.values()


def _base_tables(database: Database, view: str) -> list[str | None] | None:
    """Return the tables and views that a view reads, also through other views; null for one that is not allowed."""
    found: set[str | None] = set()
    waiting, known = [view], dict(schema.names(database.session))
    while waiting:
        reads = reads_of(database.session, waiting.pop())
        if reads is None:
            return None
        waiting += [name for name in reads - found if name is not None and known.get(name)]
        found |= reads
    allowed = sorted(name for name in found if name is not None and name in known and database.allows(name))
    return [*allowed, *[None] * (len(found) - len(allowed))]
