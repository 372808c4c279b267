"""The live schema: tables, columns with their kinds, indexes and keys, as SQLite's pragmas tell them."""

from __future__ import annotations

from clitool_tools.database.table import Column, Sort, Table, Unique

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from sqlite3 import Connection as Handle

_HIDDEN = 1  # a column of a virtual table that is not part of its rows
_ROWID_NAMES = ("rowid", "_rowid_", "oid")


class SqliteTable(Table):
    """A table with what only SQLite knows about it.

    Attributes:
        type: ``table``, ``view``, ``virtual`` or ``shadow``.
        is_utf8: whether the database keeps text as UTF-8, not as UTF-16.
        rowid: the column that is the row's number: the INTEGER PRIMARY KEY, else one that no caller sees, else None.
        generates_keys: whether the primary key is the row's number.
    """

    __slots__ = ("generates_keys", "is_utf8", "rowid", "type", "without_rowid")

    def __init__(self, name: str, type_: str, columns: list[Column], *, without_rowid: bool, is_utf8: bool) -> None:
        super().__init__(name, columns, is_view=type_ == "view")
        self.type = type_
        self.is_utf8 = is_utf8
        self.without_rowid = without_rowid
        self.rowid: Column | None = None
        self.generates_keys = False


def quoted(name: str) -> str:
    """Return `name` as an identifier of SQL; the one place where names enter SQL."""
    if "\0" in name:
        raise ValueError("a name cannot hold NUL")
    return '"' + name.replace('"', '""') + '"'


def find(handle: Handle, name: str) -> SqliteTable | None:
    """Return the table or view called `name` in the main database with its columns, or None."""
    if "\0" in name or not _is_unicode(name):
        return None
    rows = [row for row in handle.execute(f"PRAGMA main.table_list({quoted(name)})") if row[0] == "main"]
    if not rows:
        return None
    _, exact, type_, _, without_rowid, strict = rows[0]
    found = handle.execute(f"PRAGMA main.table_xinfo({quoted(exact)})").fetchall()
    columns = [_column(row, strict=bool(strict)) for row in found if row[6] != _HIDDEN]
    is_utf8 = handle.execute("PRAGMA encoding").fetchone() == ("UTF-8",)
    table = SqliteTable(exact, type_, columns, without_rowid=bool(without_rowid), is_utf8=is_utf8)
    if type_ in ("table", "shadow") and not without_rowid:
        _set_rowid(handle, table)
    return table


def uniques(handle: Handle, table: SqliteTable) -> Iterator[Unique]:
    """Yield the unique indexes over plain columns and all rows, the primary key first."""
    if table.generates_keys and table.rowid is not None:
        yield Unique([Sort(table.rowid)])
    indexes = handle.execute(f"PRAGMA main.index_list({quoted(table.name)})").fetchall()
    for _, name, unique, _, partial in sorted(indexes, key=lambda row: (row[3] != "pk", -row[0])):  # the oldest first
        parts = index_parts(handle, name)
        if unique and not partial and all(column is not None for column, _ in parts):
            yield Unique([Sort(table.column(column or ""), collation=collation) for column, collation in parts])


def index_parts(handle: Handle, index: str) -> list[tuple[str | None, str]]:
    """Return column (None for an expression) and collation of each part of an index."""
    rows = handle.execute(f"PRAGMA main.index_xinfo({quoted(index)})").fetchall()
    return [(row[2], row[4]) for row in rows if row[5]]


def order(handle: Handle, table: SqliteTable) -> Sequence[Sort] | None:
    """Return what puts every row of a table in its own place, or None.

    That is the primary key, else a unique index without null. SQLite lets most primary keys hold null, several times,
    so the row's number follows there.
    """
    found = list(uniques(handle, table))
    if any(column.key for column in table.columns) and found and all(column.key for column in found[0].columns):
        sorts = found[0].sorts
        if table.generates_keys or table.without_rowid or _is_total(found[0]):
            return sorts if _is_known(found[0]) else None
        return (*sorts, Sort(table.rowid)) if table.rowid is not None and _is_known(found[0]) else None
    total = next((unique for unique in found if _is_total(unique) and _is_known(unique)), None)
    return None if total is None else total.sorts


def _is_total(unique: Unique) -> bool:
    return not any(column.nullable for column in unique.columns)


def _is_known(unique: Unique) -> bool:
    return all(sort.collation in ("", "BINARY", "NOCASE", "RTRIM") for sort in unique.sorts)


def _column(row: tuple[int, str, str, int, str | None, int, int], *, strict: bool) -> Column:
    _, name, type_, not_null, default, key, hidden = row
    kind, numeric = _kind((type_ or "").upper(), strict=strict)
    return Column(
        name,
        type_ or "",
        kind,
        nullable=not not_null,
        default=default,
        key=key,
        generated=hidden > _HIDDEN,
        numeric=numeric,
    )


def _kind(declared: str, *, strict: bool) -> tuple[str, bool]:
    """Return the kind for a declared type, and whether SQLite stores text there as a number if it looks like one.

    Affinity: https://www.sqlite.org/datatype3.html#determination_of_column_affinity
    """
    for words, kind in _AFFINITIES:
        if any(word in declared for word in words):
            return kind, kind in ("integer", "real")
    if not declared or (strict and declared == "ANY"):
        return "any", False
    return next((kind for word, kind in _NUMERIC if declared.startswith(word)), "any"), True


_AFFINITIES = (
    (("INT",), "integer"),
    (("CHAR", "CLOB", "TEXT"), "text"),
    (("BLOB",), "binary"),
    (("REAL", "FLOA", "DOUB"), "real"),
)
_NUMERIC = (("JSON", "json"), ("BOOL", "integer"), ("DEC", "decimal"), ("NUM", "decimal"))


def _set_rowid(handle: Handle, table: SqliteTable) -> None:
    key = [column for column in table.columns if column.key]
    if len(key) == 1 and key[0].type.upper() == "INTEGER" and not _has_key_index(handle, table):
        table.rowid = key[0]
        table.rowid.nullable = False
        table.generates_keys = True
        return
    free = next((name for name in _ROWID_NAMES if not table.has(name)), None)
    table.rowid = None if free is None else Column(free, "INTEGER", "integer", nullable=False)


def _has_key_index(handle: Handle, table: SqliteTable) -> bool:
    """Return whether the primary key has an index of its own: then it is not the row's number."""
    return any(row[3] == "pk" for row in handle.execute(f"PRAGMA main.index_list({quoted(table.name)})"))


def _is_unicode(name: str) -> bool:
    return name.isascii() or name.encode("utf-8", "replace").decode() == name
