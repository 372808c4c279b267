"""Changes of a MongoDB collection: documents, filters and updates that we build, all rows or none.

One row, and the one row that a filter with a unique key means, needs no transaction. Everything else does, and so a
replica set: on a standalone server nobody could take back half of it.
"""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.database.mongodb.condition import SIMPLE, condition
from clitool_tools.database.mongodb.driver import bson, pymongo
from clitool_tools.database.mongodb.format import RELAXED
from clitool_tools.database.mongodb.schema import uniques
from clitool_tools.database.mongodb.transaction import Repeat, concern, in_one_statement, in_transaction
from clitool_tools.database.names import shown
from clitool_tools.database.where import Comparison, Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    from clitool_tools.database.engine import Bounds
    from clitool_tools.database.mongodb.session import Session
    from clitool_tools.database.mongodb.table import MongoTable
    from clitool_tools.database.mongodb.transaction import Handle
    from clitool_tools.database.table import Column, Unique
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node

    Row: TypeAlias = Mapping[Column, Stored]
    Work: TypeAlias = Callable[[Handle | None], Any]

_TRIES = 6  # of an upsert that meets another one of the same key


def insert(session: Session, table: MongoTable, rows: Sequence[Row]) -> Mapping[str, Any]:
    """Insert all rows or none; a row without `_id` gets an ObjectId. Return the count and every row's `_id`."""
    documents = [_document(row, number) for number, row in enumerate(rows)]
    collection = _collection(session, table)
    _run(session, table, lambda handle: collection.insert_many(documents, session=handle), is_one=len(rows) == 1)
    return {"inserted": len(rows), "ids": [RELAXED.value(document["_id"]) for document in documents]}


def upsert(session: Session, table: MongoTable, unique: Unique, rows: Sequence[Row]) -> Mapping[str, int]:
    """Update by key or insert, all rows or none. A dotted name means a field inside of a document."""
    _require_documents(table)
    steps = [_step(unique, row, number) for number, row in enumerate(rows)]
    collection = _collection(session, table)
    meeting = _Meeting(unique)

    def work(handle: Handle | None) -> Any:  # noqa: ANN401 - a type of the driver's
        with meeting:
            return collection.bulk_write(steps, session=handle)

    done = _run(session, table, work, is_one=len(rows) == 1)
    changed = done.modified_count
    return {"inserted": done.upserted_count, "updated": changed, "unchanged": done.matched_count - changed}


def update(session: Session, table: MongoTable, where: Node, values: Row, bounds: Bounds) -> int:
    """Set fields of the documents that match; return how many do."""
    _require_documents(table)
    names = [column.name for column in values]
    _require_apart(names)
    if any(name == "_id" or name.startswith("_id.") for name in names):
        raise InvalidParams("the _id of a row cannot change; insert a new row and delete the old one", "bad_value")
    test, change = condition(where), {"$set": {column.name: value for column, value in values.items()}}
    collection = _collection(session, table)

    def work(handle: Handle | None) -> int:
        change_all = collection.update_one if handle is None else collection.update_many
        return int(change_all(test, change, collation=SIMPLE, session=handle).matched_count)

    return _bounded(session, table, where, bounds, work)


def delete(session: Session, table: MongoTable, where: Node, bounds: Bounds) -> int:
    """Delete the documents that match; return how many do."""
    _require_documents(table)
    test = condition(where)
    collection = _collection(session, table)

    def work(handle: Handle | None) -> int:
        delete_all = collection.delete_one if handle is None else collection.delete_many
        return int(delete_all(test, collation=SIMPLE, session=handle).deleted_count)

    return _bounded(session, table, where, bounds, work)


def _run(session: Session, table: MongoTable, work: Work, *, is_one: bool, dry_run: bool = False) -> Any:  # noqa: ANN401 - what the work returns
    if is_one and not dry_run:
        return in_one_statement(session, lambda: work(None))
    if table.type == "timeseries":
        raise ExecutionError("a time series takes one row in a call: it has no transactions", "no_transactions")
    return in_transaction(session, work, dry_run=dry_run)


def _bounded(session: Session, table: MongoTable, where: Node, bounds: Bounds, work: Work) -> int:
    """Change what the filter means, unless that is more than the caller permits; return how many it is."""
    is_one = not bounds.dry_run and _means_one(session, table, where)
    collection = _collection(session, table)

    def counted(handle: Handle | None) -> Any:  # noqa: ANN401 - what the work returns
        if not is_one:
            found = collection.count_documents(
                condition(where), limit=bounds.most + 1, collation=SIMPLE, session=handle
            )
            if found > bounds.most:
                raise ExecutionError(
                    f"more than {bounds.most} rows match, which is max_affected; nothing was changed",
                    "too_many_affected",
                )
        return work(handle)

    return int(_run(session, table, counted, is_one=is_one, dry_run=bounds.dry_run))


def _means_one(session: Session, table: MongoTable, where: Node) -> bool:
    """Return whether the filter fixes all columns of a unique key, so that one document at most matches."""
    fixed = set(_fixed(where))
    if not fixed or session.server.get("msg") == "isdbgrid":  # on two shards there may be the same key twice
        return False
    return any(fixed.issuperset(unique.columns) for unique in uniques(session, table))


def _fixed(where: Node) -> Iterable[Column]:
    """Yield the columns that must be equal to one value."""
    if isinstance(where, Comparison) and where.operator == "=":
        yield where.column
    elif isinstance(where, Group) and where.word == "AND":
        for part in where.parts:
            yield from _fixed(part)


class _Meeting:
    """A context in which an upsert that another one of the same key gets ahead of is repeated.

    Both find nothing and insert; the second one then meets the document of the first, and finds it when it looks again
    (https://www.mongodb.com/docs/manual/reference/method/db.collection.update/#upsert-with-unique-index).
    """

    def __init__(self, unique: Unique) -> None:
        self._names = [column.name for column in unique.columns]
        self._tries = 0

    def __enter__(self) -> None:
        self._tries += 1

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, pymongo.errors.BulkWriteError) and self._tries < _TRIES:
            failed = (error.details["writeErrors"] or [{}])[0]
            if sorted(failed.get("keyPattern", ())) == sorted(self._names):
                raise Repeat(error)


def _step(unique: Unique, row: Row, number: int) -> Any:  # noqa: ANN401 - a type of the driver's
    """Return the upsert of one row."""
    _require_apart([column.name for column in row], number)
    for column in unique.columns:
        if isinstance(row[column], (list, bson.Regex)):
            raise _bad(number, f"the key column {shown(column.name)} takes one value, no array or regular expression")
    test = {column.name: {"$eq": row[column]} for column in unique.columns}
    rest = {column.name: value for column, value in row.items() if column not in unique.columns}
    return pymongo.UpdateOne(test, {"$set": rest}, upsert=True, collation=SIMPLE)


def _document(row: Row, number: int) -> dict[str, Any]:
    for column in row:
        if "." in column.name:
            message = f"a new row takes {shown(column.name)} as a document in a document, not as a path"
            raise _bad(number, message)
    document = {column.name: value for column, value in row.items()}
    return document if "_id" in document else {"_id": bson.ObjectId(), **document}


def _require_apart(names: Sequence[str], number: int | None = None) -> None:
    """Raise `InvalidParams` (bad_value) for a name that means a part of another one."""
    known = set(names)
    for name in names:
        parts = name.split(".")
        for length in range(1, len(parts)):
            if ".".join(parts[:length]) in known:
                raise _bad(number, f"{shown(name)} lies inside of another field that is given, too")


def _require_documents(table: MongoTable) -> None:
    if table.type == "timeseries":
        raise InvalidParams("a time series takes new rows only; they do not change", "table_not_allowed")


def _bad(number: int | None, message: str) -> InvalidParams:
    if number is None:
        return InvalidParams(message, "bad_value")
    return InvalidParams(f"rows[{number}]: {message}", "bad_value", row=number)


def _collection(session: Session, table: MongoTable) -> Any:  # noqa: ANN401 - a type of the driver's
    return session.database.get_collection(table.name, write_concern=concern())
