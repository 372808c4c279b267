"""Documents from the wire as JSON. Most go through the driver's decoder, which is fast; it must not have lost anything.

A Python dictionary cannot hold every BSON document: one with a key twice, a text that is not UTF-8, or a value of a
type that is no longer written. So what the driver decoded is encoded again: the same bytes prove that nothing is lost.
Else the document is taken apart here, byte by byte (https://bsonspec.org/spec.html).
"""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.database.mongodb.driver import bson
from clitool_tools.database.mongodb.format import as_document, regular_expression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from clitool_tools.database.mongodb.format import Format

    Entries: TypeAlias = list[tuple[Any, str, Any]]  # name, type and JSON of each field

_FIXED = {0x01: 8, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16, 0x7F: 0, 0xFF: 0}
_OLD_BINARY = 2


def options() -> Any:  # noqa: ANN401 - a type of the driver's
    """Return how documents are decoded: wrong bytes of a text can be told, UUIDs and distant dates stay as they are."""
    from bson.codec_options import CodecOptions, DatetimeConversion

    return CodecOptions(
        unicode_decode_error_handler="surrogateescape", datetime_conversion=DatetimeConversion.DATETIME_AUTO
    )


OPTIONS = options()


def documents(batch: bytes) -> Iterator[bytes]:
    """Yield the documents of a batch, one after the other."""
    start = 0
    while start < len(batch):
        end = start + int.from_bytes(batch[start : start + 4], "little")
        if end <= start:
            raise _damaged()
        yield batch[start:end]
        start = end


def decoded(batch: bytes) -> list[dict[str, Any]] | None:
    """Return the documents of a batch, or None if a dictionary cannot hold one of them as it is."""
    try:
        found = bson.decode_all(batch, OPTIONS)
        again = b"".join([bson.encode(document, codec_options=OPTIONS) for document in found])
    except (bson.errors.BSONError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return found if again == batch else None


class _Reader:
    """Takes one document apart."""

    __slots__ = ("_at", "_data", "_form")

    def __init__(self, data: bytes, form: Format) -> None:
        self._data = data
        self._form = form
        self._at = 0

    def entries(self) -> Entries:
        self.take(4)
        found: Entries = []
        while kind := self.take(1)[0]:
            name = _text(self.until_nul())
            found.append((name, NAMES.get(kind, ""), self.value(kind)))
        return found

    def value(self, kind: int) -> Any:  # noqa: ANN401 - any JSON value
        special = _SPECIAL.get(kind)
        if special is not None:
            return special(self)
        if kind not in _FIXED:
            raise ExecutionError("a document holds a value of a type that is not known here", "database")
        return self.plain(kind, _FIXED[kind])

    def plain(self, kind: int, length: int) -> Any:  # noqa: ANN401 - as above
        element = bytes([kind]) + b"\0" + self.take(length) + b"\0"
        try:
            value = bson.decode((len(element) + 4).to_bytes(4, "little") + element, OPTIONS)[""]
        except bson.errors.BSONError:
            raise _damaged() from None
        return self._form.value(value)

    def inner(self) -> dict[str, Any]:
        entries = self.entries()
        found = _fields(entries)
        return _pairs(entries) if found is None else as_document(found)

    def array(self) -> list[Any]:
        return [value for _, _, value in self.entries()]

    def string(self) -> Any:  # noqa: ANN401 - as above
        length = self.length(self._at)
        return _text(self.take(4 + length)[4:-1])

    def binary(self) -> dict[str, Any]:
        """Return bytes; those of the old kind begin with their length, which the server takes also if it is wrong."""
        length = self.length(self._at)
        subtype = self.take(5)[4]
        data = self.take(length)
        if subtype == _OLD_BINARY and data[:4] == (length - 4).to_bytes(4, "little", signed=True):
            data = data[4:]
        shown: dict[str, Any] = self._form.value(bson.Binary(data, subtype))
        return shown

    def regex(self) -> dict[str, Any]:
        return regular_expression(_text(self.until_nul()), _text(self.until_nul()))

    def pointer(self) -> dict[str, Any]:
        namespace = self.string()
        return {"$dbPointer": {"$ref": namespace, "$id": self.plain(0x07, 12)}}

    def code_with_scope(self) -> dict[str, Any]:
        self.take(4)
        return {"$code": self.string(), "$scope": self.inner()}

    def length(self, at: int) -> int:
        return int.from_bytes(self._data[at : at + 4], "little", signed=True)

    def take(self, length: int) -> bytes:
        found = self._data[self._at : self._at + length]
        if length < 0 or len(found) < length:
            raise _damaged()
        self._at += length
        return found

    def until_nul(self) -> bytes:
        end = self._data.find(b"\0", self._at)
        return self.take(end - self._at + 1)[:-1]


def entries(data: bytes, form: Format) -> Entries:
    """Return the name, the type and the JSON of each field of a document."""
    return _Reader(data, form).entries()


def whole(entries: Entries) -> dict[str, Any]:
    """Return the fields of a document as an object; if none can hold them as ``{"$entries": [[name, value], …]}``."""
    found = _fields(entries)
    return _pairs(entries) if found is None else found


def _fields(entries: Entries) -> dict[str, Any] | None:
    found = {name: value for name, _, value in entries if isinstance(name, str)}
    return found if len(found) == len(entries) else None


def _pairs(entries: Entries) -> dict[str, Any]:
    return {"$entries": [[name, value] for name, _, value in entries]}


def _damaged() -> ExecutionError:
    return ExecutionError("a document of the database is damaged", "database")


def _text(data: bytes) -> Any:  # noqa: ANN401 - a string, or the form of one that is not UTF-8
    try:
        return data.decode()
    except UnicodeDecodeError:
        from binascii import b2a_base64

        return {"$rawText": {"base64": b2a_base64(data, newline=False).decode("ascii")}}


_SPECIAL: dict[int, Callable[[_Reader], Any]] = {
    0x02: _Reader.string,
    0x03: _Reader.inner,
    0x04: _Reader.array,
    0x05: _Reader.binary,
    0x06: lambda _: {"$undefined": True},
    0x0B: _Reader.regex,
    0x0C: _Reader.pointer,
    0x0D: lambda reader: {"$code": reader.string()},
    0x0E: lambda reader: {"$symbol": reader.string()},
    0x0F: _Reader.code_with_scope,
}
NAMES = {
    0x01: "double",
    0x02: "string",
    0x03: "object",
    0x04: "array",
    0x05: "binData",
    0x06: "undefined",
    0x07: "objectId",
    0x08: "bool",
    0x09: "date",
    0x0A: "null",
    0x0B: "regex",
    0x0C: "dbPointer",
    0x0D: "javascript",
    0x0E: "symbol",
    0x0F: "javascriptWithScope",
    0x10: "int",
    0x11: "timestamp",
    0x12: "long",
    0x13: "decimal",
    0x7F: "maxKey",
    0xFF: "minKey",
}
"""What MongoDB itself calls the types, by their number on the wire."""
