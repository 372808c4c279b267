"""`database_query` on MongoDB: fields, order, limits, what an answer says, and what is never asked of the server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import bson
import pytest
from mongo_world import SECRET, Mongo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from services.mongod import Mongod


@pytest.fixture(scope="module")
def shop(replica_set: Mongod) -> Iterator[Mongo]:
    """The shop for tests that change nothing in it."""
    world = Mongo(replica_set)
    world.fill()
    yield world
    world.drop()


def ids(answer: dict[str, Any]) -> list[Any]:
    return [row["_id"] for row in answer["rows"]]


def test_whole_documents_come_with_the_types_of_their_fields(shop: Mongo) -> None:
    answer = shop.call("query", table="customers")
    assert answer == {
        "rows": [
            {"_id": 1, "name": "Ada", "email": "ada@example.org", "note": None},
            {"_id": 2, "name": "Bob", "note": "x"},
            {"_id": 3, "name": "Zoë", "note": 7, "tags": ["a", "b"]},
        ],
        "columns": [
            {"name": "_id", "type": "int"},
            {"name": "name", "type": "string"},
            {"name": "email", "type": "string"},
            {"name": "note", "type": "int|null|string"},
            {"name": "tags", "type": "array"},
        ],
        "truncated": False,
        "next_cursor": None,
    }


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        pytest.param(["_id"], [{"_id": 1}, {"_id": 2}, {"_id": 3}], id="the key"),
        pytest.param(["total"], [{"total": 10.5}, {"total": 20}, {"total": 3}], id="without the key"),
        pytest.param(
            ["total", "_id"], [{"_id": 1, "total": 10.5}, {"_id": 2, "total": 20}, {"_id": 3, "total": 3}], id="with it"
        ),
        pytest.param(["doc.a"], [{"doc": {"a": [1, 2]}}, {}, {}], id="a field inside"),
        pytest.param(["nothing"], [{}, {}, {}], id="a field that no document has"),
        pytest.param(["_id.x"], [{}, {}, {}], id="a field inside of the key"),
    ],
)
def test_only_the_fields_that_are_asked_for_come(shop: Mongo, columns: list[str], rows: list[Any]) -> None:
    assert shop.call("query", table="orders", columns=columns)["rows"] == rows


def test_the_types_are_those_of_the_rows_in_the_answer_only(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": 1, "a": 1}, {"_id": 2, "b": "x"}]})
    assert mongo.call("query", table="things", limit=1)["columns"] == [
        {"name": "_id", "type": "int"},
        {"name": "a", "type": "int"},
    ]


@pytest.mark.parametrize(
    ("order_by", "expected"),
    [
        pytest.param([], [1, 2, 3, 4, 5, 6], id="by the key if nothing is said"),
        pytest.param(["n"], [4, 5, 3, 1, 6, 2], id="null and missing first, then numbers, then texts"),
        pytest.param(["-n"], [2, 6, 1, 3, 4, 5], id="downwards"),
        pytest.param(["-n", "-_id"], [2, 6, 1, 3, 5, 4], id="ties by the key, downwards"),
        pytest.param(["_id", "-n"], [1, 2, 3, 4, 5, 6], id="the key alone decides"),
        pytest.param(["d.x", "-_id"], [6, 5, 4, 3, 2, 1], id="a field inside"),
    ],
)
def test_documents_come_in_order(mongo: Mongo, order_by: list[str], expected: list[int]) -> None:
    things = [{"n": 2}, {"n": "a"}, {"n": 1}, {"n": None}, {}, {"n": 2.5}]
    mongo.fill({"things": [{"_id": number, **thing} for number, thing in enumerate(things, 1)]})
    assert ids(mongo.call("query", table="things", order_by=order_by)) == expected


def test_a_limit_says_exactly_whether_there_is_more(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": number} for number in range(5)]})
    assert mongo.call("query", table="things", limit=5)["truncated"] is False
    assert mongo.call("query", table="things", limit=4)["truncated"] is True
    mongo.settings["max_rows"] = 3
    assert ids(mongo.call("query", table="things", limit=1000)) == [0, 1, 2]


@pytest.mark.parametrize("text", ["x" * 100, 'é\n"😀' * 20], ids=["plain", "escapes"])
@pytest.mark.parametrize("rows", [1, 3])
def test_the_bytes_of_an_answer_are_bounded_exactly(mongo: Mongo, text: str, rows: int) -> None:
    document = {"t": text, "n": 2**60, "deep": [{"a": None}]}
    mongo.fill({"things": [{"_id": number, **document} for number in range(6)]})
    whole = mongo.call("query", table="things", limit=rows)["rows"]
    size = len(json.dumps(list(whole), separators=(",", ":"))) - 1  # each row with a comma or the closing bracket
    mongo.settings["max_bytes"] = size
    assert mongo.call("query", table="things")["rows"] == whole
    mongo.settings["max_bytes"] = size - 1
    assert len(mongo.call("query", table="things")["rows"]) == max(1, rows - 1)


def test_a_large_first_document_always_comes(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": 1, "t": "x" * 15_000_000}, {"_id": 2}]})
    answer = mongo.call("query", table="things")
    assert (ids(answer), answer["truncated"]) == ([1], True)


def test_a_cut_query_leaves_no_cursor_on_the_server(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": number, "t": "x" * 2000} for number in range(3000)]})
    mongo.settings["max_bytes"] = 10_000
    before = open_cursors(mongo)
    assert mongo.call("query", table="things", limit=2500)["truncated"]
    assert open_cursors(mongo) <= before


def open_cursors(world: Mongo) -> int:
    found: int = world.database.command("serverStatus")["metrics"]["cursor"]["open"]["total"]
    return found


ATTACKS: list[Any] = [
    *(
        pytest.param({"table": name}, "table_not_allowed", id=f"collection {name[:20]!r}")
        for name in [
            "secret",
            "Customers",
            "customers ",
            " customers",
            "customers\0",
            "system.users",
            "system.views",
            "system.profile",
            "system.js",
            "oplog.$main",
            "$cmd",
            "$cmd.aggregate",
            "x" * 300,
            "customers.$cmd",
            "admin.system.users",
            "local.oplog.rs",
            "*",
            "",
            "\uff43ustomers",
            "customers\u200b",
        ]
    ),
    pytest.param({"columns": ["$where"]}, "column_unknown", id="operator as a column"),
    pytest.param({"columns": ["name.$"]}, "column_unknown", id="positional projection"),
    pytest.param({"columns": ["a..b"]}, "column_unknown", id="empty part"),
    pytest.param({"columns": [""]}, "column_unknown", id="no name"),
    pytest.param({"columns": ["a\0"]}, "column_unknown", id="NUL"),
    pytest.param({"columns": ["x" * 1001]}, "column_unknown", id="long name"),
    pytest.param({"columns": [".".join("x" * 51)]}, "column_unknown", id="deep name"),
    pytest.param({"columns": ["name", "name"]}, "schema", id="a column twice"),
    pytest.param({"columns": ["doc", "doc.a"]}, "schema", id="a column in another one"),
    pytest.param({"columns": ["doc.a.b", "doc"]}, "schema", id="the other way round"),
    pytest.param({"order_by": ["$natural"]}, "column_unknown", id="natural order"),
    pytest.param({"order_by": ["-$natural"]}, "column_unknown", id="natural order, downwards"),
    pytest.param({"order_by": ["--name", "-"]}, "column_unknown", id="sign without a name"),
    pytest.param({"order_by": ["name", "-name"]}, "schema", id="both directions"),
    pytest.param({"where": {"$where": "sleep(5000)||true"}}, "bad_filter", id="JavaScript"),
    pytest.param({"where": {"name": {"$regex": "^(a+)+$"}}}, "bad_filter", id="regular expression"),
    pytest.param(
        {"where": {"$expr": {"$function": {"body": "f", "args": [], "lang": "js"}}}}, "bad_filter", id="function"
    ),
]


@pytest.mark.parametrize(("params", "reason"), ATTACKS)
def test_what_is_refused_is_not_asked(shop: Mongo, params: dict[str, Any], reason: str) -> None:
    """Nothing but the look at which collection there is reaches the server, and that only for an allowed one."""
    with shop.watched() as asked:
        assert shop.reason("query", **{"table": "customers", **params}) == reason
    assert [entry for entry in asked if entry["op"] in ("query", "getmore")] == []


@pytest.mark.parametrize(
    "name",
    [
        "system.users",
        "system.profile",
        "system.views",
        "oplog.$main",
        "$cmd",
        "",
        "x" * 300,
        "a\0b",
        "\ud800",
        "\u202e",
        "a\nb",
    ],
)
def test_the_servers_own_collections_are_refused_even_where_all_are_allowed(
    shop: Mongo, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(shop.settings, "allowed_tables", "all")
    assert shop.reason("query", table=name) in ("table_not_allowed", "not_found")


@pytest.mark.parametrize(
    "name", ["../orders", ".", "..", "a..b", ".orders", "orders.", "a\0b", "\ud800", "x" * 1000, ""]
)
def test_a_name_that_no_collection_can_have_is_not_found(
    shop: Mongo, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(shop.settings, "allowed_tables", "all")
    assert shop.reason("query", table=name) == "not_found"


@pytest.mark.parametrize("name", ["orders2", "Orders", "order"])
def test_a_collection_that_does_not_exist_is_told_with_the_nearest_name(
    shop: Mongo, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(shop.settings, "allowed_tables", "all")
    document = shop.refusal("query", table=name)
    assert document["details"]["reason"] == "not_found"
    assert "'orders'" in document["error"]
    monkeypatch.setitem(shop.settings, "allowed_tables", [name])
    assert "orders'" not in shop.refusal("query", table=name)["error"].replace(repr(name), "")


def test_a_view_is_a_grant_of_its_own(shop: Mongo) -> None:
    assert [row["k"] for row in shop.call("query", table="v_secret")["rows"]] == [SECRET, f"{SECRET}-2"]


def test_a_view_has_an_order_but_no_cursor(shop: Mongo) -> None:
    answer = shop.call("query", table="v_orders", order_by=["-customer"], limit=1)
    assert (ids(answer), answer["truncated"], answer["next_cursor"]) == ([3], True, None)


def test_a_view_with_a_collation_of_its_own_can_be_read(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": 1, "t": "a"}, {"_id": 2, "t": "A"}]})
    mongo.database.create_collection(
        "v_orders", viewOn="things", pipeline=[], collation={"locale": "en", "strength": 1}
    )
    assert sorted(ids(mongo.call("query", table="v_orders", where={"t": "A"}))) == [1, 2]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda db: db.create_collection("things", timeseries={"timeField": "t"}), id="time series"),
        pytest.param(lambda db: db.create_collection("things", capped=True, size=4096), id="capped"),
        pytest.param(
            lambda db: db.create_collection("things", clusteredIndex={"key": {"_id": 1}, "unique": True}),
            id="clustered",
        ),
    ],
)
def test_other_kinds_of_collections_can_be_read(mongo: Mongo, make: Callable[[Any], Any]) -> None:
    make(mongo.database)
    mongo.fill({"things": [{"_id": n, "t": bson.DatetimeMS(n), "n": n} for n in range(3)]})
    answer = mongo.call("query", table="things", where={"n": {"$gt": 0}}, order_by=["-n"], limit=1)
    assert (ids(answer), answer["truncated"]) == ([2], True)


def test_ids_that_are_not_unique_give_no_cursor(mongo: Mongo) -> None:
    mongo.database.create_collection("things", timeseries={"timeField": "t"})
    mongo.fill({"things": [{"_id": 1, "t": bson.DatetimeMS(n)} for n in range(3)]})
    answer = mongo.call("query", table="things", limit=1)
    assert (answer["truncated"], answer["next_cursor"]) == (True, None)


def test_an_order_that_needs_too_much_memory_is_refused_and_fills_no_disk(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": n, "n": -n, "t": "x" * 9_000_000} for n in range(13)]})
    mongo.settings["timeout"] = 30
    with mongo.watched() as asked:
        assert mongo.refusal("query", table="things", order_by=["n"], limit=30)["details"]["reason"] == "database"
    assert not any(entry.get("usedDisk") for entry in asked)
    assert ids(mongo.call("query", table="things", order_by=["n"], columns=["_id"], limit=3)) == [12, 11, 10]


def test_an_order_by_two_arrays_is_refused(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": 1, "a": [1], "b": [2]}]})
    document = mongo.refusal("query", table="things", order_by=["a", "b"])
    assert (document["details"]["reason"], "by one array only" in document["error"]) == ("bad_value", True)


def test_a_filter_that_is_too_large_is_told(shop: Mongo) -> None:
    document = shop.refusal("query", table="orders", where={"t": "x" * 17_000_000})
    assert (document["details"]["reason"], "filter" in document["error"]) == ("too_large", True)


def test_an_order_of_many_fields_is_refused_in_a_sentence(shop: Mongo) -> None:
    names = [f"f{number}" for number in range(32)]
    assert shop.refusal("query", table="orders", order_by=names)["code"] == "invalid_params"
    assert len(shop.call("query", table="orders", order_by=names[:31])["rows"]) == 3


def test_no_sql_is_run(shop: Mongo) -> None:
    assert shop.reason("sql", sql="SELECT 1") == "statement_not_allowed"
