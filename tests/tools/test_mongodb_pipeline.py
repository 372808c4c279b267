"""The guard for MongoDB pipelines: what it refuses, what it accepts, which collections it finds; without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.mongodb.expressions import MAX_LOOPS, MAX_RANGE
from clitool_tools.database.mongodb.operators import ACCUMULATORS, OPERATORS, REFUSED, WINDOW_OPERATORS
from clitool_tools.database.mongodb.pipeline import admit, screen
from clitool_tools.database.mongodb.screening import MAX_DEPTH, MAX_PIPELINES, MAX_STAGES
from clitool_tools.database.mongodb.stages import STAGES
from clitool_tools.database.settings import parse
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_attacks import (
    ACCEPTED,
    ID,
    JAVASCRIPT,
    JOINS,
    MALFORMED,
    NAMELESS,
    OPTIONS,
    OTHER_DATABASES,
    SECRETS,
    STAGES_REFUSED,
    TOO_LARGE,
    VALUES,
    graph,
    lookup,
    match,
    nested,
    pipelines,
    project,
)

from clitool.errors import InvalidParams
from clitool.family import Origin, Secret

if TYPE_CHECKING:
    from clitool_tools.database.settings import Connection

NOT_PERMITTED, NO_TABLE, NO_VALUE = "pipeline_not_allowed", "table_not_allowed", "bad_value"


def connection(allowed: object = ("orders", "customers", "v_orders")) -> Connection:
    """Return the settings of a client of the database `shop`."""
    values = {
        "type": "mongodb",
        "connection_string": Secret("mongodb://127.0.0.1/shop"),
        "allowed_tables": list(allowed) if isinstance(allowed, tuple) else allowed,
    }
    return parse(values, Origin("/"))[""]


SHOP = connection()


def refusal(pipeline: list[Any], client: Connection = SHOP) -> InvalidParams:
    with pytest.raises(InvalidParams) as caught:
        screen(client, pipeline)
    return caught.value


# --- JavaScript


@pytest.mark.parametrize("pipeline", JAVASCRIPT)
def test_javascript_is_refused_wherever_it_stands(pipeline: list[Any]) -> None:
    """Nothing of the caller's runs as code on the server."""
    error = refusal(pipeline)

    assert error.reason in (NOT_PERMITTED, NO_VALUE)
    assert any(word in str(error) for word in ("$where", "$function", "$accumulator", "$code", "apReduce", "$literal"))


# --- other collections


@pytest.mark.parametrize("pipeline", SECRETS)
def test_a_collection_that_is_not_listed_is_refused_by_name(pipeline: list[Any]) -> None:
    """A pipeline reads listed collections only, whatever form their names have and however deep they stand."""
    error = refusal(pipeline)

    assert error.reason == NO_TABLE
    assert str(error).startswith("pipeline[")
    assert str(error).endswith("not in allowed_tables: orders, customers, v_orders")


@pytest.mark.parametrize("name", ["system.users", "system.views", "system.profile", "system.js", "oplog.rs", "$cmd"])
def test_the_word_all_does_not_cover_the_collections_of_the_server(name: str) -> None:
    assert refusal([{"$unionWith": name}], connection("all")).reason == NO_TABLE


@pytest.mark.parametrize("pipeline", OTHER_DATABASES)
def test_another_database_is_refused_though_the_collection_is_listed(pipeline: list[Any]) -> None:
    assert "own database" in str(refusal(pipeline))


def test_the_object_form_of_the_own_database_is_sent_as_the_plain_name() -> None:
    """Servers take the object form in special cases only; what runs is what was judged."""
    stages, tables = admit(
        SHOP,
        [
            lookup(**{"from": {"db": "shop", "coll": "orders"}}),
            {"$unionWith": {"db": "shop", "coll": "customers", "pipeline": []}},
        ],
    )

    assert stages == [lookup(**{"from": "orders"}), {"$unionWith": {"coll": "customers", "pipeline": []}}]
    assert list(tables) == ["orders", "customers"]


NAMES: list[tuple[Any, str]] = [
    (None, "null"),
    (7, "number"),
    ("", "empty"),
    ("orders\0secret", "NUL"),
    (["orders"], "list"),
    (True, "true"),
    ({}, "empty object"),
    ({"db": "shop"}, "object without coll"),
    ({"coll": {"coll": "orders"}}, "coll is an object"),
    ({"coll": "orders", "uuid": 1}, "unknown key"),
    ({"$literal": "orders"}, "$literal"),
    ({"coll": 7}, "number as coll"),
]


@pytest.mark.parametrize("name", [pytest.param(name, id=what) for name, what in NAMES])
@pytest.mark.parametrize("form", ["$lookup", "$graphLookup", "$unionWith", "$unionWith.coll"])
def test_whatever_is_no_name_of_a_collection_is_refused(name: Any, form: str) -> None:
    stage = {
        "$lookup": lookup(**{"from": name}),
        "$graphLookup": graph(**{"from": name}),
        "$unionWith": {"$unionWith": name},
        "$unionWith.coll": {"$unionWith": {"coll": name}},
    }[form]

    assert refusal([stage]).reason in (NOT_PERMITTED, NO_TABLE)


@pytest.mark.parametrize("pipeline", NAMELESS)
def test_only_documents_of_its_own_need_no_collection(pipeline: list[Any]) -> None:
    assert refusal(pipeline).reason == NOT_PERMITTED


# --- stages


@pytest.mark.parametrize(("pipeline", "sentence"), STAGES_REFUSED)
def test_a_stage_that_is_not_listed_is_refused(pipeline: list[Any], sentence: str) -> None:
    """The list fails closed: what a newer server brings is refused until somebody has looked at it."""
    error = refusal(pipeline)

    assert error.reason == NOT_PERMITTED
    assert sentence in str(error)


@pytest.mark.parametrize("pipeline", OPTIONS)
def test_an_option_that_is_not_listed_is_refused(pipeline: list[Any]) -> None:
    assert "the option" in str(refusal(pipeline))


@pytest.mark.parametrize("pipeline", MALFORMED)
def test_what_no_server_would_take_is_refused_before_it_is_asked(pipeline: list[Any]) -> None:
    assert refusal(pipeline).reason == NOT_PERMITTED


@pytest.mark.parametrize("pipeline", VALUES)
def test_a_value_that_does_not_exist_is_named_with_its_place(pipeline: list[Any]) -> None:
    error = refusal(pipeline)

    assert error.reason == NO_VALUE
    assert str(error).startswith("pipeline[0].")


# --- work

LOOP = {"$map": {"input": "$a", "in": 1}}


def loops(count: int, word: str = "in") -> dict[str, Any]:
    inner: Any = 1
    for _ in range(count):
        inner = {"$map": {"input": "$a", "in": 1, word: inner}}
    return {"$project": {"x": inner}}


def test_loops_in_loops_are_bounded_and_loops_after_loops_are_not() -> None:
    """The server looks at its clock between documents: a thousand loops of a thousand in one would run for hours."""
    assert "loops" in str(refusal([loops(MAX_LOOPS + 1)]))
    assert "loops" in str(refusal([{"$project": {"x": {"$reduce": {"input": "$a", "initialValue": 0, "in": {
        "$filter": {"input": "$a", "cond": {"$gt": [{"$size": [LOOP]}, 0]}}}}}}}]))  # fmt: skip

    screen(SHOP, [loops(MAX_LOOPS), loops(20, "input")])


@pytest.mark.parametrize(
    "ends",
    [
        pytest.param([0, 1_000_000_000], id="30 numbers"),
        pytest.param([0.0, 1e9], id="floats"),
        pytest.param([0, {"$numberLong": "1000000000"}], id="Extended JSON"),
        pytest.param([0, {"$numberDecimal": "1000000000"}], id="decimal"),
        pytest.param([0, {"$literal": 1_000_000_000}], id="$literal"),
        pytest.param([0, {"$add": [1, {"$multiply": [1000, 1_000_000]}]}], id="computed"),
        pytest.param([0, {"$toInt": "1000000000"}], id="converted"),
        pytest.param([0, -1_000_000_000, -1], id="backwards"),
        pytest.param([-(2**63), 2**63 - 1, 1], id="everything"),
        pytest.param([0, MAX_RANGE * 10 + 1, 10], id="with steps"),
        pytest.param([0, MAX_RANGE + 1, 0], id="step of nothing"),
    ],
)
def test_a_range_that_does_not_depend_on_data_is_bounded(ends: list[Any]) -> None:
    assert "$range" in str(refusal(project({"$range": ends})))


def test_a_range_over_data_and_a_short_one_are_accepted() -> None:
    for ends in ([0, MAX_RANGE], [0, {"$size": "$items"}], [0, {"$subtract": [{"$size": "$a"}, 1]}, 2], [0, "$$n"]):
        screen(SHOP, project({"$range": ends}))


@pytest.mark.parametrize("pipeline", TOO_LARGE)
def test_a_pipeline_is_bounded_in_every_direction(pipeline: list[Any]) -> None:
    assert refusal(pipeline).reason in (NOT_PERMITTED, "too_large")


def test_a_pipeline_at_its_bounds_is_accepted() -> None:
    screen(SHOP, [{"$limit": 1}] * MAX_STAGES)
    screen(SHOP, pipelines(MAX_PIPELINES))
    screen(SHOP, nested((MAX_DEPTH - 4) // 2))
    screen(SHOP, match({"a": {"$in": list(range(10_000))}}))


def test_the_place_in_a_sentence_stays_short() -> None:
    long = "k" * 5000

    assert len(str(refusal([{"$match": {long: {long: [{long: {"$where": 1}}]}}}]))) < 600
    assert len(str(refusal([{"$" + long: 1}]))) < 600


# --- what must be accepted


@pytest.mark.parametrize("pipeline", ACCEPTED)
def test_what_people_write_is_accepted_and_names_no_collection(pipeline: list[Any]) -> None:
    assert list(screen(SHOP, pipeline)) == []


@pytest.mark.parametrize(("pipeline", "tables"), JOINS)
def test_the_collections_that_a_pipeline_reads_are_found(pipeline: list[Any], tables: list[str]) -> None:
    assert list(screen(SHOP, pipeline)) == tables


def test_extended_json_is_read_where_values_stand_and_nothing_else_is_changed() -> None:
    from bson import Decimal128, Int64, ObjectId

    stages, _ = admit(
        SHOP,
        [
            {"$match": {"_id": {"$in": [{"$oid": ID}]}, "link": {"$ref": "x", "$id": {"$oid": ID}}, "t": "$oid"}},
            {"$set": {"n": {"$add": [{"$numberLong": "5"}, "$m"]}, "l": {"$literal": {"$x": {"$oid": ID}}}}},
            {"$bucket": {"groupBy": "$n", "boundaries": [{"$numberDecimal": "1.10"}, 5]}},
        ],
    )

    assert stages == [
        {"$match": {"_id": {"$in": [ObjectId(ID)]}, "link": {"$ref": "x", "$id": ObjectId(ID)}, "t": "$oid"}},
        {"$set": {"n": {"$add": [Int64(5), "$m"]}, "l": {"$literal": {"$x": ObjectId(ID)}}}},
        {"$bucket": {"groupBy": "$n", "boundaries": [Decimal128("1.10"), 5]}},
    ]


def test_the_callers_own_lists_are_left_alone() -> None:
    pipeline = [{"$match": {"a": {"$in": [{"$oid": ID}]}}}, lookup(**{"from": {"db": "shop", "coll": "orders"}})]
    before = repr(pipeline)

    admit(SHOP, pipeline)

    assert repr(pipeline) == before


def test_no_word_is_both_allowed_and_refused() -> None:
    allowed = {*OPERATORS, *ACCUMULATORS, *WINDOW_OPERATORS, *STAGES}

    assert not allowed & set(REFUSED)
    assert not {word for word in allowed if word.startswith("$_") or "unction" in word or "ccumulator" in word}


WORDS = st.sampled_from(
    ["$where", "$function", "$accumulator", "$out", "$merge", "$lookup", "$unionWith", "$match", "$literal", "$expr",
     "$code", "from", "coll", "pipeline", "a", "$eq", "$facet", "$project", "$and", "$documents", "as", "into", "db"]
)  # fmt: skip
TREES = st.recursive(
    st.sampled_from([1, None, "secret", "orders", "$a", "$$ROOT", "$$USER_ROLES", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=12,
)


@given(st.lists(TREES, max_size=3))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_whatever_comes_is_admitted_or_refused_and_never_names_what_is_not_listed(pipeline: list[Any]) -> None:
    try:
        stages, tables = admit(SHOP, pipeline)
    except InvalidParams as error:
        assert error.reason in (NOT_PERMITTED, NO_TABLE, NO_VALUE, "too_large")
    else:
        assert set(tables) <= {"orders", "customers", "v_orders"}
        assert not words_outside_of_literals(stages) & {
            "$where",
            "$function",
            "$accumulator",
            "$out",
            "$merge",
            "$code",
        }


def words_outside_of_literals(value: Any) -> set[str]:
    if isinstance(value, list):
        return {word for each in value for word in words_outside_of_literals(each)}
    if not isinstance(value, dict):
        return set()
    inside = [words_outside_of_literals(each) for key, each in value.items() if key != "$literal"]
    return {*value, *(word for each in inside for word in each)}
