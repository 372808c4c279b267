"""`database_tables` and `database_describe` on MongoDB, and that an account with few rights is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bson
import pytest
from bson.raw_bson import RawBSONDocument
from mongo_world import SECRET, Mongo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clitool_tools.database.mongodb.database import Database


def names(world: Mongo) -> list[tuple[str, str]]:
    return [(table["name"], table["type"]) for table in world.call("tables")["tables"]]


def described(world: Mongo, table: str = "things") -> dict[str, dict[str, Any]]:
    return {column["name"]: column for column in world.call("describe", table=table)["columns"]}


def uniques(world: Mongo, table: str = "things") -> list[list[str]]:
    context = world.context()
    try:
        database: Database = context.connection("")
        return [[column.name for column in unique.columns] for unique in database.uniques(database.table(table))]
    finally:
        context.close()


def test_the_allowed_collections_that_exist_are_listed(mongo_shop: Mongo) -> None:
    shown = [("customers", "table"), ("orders", "table"), ("v_orders", "view"), ("v_secret", "view")]
    assert names(mongo_shop) == shown
    mongo_shop.settings["allowed_tables"] = "all"
    mongo_shop.database.command("profile", 2)
    try:
        assert names(mongo_shop) == sorted([*shown, ("secret", "table")])  # and nothing of the server's own
    finally:
        mongo_shop.database.command("profile", 0)


def test_a_time_series_is_one_table(mongo: Mongo) -> None:
    mongo.settings["allowed_tables"] = "all"
    mongo.database.create_collection("things", timeseries={"timeField": "t"})
    assert names(mongo) == [("things", "table")]


ONLY_FIND = [("customers", ["find"]), ("orders", ["find"])]


def restricted(world: Mongo, rights: Sequence[tuple[str, list[str]]]) -> None:
    world.act_as(
        *({"resource": {"db": world.name, "collection": name}, "actions": actions} for name, actions in rights)
    )


def test_an_account_that_may_only_find_is_enough_to_read(mongo_shop: Mongo) -> None:
    """The least rights that make sense work, so that the server can enforce the same whitelist."""
    restricted(mongo_shop, ONLY_FIND)
    assert names(mongo_shop) == [("customers", "table"), ("orders", "table")]
    page = mongo_shop.call("query", table="customers", order_by=["name"], limit=1)
    rest = mongo_shop.call("query", table="customers", order_by=["name"], cursor=page["next_cursor"])
    assert [row["_id"] for row in (*page["rows"], *rest["rows"])] == [1, 2, 3]
    answer = mongo_shop.call("describe", table="customers")
    assert next(column["name"] for column in answer["columns"]) == "_id"
    assert (answer["indexes"], answer["validator"]) == (None, None)
    assert uniques(mongo_shop, "customers") == [["_id"]]


def test_a_view_may_be_the_only_right(mongo_shop: Mongo) -> None:
    restricted(mongo_shop, [("v_orders", ["find"])])
    assert names(mongo_shop) == [("v_orders", "view")]
    assert len(mongo_shop.call("query", table="v_orders")["rows"]) == 3
    assert mongo_shop.call("describe", table="v_orders")["base_tables"] is None


def test_what_the_account_may_not_use_does_not_exist(mongo_shop: Mongo) -> None:
    restricted(mongo_shop, ONLY_FIND)
    assert mongo_shop.reason("query", table="v_secret") == "not_found"


def test_fields_are_described_by_what_documents_have(mongo: Mongo) -> None:
    mongo.fill(
        {
            "things": [
                {"_id": 1, "n": 5, "d": {"x": 1, "y": {"z": "a"}}, "list": [1, "a", None]},
                {"_id": 2, "n": 2.5, "d": {"x": None}, "list": [{"k": 1}, {"k": 2, "m": True}]},
                {"_id": 3, "n": None, "d": "text", "list": []},
                {"_id": bson.ObjectId(), "n": bson.Int64(5), "at": bson.DatetimeMS(2**60), "ref": bson.DBRef("c", 1)},
            ]
        }
    )
    found = described(mongo)
    assert {name: (column["types"], column["missing"], column["nullable"]) for name, column in found.items()} == {
        "_id": ({"int": 3, "objectId": 1}, 0, False),
        "n": ({"int": 1, "double": 1, "null": 1, "long": 1}, 0, True),
        "d": ({"object": 2, "string": 1}, 1, True),
        "d.x": ({"int": 1, "null": 1}, 2, True),
        "d.y": ({"object": 1}, 3, True),
        "d.y.z": ({"string": 1}, 3, True),
        "list": ({"array": 3}, 1, True),
        "list.k": ({"int": 2}, 3, True),
        "list.m": ({"bool": 1}, 3, True),
        "at": ({"date": 1}, 3, True),
        "ref": ({"object": 1}, 3, True),
    }
    assert found["list"]["elements"] == {"int": 1, "string": 1, "null": 1, "object": 2}
    assert (found["_id"]["primary_key"], found["n"]["primary_key"]) == (1, 0)
    assert found["n"]["type"] == "double|int|long|null"
    answer = mongo.call("describe", table="things")
    assert (answer["sampled"], answer["complete"], answer["collation"], answer["foreign_keys"]) == (
        4,
        True,
        "simple",
        [],
    )


def test_an_empty_collection_is_described(mongo: Mongo) -> None:
    mongo.database.create_collection("things")
    answer = mongo.call("describe", table="things")
    assert (answer["columns"], answer["sampled"], answer["validator"]) == ([], 0, False)


def test_a_large_collection_is_sampled(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": number, "n": number} for number in range(1500)]})
    answer = mongo.call("describe", table="things")
    assert answer["sampled"] == 1000
    assert answer["columns"][1]["types"] == {"int": 1000}


def test_a_sample_of_large_documents_is_bounded(mongo: Mongo) -> None:
    mongo.settings["timeout"] = 30
    mongo.fill({"things": [{"_id": number, "t": "x" * 9_000_000} for number in range(13)]})
    answer = mongo.call("describe", table="things")
    assert 0 < answer["sampled"] < 13
    assert answer["complete"] is False


def test_documents_whose_keys_are_data_are_described_in_part(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": 1, **{f"k{number}": number for number in range(3000)}}]})
    answer = mongo.call("describe", table="things")
    assert (len(answer["columns"]), answer["complete"]) == (500, False)


@pytest.mark.parametrize("name", ["$x", "a.b", "", "\udcff"])
def test_a_name_that_no_path_leads_to_is_left_out(mongo: Mongo, name: str) -> None:
    element = b"\x10" + name.encode("utf-8", "surrogateescape") + b"\0\1\0\0\0" + b"\x10_id\0\1\0\0\0\0"
    document = RawBSONDocument((len(element) + 4).to_bytes(4, "little") + element)
    mongo.collection("things").insert_one(document)  # type: ignore[arg-type]
    answer = mongo.call("describe", table="things")
    assert ([column["name"] for column in answer["columns"]], answer["complete"]) == (["_id"], False)


def test_indexes_are_described(mongo: Mongo) -> None:
    things = mongo.collection("things")
    things.create_index([("a", 1), ("b.c", -1)], unique=True, name="both")
    things.create_index("p", unique=True, partialFilterExpression={"p": {"$gt": 1}}, name="some")
    things.create_index([("t", "text")], name="words")
    assert mongo.call("describe", table="things")["indexes"] == [
        {"name": "_id_", "columns": ["_id"], "unique": True, "primary_key": True, "partial": False},
        {"name": "both", "columns": ["a", "b.c"], "unique": True, "primary_key": False, "partial": False},
        {"name": "some", "columns": ["p"], "unique": True, "primary_key": False, "partial": True},
        {"name": "words", "columns": ["_fts", "_ftsx"], "unique": False, "primary_key": False, "partial": False},
    ]


@pytest.mark.parametrize(
    ("options", "is_offered"),
    [
        pytest.param({"unique": True}, True, id="unique"),
        pytest.param({}, False, id="not unique"),
        pytest.param({"unique": True, "hidden": True}, True, id="hidden"),
        pytest.param({"unique": True, "sparse": True}, False, id="sparse"),
        pytest.param({"unique": True, "partialFilterExpression": {"k": 1}}, False, id="partial"),
        pytest.param({"unique": True, "collation": {"locale": "en", "strength": 1}}, False, id="by a collation"),
        pytest.param({"unique": True, "expireAfterSeconds": 3600}, True, id="that expires"),
    ],
)
def test_a_key_is_what_identifies_every_document(mongo: Mongo, options: dict[str, Any], *, is_offered: bool) -> None:
    mongo.collection("things").create_index("k", **options)
    assert uniques(mongo) == [["_id"], *([["k"]] if is_offered else [])]


def test_a_key_of_a_collection_with_a_collation_is_the_id_alone(mongo: Mongo) -> None:
    mongo.database.create_collection("things", collation={"locale": "en", "strength": 1})
    mongo.collection("things").create_index("k", unique=True)
    assert uniques(mongo) == [["_id"]]


def test_views_and_time_series_have_no_keys(mongo_shop: Mongo) -> None:
    mongo_shop.database.create_collection("things", timeseries={"timeField": "t"})
    assert uniques(mongo_shop) == []
    assert uniques(mongo_shop, "v_orders") == []


def test_a_view_shows_what_it_reads_as_far_as_that_is_allowed(mongo_shop: Mongo) -> None:
    assert mongo_shop.call("describe", table="v_orders")["base_tables"] == ["orders"]
    assert mongo_shop.call("describe", table="v_secret")["base_tables"] == [None]
    pipeline = [
        {"$facet": {"x": [{"$lookup": {"from": "secret", "pipeline": [{"$unionWith": "customers"}], "as": "s"}}]}},
        {"$unionWith": {"coll": "v_secret"}},
        {"$project": {"from": "$a", "coll": "$b", "x": {"from": "c"}}},  # fields that are called like options
    ]
    mongo_shop.database.create_collection("things", viewOn="orders", pipeline=pipeline)
    assert mongo_shop.call("describe", table="things")["base_tables"] == ["orders", None, "customers", "v_secret"]


def test_the_rules_for_documents_are_shown(mongo: Mongo) -> None:
    rules = {"$jsonSchema": {"required": ["n"], "properties": {"n": {"bsonType": "int"}}}}
    mongo.database.create_collection("things", validator=rules)
    assert mongo.call("describe", table="things")["validator"] == rules
    mongo.database.command("collMod", "things", validator={"n": {"$ne": "x" * 5000}})
    assert mongo.call("describe", table="things")["validator"] is True


def test_definitions_hold_any_value_that_a_document_can(mongo: Mongo) -> None:
    """A date beyond the calendar in the condition of one index must not make changes by another one fail."""
    far = {"$gt": bson.DatetimeMS(2**62)}
    mongo.settings["allowed_tables"] = ["things", "v_orders"]
    mongo.database.create_collection("things", validator={"at": far}, validationLevel="off")
    mongo.database.create_collection("v_orders", viewOn="things", pipeline=[{"$match": {"at": far}}])
    things = mongo.collection("things")
    things.create_index("far", unique=True, partialFilterExpression={"at": far})
    things.create_index("n", unique=True)
    things.insert_one({"_id": 1, "n": 1})

    shown = {"at": {"$literal": {"$gt": {"$date": {"$numberLong": str(2**62)}}}}}
    assert mongo.call("describe", table="things")["validator"] == shown
    assert mongo.call("describe", table="v_orders")["base_tables"] == ["things"]
    assert mongo.call("update", table="things", where={"n": 1}, values={"x": 1})["affected"] == 1
    assert mongo.call("upsert", table="things", key="n", rows=[{"n": 1, "x": 2}])["updated"] == 1


def test_nothing_is_described_that_is_not_allowed(mongo_shop: Mongo) -> None:
    for name in ("secret", "system.views", "system.users"):
        with mongo_shop.watched() as asked:
            assert mongo_shop.reason("describe", table=name) == "table_not_allowed"
        assert asked == []
    assert SECRET not in repr(mongo_shop.call("tables"))


def test_a_view_cannot_be_changed(mongo_shop: Mongo) -> None:
    before = mongo_shop.dump()
    assert mongo_shop.reason("insert", table="v_orders", rows=[{"_id": 9}]) == "table_not_allowed"
    assert mongo_shop.reason("update", table="v_orders", where={"_id": 1}, values={"x": 1}) == "table_not_allowed"
    assert mongo_shop.reason("delete", table="v_secret", where={"_id": 1}) == "table_not_allowed"
    assert mongo_shop.dump() == before
