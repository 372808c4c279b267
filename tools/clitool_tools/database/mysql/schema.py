"""What the live schema knows about tables, columns and indexes, asked of information_schema for one database only."""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.database.mysql import values
from clitool_tools.database.mysql.literal import literal, quoted
from clitool_tools.database.mysql.table import PRIMARY, Index, MysqlColumn, MysqlTable
from clitool_tools.database.names import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from clitool_tools.database.mysql.domains import Facts
    from clitool_tools.database.mysql.session import Session
    from clitool_tools.database.settings import Connection

_TYPES = ("BASE TABLE", "SYSTEM VERSIONED", "VIEW")  # and not SEQUENCE, TEMPORARY, SYSTEM VIEW
_MADE_UP = b"SEQUENCE"  # the engine of MariaDB's tables that come to be when they are named, like seq_1_to_9
_FACTS = (
    "COLUMN_NAME", "DATA_TYPE", "COLUMN_TYPE", "IS_NULLABLE", "COLUMN_DEFAULT", "EXTRA", "CHARACTER_MAXIMUM_LENGTH",
    "CHARACTER_OCTET_LENGTH", "NUMERIC_PRECISION", "NUMERIC_SCALE", "DATETIME_PRECISION", "CHARACTER_SET_NAME",
    "COLLATION_NAME", "GENERATION_EXPRESSION", "COLUMN_COMMENT",
)  # fmt: skip
_UNQUOTED = ("tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "bit", "year")


def names(session: Session) -> list[tuple[str, bool]]:
    """Return the names of all tables and views, by name, and which of them are views."""
    rows = session.run(
        f"SELECT TABLE_NAME, TABLE_TYPE = 'VIEW' FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"  # noqa: S608 - what varies is a literal
        f" AND TABLE_TYPE IN ({', '.join(map(literal, _TYPES))})"
    ).all()
    return sorted((text(name), is_view == b"1") for name, is_view in rows)


def find(session: Session, name: str) -> MysqlTable | None:
    """Return the table or view called `name`, with its columns, or None."""
    found = _entry(session, name)
    if found is None:
        return None
    exact, engine = found
    facts = list(_facts(session, exact))
    if not facts:
        session.run(f"SELECT 1 FROM {quoted(exact)} LIMIT 0").all()  # noqa: S608 - a quoted name; the server says why
        return None
    documents = _documents(session, exact, facts) if engine is not None else frozenset()
    columns = [MysqlColumn(row, is_document=row["COLUMN_NAME"] in documents) for row in facts]
    if engine is None:
        for column in columns:
            column.default = None  # what the server says there means nothing
    indexes = list(_indexes(session, exact)) if engine is not None else []
    table = MysqlTable(exact, columns, indexes, engine)
    for position, part in enumerate(indexes[0].parts if indexes and indexes[0].name == PRIMARY else (), 1):
        if part is not None:
            table.column(part).key = position
    return table


def columns(session: Session, tables: Collection[str]) -> list[str]:
    """Return the names of all columns that these tables and views have together; they are called so by the server."""
    rows = session.run(
        "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS"  # noqa: S608 - what varies are literals
        f" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({', '.join(map(literal, tables))})"
    ).all()
    return [text(name) for table, name in rows if text(table) in tables]  # to the server, case does not count here


def is_named(session: Session, live: str, name: str) -> bool:
    """Return whether `name` means the table that the server calls `live`: letter by letter, if the server says so."""
    return live == name or (session.server.lower_case_table_names != 0 and fold(live) == fold(name))


def allows(session: Session, connection: Connection, live: str) -> bool:
    """Return whether the table that the server calls `live` is allowed, by its exact name."""
    return connection.tables is None or any(is_named(session, live, name) for name in connection.listed_tables)


def _entry(session: Session, name: str) -> tuple[str, str | None] | None:
    """Return how the server spells the name of a table or view, and the engine of a table."""
    try:
        sought = literal(name)
    except InvalidParams:  # nothing can be called so
        return None
    rows = session.run(
        "SELECT TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES"  # noqa: S608 - what varies is a literal
        f" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {sought}"
    ).all()
    for live, type_, engine in rows:
        if is_named(session, text(live), name) and text(type_) in _TYPES and engine != _MADE_UP:
            return text(live), None if type_ == b"VIEW" else text(engine)
    return None


def _facts(session: Session, name: str) -> Iterator[Facts]:
    rows = session.run(
        f"SELECT {', '.join(_FACTS)} FROM information_schema.COLUMNS"  # noqa: S608 - what varies is a literal
        f" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {literal(name)} ORDER BY ORDINAL_POSITION"
    ).all()
    for row in rows:
        facts = dict(zip(_FACTS, [None if value is None else text(value) for value in row], strict=True))
        facts["COLUMN_DEFAULT"] = _default(facts, is_bare=session.server.kind == "mysql")
        yield facts


def _documents(session: Session, name: str, facts: Sequence[Mapping[str, str | None]]) -> frozenset[str]:
    """Return the columns that are JSON to MariaDB: a text with a check, which only SHOW CREATE TABLE shows to all."""
    long = [row["COLUMN_NAME"] or "" for row in facts if row["DATA_TYPE"] == "longtext"]
    if not long or session.server.kind != "mariadb":
        return frozenset()
    try:
        ((_, script),) = session.run(f"SHOW CREATE TABLE {quoted(name)}").all()
    except ExecutionError as error:
        if error.reason != "permission":
            raise
        return frozenset()  # the account has rights on some of the columns only
    lines = [line.strip() for line in text(script).splitlines()]
    return frozenset(
        column
        for column in long
        if any(line.startswith(f"{quoted(column)} ") and f"(json_valid({quoted(column)}))" in line for line in lines)
    )


def _indexes(session: Session, name: str) -> Iterator[Index]:
    rows = session.run(
        "SELECT INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS"  # noqa: S608 - what varies is a literal
        f" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {literal(name)}"
        " ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX"
    ).all()
    index: Index | None = None
    for raw, non_unique, column, prefix in rows:
        if index is None or index.name != text(raw):
            if index is not None:
                yield index
            index = Index(text(raw), is_unique=non_unique == b"0")
        index.parts.append(None if column is None else text(column))
        index.is_whole = index.is_whole and column is not None and prefix is None
    if index is not None:
        yield index


def _default(facts: Facts, *, is_bare: bool) -> str | None:
    """Return the default as SQL; MySQL gives a text bare, MariaDB as it would be written."""
    default = facts["COLUMN_DEFAULT"]
    if default is None or (default == "NULL" and not is_bare):
        return None
    is_sql = not is_bare or "DEFAULT_GENERATED" in (facts["EXTRA"] or "").upper()
    return default if is_sql or facts["DATA_TYPE"] in _UNQUOTED else "'" + default.replace("'", "''") + "'"


def text(value: bytes | None) -> str:
    """Return what information_schema says as a text, nothing for null."""
    return values.text(value or b"")
