"""A collection or view: its columns are the fields of its documents, named by dotted paths, in exact case."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.driver import bson
from clitool_tools.database.mongodb.forms import FORMS
from clitool_tools.database.mongodb.values import decode
from clitool_tools.database.names import shown
from clitool_tools.database.table import Column, Domain, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from clitool_tools.database.mongodb.keyset import Place
    from clitool_tools.database.table import Fields
    from clitool_tools.database.where import Node

    Shape: TypeAlias = tuple[tuple[str, ...], tuple[Any, ...]]  # names and types of the fields of one document

LONGEST_PATH = 1000  # bytes
DEEPEST_PATH = 50  # names in one


class MongoTable(Table):
    """A collection, view or time series.

    Attributes:
        type: ``collection``, ``view`` or ``timeseries``, as the server says.
    """

    __slots__ = ("_columns", "type")
    is_open = True

    def __init__(self, name: str, type_: str) -> None:
        super().__init__(name, (), is_view=type_ == "view")
        self.type = type_
        self._columns: dict[str, Column] = {}

    def fold(self, name: str) -> str:
        """Return the name itself: MongoDB tells upper from lower case."""
        return name

    def has(self, name: str) -> bool:
        """Return whether documents may have such a field; a leading ``-`` is taken for the sign of an order."""
        return not name.startswith("-") and _problem(name) is None

    def column(self, name: str) -> Column:
        """Return the field of this path, always the same object; raises `InvalidParams` (column_unknown)."""
        found = self._columns.get(name)
        if found is None:
            problem = _problem(name)
            if problem is not None:
                raise InvalidParams(f"{shown(name)} is no field: {problem}", "column_unknown")
            is_key = name == "_id"
            found = self._columns[name] = Column(name, "", "any", nullable=not is_key, key=int(is_key), domain=DOMAIN)
        return found

    def packed(self, place: Place) -> str | None:
        """Return what a cursor holds to go on behind a row, or None if the order cannot be continued there."""
        from clitool_tools.database.mongodb.keyset import packed

        return packed(place)

    def seen(self, fields: Fields) -> Sequence[dict[str, str]]:
        """Return name and types of the fields that documents were seen to have."""
        from clitool_tools.database.mongodb.rows import columns

        return columns(fields)

    def advice(self, where: Node) -> str | None:
        """Return the hint for a filter that compares with text which looks like an ObjectId, or None."""
        from clitool_tools.database.mongodb.condition import advice

        return advice(where)


def _problem(name: str) -> str | None:
    """Return why a name can be no path of a field, or None."""
    parts = name.split(".")
    if not all(parts):
        return "a name between dots is empty"
    if any(part.startswith("$") for part in parts):
        return "a name begins with a dollar sign"
    if "\0" in name or any(0xD800 <= ord(character) <= 0xDFFF for character in name):
        return "it holds a character that no name can have"
    if len(name.encode()) > LONGEST_PATH or len(parts) > DEEPEST_PATH:
        return f"it is longer than {LONGEST_PATH} bytes or {DEEPEST_PATH} names"
    return None


def _written(value: object) -> Any:  # noqa: ANN401 - any BSON value
    stored = decode(value)
    if stored == bson.Timestamp(0, 0):
        raise InvalidParams("the server would replace an empty '$timestamp' by the present time", "bad_value")
    return stored


def _compared(value: object) -> Any:  # noqa: ANN401 - as above
    stored = decode(value)
    if isinstance(stored, bson.Regex):
        raise InvalidParams("a filter takes no regular expressions; use $like", "bad_filter")
    return stored


DOMAIN = Domain("a JSON value, or Extended JSON for what JSON has no word for", _written, _compared, FORMS.keys())
