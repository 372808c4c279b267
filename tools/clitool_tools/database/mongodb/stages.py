"""The stages of a pipeline that may run, and what each of them takes."""

from __future__ import annotations

from clitool_tools.database.mongodb.expressions import (
    accumulator,
    accumulators,
    expression,
    operator,
)
from clitool_tools.database.mongodb.matching import condition
from clitool_tools.database.mongodb.operators import WINDOW_OPERATORS
from clitool_tools.database.mongodb.screening import (
    MAX_PIPELINES,
    MAX_STAGES,
    Screening,
    a_list,
    an_object,
    below,
    data,
    element,
    flag,
    number,
    options,
    refusal,
    text,
    unknown,
    whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool_tools.database.mongodb.screening import Rule


def pipeline(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - what Extended JSON stands for
    """Return a pipeline as the server shall get it, every pipeline inside included."""
    stages = a_list(at, given)
    look.stages += len(stages)
    if look.stages > MAX_STAGES:
        raise refusal(at, f"the pipeline has more than {MAX_STAGES} stages")
    return [stage(look, element(at, index), each) for index, each in enumerate(stages)]


def stage(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return one stage; raises `InvalidParams` unless it is one that is listed, alone in its object."""
    if not isinstance(given, dict) or not given:
        raise refusal(at, 'a stage is an object like {"$match": {…}}')
    for word in given:
        if word not in STAGES:
            raise unknown(at, "stage", word, STAGES)
    if len(given) != 1:
        raise refusal(at, "a stage has exactly one key; write one object for each stage")
    ((word, argument),) = given.items()
    return {word: STAGES[word](look, below(at, word), argument)}


def _inside(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return a pipeline that stands inside a stage."""
    if look.pipelines == MAX_PIPELINES:
        raise refusal(at, f"more than {MAX_PIPELINES} pipelines in one another")
    look.pipelines += 1
    stages = pipeline(look, at, given)
    look.pipelines -= 1
    return stages


def _expression(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return expression(look, at, given)


def _fields(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return an object of fields, each computed from the document."""
    return {key: expression(look, below(at, key), value) for key, value in _plain(at, given).items()}


def _plain(at: str, given: object) -> dict[str, Any]:
    document = an_object(at, given)
    for key in document:
        if key.startswith("$"):
            raise unknown(at, "name", key, ())
    return document


def _texts(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return [text(look, element(at, index), each) for index, each in enumerate(a_list(at, given))]


def _text_or_texts(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return _texts(look, at, given) if isinstance(given, list) else text(look, at, given)


def _sort(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    """Return an order: fields, each with 1, -1 or the score of a text search."""
    return {
        key: expression(look, below(at, key), value) if isinstance(value, dict) else number(look, below(at, key), value)
        for key, value in _plain(at, given).items()
    }


def _group(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    document = _plain(at, given)
    if "_id" not in document:
        raise refusal(at, "'_id' is missing: what to group by, or null for one group")
    return {
        key: (expression if key == "_id" else accumulator)(look, below(at, key), value)
        for key, value in document.items()
    }


def _unwind(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    if isinstance(given, str):
        return text(look, at, given)
    known: dict[str, Rule] = {"path": text, "includeArrayIndex": text, "preserveNullAndEmptyArrays": flag}
    return options(look, at, given, known, ["path"])


def _facet(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return {key: _inside(look, below(at, key), value) for key, value in _plain(at, given).items()}


# --- stages that read another collection


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


def _lookup(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
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
    return options(look, at, document, {"coll": Screening.name, "pipeline": _inside})


def _require_documents(at: str, document: Mapping[str, Any]) -> None:
    """Raise `InvalidParams` unless a stage that names no collection begins with documents of its own."""
    stages = document.get("pipeline")
    first = stages[0] if isinstance(stages, list) and stages else None
    if not isinstance(first, dict) or "$documents" not in first:
        raise refusal(
            at, "the name of the collection is missing; only a pipeline that begins with $documents needs none"
        )


def _documents(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    if not look.pipelines:
        raise refusal(at, "$documents can stand in $lookup and $unionWith only; the pipeline reads its table")
    return expression(look, at, given)


_LOOKUP: dict[str, Rule] = {
    "from": _namespace,
    "localField": text,
    "foreignField": text,
    "let": _fields,
    "pipeline": _inside,
    "as": text,
}
_GRAPH_LOOKUP: dict[str, Rule] = {
    "from": _namespace,
    "startWith": _expression,
    "connectFromField": text,
    "connectToField": text,
    "as": text,
    "maxDepth": whole,
    "depthField": text,
    "restrictSearchWithMatch": condition,
}


def _graph_lookup(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return options(look, at, given, _GRAPH_LOOKUP, ["from", "startWith", "connectFromField", "connectToField", "as"])


# --- stages with many options


def _bucket(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {
        "groupBy": _expression,
        "boundaries": _expression,
        "default": _expression,
        "output": accumulators,
    }
    return options(look, at, given, known, ["groupBy", "boundaries"])


def _bucket_auto(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {
        "groupBy": _expression,
        "buckets": whole,
        "output": accumulators,
        "granularity": text,
    }
    return options(look, at, given, known, ["groupBy", "buckets"])


def _densify(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {"field": text, "partitionByFields": _texts, "range": data}
    return options(look, at, given, known, ["field", "range"])


def _fill(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {
        "partitionBy": _expression,
        "partitionByFields": _texts,
        "sortBy": _sort,
        "output": _filled,
    }
    return options(look, at, given, known, ["output"])


def _filled(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {"value": _expression, "method": text}
    return {key: options(look, below(at, key), value, known) for key, value in _plain(at, given).items()}


def _windows(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {"partitionBy": _expression, "sortBy": _sort, "output": _windowed}
    return options(look, at, given, known, ["output"])


def _windowed(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return {key: _window(look, below(at, key), value) for key, value in _plain(at, given).items()}


def _window(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    document = dict(an_object(at, given))
    frame = {"window": data(look, below(at, "window"), document.pop("window"))} if "window" in document else {}
    word = operator(at, document, WINDOW_OPERATORS)
    return {word: expression(look, below(at, word), document[word]), **frame}


def _geo_near(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {
        "near": _expression,
        "distanceField": text,
        "spherical": flag,
        "minDistance": _expression,
        "maxDistance": _expression,
        "query": condition,
        "distanceMultiplier": number,
        "includeLocs": text,
        "key": text,
    }
    return options(look, at, given, known, ["near"])


STAGES: dict[str, Rule] = {
    "$addFields": _fields,
    "$bucket": _bucket,
    "$bucketAuto": _bucket_auto,
    "$count": text,
    "$densify": _densify,
    "$documents": _documents,
    "$facet": _facet,
    "$fill": _fill,
    "$geoNear": _geo_near,
    "$graphLookup": _graph_lookup,
    "$group": _group,
    "$limit": whole,
    "$lookup": _lookup,
    "$match": condition,
    "$project": _fields,
    "$redact": _expression,
    "$replaceRoot": lambda look, at, given: options(look, at, given, {"newRoot": _expression}, ["newRoot"]),
    "$replaceWith": _expression,
    "$sample": lambda look, at, given: options(look, at, given, {"size": whole}, ["size"]),
    "$set": _fields,
    "$setWindowFields": _windows,
    "$skip": whole,
    "$sort": _sort,
    "$sortByCount": _expression,
    "$unionWith": _union,
    "$unset": _text_or_texts,
    "$unwind": _unwind,
}
