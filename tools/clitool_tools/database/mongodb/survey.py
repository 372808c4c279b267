"""Which fields documents have, and of which types: counted over a sample."""

from __future__ import annotations

from clitool_tools.database.mongodb.driver import bson
from clitool_tools.database.mongodb.reader import OPTIONS
from clitool_tools.database.mongodb.rows import NAMES, divided
from clitool_tools.database.values import is_unicode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_MOST = 500  # fields; documents whose keys are data have any number


class _Field:
    __slots__ = ("documents", "elements", "last", "types")

    def __init__(self) -> None:
        self.types: dict[str, int] = {}
        self.elements: dict[str, int] = {}
        self.documents = 0
        self.last = 0  # the document that had it last

    def count(self, value: object, document: int) -> None:
        name = NAMES[type(value)]
        self.types[name] = self.types.get(name, 0) + 1
        if self.last != document:
            self.last = document
            self.documents += 1
        if isinstance(value, list):
            for element in value:
                name = NAMES[type(element)]
                self.elements[name] = self.elements.get(name, 0) + 1


class Survey:
    """Counts the types of fields.

    Attributes:
        documents: how many were looked at.
        is_complete: whether every field of them is counted.
    """

    __slots__ = ("_fields", "documents", "is_complete")

    def __init__(self) -> None:
        self._fields: dict[str, _Field] = {}
        self.documents = 0
        self.is_complete = True

    def add(self, batch: Any) -> None:  # noqa: ANN401 - bytes, for which the driver declares documents
        """Count the fields of some documents."""
        for some in divided(batch):
            for raw in some:
                self.documents += 1
                try:
                    document = bson.decode(raw, OPTIONS)
                except bson.errors.BSONError:  # the server takes some that the driver does not
                    self.is_complete = False
                else:
                    self._document(document, "")

    def columns(self) -> list[dict[str, Any]]:
        """Return the fields by their dotted paths, in the order in which they were found, each before its parts."""
        return [self._column(path, field) for path, field in self._fields.items()]

    def _document(self, document: Mapping[str, Any], prefix: str) -> None:
        for name, value in document.items():
            if not name or name.startswith("$") or "." in name or not is_unicode(name):
                self.is_complete = False  # no path leads there
                continue
            field = self._field(prefix + name)
            if field is not None:
                field.count(value, self.documents)
                self._inside(value, prefix + name + ".")

    def _inside(self, value: object, prefix: str) -> None:
        """Look into documents, also into those in an array, as a dotted path does."""
        if isinstance(value, bson.DBRef):
            return
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                self._document(inner, prefix)

    def _field(self, path: str) -> _Field | None:
        field = self._fields.get(path)
        if field is None and len(self._fields) < _MOST:
            field = self._fields[path] = _Field()
        if field is None:
            self.is_complete = False
        return field

    def _column(self, path: str, field: _Field) -> dict[str, Any]:
        missing = self.documents - field.documents
        return {
            "name": path,
            "type": "|".join(sorted(field.types)),
            "kind": "any",
            "nullable": missing > 0 or "null" in field.types,
            "primary_key": int(path == "_id"),
            "types": field.types,
            **({"elements": field.elements} if "array" in field.types else {}),
            "missing": missing,
        }
