"""What the live schema knows about tables, columns and indexes, asked of information_schema for one database only."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mysql import values
from clitool_tools.database.mysql.domains import domain
from clitool_tools.database.mysql.literal import literal, quoted
from clitool_tools.database.names import fold
from clitool_tools.database.table import Column, Sort, Table, Unique

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clitool_tools.database.mysql.domains import Facts
    from clitool_tools.database.mysql.session import Session
    from clitool_tools.database.settings import Connection

PRIMARY = "PRIMARY"  # the name of its index
_TYPES = ("BASE TABLE", "SYSTEM VERSIONED", "VIEW")  # and not SEQUENCE, TEMPORARY, SYSTEM VIEW
_MADE_UP = b"SEQUENCE"  # the engine of MariaDB's tables that come to be when they are named, like seq_1_to_9
# Engines that keep the rows of a table in that table and nowhere else; MERGE, FEDERATED, CONNECT and SPIDER do not.
_OWN_ROWS = ("aria", "archive", "csv", "innodb", "memory", "myisam", "ndbcluster", "rocksdb", "tokudb")
_FACTS = (
    "COLUMN_NAME", "DATA_TYPE", "COLUMN_TYPE", "IS_NULLABLE", "COLUMN_DEFAULT", "EXTRA", "CHARACTER_MAXIMUM_LENGTH",
    "CHARACTER_OCTET_LENGTH", "NUMERIC_PRECISION", "NUMERIC_SCALE", "DATETIME_PRECISION", "CHARACTER_SET_NAME",
    "COLLATION_NAME", "GENERATION_EXPRESSION", "COLUMN_COMMENT",
)  # fmt: skip
_UNQUOTED = ("tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "bit", "year")
_PERIODS = ("ROW START", "ROW END")


class MysqlColumn(Column):
    """A column with what only the server knows about it.

    Attributes:
        base: its type without length and the like, in small letters.
        charset, collation: of a text, or empty.
        comment: the owner's, or empty.
        most: characters or bytes of a text or binary, or 0.
        is_invisible: whether it is only read where it is named.
        is_numbered: whether it is the AUTO_INCREMENT one.
        is_period: whether it says from when or until when a row of a system-versioned table is valid.
    """

    __slots__ = ("base", "charset", "collation", "comment", "is_invisible", "is_numbered", "is_period", "most")

    def __init__(self, facts: Facts, *, is_document: bool) -> None:
        kind, found = ("json", None) if is_document else domain(facts)
        extra = (facts["EXTRA"] or "").upper()
        super().__init__(
            facts["COLUMN_NAME"] or "",
            facts["COLUMN_TYPE"] or "",
            kind,
            nullable=facts["IS_NULLABLE"] == "YES",
            default=facts["COLUMN_DEFAULT"],
            generated="VIRTUAL GENERATED" in extra or "STORED GENERATED" in extra,
            domain=found,
        )
        self.base = facts["DATA_TYPE"] or ""
        self.charset = facts["CHARACTER_SET_NAME"] or ""
        self.collation = facts["COLLATION_NAME"] or ""
        self.comment = facts["COLUMN_COMMENT"] or ""
        self.most = int(facts["CHARACTER_MAXIMUM_LENGTH"] or 0)
        self.is_invisible = "INVISIBLE" in extra
        self.is_numbered = "AUTO_INCREMENT" in extra
        self.is_period = facts["GENERATION_EXPRESSION"] in _PERIODS


class Index:
    """An index.

    Attributes:
        name: ``PRIMARY`` for the primary key.
        is_unique: whether it permits no two equal rows.
        parts: its columns; None for an expression.
        is_whole: whether it is over whole columns, none of them cut off and none an expression.
    """

    __slots__ = ("is_unique", "is_whole", "name", "parts")

    def __init__(self, name: str, *, is_unique: bool) -> None:
        self.name = name
        self.is_unique = is_unique
        self.parts: list[str | None] = []
        self.is_whole = True


class MysqlTable(Table):
    """A table or view with what only the server knows about it.

    Attributes:
        engine: the storage engine; empty for a view.
        all: its columns, also the invisible ones, which are not in `columns` but can be named.
        indexes: the primary key first.
    """

    __slots__ = ("all", "engine", "indexes")

    def __init__(self, name: str, columns: Sequence[MysqlColumn], indexes: Sequence[Index], engine: str | None) -> None:
        super().__init__(name, columns, is_view=engine is None)
        self.all = columns
        self.columns = [column for column in columns if not column.is_invisible]
        self.indexes = indexes
        self.engine = engine or ""

    @property
    def keeps_its_rows(self) -> bool:
        """Whether a change of it changes no other table, as far as its engine goes."""
        return self.engine.lower() in _OWN_ROWS


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


def is_named(session: Session, live: str, name: str) -> bool:
    """Return whether `name` means the table that the server calls `live`: letter by letter, if the server says so."""
    return live == name or (session.server.lower_case_table_names != 0 and fold(live) == fold(name))


def allows(session: Session, connection: Connection, live: str) -> bool:
    """Return whether the table that the server calls `live` is allowed, by its exact name."""
    return connection.tables is None or any(is_named(session, live, name) for name in connection.listed_tables)


class Catalogue:
    """The tables and views of the database by name, for texts that may name them.

    Attributes:
        here: the name of the database.
        views: whether each name is that of a view.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.views = dict(names(session))
        ((here,),) = session.run("SELECT DATABASE()").all()
        self.here = text(here)

    def spelt(self, name: str) -> str | None:
        """Return how the server spells a table or view, if there is one."""
        return next((live for live in self.views if is_named(self._session, live, name)), None)

    def is_here(self, database: str) -> bool:
        """Return whether this is the name of the database."""
        return is_named(self._session, self.here, database)

    def columns(self, tables: Iterable[str]) -> set[str]:
        """Return the names of the columns of these tables, as far as they exist, in small letters."""
        sought = [literal(table) for table in tables if table in self.views]
        if not sought:
            return set()
        rows = self._session.run(
            "SELECT LOWER(COLUMN_NAME) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"  # noqa: S608 - what varies is a literal
            f" AND TABLE_NAME IN ({', '.join(sought)})"
        ).all()
        return {text(name) for (name,) in rows}


def uniques(table: MysqlTable) -> Iterator[Unique]:
    """Yield the unique indexes over whole columns, the primary key first.

    A key of a system-versioned table also has the column that ends a row's time; of the rows there are now, the others
    are the key.
    """
    for index in table.indexes:
        if index.is_unique and index.is_whole:
            columns = [table.column(part) for part in index.parts if part is not None]
            sorts = [Sort(column) for column in columns if not (isinstance(column, MysqlColumn) and column.is_period)]
            if sorts:
                yield Unique(sorts)


def order(table: MysqlTable) -> Sequence[Sort] | None:
    """Return what puts every row of a table in its own place: a unique index without null, the primary key first."""
    found = (unique for unique in uniques(table) if not any(column.nullable for column in unique.columns))
    first = next(found, None)
    return None if first is None else first.sorts


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
    ((_, script),) = session.run(f"SHOW CREATE TABLE {quoted(name)}").all()
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
