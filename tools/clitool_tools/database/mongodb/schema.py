"""The live schema: which collections and views there are, and what makes their documents unique."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.database.mongodb.codes import UNAUTHORIZED
from clitool_tools.database.mongodb.table import MongoTable
from clitool_tools.database.table import Sort, Unique
from clitool_tools.database.values import is_unicode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from clitool_tools.database.mongodb.session import Session


def collections(session: Session, name: str | None = None) -> dict[str, str]:
    """Return the type (``collection``, ``view``, ``timeseries``) of each collection that the account may use, by name.

    With `nameOnly` and `authorizedCollections` the server answers also accounts with rights on a few collections.
    """
    command: dict[str, Any] = {"listCollections": 1, "nameOnly": True, "authorizedCollections": True}
    if name is not None:
        command["filter"] = {"name": {"$eq": name}}
    with session.faults():
        found = session.database.cursor_command(command)
        return {each["name"]: each.get("type", "collection") for each in found}


def find(session: Session, name: str) -> MongoTable | None:
    """Return the collection or view of exactly this name, or None."""
    if "\0" in name or not is_unicode(name):  # which the driver or the server would call an error
        return None
    type_ = collections(session, name).get(name)
    return None if type_ is None else MongoTable(name, type_)


def order(table: MongoTable) -> Sequence[Sort] | None:
    """Return the order by `_id`, or None where it is not unique: in views and time series."""
    return [Sort(table.column("_id"))] if table.type == "collection" else None


def uniques(session: Session, table: MongoTable) -> Iterator[Unique]:
    """Yield the unique indexes that identify a document by comparing its fields byte by byte, `_id` first.

    Partial and sparse indexes leave documents out, and one with a collation takes different texts for the same. Two
    fields inside of one array (``items.a`` and ``items.b``) may be found in different elements of it.
    """
    if table.type != "collection":
        return
    yield Unique([Sort(table.column("_id"))])
    for index in indexes(session, table) or ():
        names = list(index["key"])
        if index.get("unique") and names != ["_id"] and _is_plain(index) and all(map(table.has, names)):
            yield Unique([Sort(table.column(name)) for name in names])


def _is_plain(index: Mapping[str, Any]) -> bool:
    is_whole = not any(index.get(word) for word in ("sparse", "partialFilterExpression", "collation"))
    is_apart = len({name.partition(".")[0] for name in index["key"]}) == len(index["key"])
    return is_whole and is_apart and all(direction in (1, -1) for direction in index["key"].values())


def indexes(session: Session, table: MongoTable) -> list[Mapping[str, Any]] | None:
    """Return the indexes as the server describes them, or None if the account may not list them.

    Those that are still being built are left out: until then, a unique one keeps nothing unique.
    """
    found = _definitions(session, {"listIndexes": table.name, "includeBuildUUIDs": True})
    return None if found is None else [index for index in found if "buildUUID" not in index]


def options(session: Session, table: MongoTable) -> Mapping[str, Any] | None:
    """Return how the collection was made (a view's `viewOn`, `validator` …), or None if the account may not know."""
    found = _definitions(session, {"listCollections": 1, "filter": {"name": {"$eq": table.name}}})
    return None if not found else found[0].get("options", {})


def _definitions(session: Session, command: dict[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return what the server lists, or None if the account may not ask; any values may be in it, as in documents."""
    from bson.codec_options import CodecOptions, DatetimeConversion

    lenient: CodecOptions[dict[str, Any]] = CodecOptions(
        unicode_decode_error_handler="replace", datetime_conversion=DatetimeConversion.DATETIME_AUTO
    )
    try:
        with session.faults():
            return list(session.database.cursor_command(command, codec_options=lenient))
    except ExecutionError as error:
        if error.details.get("vendor_code") == UNAUTHORIZED:
            return None
        raise
