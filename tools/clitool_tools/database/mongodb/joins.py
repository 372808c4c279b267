"""Stages that read other collections: listed ones of the same database, in whatever form they are named."""

from __future__ import annotations

from clitool_tools.database.mongodb.expressions import computed, expression, fields
from clitool_tools.database.mongodb.matching import condition
from clitool_tools.database.mongodb.rules import an_object, options, text, whole
from clitool_tools.database.mongodb.screening import Screening, below, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool_tools.database.mongodb.screening import Rule


def _namespace(look: Screening, at: str, given: object) -> str:
    """Return the collection that a stage reads, also from ``{db, coll}`` if that is the connection's own database."""
    if not isinstance(given, dict):
        return look.name(at, given)
    named = options(look, at, given, {"db": text, "coll": text}, ["coll"])
    _require_own_database(look, at, named.pop("db", None))
    return look.name(at, named["coll"])


def _require_own_database(look: Screening, at: str, name: str | None) -> None:
    if name is not None and name != look.connection.address.database:
        raise refusal(at, "a pipeline reads the connection's own database only; leave db out")


def _lookup(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - what the rules make of JSON
    document = an_object(at, given)
    if "from" not in document:
        _require_documents(at, document)
    return options(look, at, document, _LOOKUP, ["as"])


def _union(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    if isinstance(given, str):
        return look.name(at, given)
    document = dict(an_object(at, given))
    _require_own_database(look, at, text(look, below(at, "db"), document.pop("db")) if "db" in document else None)
    if "coll" not in document:
        _require_documents(at, document)
    return options(look, at, document, {"coll": Screening.name, "pipeline": Screening.pipeline})


def _require_documents(at: str, document: Mapping[str, Any]) -> None:
    """Raise `InvalidParams` unless a stage that names no collection begins with documents of its own."""
    stages = document.get("pipeline")
    first = stages[0] if isinstance(stages, list) and stages else None
    if not isinstance(first, dict) or "$documents" not in first:
        raise refusal(
            at, "the name of the collection is missing; only a pipeline that begins with $documents needs none"
        )


def _documents(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    if not look.depth:
        raise refusal(at, "$documents can stand in $lookup and $unionWith only; the pipeline reads its table")
    return expression(look, at, given)


def _restriction(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    before = look.expressions
    restriction = condition(look, at, given)
    if look.reads_view and look.expressions > before:
        raise refusal(at, "a pipeline that reads a view can have no $expr here; put it into a $match")
    return restriction


_LOOKUP: dict[str, Rule] = {
    "from": _namespace,
    "localField": text,
    "foreignField": text,
    "let": fields,
    "pipeline": Screening.pipeline,
    "as": text,
}
_GRAPH_LOOKUP: dict[str, Rule] = {
    "from": _namespace,
    "startWith": computed,
    "connectFromField": text,
    "connectToField": text,
    "as": text,
    "maxDepth": whole,
    "depthField": text,
    "restrictSearchWithMatch": _restriction,
}


def _graph_lookup(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return options(look, at, given, _GRAPH_LOOKUP, ["from", "startWith", "connectFromField", "connectToField", "as"])


JOINS: dict[str, Rule] = {
    "$documents": _documents,
    "$graphLookup": _graph_lookup,
    "$lookup": _lookup,
    "$unionWith": _union,
}
