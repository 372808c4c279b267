"""Cursors on MongoDB: exactly the rest of an order over values of all types, and nothing that a caller could forge."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import bson
import pytest
from bson.raw_bson import RawBSONDocument
from clitool_tools.database.mongodb.keyset import KEY
from hypothesis import given, settings
from hypothesis import strategies as st
from mongo_world import SECRET, Mongo

from clitool.errors import InvalidParams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mongod import Mongod

HEX = "0123456789abcdef01234567"


@pytest.fixture(scope="module")
def world(replica_set: Mongod) -> Iterator[Mongo]:
    """One database whose collection each test fills anew."""
    world = Mongo(replica_set)
    world.fill({"secret": [{"_id": 1, "k": SECRET}]})
    yield world
    world.drop()


def fill(world: Mongo, documents: list[Any]) -> None:
    world.collection("things").drop()
    world.collection("things").insert_many(documents)


def pages(world: Mongo, order_by: list[str], limit: int, **params: Any) -> tuple[list[Any], bool]:
    """Return all documents, page after page, and whether a page had no cursor although there was more."""
    found: list[Any] = []
    asked = {"table": "things", "order_by": order_by, "limit": limit, "format": "canonical", **params}
    with world.connected() as call:
        for _ in range(50):
            answer = call("query", **asked)
            found += answer["rows"]
            if not answer["truncated"] or answer["next_cursor"] is None:
                return found, answer["truncated"]
            asked["cursor"] = answer["next_cursor"]
    pytest.fail("the pages do not end")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        [0, 1, -1, 2**53, 2**53 + 1, bson.Int64(1), 1.0, 0.5, -0.0, float("nan"), float("inf"), float("-inf")]
    ),
    st.sampled_from([bson.Decimal128("1.0"), bson.Decimal128("NaN"), bson.Decimal128("9007199254740993")]),
    st.sampled_from(["", "a", "A", "b", "\0", HEX]),
    st.sampled_from([b"", b"b", b"aa", bson.Binary(b"b", 5), bson.Binary(b"\0" * 16, 4)]),
    st.sampled_from([bson.DatetimeMS(0), bson.DatetimeMS(-1), bson.DatetimeMS(2**62), bson.Timestamp(1, 1)]),
    st.sampled_from([bson.ObjectId(HEX), bson.Regex("a"), bson.Code("f"), bson.MinKey(), bson.MaxKey()]),
    st.sampled_from([{}, {"w": 1}, {"x": None}, {"$w": 1}, bson.DBRef("c", 1)]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.fixed_dictionaries({}, optional={"w": inner}),
    max_leaves=5,
)
KEYS = st.lists(
    st.sampled_from([1, "1", 1.5, bson.Int64(2), bson.ObjectId(HEX), {"a": 1}, b"1", bson.DatetimeMS(1), None, True]),
    min_size=1,
    max_size=8,
    unique_by=repr,
)
ORDERS = [[], ["-_id"], ["v"], ["-v"], ["v", "-u"], ["-u", "v"], ["v.w"], ["-v.w", "u"], ["v.w.w"]]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(data=st.data(), keys=KEYS, order_by=st.sampled_from(ORDERS), limit=st.integers(1, 3))
def test_pages_are_the_whole_in_order_or_end_without_a_cursor(
    world: Mongo, data: st.DataObject, keys: list[Any], order_by: list[str], limit: int
) -> None:
    """No document is lost or comes twice, whatever types meet in a field, and whatever is missing or an array."""
    fields = st.fixed_dictionaries({}, optional={"v": VALUES, "u": SCALARS})
    fill(world, [{"_id": key, **data.draw(fields)} for key in keys])
    whole, _ = pages(world, order_by, 100)
    found, is_cut = pages(world, order_by, limit)
    assert found == (whole[: len(found)] if is_cut else whole)


ONE_OF_EACH: list[Any] = [
    *(None, float("nan"), float("-inf"), 1, 2.5, "", "a", {}, {"a": 1}, b"", b"a", False, True, [], [1, 2], ["a"]),
    *(bson.ObjectId(HEX), bson.DatetimeMS(0), bson.Timestamp(1, 1)),
]


@pytest.mark.parametrize("order_by", [["v"], ["-v"], ["v", "-_id"], ["-v", "-_id"]])
def test_an_order_over_the_usual_types_can_be_read_to_its_end(world: Mongo, order_by: list[str]) -> None:
    fill(
        world,
        [{"_id": number, "v": value} for number, value in enumerate([*ONE_OF_EACH, *ONE_OF_EACH])] + [{"_id": -1}],
    )
    whole, _ = pages(world, order_by, 100)
    assert pages(world, order_by, 1) == (whole, False)
    assert pages(world, order_by, 4) == (whole, False)


@pytest.mark.parametrize(
    "value",
    [bson.Regex("a"), bson.Code("f"), bson.MinKey(), bson.MaxKey(), [[1]], "x" * 20_000],
    ids=["regular expression", "code", "min key", "max key", "array in an array", "long text"],
)
def test_an_order_that_cannot_go_on_says_that_there_is_more_without_a_cursor(world: Mongo, value: Any) -> None:
    fill(world, [{"_id": 1, "v": value}, {"_id": 2, "v": value}])
    answer = world.call("query", table="things", order_by=["v"], limit=1)
    assert (answer["truncated"], answer["next_cursor"]) == (True, None)


@pytest.mark.parametrize("order_by", [["v.0"], ["-v.0"], ["v.1.w"]])
def test_an_order_by_a_place_in_an_array_has_no_cursor(world: Mongo, order_by: list[str]) -> None:
    fill(world, [{"_id": 1, "v": [1]}, {"_id": 2, "v": [2]}])
    answer = world.call("query", table="things", order_by=order_by, limit=1)
    assert (answer["truncated"], answer["next_cursor"]) == (True, None)


@pytest.mark.parametrize("columns", [["v"], ["_id"], ["u"], ["v", "_id"]])
def test_the_columns_need_not_have_what_is_sorted_by(world: Mongo, columns: list[str]) -> None:
    fill(world, [{"_id": number, "v": number % 2, "u": "x"} for number in range(5)])
    whole, _ = pages(world, ["-v"], 100, columns=columns)
    assert pages(world, ["-v"], 2, columns=columns) == (whole, False)
    assert all(set(row) <= set(columns) for row in whole)


def test_documents_that_no_dictionary_can_hold_are_gone_through_too(world: Mongo) -> None:
    world.collection("things").drop()
    for number in range(4):
        element = b"\x06u\0" + b"\x10a\0\1\0\0\0" * 2 + b"\x10_id\0" + bytes([number, 0, 0, 0]) + b"\0"
        document = RawBSONDocument((len(element) + 4).to_bytes(4, "little") + element)
        world.collection("things").insert_one(document)  # type: ignore[arg-type]
    for order_by in ([], ["u"], ["-a"]):
        whole, _ = pages(world, order_by, 100)
        assert len(whole) == 4
        assert pages(world, order_by, 1) == (whole, False)


def test_a_cursor_goes_on_where_it_was_though_rows_come_and_go(world: Mongo) -> None:
    fill(world, [{"_id": number} for number in range(0, 10, 2)])
    answer = world.call("query", table="things", limit=2)
    world.collection("things").delete_many({"_id": {"$lte": 2}})
    world.collection("things").insert_many([{"_id": -1}, {"_id": 3}])
    rest = world.call("query", table="things", cursor=answer["next_cursor"])["rows"]
    assert [row["_id"] for row in rest] == [3, 4, 6, 8]


@pytest.mark.parametrize("order_by", [[], ["-_id"], ["n"], ["-n"], ["t"]])
def test_a_page_at_the_end_is_found_by_an_index(world: Mongo, order_by: list[str]) -> None:
    """To go on costs what the page costs, not what lies before it."""
    fill(world, [{"_id": number, "n": number, "t": [number, number + 1]} for number in range(2000)])
    world.collection("things").create_index("n")
    world.collection("things").create_index("t")
    answer = world.call("query", table="things", order_by=order_by, limit=1000)
    for _ in range(4):
        answer = world.call("query", table="things", order_by=order_by, limit=195, cursor=answer["next_cursor"])
    with world.watched() as asked:
        world.call("query", table="things", order_by=order_by, limit=10, cursor=answer["next_cursor"])
    (entry,) = [entry for entry in asked if entry["op"] == "query"]
    assert entry["docsExamined"] < 500


def forged(world: Mongo, text: str) -> str:
    """Return a cursor for the query by `v` with this text in it."""
    real = world.call("query", table="things", order_by=["v"], limit=1)["next_cursor"]
    head, _, _ = real.rpartition(".")
    return f"{head}.t{base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


FORGED = [
    pytest.param("", id="nothing"),
    pytest.param("x", id="no JSON"),
    pytest.param("1", id="no list"),
    pytest.param("{}", id="an object"),
    pytest.param("null", id="null"),
    pytest.param("[]", id="no values"),
    pytest.param("[1]", id="too few"),
    pytest.param("[1,2,3]", id="too many"),
    pytest.param('[{"$where":"sleep(5000)"},1]', id="JavaScript"),
    pytest.param('[{"$code":"sleep(5000)"},1]', id="code"),
    pytest.param('[{"$gt":0},1]', id="an operator"),
    pytest.param('[{"$regularExpression":{"pattern":"(a+)+$","options":""}},1]', id="a regular expression"),
    pytest.param('[{"$minKey":1},1]', id="the least key"),
    pytest.param('[{"$maxKey":1},1]', id="the largest key"),
    pytest.param("[[1],1]", id="an array"),
    pytest.param('[{"$rawText":{"base64":""}},1]', id="text that is not UTF-8"),
    pytest.param('[{"$undefined":false},1]', id="undefined, wrongly"),
    pytest.param("[NaN,1]", id="no JSON number"),
    pytest.param("[Infinity,1]", id="no JSON number either"),
    pytest.param("[1e999,1]", id="too large a number"),
    pytest.param(f"[{10**400},1]", id="far too large"),
    pytest.param('["\\ud800",1]', id="half a character"),
    pytest.param("[" * 8000, id="nested too deep to read"),
    pytest.param('[{"a":' * 150 + "1" + "}]" * 150, id="nested too deep"),
]


@pytest.mark.parametrize("text", FORGED)
def test_a_forged_cursor_is_refused(world: Mongo, text: str) -> None:
    fill(world, [{"_id": 1, "v": 1}, {"_id": 2, "v": 2}])
    cursor = forged(world, text)
    with world.watched() as asked:
        assert world.reason("query", table="things", order_by=["v"], cursor=cursor) == "bad_cursor"
    assert [entry for entry in asked if entry["op"] == "query"] == []


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["$oid", "$where", "$gt", "$literal", "$ref", "$id", "a", "$undefined"]),
                inner,
                max_size=2,
            )
        ),
        max_leaves=4,
    )
)
def test_whatever_a_cursor_holds_it_reaches_nothing_else(world: Mongo, value: Any) -> None:
    """A forged cursor can only choose where to begin in rows that the caller may read anyway."""
    fill(world, [{"_id": 1, "v": 1}, {"_id": 2, "v": 2}])
    cursor = forged(world, json.dumps([value, 1]))
    try:
        answer = world.call("query", table="things", order_by=["v"], cursor=cursor)
    except InvalidParams as error:
        assert error.reason == "bad_cursor"
    else:
        assert {row["_id"] for row in answer["rows"]} <= {1, 2}


@pytest.mark.parametrize(
    "other",
    [{"order_by": ["-v"]}, {"order_by": ["v", "u"]}, {"where": {"v": 1}}, {"columns": ["v"]}, {"table": "orders"}],
    ids=["direction", "order", "filter", "columns", "collection"],
)
def test_a_cursor_is_for_its_own_query(world: Mongo, other: dict[str, Any]) -> None:
    fill(world, [{"_id": 1, "v": 1}, {"_id": 2, "v": 2}])
    if "orders" not in world.database.list_collection_names():
        world.database.create_collection("orders")
    cursor = world.call("query", table="things", order_by=["v"], limit=1)["next_cursor"]
    assert world.reason("query", **{"table": "things", "order_by": ["v"], **other}, cursor=cursor) == "bad_cursor"


def test_a_cursor_works_in_either_format(world: Mongo) -> None:
    fill(world, [{"_id": number, "v": number / 2} for number in range(4)])
    cursor = world.call("query", table="things", order_by=["v"], limit=1)["next_cursor"]
    assert len(world.call("query", table="things", order_by=["v"], format="canonical", cursor=cursor)["rows"]) == 3


@pytest.mark.parametrize("order_by", [[], ["v"]])
def test_no_document_decides_where_the_next_page_begins(world: Mongo, order_by: list[str]) -> None:
    """Who may store a document must not hide others by a field that looks like the server's own answer."""
    trap = {KEY: [99], "v": 1}
    fill(world, [{"_id": number, **trap} for number in range(5)])
    whole, _ = pages(world, order_by, 100)
    assert pages(world, order_by, 1) == (whole, False)
    assert (KEY in whole[0]) is (order_by == [])
