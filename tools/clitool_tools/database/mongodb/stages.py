"""The stages of a pipeline that may run, and what each of them takes."""

from __future__ import annotations

from clitool_tools.database.mongodb.expressions import computed, fields, order, plain
from clitool_tools.database.mongodb.grouping import GROUPS
from clitool_tools.database.mongodb.joins import JOINS
from clitool_tools.database.mongodb.matching import condition
from clitool_tools.database.mongodb.rules import flag, number, options, text, texts, whole
from clitool_tools.database.mongodb.screening import below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool_tools.database.mongodb.screening import Rule, Screening


def _text_or_texts(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - what the rules make of JSON
    return texts(look, at, given) if isinstance(given, list) else text(look, at, given)


def _unwind(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    if isinstance(given, str):
        return text(look, at, given)
    known: dict[str, Rule] = {"path": text, "includeArrayIndex": text, "preserveNullAndEmptyArrays": flag}
    return options(look, at, given, known, ["path"])


def _facet(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    return {key: look.pipeline(below(at, key), value) for key, value in plain(at, given).items()}


def _geo_near(look: Screening, at: str, given: object) -> Any:  # noqa: ANN401 - as above
    known: dict[str, Rule] = {
        "near": computed,
        "distanceField": text,
        "spherical": flag,
        "minDistance": computed,
        "maxDistance": computed,
        "query": condition,
        "distanceMultiplier": number,
        "includeLocs": text,
        "key": text,
    }
    return options(look, at, given, known, ["near"])


STAGES: dict[str, Rule] = {
    **GROUPS,
    **JOINS,
    "$addFields": fields,
    "$count": text,
    "$facet": _facet,
    "$geoNear": _geo_near,
    "$limit": whole,
    "$match": condition,
    "$project": fields,
    "$redact": computed,
    "$replaceRoot": lambda look, at, given: options(look, at, given, {"newRoot": computed}, ["newRoot"]),
    "$replaceWith": computed,
    "$sample": lambda look, at, given: options(look, at, given, {"size": whole}, ["size"]),
    "$set": fields,
    "$skip": whole,
    "$sort": order,
    "$sortByCount": computed,
    "$unset": _text_or_texts,
    "$unwind": _unwind,
}
