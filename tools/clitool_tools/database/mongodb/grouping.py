"""Stages that compute from many documents: groups, buckets, windows, and what fills gaps."""

from __future__ import annotations

from clitool_tools.database.mongodb.expressions import (
    accumulator,
    accumulators,
    computed,
    expression,
    operator,
    order,
    plain,
)
from clitool_tools.database.mongodb.operators import WINDOW_OPERATORS
from clitool_tools.database.mongodb.rules import an_object, data, options, text, texts, whole
from clitool_tools.database.mongodb.screening import below, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool_tools.database.mongodb.screening import Rule, Screening


def _group(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - what the rules make of JSON
    document = plain(at, given)
    if "_id" not in document:
        raise refusal(at, "'_id' is missing: what to group by, or null for one group")
    return {
        key: (expression if key == "_id" else accumulator)(look, below(at, key), value)
        for key, value in document.items()
    }


def _bucket(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {
        "groupBy": computed,
        "boundaries": computed,
        "default": computed,
        "output": accumulators,
    }
    return options(look, at, given, known, ["groupBy", "boundaries"])


def _bucket_auto(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {
        "groupBy": computed,
        "buckets": whole,
        "output": accumulators,
        "granularity": text,
    }
    return options(look, at, given, known, ["groupBy", "buckets"])


def _densify(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {"field": text, "partitionByFields": texts, "range": data}
    return options(look, at, given, known, ["field", "range"])


def _fill(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {
        "partitionBy": computed,
        "partitionByFields": texts,
        "sortBy": order,
        "output": _filled,
    }
    return options(look, at, given, known, ["output"])


def _filled(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {"value": computed, "method": text}
    return {key: options(look, below(at, key), value, known) for key, value in plain(at, given).items()}


def _windows(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {"partitionBy": computed, "sortBy": order, "output": _windowed}
    return options(look, at, given, known, ["output"])


def _windowed(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return {key: _window(look, below(at, key), value) for key, value in plain(at, given).items()}


def _window(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    document = dict(an_object(at, given))
    frame = {"window": data(look, below(at, "window"), document.pop("window"))} if "window" in document else {}
    word = operator(at, document, WINDOW_OPERATORS)
    return {word: expression(look, below(at, word), document[word]), **frame}


GROUPS: dict[str, Rule] = {
    "$bucket": _bucket,
    "$bucketAuto": _bucket_auto,
    "$densify": _densify,
    "$fill": _fill,
    "$group": _group,
    "$setWindowFields": _windows,
}
