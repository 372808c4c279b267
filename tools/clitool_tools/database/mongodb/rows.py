"""What the server sends, batch by batch: each document as JSON, as it came, and with the types of its fields."""

from __future__ import annotations

from datetime import datetime

from clitool_tools.database.mongodb.driver import bson
from clitool_tools.database.mongodb.keyset import KEY
from clitool_tools.database.mongodb.reader import decoded, documents, entries, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeAlias

    from clitool_tools.database.mongodb.format import Format
    from clitool_tools.database.mongodb.table import Shape
    from clitool_tools.database.table import Fields

    Row: TypeAlias = tuple[dict[str, Any], bytes, Shape]

_AT_ONCE = 16_384  # bytes of documents that are decoded together

NAMES: dict[Any, str] = {
    float: "double",
    str: "string",
    dict: "object",
    list: "array",
    bytes: "binData",
    bson.Binary: "binData",
    bson.ObjectId: "objectId",
    bool: "bool",
    datetime: "date",
    bson.DatetimeMS: "date",
    type(None): "null",
    bson.Regex: "regex",
    bson.DBRef: "object",
    bson.Code: "javascript",
    int: "int",
    bson.Timestamp: "timestamp",
    bson.Int64: "long",
    bson.Decimal128: "decimal",
    bson.MinKey: "minKey",
    bson.MaxKey: "maxKey",
}
"""What MongoDB itself calls the types, by what the driver's decoder makes of them."""


def rows(batches: Iterable[Any], form: Format, key: str = "") -> Iterator[Row]:
    """Yield each document as JSON, as it came, and its shape.

    Args:
        batches: the bytes of some documents each, as a raw cursor of the driver gives them.
        form: how values are shown.
        key: `KEY` if that field of a document has what the server sorted it by; then it is not shown.
    """
    for batch in batches:
        for some in divided(batch):
            yield from _rows(some, form, key)


def divided(batch: bytes) -> Iterator[list[bytes]]:
    """Yield the documents of a batch, a few at a time: as Python objects they take many times the memory."""
    some: list[bytes] = []
    size = 0
    for document in documents(batch):
        some.append(document)
        size += len(document)
        if size > _AT_ONCE:
            yield some
            some, size = [], 0
    if some:
        yield some


def _rows(some: list[bytes], form: Format, key: str) -> Iterator[Row]:
    found = decoded(b"".join(some))
    if found is None:
        yield from (_by_hand(raw, form, key) for raw in some)
        return
    for document, raw in zip(found, some, strict=True):
        if key == KEY:
            del document[KEY]
        yield form.fields(document), raw, (tuple(document), tuple(map(type, document.values())))


def _by_hand(raw: bytes, form: Format, key: str) -> Row:
    found = decoded(raw)
    if found is not None:
        return next(_rows([raw], form, key))
    fields = [field for field in entries(raw, form) if field[0] != KEY or key != KEY]
    named = [(name, type_) for name, type_, _ in fields if isinstance(name, str)]
    return whole(fields), raw, (tuple(name for name, _ in named), tuple(type_ for _, type_ in named))


def columns(fields: Fields) -> list[dict[str, str]]:
    """Return name and types of fields that were seen."""
    return [{"name": name, "type": "|".join(sorted(set(map(_name, kinds))))} for name, kinds in fields.items()]


def _name(kind: Any) -> str:  # noqa: ANN401 - what the decoder makes, or the name already
    return str(NAMES.get(kind, kind))
