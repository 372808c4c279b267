"""`database_aggregate` on a real MongoDB: what it returns, what the server is asked, and what it must never reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.mongodb.aggregation import refused_as
from clitool_tools.database.mongodb.pipeline import admit
from clitool_tools.database.settings import parse
from database_world import Shop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mongo_world import SECRET, TOOLS, Mongo
from pipeline_attacks import (
    ACCEPTED,
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
    lookup,
    match,
    project,
)
from pymongo.errors import OperationFailure

from clitool.errors import ClitoolError, InvalidParams
from clitool.family import Origin, Secret

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GROUPED = [{"$group": {"_id": "$customer", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}]


def aggregate(world: Mongo, pipeline: list[Any], **more: Any) -> Any:
    return world.call("aggregate", table="orders", pipeline=pipeline, **more)


def rows(world: Mongo, pipeline: list[Any], **more: Any) -> list[Any]:
    found: list[Any] = aggregate(world, pipeline, **more)["rows"]
    return found


# --- attacks

ATTACKS = [
    pytest.param(row.values[0], id=f"{table}: {row.id}")
    for table, attacks in {
        "javascript": JAVASCRIPT,
        "collection": SECRETS,
        "database": OTHER_DATABASES,
        "nameless": NAMELESS,
        "stage": STAGES_REFUSED,
        "option": OPTIONS,
        "malformed": MALFORMED,
        "value": VALUES,
        "large": TOO_LARGE,
    }.items()
    for row in attacks
]


@pytest.fixture(scope="module")
def guarded(replica_set: Any) -> Iterator[Mongo]:
    """A shop that no test changes."""
    world = Mongo(replica_set)
    world.fill()
    yield world
    world.drop()


def test_no_attack_reaches_the_server(guarded: Mongo) -> None:
    """Whatever the guard refuses is refused before the server is asked anything, be it only whether a name exists."""
    before = guarded.dump()
    with guarded.watched() as asked:
        for attack in ATTACKS:
            [pipeline] = attack.values
            guarded.refusal("aggregate", table="orders", pipeline=pipeline)

    assert asked == []
    assert guarded.dump() == before


@pytest.mark.parametrize("table", ["secret", "system.users", "system.views", "$cmd", "Orders", "orders ", "x" * 300])
def test_the_table_itself_must_be_listed(guarded: Mongo, table: str) -> None:
    with guarded.watched() as asked:
        assert guarded.reason("aggregate", table=table, pipeline=[]) == "table_not_allowed"

    assert asked == []


def test_a_listed_table_that_does_not_exist_is_told(guarded: Mongo) -> None:
    assert guarded.reason("aggregate", table="things", pipeline=[]) == "not_found"


def test_a_sql_database_runs_no_pipelines(tmp_path: Path) -> None:
    assert Shop(tmp_path).reason("aggregate", table="orders", pipeline=[]) == "pipeline_not_allowed"


@pytest.mark.parametrize("pipeline", [*ACCEPTED, *(pytest.param(row.values[0], id=row.id) for row in JOINS)])
def test_what_the_guard_accepts_is_a_pipeline_for_the_server(guarded: Mongo, pipeline: list[Any]) -> None:
    """Only what the data or the indexes lack may be missing: the words themselves are MongoDB's own."""
    try:
        aggregate(guarded, pipeline)
    except ClitoolError as error:
        lacking = (
            "index",
            "fails on a document",
            "Location",
            "memory",
            "sample",
            "granularity",
            "$densify",
            "specified",
        )
        assert any(word in str(error) for word in lacking), str(error)


# --- answers


def test_rows_columns_and_truncation_are_those_of_a_query(mongo_shop: Mongo) -> None:
    assert aggregate(mongo_shop, GROUPED) == {
        "rows": [{"_id": 1, "n": 2}, {"_id": 2, "n": 1}],
        "columns": [{"name": "_id", "type": "int"}, {"name": "n", "type": "int"}],
        "truncated": False,
    }
    assert aggregate(mongo_shop, GROUPED, limit=1)["truncated"] is True
    assert aggregate(mongo_shop, GROUPED, limit=2)["truncated"] is False
    assert aggregate(mongo_shop, []) == {
        "rows": [{"_id": 1, "customer": 1, "total": 10.5, "doc": {"a": [1, 2]}},
                 {"_id": 2, "customer": 1, "total": 20, "doc": None},
                 {"_id": 3, "customer": 2, "total": 3}],
        "columns": [{"name": "_id", "type": "int"}, {"name": "customer", "type": "int"},
                    {"name": "total", "type": "double|int"}, {"name": "doc", "type": "null|object"}],
        "truncated": False,
    }  # fmt: skip


def test_the_clients_limits_hold(mongo_shop: Mongo) -> None:
    mongo_shop.settings.update(max_rows=2)
    assert len(rows(mongo_shop, [], limit=1000)) == 2

    mongo_shop.settings.update(max_rows=1000, max_bytes=1)
    answer = aggregate(mongo_shop, [])
    assert (len(answer["rows"]), answer["truncated"]) == (1, True)


def test_joins_reach_listed_collections_and_views(mongo_shop: Mongo) -> None:
    joined = [{"$match": {"_id": 3}}, {"$lookup": {"from": "customers", "localField": "customer", "foreignField": "_id",
        "pipeline": [{"$project": {"name": 1}}], "as": "c"}}]  # fmt: skip
    assert rows(mongo_shop, joined)[0]["c"] == [{"_id": 2, "name": "Bob"}]
    assert rows(mongo_shop, [{"$match": {"_id": 9}}, {"$unionWith": "v_orders"}]) == [
        {"_id": 1, "customer": 1},
        {"_id": 2, "customer": 1},
        {"_id": 3, "customer": 2},
    ]
    documents = [{"$limit": 1}, {"$lookup": {"pipeline": [{"$documents": [{"q": 1}]}], "as": "d"}}]
    assert rows(mongo_shop, documents)[0]["d"] == [{"q": 1}]
    assert (
        rows(mongo_shop, [{"$match": {"_id": 0}}, lookup(**{"from": {"db": mongo_shop.name, "coll": "orders"}})]) == []
    )


def test_a_listed_view_is_a_grant_of_its_own(mongo_shop: Mongo) -> None:
    answer = mongo_shop.call("aggregate", table="v_secret", pipeline=[{"$count": "n"}])

    assert answer["rows"] == [{"n": 2}]


def test_extended_json_goes_in_and_comes_out(mongo_shop: Mongo) -> None:
    from bson import Decimal128, ObjectId

    key = "0123456789abcdef01234567"
    mongo_shop.collection("orders").insert_one({"_id": ObjectId(key), "total": Decimal128("1.10")})

    found = rows(
        mongo_shop, [*match({"_id": {"$oid": key}}), {"$set": {"when": {"$literal": {"$date": "2024-01-31"}}}}]
    )

    assert found == [
        {"_id": {"$oid": key}, "total": {"$numberDecimal": "1.10"}, "when": {"$date": "2024-01-31T00:00:00Z"}}
    ]
    assert rows(mongo_shop, match({"_id": key})) == []


def test_words_like_operators_are_data_where_data_stands(mongo_shop: Mongo) -> None:
    """Rows 33 and 34 of the attack table: refusing too much is a fault, too."""
    odd = {"_id": 9, "note": "$where", "op": "$out", "link": {"$ref": "secret", "$id": 1}}
    mongo_shop.collection("orders").insert_one(odd)

    for test in ({"note": "$where"}, {"op": {"$eq": "$out"}}, {"link": {"$ref": "secret", "$id": 1}}):
        assert [row["_id"] for row in rows(mongo_shop, match(test))] == [9]
    assert rows(mongo_shop, match({"link": {"$ref": "secret", "$id": 1}}))[0]["link"] == odd["link"]
    assert rows(mongo_shop, [{"$limit": 1}, *project({"$literal": {"a": {"$function": 1}}})])[0]["x"] == {
        "a": {"$literal": {"$function": 1}}
    }


def test_the_audit_line_names_every_collection(mongo_shop: Mongo) -> None:
    context = mongo_shop.context()
    tool = TOOLS["aggregate"](context)
    pipeline = [{"$facet": {"a": [{"$unionWith": "customers"}], "b": [lookup(**{"from": "v_orders"})]}}]
    decided = tool.decide(table="orders", pipeline=pipeline)
    tool.execute(table="orders", pipeline=pipeline)
    context.close()

    assert decided == context.touches == {"connection": "", "tables": ["customers", "orders", "v_orders"]}


def test_what_the_server_is_asked_is_bounded(mongo_shop: Mongo) -> None:
    with mongo_shop.watched() as asked:
        aggregate(mongo_shop, GROUPED, limit=7)

    [command] = [entry["command"] for entry in asked if "aggregate" in entry["command"]]
    assert command["pipeline"] == [*GROUPED, {"$limit": 8}]
    assert command["allowDiskUse"] is False
    assert 0 < command["maxTimeMS"] <= 5000


# --- errors

REFUSED_BY_THE_SERVER = [
    pytest.param([{"$project": {"a": 1, "b": 0}}], "exclusion", id="inclusion and exclusion"),
    pytest.param([{"$sort": {"a": 5}}], "ascending", id="an order"),
    pytest.param([{"$unwind": "arr"}], "prefixed", id="a path without dollar"),
    pytest.param(match({"a": {"$regex": "("}}), "egular expression", id="a regular expression"),
    pytest.param(project("$$nowhere"), "undefined variable", id="a variable"),
    pytest.param(project({"$toUUID": "$a"}), "Unknown expression $toUUID", id="an operator of a newer server"),
    pytest.param([{"$facet": {"f": [{"$facet": {"g": []}}]}}], "$facet", id="a facet in a facet"),
    pytest.param([{"$geoNear": {"near": [1, 2], "distanceField": "d"}}], "index", id="an index that is missing"),
    pytest.param([{"$limit": 0}], "positive", id="a limit of nothing"),
]


@pytest.mark.parametrize(("pipeline", "sentence"), REFUSED_BY_THE_SERVER)
def test_what_the_server_has_against_a_pipeline_is_told(guarded: Mongo, pipeline: list[Any], sentence: str) -> None:
    document = guarded.refusal("aggregate", table="orders", pipeline=pipeline)

    assert (document["code"], document["details"]["reason"]) == ("invalid_params", "pipeline_not_allowed")
    assert document["error"].startswith("the server refuses the pipeline: ")
    assert sentence in document["error"]
    assert document["details"]["vendor_code"] > 0


FAILING = [
    pytest.param(project({"$toInt": "$k"}), id="a conversion"),
    pytest.param(project({"$add": ["$k", 1]}), id="arithmetic"),
    pytest.param(project({"$dateFromString": {"dateString": "$k"}}), id="a date"),
    pytest.param(match({"$expr": {"$toObjectId": "$k"}}), id="in a filter"),
    pytest.param([{"$group": {"_id": {"$toDecimal": "$k"}}}], id="in a group"),
    pytest.param([{"$replaceRoot": {"newRoot": "$k"}}], id="a text as document"),
    pytest.param([{"$bucket": {"groupBy": "$k", "boundaries": [1, 2]}}], id="a bucket"),
]


@pytest.mark.parametrize("pipeline", FAILING)
def test_an_error_never_repeats_what_a_document_holds(guarded: Mongo, pipeline: list[Any]) -> None:
    document = guarded.refusal("aggregate", table="v_secret", pipeline=pipeline)  # which looks for the secret

    assert document["details"]["reason"] == "database"
    assert "fails on a document" in document["error"]


@pytest.mark.parametrize("number", [241, 14, 2, 16554])
def test_what_may_be_of_a_document_is_not_repeated_where_the_server_does_not_say(number: int) -> None:
    """The router of a cluster, and older servers, say nothing of where such a sentence comes from."""
    said = f"Failed to parse number '{SECRET}' in $convert with no onError value: Bad digit while parsing {SECRET}"
    found = refused_as(OperationFailure(said, number, {"errmsg": said}), may_repeat=False)

    assert found is not None
    assert SECRET not in repr(found)
    assert "(in $convert)" in str(found)


PEEP: dict[str, Any] = {"$or": [{"k": "x"}, {"$expr": {"$eq": [{"$toInt": "$k"}, 5]}}]}
JOINED: dict[str, Any] = {"localField": "_id", "foreignField": "_id", "as": "s"}
PEEPS = [
    pytest.param("v_some", match(PEEP), id="a filter"),
    pytest.param("v_some", match({"$and": [{"k": {"$ne": 1}}, PEEP]}), id="deeper"),
    pytest.param("v_some", [{"$sort": {"_id": 1}}, {"$set": {"x": 1}}, *match(PEEP)], id="later"),
    pytest.param("v_some", [{"$facet": {"f": match(PEEP)}}], id="in $facet"),
    pytest.param("orders", [{"$lookup": {"from": "v_some", "pipeline": match(PEEP), "as": "s"}}], id="join"),
    pytest.param(
        "orders", [{"$lookup": {"from": "v_some", **JOINED, "pipeline": match(PEEP)}}], id="join on fields"
    ),
    pytest.param("orders", [{"$unionWith": {"coll": "v_some", "pipeline": match(PEEP)}}], id="union"),
    pytest.param("orders", [{"$unionWith": "v_some"}, *match(PEEP)], id="behind a union"),
    pytest.param(
        "orders",
        [{"$lookup": {"from": "v_some", "pipeline": [], "as": "s"}}, {"$unwind": "$s"}, {"$replaceWith": "$s"},
         *match(PEEP)], id="behind a join",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def veiled(replica_set: Any) -> Iterator[Mongo]:
    """A shop with a view that leaves out the documents of a collection which hold a secret."""
    world = Mongo(replica_set, allowed_tables=["orders", "v_some"])
    world.fill()
    world.collection("secret").insert_one({"_id": 5, "k": "5", "open": True})
    world.database.create_collection("v_some", viewOn="secret", pipeline=[{"$match": {"open": True}}])
    yield world
    world.drop()


@pytest.mark.parametrize(("table", "pipeline"), PEEPS)
def test_an_expression_is_never_tried_on_what_a_view_leaves_out(veiled: Mongo, table: str, pipeline: list[Any]) -> None:
    """The server tries filters early. Whether one fails would tell a caller, bit by bit, what the view hides."""
    assert SECRET not in str(veiled.call("aggregate", table=table, pipeline=pipeline))


@pytest.mark.parametrize(("table", "pipeline"), PEEPS[:3])
def test_without_the_barrier_the_server_would_try_it(veiled: Mongo, table: str, pipeline: list[Any]) -> None:
    """If this no longer fails, the barrier may go."""
    with pytest.raises(OperationFailure, match=SECRET):
        list(veiled.collection(table).aggregate(pipeline))


def test_a_search_through_a_view_takes_no_expression(veiled: Mongo) -> None:
    stage = {"$graphLookup": {"from": "v_some", "startWith": SECRET, "connectFromField": "k", "connectToField": "k",
        "as": "g", "restrictSearchWithMatch": PEEP}}  # fmt: skip

    assert "no $expr here" in veiled.refusal("aggregate", table="orders", pipeline=[stage])["error"]
    assert veiled.reason("aggregate", table="v_some", pipeline=[stage]) == "pipeline_not_allowed"


KEY_OF_AN_INDEX: dict[str, Any] = {"$set": {"key": {"$meta": "indexKey"}}}
TALES = [
    pytest.param("v_bare", [KEY_OF_AN_INDEX], id="field"),
    pytest.param("v_bare", [{"$project": {"key": ["$_id", {"$meta": "indexKey"}]}}], id="deeper"),
    pytest.param("v_bare", [{"$group": {"_id": {"$meta": "indexKey"}}}], id="group"),
    pytest.param("v_bare", match({"$expr": {"$eq": [{"$meta": "indexKey"}, {"k": SECRET}]}}), id="filter"),
    pytest.param("v_bare", [{"$facet": {"f": [KEY_OF_AN_INDEX]}}], id="facet"),
    pytest.param("v_bare", [{"$sort": {"key": {"$meta": "textScore"}}}], id="order"),
    pytest.param("orders", [{"$lookup": {"from": "v_bare", "pipeline": [KEY_OF_AN_INDEX], "as": "s"}}], id="join"),
    pytest.param("orders", [{"$unionWith": {"coll": "v_bare", "pipeline": [KEY_OF_AN_INDEX]}}], id="union"),
    pytest.param("orders", [{"$unionWith": "v_bare"}, KEY_OF_AN_INDEX], id="behind a union"),
]


@pytest.fixture(scope="module")
def bare(replica_set: Any) -> Iterator[Mongo]:
    """A shop with a view that finds documents by an index on a field which it leaves out."""
    world = Mongo(replica_set, allowed_tables=["orders", "v_bare"])
    world.fill()
    world.collection("secret").create_index("k")
    stages = [{"$match": {"k": {"$gte": ""}}}, {"$project": {"k": 0}}]
    world.database.create_collection("v_bare", viewOn="secret", pipeline=stages)
    yield world
    world.drop()


@pytest.mark.parametrize(("table", "pipeline"), TALES)
def test_how_a_document_was_found_is_not_told_behind_a_view(bare: Mongo, table: str, pipeline: list[Any]) -> None:
    """The server would show the keys of the index, and so the field that the view leaves out."""
    document = bare.refusal("aggregate", table=table, pipeline=pipeline)

    assert document["details"]["reason"] == "pipeline_not_allowed"
    assert "can have no $meta" in document["error"]


def test_the_server_itself_would_tell(bare: Mongo) -> None:
    """If it no longer does, the rule may go."""
    assert SECRET in repr(list(bare.collection("v_bare").aggregate([KEY_OF_AN_INDEX])))
    assert rows(bare, [{"$limit": 1}, {"$set": {"key": {"$meta": "indexKey"}}}])[0]["_id"] == 1


def test_collections_that_are_no_views_get_no_barrier(veiled: Mongo) -> None:
    pipeline = [{"$unionWith": "orders"}, *match({"$expr": {"$eq": ["$_id", 1]}})]
    with veiled.watched() as asked:
        veiled.call("aggregate", table="orders", pipeline=pipeline)

    [command] = [entry["command"] for entry in asked if "aggregate" in entry["command"]]
    assert command["pipeline"] == [*pipeline, {"$limit": 101}]


def test_a_pipeline_that_takes_too_long_is_stopped(mongo_shop: Mongo) -> None:
    mongo_shop.settings["timeout"] = 0.2
    mongo_shop.collection("orders").insert_many([{"n": number} for number in range(3000)])
    slow = [lookup(**{"from": "orders", "localField": "x", "foreignField": "y", "pipeline": [{"$sort": {"n": 1}}]})]

    assert mongo_shop.reason("aggregate", table="orders", pipeline=[*slow, {"$count": "n"}]) == "timeout"


def test_a_stage_that_needs_too_much_memory_fails_and_writes_nothing_to_the_servers_disk(mongo_shop: Mongo) -> None:
    mongo_shop.collection("orders").insert_many([{"s": "x" * 1_000_000} for _ in range(12)])
    many = {"$map": {"input": {"$range": [0, 12]}, "in": {"$concat": ["$s", {"$toString": "$$this"}]}}}

    document = mongo_shop.refusal(
        "aggregate", table="orders", pipeline=[{"$set": {"m": many}}, {"$sort": {"s": -1}}, {"$count": "n"}]
    )

    assert document["details"]["vendor_code"] in (146, 292)
    assert "memory" in document["error"]


def test_an_account_without_the_right_is_told_so(mongo_shop: Mongo) -> None:
    mongo_shop.act_as({"resource": {"db": mongo_shop.name, "collection": "orders"}, "actions": ["find"]})

    assert mongo_shop.reason("aggregate", table="orders", pipeline=[{"$unionWith": "customers"}]) == "permission"


# --- whatever is accepted reads listed collections only

NAMES = st.sampled_from(["orders", "customers", "v_orders", "secret", "v_secret", "things", "system.views", ""])
PATHS = st.sampled_from(
    ["$customer", "$_id", "$$ROOT", "$doc.a", "x", 1, None, {"$literal": "$x"}, {"$size": "$items"}]
)
TESTS = st.sampled_from(
    [{}, {"_id": {"$gt": 1}}, {"name": "$where"}, {"$expr": {"$eq": ["$_id", 1]}}, {"k": {"$ne": None}}]
)


# Without $documents: for that, MongoDB 6 asks for the right to read the whole database.
def stages_around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pipelines = st.lists(inner, max_size=3)
    names: st.SearchStrategy[Any] = NAMES | NAMES.map(lambda name: {"coll": name})
    return st.one_of(
        NAMES.map(lambda name: {"$unionWith": name}),
        st.builds(lambda name, stages: {"$unionWith": {"coll": name, "pipeline": stages}}, NAMES, pipelines),
        st.builds(lambda name, stages: {"$lookup": {"from": name, "pipeline": stages, "as": "s"}}, names, pipelines),
        names.map(lambda name: lookup(**{"from": name})),
        st.builds(
            lambda name, test: {"$graphLookup": {"from": name, "startWith": "$_id", "connectFromField": "customer",
                "connectToField": "_id", "as": "g", "maxDepth": 1, "restrictSearchWithMatch": test}}, names, TESTS,
        ),
        st.dictionaries(st.sampled_from("ab"), pipelines, min_size=1).map(lambda facets: {"$facet": facets}),
    )  # fmt: skip


PLAIN = st.one_of(
    TESTS.map(lambda test: {"$match": test}),
    PATHS.map(lambda path: {"$set": {"x": path}}),
    PATHS.map(lambda path: {"$group": {"_id": path, "n": {"$sum": 1}}}),
    st.just({"$limit": 2}),
    st.just({"$sort": {"_id": 1}}),
    st.just({"$unwind": "$s"}),
    st.just({"$project": {"name": 1}}),
)
PIPELINES = st.lists(st.recursive(PLAIN, stages_around, max_leaves=8) | stages_around(PLAIN), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def narrow(replica_set: Any) -> Iterator[Mongo]:
    """A shop whose account may read on the server exactly what its client may."""
    world = Mongo(replica_set, allowed_tables=["orders", "customers", "v_orders"])
    world.fill()
    world.act_as(
        *(
            {"resource": {"db": world.name, "collection": name}, "actions": ["find"]}
            for name in ("orders", "customers", "v_orders")
        )
    )
    yield world
    world.drop()


@given(PIPELINES)
@settings(
    deadline=None, derandomize=True, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_accepted_pipeline_asks_the_server_for_more_than_the_whitelist(narrow: Mongo, pipeline: list[Any]) -> None:
    """The server, which enforces the same list by its own means, never has to refuse what the guard lets through."""
    try:
        aggregate(narrow, pipeline)
    except ClitoolError as error:
        assert error.reason != "permission", pipeline
        assert error.details.get("vendor_code") != 13
        assert SECRET not in str(error)


def test_the_generated_pipelines_are_often_accepted_and_often_refused() -> None:
    """The property above means something only if both happen."""
    client = parse(
        {
            "type": "mongodb",
            "connection_string": Secret("mongodb://127.0.0.1/shop"),
            "allowed_tables": ["orders", "customers", "v_orders"],
        },
        Origin("/"),
    )[""]
    outcomes = {"admitted": 0, "refused": 0}

    @given(PIPELINES)
    @settings(deadline=None, derandomize=True, max_examples=150, database=None)
    def count(pipeline: list[Any]) -> None:
        try:
            admit(client, pipeline)
        except InvalidParams:
            outcomes["refused"] += 1
        else:
            outcomes["admitted"] += 1

    count()

    assert min(outcomes.values()) > 30, outcomes
