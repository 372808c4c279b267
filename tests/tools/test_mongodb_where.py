"""Filters on MongoDB: the meaning that they have on every engine, and nothing of the caller's that the server obeys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import bson
import pytest
from clitool_tools.database.mongodb.condition import condition
from clitool_tools.database.mongodb.table import MongoTable
from clitool_tools.database.where import parse
from hypothesis import given, settings
from hypothesis import strategies as st
from mongo_world import SECRET, Mongo
from where_reference import filters, matches

from clitool.errors import InvalidParams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mongod import Mongod

HEX = "0123456789abcdef01234567"


@pytest.fixture(scope="module")
def world(replica_set: Mongod) -> Iterator[Mongo]:
    """One database for tests that only read, or empty it themselves."""
    world = Mongo(replica_set, allowed_tables=["zoo", "things"])
    world.fill({"zoo": ZOO, "secret": [{"_id": 1, "k": SECRET}]})
    yield world
    world.drop()


ZOO: list[dict[str, Any]] = [
    {"_id": 1, "v": 5},
    {"_id": 2, "v": 5.0},
    {"_id": 3, "v": bson.Int64(5)},
    {"_id": 4, "v": bson.Decimal128("5.0")},
    {"_id": 5, "v": "5"},
    {"_id": 6, "v": True},
    {"_id": 7, "v": None},
    {"_id": 8},
    {"_id": 9, "v": datetime(2024, 1, 31, tzinfo=UTC)},
    {"_id": 10, "v": bson.ObjectId(HEX)},
    {"_id": 11, "v": HEX},
    {"_id": 12, "v": b"5"},
    {"_id": 13, "v": [5, "x"]},
    {"_id": 14, "v": []},
    {"_id": 15, "v": {"w": 5, "$x": 1}},
    {"_id": 16, "v": [{"w": 5}, {"w": 6}]},
    {"_id": 17, "v": float("nan")},
    {"_id": 18, "v": 2**53 + 1},
    {"_id": 19, "v": "a.b*c\nd%_\\é"},
    {"_id": 20, "v": bson.Regex("^5$")},
    {"_id": 21, "v": bson.MaxKey()},
    {"_id": 22, "v": {"$oid": "literal"}},
    {"_id": 23, "v": [None]},
    {"_id": 24, "v": ""},
]
FIVES = [1, 2, 3, 4, 13]
NULLS = [7, 8, 23]
ALL = [document["_id"] for document in ZOO]


def found(world: Mongo, where: dict[str, Any]) -> list[int]:
    return [row["_id"] for row in world.call("query", table="zoo", columns=["_id"], where=where)["rows"]]


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        pytest.param({"v": 5}, FIVES, id="a number equals every number of its value, also in an array"),
        pytest.param({"v": {"$numberDecimal": "5"}}, FIVES, id="also as a decimal"),
        pytest.param({"v": "5"}, [5], id="a text equals texts only"),
        pytest.param({"v": True}, [6], id="true equals true only"),
        pytest.param({"v": 1}, [], id="one is not true"),
        pytest.param({"v": None}, NULLS, id="null is null or missing"),
        pytest.param({"v": {"$null": True}}, NULLS, id="the same as an operator"),
        pytest.param({"v": {"$null": False}}, [n for n in ALL if n not in NULLS], id="not null"),
        pytest.param({"v": {"$ne": 5}}, [n for n in ALL if n not in FIVES], id="unequal includes null and missing"),
        pytest.param({"v": {"$nin": [5, None]}}, [n for n in ALL if n not in FIVES + NULLS], id="none of"),
        pytest.param({"$not": {"v": {"$gt": 4}}}, [n for n in ALL if n not in [*FIVES, 18]], id="not"),
        pytest.param({"v": {"$in": []}}, [], id="one of none"),
        pytest.param({"v": {"$in": ["5", 5, None]}}, sorted([*FIVES, 5, *NULLS]), id="one of several kinds"),
        pytest.param({"v": {"$gt": 5}}, [18], id="a range of numbers sees numbers only"),
        pytest.param({"v": {"$gte": 5, "$lte": 5}}, FIVES, id="a range from both ends"),
        pytest.param({"v": {"$lt": 5}}, [], id="not a number lies in no range"),
        pytest.param({"v": {"$numberDouble": "NaN"}}, [17], id="but equals itself"),
        pytest.param({"v": {"$gt": "5"}}, [13, 19], id="a range of texts sees texts only"),
        pytest.param({"v": {"$lte": ""}}, [24], id="the empty text"),
        pytest.param({"v": {"$gte": {"$date": "2024-01-31"}}}, [9], id="a range of dates"),
        pytest.param({"v": {"$date": "2024-01-31T00:00:00Z"}}, [9], id="a date"),
        pytest.param({"v": {"$oid": HEX}}, [10], id="an object id"),
        pytest.param({"v": {"$oid": HEX.upper()}}, [10], id="in upper case"),
        pytest.param({"v": HEX}, [11], id="a text that looks like one"),
        pytest.param({"v": {"$binary": {"base64": "NQ=="}}}, [12], id="bytes"),
        pytest.param({"v": {"$binary": {"base64": "NQ==", "subType": "05"}}}, [], id="bytes of another subtype"),
        pytest.param({"v": {"$maxKey": 1}}, [21], id="the largest key"),
        pytest.param({"v": 2**53}, [], id="a large number to the last digit"),
        pytest.param({"v": 2**53 + 1}, [18], id="which a double could not hold"),
        pytest.param({"v.w": 5}, [15, 16], id="a field inside, also of documents in an array"),
        pytest.param({"v.w": {"$gt": 5}}, [16], id="a range of it"),
        pytest.param({"v.0": 5}, [13], id="a place in an array"),
        pytest.param({"v": {"$gt": 5}, "$or": [{"_id": 18}, {"_id": 1}]}, [18], id="all of them"),
        pytest.param({"v": {"$like": "5"}}, [5], id="a pattern without wildcards"),
        pytest.param({"v": {"$like": "%"}}, [5, 11, 13, 19, 24], id="any text, also in an array"),
        pytest.param({"v": {"$like": "_"}}, [5, 13], id="one character"),
        pytest.param({"v": {"$like": "a.b*c%"}}, [19], id="no wildcards of others"),
        pytest.param({"v": {"$like": "axb%"}}, [], id="a dot is a dot"),
        pytest.param({"v": {"$like": "%c_d%"}}, [19], id="a line feed is a character"),
        pytest.param({"v": {"$like": "%é"}}, [19], id="letters beyond ASCII"),
        pytest.param({"v": {"$like": "%\\%\\_\\\\_"}}, [19], id="escaped wildcards"),
        pytest.param({"v": {"$like": "A.b%"}}, [], id="upper and lower case differ"),
        pytest.param({"v": {"$like": "(?i)A%"}}, [], id="no flags"),
        pytest.param({"v": {"$like": "^5$"}}, [], id="no anchors"),
        pytest.param({"v": {"$like": "\\Q5"}}, [], id="no quoting"),
    ],
)
def test_a_filter_means(world: Mongo, where: dict[str, Any], ids: list[int]) -> None:
    assert found(world, where) == ids


OPERATORS = [
    "$where",
    "$expr",
    "$regex",
    "$options",
    "$jsonSchema",
    "$text",
    "$comment",
    "$exists",
    "$type",
    "$mod",
    "$all",
    "$elemMatch",
    "$size",
    "$nor",
    "$not",
    "$function",
    "$accumulator",
    "$near",
    "$geoWithin",
    "$bitsAllSet",
    "$rand",
    "$sampleRate",
    "$search",
    "$natural",
    "$alwaysTrue",
    "$_internalExpr",
    "$WHERE",
    " $eq",
    "$eq ",
    "\uff04eq",
    "$",
    "$$ROOT",
]
ATTACKS = [
    *(pytest.param({word: "sleep(5000)||true"}, id=f"above: {word}") for word in OPERATORS if word.startswith("$")),
    *(pytest.param({"v": {word: "1"}}, id=f"below: {word}") for word in OPERATORS),
    *(pytest.param({"v": {"$eq": {word: "1"}}}, id=f"as a value: {word}") for word in OPERATORS),
    *(pytest.param({"v": {"$in": [{word: "1"}]}}, id=f"in a list: {word}") for word in OPERATORS),
    pytest.param({"$where": {"$code": "sleep(5000)"}}, id="code as a value above"),
    pytest.param({"v": {"$code": "sleep(5000)"}}, id="code as a value"),
    pytest.param({"v": {"$eq": {"$code": "1", "$scope": {}}}}, id="code with scope"),
    pytest.param({"$and": [{"v": 1}, {"$or": [{"$where": "1"}]}]}, id="deep inside"),
    pytest.param(
        {"$not": {"$not": {"$expr": {"$function": {"body": "f", "args": [], "lang": "js"}}}}}, id="expression"
    ),
    pytest.param({"$and": {"v": 1}}, id="and without a list"),
    pytest.param({"$and": []}, id="and of nothing"),
    pytest.param({"$or": [[]]}, id="or of a list"),
    pytest.param({"$not": [{"v": 1}]}, id="not of a list"),
    pytest.param({"v": {"$not": {"$gt": 1}}}, id="not below a field"),
    pytest.param({"v": {}}, id="empty condition"),
    pytest.param({"v": {"w": 5}}, id="a document"),
    pytest.param({"v": {"$eq": {"w": 5}}}, id="a document to be equal to"),
    pytest.param({"v": {"$literal": {"w": 5}}}, id="a literal document"),
    pytest.param({"v": {"$eq": {"$literal": {"$where": "1"}}}}, id="a literal operator"),
    pytest.param({"v": {"$ref": "secret", "$id": 1}}, id="a reference"),
    pytest.param({"v": {"$eq": {"$ref": "secret", "$id": 1}}}, id="a reference to be equal to"),
    pytest.param({"v": [5, "x"]}, id="an array"),
    pytest.param({"v": {"$eq": [5, "x"]}}, id="an array to be equal to"),
    pytest.param({"v": {"$in": [[5]]}}, id="an array in a list"),
    pytest.param({"v": {"$in": {"$oid": HEX}}}, id="no list"),
    pytest.param({"v": {"$gt": None}}, id="a range of null"),
    pytest.param({"v": {"$gt": {"$minKey": 1}}}, id="a range of everything"),
    pytest.param({"v": {"$lt": {"$maxKey": 1}}}, id="a range of everything, from above"),
    pytest.param({"v": {"$gt": {"$binary": {"base64": ""}}}}, id="a range of bytes, which MongoDB orders by length"),
    pytest.param({"v": {"$regularExpression": {"pattern": "^(a+)+$", "options": ""}}}, id="a regular expression"),
    pytest.param({"v": {"$in": [{"$regularExpression": {"pattern": "", "options": ""}}]}}, id="one in a list"),
    pytest.param({"v": {"$ne": {"$regularExpression": {"pattern": "a", "options": ""}}}}, id="one to differ from"),
    pytest.param({"v": {"$like": 5}}, id="pattern that is no text"),
    pytest.param({"v": {"$like": "a" * 1001}}, id="long pattern"),
    pytest.param({"v": {"$like": "a\0"}}, id="NUL in a pattern"),
    pytest.param({"v": {"$like": "a\\"}}, id="pattern that ends in its escape"),
    pytest.param({"v": {"$null": 1}}, id="neither null nor not"),
    pytest.param({"v": {"$oid": "x"}}, id="malformed id"),
    pytest.param({"v": {"$oid": HEX, "$gt": 1}}, id="id beside an operator"),
    pytest.param({"v": 2**63}, id="large number"),
    pytest.param({"v": "\ud800"}, id="half a character"),
    pytest.param({"$v": 1}, id="field with a dollar"),
    pytest.param({"v.$x": 1}, id="field with a dollar inside"),
    pytest.param({"v.$": 1}, id="the place that matched"),
    pytest.param({"v.$[]": 1}, id="all places"),
    pytest.param({"": 1}, id="field without a name"),
    pytest.param({".v": 1}, id="leading dot"),
    pytest.param({"v.": 1}, id="trailing dot"),
    pytest.param({"v..w": 1}, id="two dots"),
    pytest.param({"v\0w": 1}, id="NUL in a field"),
    pytest.param({"\ud800": 1}, id="half a character in a field"),
    pytest.param({"v" * 1001: 1}, id="long field"),
    pytest.param({"é" * 501: 1}, id="long field in bytes"),
    pytest.param({".".join("v" * 51): 1}, id="deep field"),
    pytest.param({f"v{number}": 1 for number in range(301)}, id="many conditions"),
    pytest.param({"v": {"$in": list(range(10_001))}}, id="long list"),
]


@pytest.mark.parametrize("where", ATTACKS)
def test_a_filter_that_is_no_filter_never_reaches_the_server(where: dict[str, Any]) -> None:
    """Operators of MongoDB's own, JavaScript above all, are refused before anything is sent."""
    with pytest.raises(InvalidParams) as caught:
        condition(parse(where, MongoTable("zoo", "collection")))
    assert caught.value.reason in ("bad_filter", "bad_value", "column_unknown")


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ({"w": 5}, "cannot be compared with an object; name the field inside, 'v.w'"),
        ({"gt": 5}, "did you mean '$gt'"),
        ({"$regex": "^5"}, "use $like"),
        ({"$exists": True}, "use $null"),
    ],
)
def test_who_asks_in_mongodbs_own_way_is_told_the_other_one(world: Mongo, test: dict[str, Any], words: str) -> None:
    assert words in world.refusal("query", table="zoo", where={"v": test})["error"]


@pytest.mark.parametrize("where", [case.values[0] for case in ATTACKS[::12]])
def test_the_server_is_not_asked_for_documents(world: Mongo, where: dict[str, Any]) -> None:
    with world.watched() as asked:
        assert world.refusal("query", table="zoo", where=where)["code"] == "invalid_params"
    assert [entry for entry in asked if entry["op"] == "query"] == []


def test_nesting_is_bounded(world: Mongo) -> None:
    where: dict[str, Any] = {"v": 1}
    for _ in range(17):
        where = {"$not": where}
    assert world.reason("query", table="zoo", where=where) == "bad_filter"


KNOWN = {"$and", "$or", "$nor", "$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$regex"}


def operators(value: Any) -> set[str]:
    """Return all keys of a filter that the server would take for operators."""
    if isinstance(value, dict):
        own = {key for key in value if key.startswith("$")}
        return own.union(*map(operators, value.values()))
    return set().union(*map(operators, value)) if isinstance(value, list) else set()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3) | st.sampled_from([HEX, "$where"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*OPERATORS, *sorted(KNOWN), "$oid", "$date", "$ne", "$nin", "v", "v.w", "$and", "$or", "$not"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    st.dictionaries(
        st.sampled_from(["v", "v.w", "$and", "$or", "$not", "$where", "$expr"]), JSON, min_size=1, max_size=3
    )
)
def test_whatever_is_accepted_is_made_of_a_few_operators(where: dict[str, Any]) -> None:
    try:
        built = condition(parse(where, MongoTable("zoo", "collection")))
    except InvalidParams:
        return
    assert operators(built) <= KNOWN


NUMBERS = st.integers(-3, 3) | st.sampled_from([0.5, -0.0, 1e300, 2**53, float("inf"), float("-inf")])
TEXTS = st.text(st.sampled_from("aAb %_*?[]é\n"), max_size=3)
BYTES = st.binary(max_size=2)
STORED = st.none() | NUMBERS | TEXTS | BYTES
COMPARED = {"n": NUMBERS, "t": TEXTS, "x": NUMBERS | TEXTS}
MISSING = "missing"


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    rows=st.lists(st.fixed_dictionaries({name: STORED | st.just(MISSING) for name in COMPARED}), max_size=6),
    where=filters(COMPARED, ["t", "x"]),
)
def test_mongodb_and_plain_python_agree(world: Mongo, rows: list[dict[str, Any]], where: dict[str, Any]) -> None:
    """Whatever is stored and whatever is asked, a filter means what the reference says."""
    things = world.collection("things")
    things.drop()
    present = [{name: value for name, value in row.items() if value is not MISSING} for row in rows]
    world.fill({"things": [{"_id": -1}, *({"_id": number, **row} for number, row in enumerate(present))]})
    empty = dict.fromkeys(COMPARED)
    expected = [
        number
        for number, row in [(-1, empty), *enumerate({**empty, **row} for row in present)]
        if matches(where, row, lambda _, text: text)
    ]
    assert [row["_id"] for row in world.call("query", table="things", where=where)["rows"]] == expected


@settings(deadline=None, derandomize=True, max_examples=60)
@given(pattern=st.text(st.sampled_from("%_ab"), max_size=8), text=st.text(st.sampled_from("ab\n"), max_size=8))
def test_a_pattern_of_many_wildcards_means_the_same(world: Mongo, pattern: str, text: str) -> None:
    """The expression that the server gets never tries a piece at a second place; no match is lost by that."""
    things = world.collection("things")
    things.drop()
    things.insert_one({"_id": 1, "t": text})
    found = world.call("query", table="things", where={"t": {"$like": pattern}})["rows"]
    assert bool(found) is matches({"t": {"$like": pattern}}, {"t": text}, lambda _, text: text)


@pytest.mark.parametrize("pattern", ["%a" * 400 + "b", "%a_" * 300 + "b", "%" * 999 + "b"])
def test_a_pattern_cannot_keep_the_server_busy(world: Mongo, pattern: str) -> None:
    things = world.collection("things")
    things.drop()
    things.insert_one({"_id": 1, "t": "a" * 100_000})
    assert world.call("query", table="things", where={"t": {"$like": pattern}})["rows"] == []


def test_a_collation_of_the_collection_changes_no_filter(world: Mongo) -> None:
    """Text is compared byte by byte, as $like does it; else a filter would mean something else on every collection."""
    world.database.drop_collection("things")
    world.database.create_collection("things", collation={"locale": "en", "strength": 1})
    world.fill({"things": [{"_id": 1, "t": "a"}, {"_id": 2, "t": "A"}, {"_id": 3, "t": "á"}]})
    for where in ({"t": "a"}, {"t": {"$like": "a"}}, {"t": {"$gte": "a", "$lt": "b"}}, {"t": {"$in": ["a"]}}):
        assert [row["_id"] for row in world.call("query", table="things", where=where)["rows"]] == [1]


HINTED = [
    pytest.param({"v": "f" * 24}, ["v"], id="equal"),
    pytest.param({"v": {"$in": ["q", "f" * 24]}}, ["v"], id="one of"),
    pytest.param({"$and": [{"v": "F" * 24}, {"$not": {"_id": {"$ne": "f" * 24}}}]}, ["v", "_id"], id="combined"),
    pytest.param({"v": "f" * 23}, [], id="too short"),
    pytest.param({"v": "g" * 24}, [], id="not hexadecimal"),
    pytest.param({"v": {"$oid": "f" * 24}}, [], id="an object id already"),
    pytest.param({"v": {"$like": "f" * 24}}, [], id="a pattern"),
]


@pytest.mark.parametrize(("where", "names"), HINTED)
def test_a_text_that_looks_like_an_object_id_and_matches_nothing_gets_a_hint(
    world: Mongo, where: dict[str, Any], names: list[str]
) -> None:
    answer = world.call("query", table="zoo", where=where)
    assert answer["rows"] == []
    assert ("hint" in answer) is bool(names)
    if names:
        assert '{"$oid": "…"}' in answer["hint"]
        assert ", ".join(names) in answer["hint"]


def test_no_hint_comes_with_rows(world: Mongo) -> None:
    assert "hint" not in world.call("query", table="zoo", where={"v": HEX})


@pytest.mark.parametrize(("tool", "params"), [("update", {"values": {"x": 1}}), ("delete", {})])
def test_a_change_that_finds_nothing_gets_the_hint_too(world: Mongo, tool: str, params: dict[str, Any]) -> None:
    answer = world.call(tool, table="zoo", where={"_id": "f" * 24}, **params)
    assert answer["affected"] == 0
    assert '{"$oid": "…"}' in answer["hint"]
    assert "hint" not in world.call(tool, table="zoo", where={"_id": "none"}, **params)
