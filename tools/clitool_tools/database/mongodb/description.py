"""What `database_describe` tells about a collection: MongoDB has no schema, so the fields are those of a sample.

Names of collections that the client may not reach are shown as null.
"""

from __future__ import annotations

import json

from clitool.errors import ExecutionError
from clitool_tools.database.mongodb.codes import MEMORY
from clitool_tools.database.mongodb.format import RELAXED
from clitool_tools.database.mongodb.schema import indexes, options
from clitool_tools.database.mongodb.survey import Survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from clitool_tools.database.mongodb.database import Database
    from clitool_tools.database.mongodb.session import Session
    from clitool_tools.database.mongodb.table import MongoTable

_SAMPLE = 1000  # documents
_SAMPLE_BYTES = 16_000_000
_JOINS = ("$lookup", "$graphLookup", "$unionWith")
_LONGEST_VALIDATOR = 4000  # characters


def describe(database: Database, table: MongoTable) -> dict[str, Any]:
    """Return columns with the types found, how many documents were looked at, indexes, and a view's sources.

    `columns` have `types` and perhaps `elements` (of arrays) as numbers of values, and `missing` as the number of
    documents without the field; `sampled` is the number of documents. `indexes`, `base_tables` and `validator` are null
    where the account may not ask for them.
    """
    survey = _survey(database.session, table)
    given = options(database.session, table)
    described: dict[str, Any] = {
        "columns": survey.columns(),
        "sampled": survey.documents,
        "complete": survey.is_complete,
        "collation": _collation(table, given),
        "indexes": [] if table.is_view else _indexes(database.session, table),
        "foreign_keys": [],
        "validator": None if given is None else _validator(given),
    }
    if table.is_view:
        described["base_tables"] = _sources(database, given)
    return described


def _survey(session: Session, table: MongoTable) -> Survey:
    """Return what a random sample has; what the first documents have if the server has not the memory for one."""
    try:
        return _counted(session, table, {"$sample": {"size": _SAMPLE}})
    except ExecutionError as error:
        if error.details.get("vendor_code") not in MEMORY:
            raise
    return _counted(session, table, {"$limit": _SAMPLE})


def _counted(session: Session, table: MongoTable, stage: dict[str, Any]) -> Survey:
    survey = Survey()
    size = 0
    collection = session.database[table.name]
    with session.faults(), collection.aggregate_raw_batches([stage], allowDiskUse=False) as batches:
        for batch in batches:
            survey.add(batch)
            size += len(batch)
            if size > _SAMPLE_BYTES:
                survey.is_complete = False
                break
    return survey


def _collation(table: MongoTable, given: Mapping[str, Any] | None) -> str | None:
    """Return what comparisons of text follow: only a view has a collation that they cannot set aside."""
    if not table.is_view:
        return "simple"
    return None if given is None else given.get("collation", {}).get("locale", "simple")


def _indexes(session: Session, table: MongoTable) -> list[dict[str, Any]] | None:
    found = indexes(session, table)
    if found is None:
        return None
    return [
        {
            "name": index["name"],
            "columns": list(index["key"]),
            "unique": bool(index.get("unique")) or list(index["key"]) == ["_id"],
            "primary_key": list(index["key"]) == ["_id"],
            "partial": bool(index.get("sparse") or index.get("partialFilterExpression")),
        }
        for index in found
    ]


def _validator(given: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    """Return the rules that documents must fit, False if there are none, True if they are too long to show."""
    rules = given.get("validator")
    if not rules:
        return False
    shown = RELAXED.fields(rules)
    return shown if len(json.dumps(shown)) <= _LONGEST_VALIDATOR else True


def _sources(database: Database, given: Mapping[str, Any] | None) -> list[str | None] | None:
    if given is None:
        return None
    return [name if database.connection.allows(name) else None for name in sources(given)]


def sources(given: Mapping[str, Any]) -> list[str]:
    """Return the collections and views that a view reads, from its `schema.options`."""
    return list(dict.fromkeys((given["viewOn"], *_named(given.get("pipeline", [])))))


def _named(pipeline: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the collections that the stages of a view's pipeline read."""
    for stage in pipeline:
        for word, argument in stage.items():
            if word == "$facet":
                for inner in argument.values():
                    yield from _named(inner)
            elif word in _JOINS:
                yield from _joined(argument)


def _joined(argument: Any) -> Iterator[str]:  # noqa: ANN401 - a name or an object
    options = argument if isinstance(argument, dict) else {"coll": argument}
    name = options.get("from", options.get("coll"))
    if isinstance(name, str):
        yield name
    yield from _named(options.get("pipeline", ()))
