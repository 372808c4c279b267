"""Insert, upsert, update and delete on a real MongoDB: all rows or none, with transactions and without."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from mongo_world import Mongo
from processes import run_at_once

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mongod import Mongod

ID = "0123456789abcdef01234567"


@pytest.fixture
def alone(mongod: Mongod) -> Iterator[Mongo]:
    """A shop on a standalone server."""
    world = Mongo(mongod)
    world.fill()
    yield world
    world.drop()


@pytest.fixture(scope="module")
def kept(replica_set: Mongod) -> Iterator[Mongo]:
    """A shop for calls that must change nothing."""
    world = Mongo(replica_set)
    world.fill()
    yield world
    world.drop()


@pytest.fixture(scope="module")
def kept_alone(mongod: Mongod) -> Iterator[Mongo]:
    """The same on a standalone server."""
    world = Mongo(mongod)
    world.fill()
    yield world
    world.drop()


def everything(world: Mongo, name: str = "customers") -> list[Any]:
    return list(world.collection(name).find().sort("_id"))


# --- insert


def test_rows_are_inserted_with_all_ids_in_order(mongo_shop: Mongo) -> None:
    answer = mongo_shop.call(
        "insert",
        table="customers",
        rows=[{"name": "Eve"}, {"_id": {"$oid": ID}, "name": "Kim"}, {"_id": 7, "name": "Lu"}],
    )

    assert (answer["inserted"], answer["ids"][1:]) == (3, [{"$oid": ID}, 7])
    assert len(answer["ids"][0]["$oid"]) == 24
    found = mongo_shop.call("query", table="customers", where={"_id": answer["ids"][0]})
    assert found["rows"] == [{"_id": answer["ids"][0], "name": "Eve"}]


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_an_insert_with_one_bad_row_inserts_none_and_names_it(kept: Mongo, bad: int) -> None:
    before = kept.dump()
    rows = [{"_id": 10 + number, "name": f"new {number}"} for number in range(3)]
    rows[bad]["name"] = "Ada"

    document = kept.refusal("insert", table="customers", rows=rows)

    assert (document["details"]["reason"], document["details"]["row"]) == ("duplicate_key", bad)
    assert document["error"].startswith(f"rows[{bad}]: ")
    assert kept.dump() == before


ROWS_REFUSED = [
    pytest.param({"$where": 1}, "column_unknown", id="a name with a dollar"),
    pytest.param({"$set": {"a": 1}}, "column_unknown", id="26 an operator where a document is"),
    pytest.param({"a.b": 1}, "bad_value", id="a path"),
    pytest.param({"a.$[]": 1}, "column_unknown", id="a path with an operator"),
    pytest.param({"": 1}, "column_unknown", id="no name"),
    pytest.param({"a\0b": 1}, "column_unknown", id="38 NUL in a name"),
    pytest.param({"a": {"b\0c": 1}}, "bad_value", id="38 NUL in an inner name"),
    pytest.param({"a": {"$b": 1}}, "bad_value", id="38 a dollar in an inner name"),
    pytest.param({"a": {"$code": "1"}}, "bad_value", id="JavaScript"),
    pytest.param({"a": [{"$where": "1"}]}, "bad_value", id="an operator in a list"),
    pytest.param({"a": 2**64}, "bad_value", id="more than 64 bits"),
    pytest.param({"a": {"$date": "2024-01-32"}}, "bad_value", id="a day that is not"),
    pytest.param({"_id": [1, 2]}, "bad_value", id="38 a list as _id"),
    pytest.param(
        {"_id": {"$regularExpression": {"pattern": "a", "options": ""}}}, "bad_value", id="38 a pattern as _id"
    ),
]


@pytest.mark.parametrize(("row", "reason"), ROWS_REFUSED)
@pytest.mark.parametrize("beside", [[], [{"_id": 99, "name": "fine"}]], ids=["alone", "with another"])
def test_a_row_that_cannot_be_stored_is_refused(
    kept: Mongo, row: dict[str, Any], reason: str, beside: list[dict[str, Any]]
) -> None:
    before = kept.dump()

    assert kept.reason("insert", table="customers", rows=[*beside, {"name": "x", **row}]) == reason
    assert kept.dump() == before


def test_names_and_values_that_look_like_operators_are_stored_as_they_are(mongo_shop: Mongo) -> None:
    row = {
        "_id": 9,
        "name": "$where",
        "doc": {"$literal": {"$set": {"a": "$b"}, "x.y": 1}},
        "link": {"$ref": "s", "$id": 1},
    }

    mongo_shop.call("insert", table="customers", rows=[row])

    assert mongo_shop.call("query", table="customers", where={"_id": 9})["rows"] == [row]
    found = mongo_shop.collection("customers").find_one({"_id": 9})
    assert found is not None
    assert found["doc"] == {"$set": {"a": "$b"}, "x.y": 1}


def test_many_rows_go_in_at_once(mongo_shop: Mongo) -> None:
    rows = [{"name": f"n{number}", "text": "x" * 200} for number in range(5000)]

    assert mongo_shop.call("insert", table="customers", rows=rows)["inserted"] == 5000
    assert mongo_shop.collection("customers").count_documents({}) == 5003


# --- upsert


def test_an_upsert_counts_what_it_did(mongo_shop: Mongo) -> None:
    rows = [
        {"name": "Ada", "note": 1},
        {"name": "Bob", "note": "x"},
        {"name": "Kim", "note": 2},
        {"name": "Kim", "note": 3},
    ]

    assert mongo_shop.call("upsert", table="customers", key="name", rows=rows) == {
        "inserted": 1,
        "updated": 2,
        "unchanged": 1,
    }
    found = {row["name"]: row for row in everything(mongo_shop)}
    assert found["Ada"] == {"_id": 1, "name": "Ada", "email": "ada@example.org", "note": 1}
    assert found["Kim"]["note"] == 3


def test_an_upsert_by_id_and_with_the_key_alone(mongo_shop: Mongo) -> None:
    assert mongo_shop.call("upsert", table="orders", key="_id", rows=[{"_id": 1}, {"_id": {"$oid": ID}}]) == {
        "inserted": 1,
        "updated": 0,
        "unchanged": 1,
    }
    assert mongo_shop.collection("orders").find_one({"_id": 1})["total"] == 10.5  # type: ignore[index]  # it is there


UPSERTS_REFUSED = [
    pytest.param("note", [{"note": 1}], "key_not_unique", id="no unique index"),
    pytest.param(["name", "_id"], [{"name": "Ada", "_id": 1}], "key_not_unique", id="two indexes"),
    pytest.param("name", [{"note": 1}], "bad_value", id="no value of the key"),
    pytest.param("name", [{"name": None}], "bad_value", id="null as key"),
    pytest.param("name", [{"name": ["Ada"]}], "bad_value", id="a list as key"),
    pytest.param("name", [{"name": {"$ne": None}}], "bad_value", id="25 an operator as key"),
    pytest.param("_id", [{"_id": {"$gt": 0}, "note": 1}], "bad_value", id="25 a range as key"),
    pytest.param(
        "name", [{"name": {"$regularExpression": {"pattern": ".", "options": ""}}}], "bad_value", id="a pattern"
    ),
    pytest.param("name", [{"name": "Ada", "_id": 5}], "bad_value", id="another _id for the row"),
    pytest.param("_id", [{"_id": 1, "name": "Bob"}], "duplicate_key", id="a conflict with another index"),
    pytest.param("_id", [{"_id": 50, "name": "Bob"}], "duplicate_key", id="a conflict of a new row"),
    pytest.param("_id", [{"_id": 1, "name.first": "A"}], "bad_value", id="a path through a text"),
    pytest.param("_id", [{"_id": 1, "a": 1, "a.b": 2}], "bad_value", id="a field and a part of it"),
    pytest.param("_id", [{"_id": 1, "_id.x": 2}], "bad_value", id="a part of the key"),
    pytest.param("_id", [{"_id": 1, "$inc": {"note": 1}}], "column_unknown", id="26 an update operator"),
    pytest.param("_id", [{"_id": 1, "tags.$[]": 1}], "column_unknown", id="27 a positional operator"),
]


@pytest.mark.parametrize(("key", "rows", "reason"), UPSERTS_REFUSED)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "behind a good row"])
def test_an_upsert_that_is_refused_changes_nothing(
    kept: Mongo, key: Any, rows: list[Any], reason: str, beside: bool
) -> None:
    before = kept.dump()
    good = [{"_id": 70, "name": "fine"}] if beside else []

    document = kept.refusal("upsert", table="customers", key=key, rows=[*good, *rows])

    assert document["details"]["reason"] == reason
    if reason != "key_not_unique":
        assert document["details"]["row"] == len(good)
    assert kept.dump() == before


def test_a_dotted_name_means_a_part_in_upsert_and_update(mongo_shop: Mongo) -> None:
    mongo_shop.call("upsert", table="orders", key="_id", rows=[{"_id": 1, "doc.b": 5}, {"_id": 90, "doc.b": 6}])
    mongo_shop.call("update", table="orders", where={"_id": 1}, values={"doc.a": 0})

    assert mongo_shop.collection("orders").find_one({"_id": 1})["doc"] == {"a": 0, "b": 5}  # type: ignore[index]  # it is there
    assert mongo_shop.collection("orders").find_one({"_id": 90}) == {"_id": 90, "doc": {"b": 6}}


def test_two_fields_in_one_array_identify_no_row(mongo_shop: Mongo) -> None:
    """The server finds them in different elements: the filter would mean two rows, one of them by chance."""
    things = mongo_shop.collection("things")
    things.create_index([("items.a", 1), ("items.b", 1)], unique=True)
    things.insert_many(
        [
            {"_id": 10, "items": [{"a": 1, "b": 9}, {"a": 8, "b": 2}]},
            {"_id": 11, "items": [{"a": 1, "b": 7}, {"a": 6, "b": 2}]},
        ]
    )
    both = {"items.a": 1, "items.b": 2}

    assert mongo_shop.reason("upsert", table="things", key=list(both), rows=[both]) == "key_not_unique"
    assert (
        mongo_shop.reason("update", table="things", where=both, values={"x": 1}, max_affected=1) == "too_many_affected"
    )
    assert mongo_shop.call("update", table="things", where=both, values={"x": 1}) == {"affected": 2, "dry_run": False}


def test_an_index_that_is_being_built_identifies_no_row_yet(mongo_shop: Mongo) -> None:
    """Until it is ready there may be two documents of one key; a change by it must not take one of them by chance."""
    orders, total = mongo_shop.collection("orders"), {"total": 3}
    with mongo_shop.server.owner() as owner, ThreadPoolExecutor(1) as pool:
        hang = owner.admin.command("configureFailPoint", "hangAfterStartingIndexBuild", mode="alwaysOn")
        try:
            pool.submit(orders.create_index, "total", unique=True)
            owner.admin.command(
                "waitForFailPoint", "hangAfterStartingIndexBuild", timesEntered=hang["count"] + 1, maxTimeMS=20_000
            )
            orders.insert_one({"_id": 4, **total})

            assert mongo_shop.call("update", table="orders", where=total, values={"x": 1})["affected"] == 2
            assert mongo_shop.reason("upsert", table="orders", key="total", rows=[total]) == "key_not_unique"
            names = [index["name"] for index in mongo_shop.call("describe", table="orders")["indexes"]]
        finally:
            owner.admin.command("configureFailPoint", "hangAfterStartingIndexBuild", mode="off")

    assert names == ["_id_"]
    assert orders.count_documents({"x": 1}) == 2


def test_the_same_text_in_other_case_is_another_key_but_under_a_collation(mongo_shop: Mongo) -> None:
    mongo_shop.database.create_collection("things", collation={"locale": "en", "strength": 2})
    mongo_shop.collection("things").insert_one({"_id": "A"})

    assert mongo_shop.reason("upsert", table="things", key="_id", rows=[{"_id": "a", "n": 1}]) == "duplicate_key"
    assert mongo_shop.call("upsert", table="things", key="_id", rows=[{"_id": "A", "n": 1}])["updated"] == 1


# --- update and delete


def test_an_update_sets_fields_of_all_rows_that_match(mongo_shop: Mongo) -> None:
    assert mongo_shop.call(
        "update", table="orders", where={"customer": 1}, values={"doc": {"x": 1}, "total": None}
    ) == {
        "affected": 2,
        "dry_run": False,
    }
    assert [row["doc"] for row in everything(mongo_shop, "orders")[:2]] == [{"x": 1}, {"x": 1}]


@pytest.mark.parametrize("tool", ["update", "delete"])
def test_more_rows_than_permitted_are_left_alone(mongo_shop: Mongo, tool: str) -> None:
    before = mongo_shop.dump()
    values = {"values": {"total": 0}} if tool == "update" else {}

    for bound, outcome in ((1, "too_many_affected"), (2, None)):
        params = {"table": "orders", "where": {"customer": 1}, "max_affected": bound, **values}
        if outcome:
            assert mongo_shop.reason(tool, **params) == outcome
            assert mongo_shop.dump() == before
        else:
            assert mongo_shop.call(tool, **params)["affected"] == 2


@pytest.mark.parametrize("where", [{"_id": 1}, {"customer": 1}, {"_id": {"$gt": 0}}], ids=str)
@pytest.mark.parametrize("tool", ["update", "delete"])
def test_a_dry_run_counts_and_changes_nothing(mongo_shop: Mongo, tool: str, where: dict[str, Any]) -> None:
    before = mongo_shop.dump()
    values = {"values": {"total": 0}} if tool == "update" else {}

    planned = mongo_shop.call(tool, table="orders", where=where, dry_run=True, **values)

    assert mongo_shop.dump() == before
    assert planned == {**mongo_shop.call(tool, table="orders", where=where, **values), "dry_run": True}


def test_a_dry_run_meets_the_rules_that_the_change_would(kept: Mongo) -> None:
    assert (
        kept.reason("update", table="customers", where={"_id": 1}, values={"name": "Bob"}, dry_run=True)
        == "duplicate_key"
    )


def test_an_update_of_several_rows_with_one_conflict_changes_none(kept: Mongo) -> None:
    before = kept.dump()

    assert kept.reason("update", table="customers", where={"_id": {"$gt": 0}}, values={"name": "one"}) == (
        "duplicate_key"
    )
    assert kept.dump() == before


UPDATES_REFUSED = [
    pytest.param({"_id": 5}, "bad_value", id="_id"),
    pytest.param({"_id.x": 5}, "bad_value", id="a part of _id"),
    pytest.param({"a": 1, "a.b": 1}, "bad_value", id="a field and a part"),
    pytest.param({"a.b.c": 1, "a.b": 1}, "bad_value", id="a part and its part"),
    pytest.param({"name.x": 1}, "bad_value", id="a path through a text"),
    pytest.param({"$set": {"a": 1}}, "column_unknown", id="26 an operator"),
    pytest.param({"$rename": {"note": "name"}}, "column_unknown", id="27 $rename"),
    pytest.param({"$unset": {"name": 1}}, "column_unknown", id="27 $unset"),
    pytest.param({"tags.$": 1}, "column_unknown", id="27 positional"),
    pytest.param({"tags.$[x]": 1}, "column_unknown", id="27 filtered"),
    pytest.param({"note": {"$function": {"body": "x"}}}, "bad_value", id="7 $function"),
    pytest.param({"note": [{"$set": {"x": {"$function": {}}}}]}, "bad_value", id="7 an update pipeline"),
    pytest.param({"note": {"$inc": 1}}, "bad_value", id="26 an operator as value"),
    pytest.param({}, "bad_value", id="nothing"),
]


@pytest.mark.parametrize(("values", "reason"), UPDATES_REFUSED)
def test_an_update_that_is_refused_changes_nothing(kept: Mongo, values: dict[str, Any], reason: str) -> None:
    before = kept.dump()

    assert kept.reason("update", table="customers", where={"_id": 1}, values=values) == reason
    assert kept.dump() == before


FILTERS = [
    pytest.param({}, "filter_required", id="25 everything"),
    pytest.param({"$where": "1"}, "bad_filter", id="1 $where"),
    pytest.param({"_id": {"$where": "1"}}, "bad_filter", id="1 below a field"),
    pytest.param({"$expr": {"$function": {}}}, "bad_filter", id="4 $expr"),
    pytest.param({"$or": [{"$where": "1"}]}, "bad_filter", id="3 nested"),
    pytest.param({"_id": {"$regex": "."}}, "bad_filter", id="28 $regex"),
    pytest.param({"_id": {"$exists": True}}, "bad_filter", id="another operator"),
]


@pytest.mark.parametrize(("where", "reason"), FILTERS)
@pytest.mark.parametrize("tool", ["update", "delete"])
def test_a_filter_of_the_servers_own_language_is_refused(
    kept: Mongo, tool: str, where: dict[str, Any], reason: str
) -> None:
    before = kept.dump()
    values = {"values": {"note": 0}} if tool == "update" else {}

    assert kept.reason(tool, table="customers", where=where, **values) == reason
    assert kept.dump() == before


TOOLS_THAT_CHANGE: list[tuple[str, dict[str, Any]]] = [
    ("insert", {"rows": [{"_id": 5}]}),
    ("upsert", {"rows": [{"_id": 5}], "key": "_id"}),
    ("update", {"where": {"_id": 1}, "values": {"k": 1}}),
    ("delete", {"where": {"_id": 1}}),
]


@pytest.mark.parametrize(("tool", "params"), TOOLS_THAT_CHANGE)
@pytest.mark.parametrize("table", ["secret", "system.users", "$cmd", "v_secret"])
def test_what_is_not_listed_and_views_are_never_changed(
    kept: Mongo, tool: str, params: dict[str, Any], table: str
) -> None:
    before = kept.dump()
    with kept.watched() as asked:
        assert kept.reason(tool, table=table, **params) == "table_not_allowed"

    assert table == "v_secret" or asked == []
    assert kept.dump() == before


# --- a server without transactions

WHOLE_BY_THEMSELVES: list[Any] = [
    pytest.param("insert", {"rows": [{"_id": 5, "name": "Eve"}]}, {"inserted": 1, "ids": [5]}, id="insert one"),
    pytest.param(
        "upsert", {"rows": [{"name": "Ada", "note": 5}], "key": "name"},
        {"inserted": 0, "updated": 1, "unchanged": 0}, id="upsert one",
    ),
    pytest.param("update", {"where": {"_id": 1}, "values": {"note": 5}}, {"affected": 1, "dry_run": False}, id="_id"),
    pytest.param(
        "update", {"where": {"name": "Ada", "note": None}, "values": {"note": 5}},
        {"affected": 1, "dry_run": False}, id="by a unique index and more",
    ),
    pytest.param(
        "update", {"where": {"$and": [{"_id": {"$eq": 1}}, {"note": None}]}, "values": {"note": 5}, "max_affected": 1},
        {"affected": 1, "dry_run": False}, id="in $and",
    ),
    pytest.param("delete", {"where": {"_id": 1}}, {"affected": 1, "dry_run": False}, id="delete by _id"),
    pytest.param("delete", {"where": {"_id": 77}}, {"affected": 0, "dry_run": False}, id="delete nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "params", "answer"), WHOLE_BY_THEMSELVES)
def test_a_change_of_one_row_needs_no_transaction(
    alone: Mongo, tool: str, params: dict[str, Any], answer: dict[str, Any]
) -> None:
    assert alone.call(tool, table="customers", **params) == answer


NEEDING_MORE = [
    pytest.param("insert", {"rows": [{"_id": 5, "name": "a"}, {"_id": 6, "name": "b"}]}, id="insert two"),
    pytest.param("upsert", {"rows": [{"_id": 5, "name": "a"}, {"_id": 6}], "key": "_id"}, id="upsert two"),
    pytest.param("update", {"where": {"note": "x"}, "values": {"note": 1}}, id="no unique key"),
    pytest.param("update", {"where": {"_id": {"$lte": 1}}, "values": {"note": 1}}, id="a range"),
    pytest.param("update", {"where": {"_id": {"$in": [1]}}, "values": {"note": 1}}, id="a list"),
    pytest.param("update", {"where": {"$or": [{"_id": 1}, {"_id": 2}]}, "values": {"note": 1}}, id="$or"),
    pytest.param("update", {"where": {"$not": {"_id": 1}}, "values": {"note": 1}}, id="$not"),
    pytest.param("update", {"where": {"_id": None}, "values": {"note": 1}}, id="null"),
    pytest.param("update", {"where": {"_id": 1}, "values": {"note": 1}, "dry_run": True}, id="dry run"),
    pytest.param("delete", {"where": {"email": "ada@example.org"}}, id="delete by what is unique by chance"),
    pytest.param("delete", {"where": {"_id": 1}, "dry_run": True}, id="dry run of a deletion"),
    pytest.param("delete", {"where": {"note": "x"}, "max_affected": 1}, id="max_affected of one"),
]


@pytest.mark.parametrize(("tool", "params"), NEEDING_MORE)
def test_a_standalone_server_refuses_what_it_could_leave_half_done(
    kept_alone: Mongo, tool: str, params: dict[str, Any]
) -> None:
    """All or nothing is a promise; a server that cannot keep it is not asked to try."""
    before = kept_alone.dump()

    document = kept_alone.refusal(tool, table="customers", **params)

    assert (document["code"], document["details"]["reason"]) == ("execution_error", "no_transactions")
    assert "replica set" in document["error"]
    assert kept_alone.dump() == before


# --- collections with rules of their own


def test_the_validation_rules_of_a_collection_hold(mongo_shop: Mongo) -> None:
    rules = {"$jsonSchema": {"required": ["a"], "properties": {"b": {"bsonType": "int"}}}}
    mongo_shop.database.create_collection("things", validator=rules)

    document = mongo_shop.refusal("insert", table="things", rows=[{"a": 1}, {"a": 2, "b": "personal"}])

    assert (document["details"]["reason"], document["details"]["row"]) == ("constraint", 1)
    assert document["error"] == "rows[1]: the collection's validation rules refuse the document (b)"
    assert "personal" not in repr(document)
    assert mongo_shop.collection("things").count_documents({}) == 0
    mongo_shop.call("insert", table="things", rows=[{"_id": 1, "a": 1}])
    assert mongo_shop.reason("update", table="things", where={"_id": 1}, values={"b": "x"}) == "constraint"
    assert mongo_shop.refusal("upsert", table="things", key="_id", rows=[{"_id": 2}])["error"].endswith(" (a)")


@pytest.mark.parametrize("world", ["mongo_shop", "alone"])
def test_a_time_series_takes_new_rows_one_at_a_time(world: str, request: pytest.FixtureRequest) -> None:
    shop: Mongo = request.getfixturevalue(world)
    shop.database.create_collection("things", timeseries={"timeField": "t"})
    row = {"t": {"$date": "2024-01-31T10:00:00Z"}, "v": 1}

    assert shop.call("insert", table="things", rows=[row])["inserted"] == 1
    assert shop.reason("insert", table="things", rows=[row, row]) == "no_transactions"
    assert shop.reason("insert", table="things", rows=[{"t": "today"}]) == "bad_value"
    assert shop.reason("update", table="things", where={"v": 1}, values={"v": 2}) == "table_not_allowed"
    assert shop.reason("delete", table="things", where={"v": 1}) == "table_not_allowed"
    assert shop.reason("upsert", table="things", key="_id", rows=[row]) == "key_not_unique"
    assert shop.collection("things").count_documents({}) == 1


def test_a_capped_collection_takes_one_row_at_a_time(mongo_shop: Mongo) -> None:
    mongo_shop.database.create_collection("things", capped=True, size=100_000)

    assert mongo_shop.call("insert", table="things", rows=[{"_id": 1, "a": "x"}])["inserted"] == 1
    assert mongo_shop.reason("insert", table="things", rows=[{"_id": 2}, {"_id": 3}]) == "no_transactions"
    assert mongo_shop.call("update", table="things", where={"_id": 1}, values={"a": "y"})["affected"] == 1
    assert mongo_shop.reason("delete", table="things", where={"a": "y"}) == "no_transactions"
    assert everything(mongo_shop, "things") == [{"_id": 1, "a": "y"}]


def test_a_row_cannot_grow_beyond_what_mongodb_stores(mongo_shop: Mongo) -> None:
    mongo_shop.collection("orders").update_one({"_id": 1}, {"$set": {"a": "x" * (2**24 - 2000)}})

    assert mongo_shop.reason("update", table="orders", where={"_id": 1}, values={"b": "x" * 4000}) == "too_large"


def test_an_account_that_may_only_read_is_told_so(mongo_shop: Mongo) -> None:
    before = mongo_shop.dump()
    mongo_shop.act_as({"resource": {"db": mongo_shop.name, "collection": "customers"}, "actions": ["find"]})

    for tool, params in TOOLS_THAT_CHANGE:
        assert mongo_shop.reason(tool, table="customers", **params) == "permission"
    assert mongo_shop.dump() == before


# --- many at once

PROCESSES = 50


def test_fifty_upserts_of_one_row_at_once_lose_nothing(mongo_shop: Mongo) -> None:
    """One of them inserts the row, and what each of them sets is there in the end."""

    def upsert(index: int) -> Any:
        return mongo_shop.call("upsert", table="orders", key="_id", rows=[{"_id": "hot", f"by_{index}": index}])

    answers = run_at_once(upsert, PROCESSES)

    assert [sum(answer[word] for answer in answers) for word in ("inserted", "updated", "unchanged")] == [
        1, PROCESSES - 1, 0,
    ]  # fmt: skip
    found = mongo_shop.collection("orders").find_one({"_id": "hot"})
    assert found == {"_id": "hot", **{f"by_{index}": index for index in range(PROCESSES)}}


def test_upserts_of_two_rows_at_once_lose_nothing(mongo_shop: Mongo) -> None:
    """In transactions they get in each other's way, and begin again as the server says."""
    count = 12

    def upsert(index: int) -> Any:
        rows = [{"name": "hot", f"by_{index}": index}, {"name": "Ada", f"by_{index}": index}]
        return mongo_shop.call("upsert", table="customers", key="name", rows=rows if index % 2 else rows[::-1])

    answers = run_at_once(upsert, count)

    assert sum(answer["inserted"] for answer in answers) == 1
    assert sum(answer["updated"] for answer in answers) == 2 * count - 1
    for name in ("hot", "Ada"):
        row = mongo_shop.collection("customers").find_one({"name": name})
        assert row is not None
        assert [row.get(f"by_{index}") for index in range(count)] == list(range(count))


def test_updates_at_once_keep_to_max_affected(mongo_shop: Mongo) -> None:
    """Between the count and the change nobody else gets in."""
    mongo_shop.collection("orders").delete_many({})
    mongo_shop.collection("orders").insert_one({"_id": 0, "state": "new"})

    def act(index: int) -> Any:
        if index % 2:
            return mongo_shop.call("insert", table="orders", rows=[{"_id": index, "state": "new"}])
        try:
            return mongo_shop.call(
                "update", table="orders", where={"state": "new"}, values={f"by_{index}": True}, max_affected=3
            )["affected"]
        except ClitoolError as error:
            assert error.reason == "too_many_affected"
            return 0

    answers = run_at_once(act, 16)

    for index in range(0, 16, 2):
        assert mongo_shop.collection("orders").count_documents({f"by_{index}": True}) == answers[index] <= 3


def test_a_change_waits_for_another_one_and_gives_up_in_time(mongo_shop: Mongo) -> None:
    mongo_shop.settings["timeout"] = 0.4
    with mongo_shop.server.owner() as client, client.start_session() as session, session.start_transaction():
        client[mongo_shop.name].orders.update_one({"_id": 1}, {"$set": {"x": 1}}, session=session)

        reason = mongo_shop.reason("update", table="orders", where={"customer": 1}, values={"total": 1})
        session.abort_transaction()

    assert reason in ("locked", "timeout")
    assert mongo_shop.call("update", table="orders", where={"customer": 1}, values={"total": 1})["affected"] == 2
