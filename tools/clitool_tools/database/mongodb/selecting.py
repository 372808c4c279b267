"""Structured queries: one `find`, built from what was checked, whose documents are shown as they arrive."""

from __future__ import annotations

from contextlib import contextmanager

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.condition import SIMPLE, condition
from clitool_tools.database.mongodb.driver import pymongo
from clitool_tools.database.mongodb.format import CANONICAL, RELAXED
from clitool_tools.database.mongodb.keyset import KEY, after
from clitool_tools.database.mongodb.rows import rows
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any

    from clitool_tools.database.engine import Selection
    from clitool_tools.database.mongodb.keyset import Place
    from clitool_tools.database.mongodb.session import Session
    from clitool_tools.database.mongodb.table import Shape
    from clitool_tools.database.table import Sort

_BATCH = 1000  # documents; the server also ends a batch at 16 MB
_BAD_VALUE = 2
_SORTS = 32  # fields that the server sorts by


def select(session: Session, selection: Selection) -> Generator[tuple[dict[str, Any], Place, Shape], None, None]:
    """Yield at most ``limit + 1`` documents as JSON, their places (see `keyset.packed`), and their shapes."""
    sorts = _sorts(selection)
    key = _key(selection, sorts)
    filters = [] if selection.where is None else [condition(selection.where)]
    if selection.after is not None:
        filters.append(after(sorts, selection.after[0]))
    with session.faults(), _arrays_told():
        cursor = session.database[selection.table.name].find_raw_batches(
            {"$and": filters} if filters else {},
            _projection(selection, key),
            sort=[(sort.column.name, -1 if sort.descending else 1) for sort in sorts] or None,
            limit=selection.limit + 1,
            batch_size=min(selection.limit + 1, _BATCH),
            allow_disk_use=False,  # no query fills the server's disk; the order of a page needs little memory
            collation=None if selection.table.is_view else SIMPLE,  # a view has its own, which cannot be another one
        )
        with cursor:
            found = rows(iter(cursor), CANONICAL if selection.is_canonical else RELAXED, key)
            for document, raw, shape in found:
                yield document, (raw, key), shape


@contextmanager
def _arrays_told() -> Iterator[None]:
    """Say in our words what the server has against an order: the only thing in a checked query that it can refuse."""
    try:
        yield
    except pymongo.errors.OperationFailure as error:
        if error.code != _BAD_VALUE:
            raise
        message = "two fields of the order hold arrays in one document; MongoDB sorts by one array only"
        raise InvalidParams(message, "bad_value", vendor_code=error.code) from error


def _key(selection: Selection, sorts: list[Sort]) -> str:
    """Return the field in which a document tells where it stands in the order; empty if no cursor can follow.

    None can if a number is part of a path: in one document that is a place in an array, in another one a name.
    """
    if not selection.is_total or any(part.isdecimal() for sort in sorts for part in sort.column.name.split(".")):
        return ""
    names = [column.name for column in selection.columns]
    is_there = [sort.column.name for sort in sorts] == ["_id"] and (not names or "_id" in names)
    return "_id" if is_there else KEY


def _sorts(selection: Selection) -> list[Sort]:
    """Return the order, each field once: where it is named first decides; raises `InvalidParams` for too many."""
    found: dict[str, Sort] = {}
    for sort in selection.order:
        found.setdefault(sort.column.name, sort)
    if len(found) > _SORTS:
        raise InvalidParams(f"order_by has too many columns: MongoDB sorts by at most {_SORTS} fields, with _id")
    return list(found.values())


def _projection(selection: Selection, key: str) -> dict[str, Any] | None:
    """Return which fields to send: what is asked for, and what the server sorted by if `key` says so."""
    names = [column.name for column in selection.columns]
    _require_apart(names)
    fields: dict[str, Any] = dict.fromkeys(names, 1)
    if names and not any(name == "_id" or name.startswith("_id.") for name in names):
        fields["_id"] = 0
    if key == KEY:
        fields[KEY] = {"$meta": "sortKey"}
    return fields or None


def _require_apart(names: list[str]) -> None:
    """Raise `InvalidParams` if one field that is asked for lies in another one."""
    known = set(names)
    for name in names:
        parts = name.split(".")
        for end in range(1, len(parts)):
            other = ".".join(parts[:end])
            if other in known:
                raise InvalidParams(f"columns names {shown(other)} and {shown(name)}, which is a part of it")
