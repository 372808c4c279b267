"""All tables and views of a database: their names, their types, and which hold the content of virtual tables."""

from __future__ import annotations

from clitool_tools.database.names import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection as Handle

# What full-text and R*Tree tables keep their content in: the table's name and one of these.
_SHADOWS = (
    "_data",
    "_idx",
    "_content",
    "_docsize",
    "_config",
    "_segments",
    "_segdir",
    "_stat",
    "_node",
    "_rowid",
    "_parent",
)


def names(handle: Handle) -> list[tuple[str, str, str]]:
    """Return name, type (``table``, ``view``, ``virtual``, ``shadow``) and SQL of all tables and views, by name."""
    rows = handle.execute(
        "SELECT name, type, coalesce(sql, '') FROM main.sqlite_schema WHERE type IN ('table', 'view') ORDER BY name"
    ).fetchall()
    virtual = {fold(name) for name, _, sql in rows if _is_virtual(sql)}
    return [(name, _type(name, type_, sql, virtual), sql) for name, type_, sql in rows]


def owners(objects: Iterable[tuple[str, str, str]]) -> dict[bytes, bytes]:
    """Return the folded name of each table and view with the virtual table whose content it holds, or itself."""
    return {fold(name): owner(name) if type_ == "shadow" else fold(name) for name, type_, _ in objects}


def _is_virtual(sql: str) -> bool:
    return sql[:20].upper() == "CREATE VIRTUAL TABLE"


def _type(name: str, type_: str, sql: str, virtual: set[bytes]) -> str:
    if _is_virtual(sql):
        return "virtual"
    return "shadow" if type_ == "table" and owner(name) in virtual else type_


def owner(name: str) -> bytes:
    """Return the folded name of the virtual table whose content a table with such a name would hold, or of itself."""
    return fold(next((name.removesuffix(part) for part in _SHADOWS if name.endswith(part)), name))
