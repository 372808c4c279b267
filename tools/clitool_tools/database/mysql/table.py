"""Tables and columns of MySQL and MariaDB, with what only the server knows about them."""

from __future__ import annotations

from clitool_tools.database.mysql.domains import domain, kind
from clitool_tools.database.table import Column, Sort, Table, Unique

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clitool_tools.database.mysql.domains import Facts
    from clitool_tools.database.table import Domain

PRIMARY = "PRIMARY"  # the name of its index
# Engines that keep the rows of a table in that table and nowhere else; MERGE, FEDERATED, CONNECT and SPIDER do not.
_OWN_ROWS = ("aria", "archive", "csv", "innodb", "memory", "myisam", "ndbcluster", "rocksdb", "tokudb")
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

    __slots__ = (
        "_facts",
        "base",
        "charset",
        "collation",
        "comment",
        "is_invisible",
        "is_numbered",
        "is_period",
        "most",
    )

    def __init__(self, facts: Facts, *, is_document: bool) -> None:
        extra = (facts["EXTRA"] or "").upper()
        super().__init__(
            facts["COLUMN_NAME"] or "",
            facts["COLUMN_TYPE"] or "",
            "json" if is_document else kind(facts),
            nullable=facts["IS_NULLABLE"] == "YES",
            default=facts["COLUMN_DEFAULT"],
            generated="VIRTUAL GENERATED" in extra or "STORED GENERATED" in extra,
        )
        self._facts = None if is_document else facts
        self.base = facts["DATA_TYPE"] or ""
        self.charset = facts["CHARACTER_SET_NAME"] or ""
        self.collation = facts["COLLATION_NAME"] or ""
        self.comment = facts["COLUMN_COMMENT"] or ""
        self.most = int(facts["CHARACTER_MAXIMUM_LENGTH"] or 0)
        self.is_invisible = "INVISIBLE" in extra
        self.is_numbered = "AUTO_INCREMENT" in extra
        self.is_period = facts["GENERATION_EXPRESSION"] in _PERIODS

    @property
    def domain(self) -> Domain | None:
        """Its domain, made when it is asked for: most columns are only read."""
        if self._facts is not None:
            self._domain, self._facts = domain(self._facts), None
        return self._domain


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

    def uniques(self) -> Iterator[Unique]:
        """Yield the unique indexes over whole columns, the primary key first.

        A key of a system-versioned table also has the column that ends a row's time; of the rows there are now, the
        others are the key.
        """
        for index in self.indexes:
            if index.is_unique and index.is_whole:
                columns = [column for column in self.all if column.name in index.parts and not column.is_period]
                columns.sort(key=lambda column: index.parts.index(column.name))
                if columns:
                    yield Unique([Sort(column) for column in columns])

    def order(self) -> Sequence[Sort] | None:
        """Return what puts every row in its own place: the first of the unique indexes without null."""
        for unique in self.uniques():
            if not any(column.nullable for column in unique.columns):
                return unique.sorts
        return None
