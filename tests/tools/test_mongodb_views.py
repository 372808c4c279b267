"""What a MongoDB view leaves out changes no answer and no error, whatever pipeline is run over it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mongo_world import SECRET, Mongo

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from services.mongod import Mongod

SHOWN: list[dict[str, Any]] = [
    {"_id": number, "open": True, "n": number + 1, "s": str(number), "a": [number, 2], "d": {"x": number % 2}}
    for number in range(6)
]
HIDDEN: list[dict[str, Any]] = [
    {"_id": 10, "n": 0, "s": f"{SECRET}-1", "a": SECRET, "d": {"x": SECRET}, "k": f"{SECRET}-1"},
    {"_id": 11, "n": SECRET, "s": 5, "a": None, "d": SECRET, "k": f"{SECRET}-2"},
]
VIEW = [{"$match": {"open": True}}, {"$project": {"k": 0, "d.k": 0}}]
HERE = "v_here"


@pytest.fixture(scope="module")
def world(replica_set: Mongod) -> Iterator[Mongo]:
    """Two views alike over collections of which one has more in it than its view shows."""
    world = Mongo(replica_set, allowed_tables=["orders", "v_full", "v_bare"])
    full = [{**document, "k": SECRET, "d": {**document["d"], "k": SECRET}} for document in SHOWN]
    world.fill({"orders": SHOWN[:3], "full": [*HIDDEN, *full], "bare": SHOWN})
    for name in ("full", "bare"):
        for keys in ("k", "n"):
            world.collection(name).create_index(keys)
        world.database.create_collection(f"v_{name}", viewOn=name, pipeline=VIEW)
    yield world
    world.drop()


# Each of these is right for every document that is shown, and fails on one that is not.
NUMBERS: st.SearchStrategy[Any] = st.sampled_from(
    [{"$toInt": "$s"}, {"$add": ["$n", 1]}, {"$divide": [6, "$n"]}, {"$size": "$a"}, {"$strLenCP": "$s"}, "$n", "$d.x"]
)
TRUTHS: st.SearchStrategy[Any] = st.one_of(
    st.builds(lambda word, one, other: {word: [one, other]}, st.sampled_from(["$gt", "$eq"]), NUMBERS, NUMBERS),
    NUMBERS.map(lambda number: {"$in": [number, "$a"]}),
)
TESTS = st.sampled_from(
    [
        {"k": SECRET},
        {"k": {"$exists": True}},
        {"k": None},
        {"n": {"$gt": 2}},
        {"a": 3},
        {"d.x": 1},
        {"s": {"$regex": "1"}},
    ]
)
# The server tries the parts of an $or before a simple test: so also before that of the view.
CONDITIONS = st.builds(
    lambda word, test, truth: {word: [test, {"$expr": truth}]},
    st.sampled_from(["$or", "$or", "$and", "$nor"]),
    TESTS,
    TRUTHS,
) | TRUTHS.map(lambda truth: {"$expr": truth})
STAGES = st.one_of(
    CONDITIONS.map(lambda test: {"$match": test}),
    CONDITIONS.map(lambda test: {"$match": test}),
    NUMBERS.map(lambda number: {"$set": {"y": number}}),
    NUMBERS.map(lambda number: {"$group": {"_id": number, "c": {"$sum": "$n"}}}),
    TRUTHS.map(lambda truth: {"$redact": {"$cond": [truth, "$$KEEP", "$$PRUNE"]}}),
    st.sampled_from([{"$sort": {"k": 1, "_id": 1}}, {"$unwind": "$a"}, {"$unset": "y"}]),
)
JOINS: list[Callable[[list[Any]], list[Any]]] = [
    lambda stages: [{"$lookup": {"from": HERE, "pipeline": stages, "as": "s"}}],
    lambda stages: [{"$lookup": {"from": HERE, "localField": "n", "foreignField": "n", "pipeline": stages, "as": "s"}}],
    lambda stages: [{"$unionWith": {"coll": HERE, "pipeline": stages}}],
    lambda stages: [{"$unionWith": HERE}, *stages],
    lambda stages: [{"$lookup": {"from": HERE, "pipeline": [], "as": "s"}}, {"$unwind": "$s"}, *stages],
    lambda stages: [{"$facet": {"f": stages}}],
]


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    stages=st.lists(STAGES, min_size=1, max_size=4),
    join=st.none() | st.sampled_from(JOINS),
    table=st.sampled_from(["orders", HERE]),
)
def test_what_a_view_leaves_out_changes_no_answer_and_no_error(
    world: Mongo, stages: list[Any], join: Callable[[list[Any]], list[Any]] | None, table: str
) -> None:
    pipeline = stages if join is None else join(stages)
    table = table if join else HERE
    text = json.dumps([table, pipeline])
    with world.connected() as call:
        full, bare = (outcome(call, *json.loads(text.replace(HERE, name))) for name in ("v_full", "v_bare"))
    assert full == bare


def outcome(call: Callable[..., Any], table: str, pipeline: list[Any]) -> Any:
    """Return the rows of an answer, or the sentence of the error."""
    try:
        return unordered(list(call("aggregate", table=table, pipeline=pipeline)["rows"]))
    except ClitoolError as error:
        return str(error)


def unordered(value: Any) -> Any:
    """Return the value with all lists in one order: groups come in any."""
    if isinstance(value, list):
        return sorted(json.dumps(unordered(item)) for item in value)
    return {key: unordered(item) for key, item in value.items()} if isinstance(value, dict) else value
