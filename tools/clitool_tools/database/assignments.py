"""Rows that a caller wants to store: names and values checked against the table."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.kinds import accept
from clitool_tools.database.names import listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool_tools.database.table import Column, Table, Unique
    from clitool_tools.database.values import Stored


def assigned(table: Table, row: Mapping[str, object]) -> dict[Column, Stored]:
    """Return what to store in which column.

    Raises:
        InvalidParams: no such column (column_unknown); a column twice, a computed one, or a value that does not fit
            (bad_value).
    """
    values: dict[Column, Stored] = {}
    for name, value in row.items():
        column = table.column(name)
        if column in values:
            raise InvalidParams(f"the row names column {shown(column.name)} twice", "bad_value")
        if column.generated:
            raise InvalidParams(f"column {shown(column.name)} is computed by the database", "bad_value")
        values[column] = accept(column, value)
    return values


def all_assigned(table: Table, rows: Sequence[Mapping[str, object]]) -> list[dict[Column, Stored]]:
    """Return `assigned` for all rows; an error says which row it is about."""
    values = []
    for number, row in enumerate(rows):
        try:
            values.append(assigned(table, row))
        except InvalidParams as error:
            raise InvalidParams(f"rows[{number}]: {error}", error.reason, row=number) from None
    return values


def unique_key(table: Table, uniques: Sequence[Unique], key: Sequence[str]) -> Unique:
    """Return the unique index over exactly the columns of `key`; raises `InvalidParams` (key_not_unique)."""
    columns = {table.column(name) for name in key}
    for unique in uniques:
        if set(unique.columns) == columns and len(key) == len(columns):
            return unique
    choices = " or ".join(f"[{listed(column.name for column in unique.columns)}]" for unique in uniques)
    offer = f"; unique here: {choices}" if choices else "; the table has no unique key"
    raise InvalidParams(f"key must be exactly the columns of one unique index{offer}", "key_not_unique")


def require_key(unique: Unique, rows: Sequence[Mapping[Column, Stored]]) -> None:
    """Raise `InvalidParams` (bad_value) unless each row has a value, not null, for each column of the key."""
    for number, row in enumerate(rows):
        for column in unique.columns:
            if row.get(column) is None:
                message = f"rows[{number}] needs a value for the key column {shown(column.name)}, not null"
                raise InvalidParams(message, "bad_value", row=number)
