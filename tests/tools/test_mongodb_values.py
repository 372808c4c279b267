"""Extended JSON: what a caller may write, what a document is shown as, and that nothing is lost on either way."""

from __future__ import annotations

import json
import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import bson
import pytest
from bson.raw_bson import RawBSONDocument
from clitool_tools.database.mongodb.format import CANONICAL, RELAXED, decimal
from clitool_tools.database.mongodb.reader import entries, whole
from clitool_tools.database.mongodb.rows import rows
from clitool_tools.database.mongodb.values import decode
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.errors import ClitoolError, InvalidParams

if TYPE_CHECKING:
    from clitool_tools.database.mongodb.format import Format
    from mongo_world import Mongo

OID = "0123456789abcdef01234567"
BASE64 = {"base64": "AAEC", "subType": "00"}


def element(kind: int, name: bytes, value: bytes) -> bytes:
    return bytes([kind]) + name + b"\0" + value


def document(*elements: bytes) -> bytes:
    """Return a document from its parts, also one that the driver would not make."""
    content = b"".join(elements) + b"\0"
    return struct.pack("<i", len(content) + 4) + content


def text(data: bytes) -> bytes:
    return struct.pack("<i", len(data) + 1) + data + b"\0"


def shown(data: bytes, form: Format) -> dict[str, Any]:
    """Return a document as JSON, which both ways of reading it must agree on."""
    ((found, _, _),) = rows([data], form)
    assert whole(entries(data, form)) == found
    return found


def stored(fields: dict[str, Any]) -> bytes:
    return bson.encode({name: decode(value) for name, value in fields.items()})


INT, LONG = element(0x10, b"a", b"\x01\0\0\0"), element(0x12, b"b", b"\x02\0\0\0\0\0\0\0")

FORMS = [
    pytest.param({"$oid": OID}, bson.ObjectId(OID), id="object id"),
    pytest.param({"$numberInt": "-5"}, -5, id="int"),
    pytest.param({"$numberInt": "-2147483648"}, -(2**31), id="least int"),
    pytest.param({"$numberLong": "5"}, bson.Int64(5), id="long"),
    pytest.param({"$numberLong": "-9223372036854775808"}, bson.Int64(-(2**63)), id="least long"),
    pytest.param({"$numberDouble": "1.5"}, 1.5, id="double"),
    pytest.param({"$numberDouble": "-Infinity"}, float("-inf"), id="infinite"),
    pytest.param({"$numberDecimal": "1.10"}, bson.Decimal128("1.10"), id="decimal keeps its scale"),
    pytest.param({"$numberDecimal": "NaN"}, bson.Decimal128("NaN"), id="decimal NaN"),
    pytest.param({"$numberDecimal": "1E+6144"}, bson.Decimal128("1E+6144"), id="large decimal"),
    pytest.param({"$binary": BASE64}, b"\0\1\2", id="bytes"),
    pytest.param({"$binary": {"base64": ""}}, b"", id="bytes without subtype"),
    pytest.param({"$binary": {"base64": "AA==", "subType": "80"}}, bson.Binary(b"\0", 0x80), id="bytes of a subtype"),
    pytest.param(
        {"$uuid": "00112233-4455-6677-8899-AABBCCDDEEFF"},
        bson.Binary(bytes.fromhex("00112233445566778899aabbccddeeff"), 4),
        id="uuid",
    ),
    pytest.param({"$date": "2024-01-31T10:00:00Z"}, bson.DatetimeMS(1706695200000), id="date"),
    pytest.param({"$date": "2024-01-31T10:00:00.5+02:00"}, bson.DatetimeMS(1706688000500), id="date with offset"),
    pytest.param({"$date": "2024-01-31T10:00-0130"}, bson.DatetimeMS(1706700600000), id="date without seconds"),
    pytest.param({"$date": "2024-01-31"}, bson.DatetimeMS(1706659200000), id="a day is its midnight in UTC"),
    pytest.param({"$date": "0001-01-01"}, bson.DatetimeMS(-62135596800000), id="first day"),
    pytest.param({"$date": -1}, bson.DatetimeMS(-1), id="date in milliseconds"),
    pytest.param({"$date": {"$numberLong": "253402300800000"}}, bson.DatetimeMS(253402300800000), id="distant date"),
    pytest.param({"$timestamp": {"t": 1, "i": 4294967295}}, bson.Timestamp(1, 4294967295), id="timestamp"),
    pytest.param(
        {"$regularExpression": {"pattern": "^a", "options": "im"}}, bson.Regex("^a", "im"), id="regular expression"
    ),
    pytest.param({"$minKey": 1}, bson.MinKey(), id="min key"),
    pytest.param({"$maxKey": 1}, bson.MaxKey(), id="max key"),
    pytest.param({"$ref": "c", "$id": {"$oid": OID}}, {"$ref": "c", "$id": bson.ObjectId(OID)}, id="reference"),
    pytest.param({"$db": "d", "$id": 1, "$ref": "c"}, {"$ref": "c", "$id": 1, "$db": "d"}, id="keys in their order"),
    pytest.param(
        {"$literal": {"$oid": "x", "$date": {"$date": 0}}}, {"$oid": "x", "$date": bson.DatetimeMS(0)}, id="literal"
    ),
    pytest.param({"a": [{"b": {"$oid": OID}}, None]}, {"a": [{"b": bson.ObjectId(OID)}, None]}, id="inside of others"),
    pytest.param({"": {"a.b": 1, "a$": 2}}, {"": {"a.b": 1, "a$": 2}}, id="keys that are no forms"),
    pytest.param(
        {"note": "$where", "op": {"is": "$out"}}, {"note": "$where", "op": {"is": "$out"}}, id="values with a dollar"
    ),
    pytest.param("a\0b", "a\0b", id="text with NUL"),
    pytest.param(2**63 - 1, 2**63 - 1, id="largest whole number"),
    pytest.param(True, True, id="true"),
]


@pytest.mark.parametrize(("given_", "meant"), FORMS)
def test_a_form_stands_for(given_: Any, meant: Any) -> None:
    found = decode(given_)
    assert type(found) is type(meant)
    assert bson.encode({"": found}) == bson.encode({"": meant})


MALFORMED = [
    *(
        pytest.param({word: content}, word, id=f"{word} {content!r}")
        for word, contents in {
            "$oid": ["", OID[:-1], OID + "0", "g" * 24, 5, None, {"$oid": OID}, OID[:-1] + "\n", "\uff10" * 24],
            "$numberInt": ["", "-", "5.0", "+5", "05", " 5", "5\n", "1_0", "2147483648", 5, None, "\u0663"],
            "$numberLong": ["9223372036854775808", "-9223372036854775809", 5, "1e3", "9" * 5000, [], "-0"],
            "$numberDouble": ["", "inf", "nan", "1e999", "-1e999", "0x1p3", " 1", "1_0", 1.5, None, "1.5\n", "\uff11"],
            "$numberDecimal": ["", "abc", "1" * 35, "1e99999", "1_0", " 1", 1.5, None, "sNaN", "-nan", "1\n"],
            "$binary": [
                "AAEC",
                {"base64": "AAE"},
                {"base64": "A A="},
                {"base64": 5},
                {"subType": "00"},
                {**BASE64, "x": 1},
                {"base64": "", "subType": "100"},
                {"base64": "", "subType": 0},
                {"base64": "", "subType": "zz"},
            ],
            "$uuid": ["", "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeefg", 5],
            "$date": [
                "",
                "2024",
                "2024-1-1",
                "2024-02-30",
                "2024-01-01T10:00:00",
                "2024-01-01 10:00:00Z",
                "0000-01-01",
                "2024-01-01T24:00:00Z",
                "2024-01-01T10:00:60Z",
                "2024-01-01T10:00:00.0001Z",
                "2024-W01-1",
                "now",
                "12024-01-01",
                "2024-01-01T10:00:00+24:00",
                "2024-01-01T10:00:00+01:60",
                1.5,
                True,
                None,
                [],
                2**63,
                {"$date": 0},
                {"$numberInt": "5"},
                "\uff12024-01-01",
                "2024-01-01\n",
            ],
            "$timestamp": [
                5,
                {},
                {"t": 1},
                {"t": -1, "i": 0},
                {"t": 2**32, "i": 0},
                {"t": True, "i": 0},
                {"t": 1, "i": 1, "x": 1},
            ],
            "$regularExpression": [
                "a",
                {"pattern": "a"},
                {"pattern": "a\0", "options": ""},
                {"pattern": 1, "options": ""},
                {"pattern": "a", "options": "mi"},
                {"pattern": "a", "options": "g"},
                {"pattern": "a", "options": "ii"},
                {"pattern": "\ud800", "options": ""},
            ],
            "$minKey": [0, True, "1", None, {}],
            "$maxKey": [2, True],
            "$literal": [5, [], None, "x"],
        }.items()
        for content in contents
    ),
    pytest.param({"$ref": "c"}, "$ref", id="reference without id"),
    pytest.param({"$ref": 5, "$id": 1}, "$ref", id="reference to a number"),
    pytest.param({"$ref": "c", "$id": 1, "$db": None}, "$ref", id="reference to no database"),
    pytest.param({"$oid": OID, "x": 1}, "alone", id="form beside a key"),
    pytest.param({"x": 1, "$oid": OID}, "alone", id="form behind a key"),
    pytest.param({"$oid": OID, "$date": 1}, "alone", id="two forms"),
    pytest.param({"$code": "while(1){}"}, "JavaScript", id="code"),
    pytest.param({"$code": "f", "$scope": {}}, "JavaScript", id="code with scope"),
    pytest.param({"a": [{"b": {"$code": "f"}}]}, "JavaScript", id="code deep inside"),
    pytest.param({"$literal": {"a": {"$code": "f"}}}, "JavaScript", id="code below literal"),
    pytest.param({"$scope": {}}, "JavaScript", id="scope"),
    pytest.param({"$where": "1"}, "$where", id="operator"),
    pytest.param({"$function": {"body": "f"}}, "$function", id="function"),
    pytest.param({"$gt": 1}, "$literal", id="another operator"),
    pytest.param({"$oids": OID}, "$oid", id="misspelt"),
    pytest.param({"$OID": OID}, "$oid", id="upper case"),
    pytest.param({"$": 1}, "$literal", id="a dollar alone"),
    pytest.param({"$regex": "a", "$options": ""}, "$regularExpression", id="older form of regular expressions"),
    pytest.param({"$binary": "AAEC", "$type": "00"}, "alone", id="older form of bytes"),
    pytest.param({"$type": "00"}, "$binary", id="a part of it"),
    pytest.param({"$symbol": "a"}, "$symbol", id="symbol"),
    pytest.param({"$undefined": True}, "null", id="undefined"),
    pytest.param({"$dbPointer": {"$ref": "c", "$id": {"$oid": OID}}}, "$ref", id="pointer"),
    pytest.param({"$rawText": {"base64": "/w=="}}, "UTF-8", id="text that is not UTF-8"),
    pytest.param({"$entries": [["a", 1]]}, "twice", id="pairs"),
    pytest.param(2**63, "64 bits", id="too large a whole number"),
    pytest.param(-(2**63) - 1, "64 bits", id="too small a whole number"),
    pytest.param([10**400], "64 bits", id="far too large"),
    pytest.param(float("inf"), "$numberDouble", id="infinite"),
    pytest.param(float("nan"), "$numberDouble", id="not a number"),
    pytest.param("\ud800", "surrogate", id="half a surrogate pair"),
    pytest.param({"a\0b": 1}, "NUL", id="NUL in a key"),
    pytest.param({"\ud800": 1}, "surrogate", id="half a surrogate pair in a key"),
    pytest.param({"$literal": {"a\0": 1}}, "NUL", id="NUL below literal"),
]


@pytest.mark.parametrize(("value", "words"), MALFORMED)
def test_whatever_is_no_form_is_refused_and_never_stored_as_something_else(value: Any, words: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        decode({"outer": value})
    assert caught.value.reason == "bad_value"
    assert words in str(caught.value)


@pytest.mark.parametrize("depth", [100, 5000])
@pytest.mark.parametrize(
    "wrap", [lambda value: [value], lambda value: {"a": value}, lambda value: {"$literal": {"a": value}}]
)
def test_a_value_nested_too_deep_is_refused(wrap: Any, depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = wrap(value)
    with pytest.raises(InvalidParams, match="nested"):
        decode([value])


SHOWN = [
    pytest.param({"v": 5}, 5, {"$numberInt": "5"}, id="int"),
    pytest.param({"v": bson.Int64(5)}, 5, {"$numberLong": "5"}, id="small long"),
    pytest.param({"v": bson.Int64(2**53 - 1)}, 2**53 - 1, {"$numberLong": str(2**53 - 1)}, id="safe long"),
    pytest.param({"v": 2**53}, {"$numberLong": str(2**53)}, {"$numberLong": str(2**53)}, id="large long"),
    pytest.param({"v": 1.0}, 1.0, {"$numberDouble": "1.0"}, id="double"),
    pytest.param({"v": 1e300}, 1e300, {"$numberDouble": "1e+300"}, id="large double"),
    pytest.param({"v": float("inf")}, {"$numberDouble": "Infinity"}, {"$numberDouble": "Infinity"}, id="infinite"),
    pytest.param({"v": float("nan")}, {"$numberDouble": "NaN"}, {"$numberDouble": "NaN"}, id="not a number"),
    pytest.param(
        {"v": datetime(2024, 1, 31, 10, tzinfo=UTC)},
        {"$date": "2024-01-31T10:00:00Z"},
        {"$date": {"$numberLong": "1706695200000"}},
        id="date",
    ),
    pytest.param(
        {"v": datetime(9999, 12, 31, 23, 59, 59, 999000, UTC)},
        {"$date": "9999-12-31T23:59:59.999Z"},
        {"$date": {"$numberLong": "253402300799999"}},
        id="last date",
    ),
    pytest.param(
        {"v": bson.DatetimeMS(-1)}, {"$date": {"$numberLong": "-1"}}, {"$date": {"$numberLong": "-1"}}, id="before 1970"
    ),
    pytest.param(
        {"v": bson.DatetimeMS(2**63 - 1)},
        {"$date": {"$numberLong": str(2**63 - 1)}},
        {"$date": {"$numberLong": str(2**63 - 1)}},
        id="beyond the calendar",
    ),
    pytest.param(
        {"v": bson.Binary(b"\0" * 16, 4)},
        {"$uuid": "00000000-0000-0000-0000-000000000000"},
        {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}},
        id="uuid",
    ),
    pytest.param(
        {"v": bson.Binary(b"\0", 4)},
        {"$binary": {"base64": "AA==", "subType": "04"}},
        {"$binary": {"base64": "AA==", "subType": "04"}},
        id="no uuid",
    ),
    pytest.param(
        {"v": bson.Binary(b"\0" * 16, 3)},
        {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "03"}},
        {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "03"}},
        id="uuid of old",
    ),
    pytest.param({"v": bson.Code("f")}, {"$code": "f"}, {"$code": "f"}, id="code"),
    pytest.param(
        {"v": bson.Code("f", {"$a": 1})},
        {"$code": "f", "$scope": {"$literal": {"$a": 1}}},
        {"$code": "f", "$scope": {"$literal": {"$a": {"$numberInt": "1"}}}},
        id="code with scope",
    ),
    pytest.param(
        {"v": bson.DBRef("c", 1, "d")},
        {"$ref": "c", "$id": 1, "$db": "d"},
        {"$ref": "c", "$id": {"$numberInt": "1"}, "$db": "d"},
        id="reference",
    ),
    pytest.param(
        {"v": bson.DBRef("c", "x", note="n")},
        {"$literal": {"$ref": "c", "$id": "x", "note": "n"}},
        {"$literal": {"$ref": "c", "$id": "x", "note": "n"}},
        id="reference with more",
    ),
    pytest.param(
        {"v": {"$ref": 5, "$id": "x"}},
        {"$literal": {"$ref": 5, "$id": "x"}},
        {"$literal": {"$ref": {"$numberInt": "5"}, "$id": "x"}},
        id="what is no reference",
    ),
    pytest.param({"v": {"$oid": OID}}, {"$literal": {"$oid": OID}}, {"$literal": {"$oid": OID}}, id="literal form"),
    pytest.param(
        {"v": [{"$date": {"$gt": "x"}}]},
        [{"$literal": {"$date": {"$literal": {"$gt": "x"}}}}],
        [{"$literal": {"$date": {"$literal": {"$gt": "x"}}}}],
        id="literal forms inside of each other",
    ),
    pytest.param({"v": {"z": "1", "a": "2"}}, {"z": "1", "a": "2"}, {"z": "1", "a": "2"}, id="order of keys"),
]


@pytest.mark.parametrize(("fields", "relaxed", "canonical"), SHOWN)
def test_a_value_is_shown_as(fields: dict[str, Any], relaxed: Any, canonical: Any) -> None:
    data = bson.encode(fields)
    assert json.dumps(shown(data, RELAXED)) == json.dumps({"v": relaxed})
    assert json.dumps(shown(data, CANONICAL)) == json.dumps({"v": canonical})


STRANGE = [
    pytest.param(
        document(INT, element(0x10, b"a", b"\x02\0\0\0")), {"$entries": [["a", 1], ["a", 2]]}, id="a key twice"
    ),
    pytest.param(
        document(element(0x03, b"o", document(INT, INT))), {"o": {"$entries": [["a", 1], ["a", 1]]}}, id="inside"
    ),
    pytest.param(
        document(element(0x02, b"a", text(b"\xff"))), {"a": {"$rawText": {"base64": "/w=="}}}, id="text not UTF-8"
    ),
    pytest.param(
        document(element(0x02, b"a", text(b"\xed\xa0\x80"))), {"a": {"$rawText": {"base64": "7aCA"}}}, id="surrogate"
    ),
    pytest.param(
        document(element(0x10, b"\xff", b"\x01\0\0\0")),
        {"$entries": [[{"$rawText": {"base64": "/w=="}}, 1]]},
        id="key not UTF-8",
    ),
    pytest.param(document(element(0x06, b"a", b"")), {"a": {"$undefined": True}}, id="undefined"),
    pytest.param(document(element(0x0E, b"a", text(b"s"))), {"a": {"$symbol": "s"}}, id="symbol"),
    pytest.param(
        document(element(0x0C, b"a", text(b"d.c") + bytes.fromhex(OID))),
        {"a": {"$dbPointer": {"$ref": "d.c", "$id": {"$oid": OID}}}},
        id="pointer",
    ),
    pytest.param(
        document(element(0x0B, b"a", b"p\0xi\0")),
        {"a": {"$regularExpression": {"pattern": "p", "options": "xi"}}},
        id="options in another order",
    ),
    pytest.param(
        document(
            element(0x03, b"a", document(element(0x10, b"$id", b"\x01\0\0\0"), element(0x02, b"$ref", text(b"c"))))
        ),
        {"a": {"$literal": {"$id": 1, "$ref": "c"}}},
        id="reference in another order",
    ),
    pytest.param(
        document(
            element(0x06, b"u", b""),
            LONG,
            element(0x04, b"l", document(element(0x09, b"0", b"\0" * 8))),
            element(0x0F, b"c", struct.pack("<i", 4 + 6 + 12) + text(b"f") + document(INT)),
            element(0x0D, b"j", text(b"g")),
            element(0x05, b"x", b"\x01\0\0\0\0z"),
            element(0x08, b"t", b"\x01"),
            element(0x0A, b"n", b""),
        ),
        {
            "u": {"$undefined": True},
            "b": 2,
            "l": [{"$date": "1970-01-01T00:00:00Z"}],
            "c": {"$code": "f", "$scope": {"a": 1}},
            "j": {"$code": "g"},
            "x": {"$binary": {"base64": "eg==", "subType": "00"}},
            "t": True,
            "n": None,
        },
        id="beside others",
    ),
    pytest.param(
        document(element(0x05, b"x", b"\x04\0\0\0\x02\x09\0\0\0")),
        {"x": {"$binary": {"base64": "CQAAAA==", "subType": "02"}}},
        id="bytes of the old kind with a wrong length",
    ),
    pytest.param(
        document(element(0x05, b"x", b"\x01\0\0\0\x02z"), element(0x05, b"y", b"\0\0\0\0\x02")),
        {
            "x": {"$binary": {"base64": "eg==", "subType": "02"}},
            "y": {"$binary": {"base64": "", "subType": "02"}},
        },
        id="bytes of the old kind without a length",
    ),
    pytest.param(
        document(element(0x05, b"x", b"\x05\0\0\0\x02\x01\0\0\0z"), element(0x06, b"u", b"")),
        {"x": {"$binary": {"base64": "eg==", "subType": "02"}}, "u": {"$undefined": True}},
        id="bytes of the old kind",
    ),
]


@pytest.mark.parametrize(("data", "meant"), STRANGE)
def test_what_no_dictionary_can_hold_is_shown_whole(data: bytes, meant: dict[str, Any]) -> None:
    assert shown(data, RELAXED) == meant
    good = bson.encode({"a": 1})
    assert [row[0] for row in rows([good + data + good], RELAXED)] == [{"a": 1}, meant, {"a": 1}]


@pytest.mark.parametrize("data", [case.values[0] for case in STRANGE[:6]], ids=[case.id for case in STRANGE[:6]])
def test_a_caller_reads_what_another_program_stored(mongo: Mongo, data: bytes) -> None:
    _id = element(0x10, b"_id", b"\x07\0\0\0")
    mongo.collection("things").insert_one(RawBSONDocument(document(_id, data[4:-1])))  # type: ignore[arg-type]
    (row,) = mongo.call("query", table="things")["rows"]
    assert row == shown(document(_id, data[4:-1]), RELAXED)


@pytest.mark.parametrize("data", [case.values[0] for case in STRANGE[-3:]], ids=[case.id for case in STRANGE[-3:]])
def test_a_document_that_the_driver_refuses_hides_no_other_one(mongo: Mongo, data: bytes) -> None:
    """The server stores it for whoever may write; so it must not keep others from reading."""
    for number in (1, 3):
        mongo.collection("things").insert_one({"_id": number})
    raw = document(element(0x10, b"_id", b"\x02\0\0\0"), data[4:-1])
    mongo.collection("things").insert_one(RawBSONDocument(raw))  # type: ignore[arg-type]
    first = mongo.call("query", table="things", limit=2)
    rest = mongo.call("query", table="things", limit=2, cursor=first["next_cursor"])
    assert [row["_id"] for row in [*first["rows"], *rest["rows"]]] == [1, 2, 3]
    described = mongo.call("describe", table="things")
    assert (described["sampled"], described["columns"][0]["name"]) == (3, "_id")


def test_a_document_of_any_depth_that_the_server_stores_is_shown(mongo: Mongo) -> None:
    value: dict[str, Any] = {"end": 1}
    for _ in range(150):
        value = {"a": value}
    mongo.collection("things").insert_one({"_id": 1, **value})
    (row,) = mongo.call("query", table="things")["rows"]
    assert row == {"_id": 1, **value}
    assert whole(entries(bson.encode(value), RELAXED)) == value


NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["$oid", "$date", "$ref", "$id", "$db", "$literal", "$code", "$", "a.b"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**63), 2**63 - 1).map(bson.Int64),
    st.floats(allow_nan=False),
    st.just(float("nan")),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.binary(max_size=8),
    st.binary(max_size=16).map(lambda data: bson.Binary(data, 4)),
    st.tuples(st.binary(max_size=8), st.integers(5, 255)).map(lambda pair: bson.Binary(*pair)),
    st.binary(min_size=12, max_size=12).map(bson.ObjectId),
    st.integers(-(2**63), 2**63 - 1).map(bson.DatetimeMS),
    st.integers(-(10**14), 3 * 10**14).map(bson.DatetimeMS),
    st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)).map(lambda pair: bson.Timestamp(*pair)),
    st.tuples(st.text("ab^$.*é", max_size=4), st.sampled_from(["", "i", "msx"])).map(lambda pair: bson.Regex(*pair)),
    st.decimals(allow_nan=False, places=3, min_value=-(10**20), max_value=10**20).map(bson.Decimal128),
    st.sampled_from(
        [bson.MinKey(), bson.MaxKey(), bson.Decimal128("NaN"), bson.Decimal128("-Infinity"), bson.DBRef("c", 1)]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(
    sign=st.integers(0, 1),
    exponent=st.integers(0, 2**14 - 1) | st.integers(6176 - 45, 6176 + 3),
    coefficient=st.integers(0, 2**113 - 1) | st.integers(0, 10**34) | st.integers(0, 999),
)
def test_a_decimal_has_the_digits_that_the_driver_gives_it(sign: int, exponent: int, coefficient: int) -> None:
    """All 128 bits that there are, special values and those that are no number included."""
    value = bson.Decimal128.from_bid((sign << 127 | exponent << 113 | coefficient).to_bytes(16, "little"))

    assert decimal(value) == str(value)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
def test_what_canonical_shows_is_stored_as_the_same_bytes(fields: dict[str, Any]) -> None:
    data = bson.encode(fields)
    assert stored(json.loads(json.dumps(shown(data, CANONICAL), allow_nan=False))) == data


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
def test_what_relaxed_shows_is_stored_as_equal_values(fields: dict[str, Any]) -> None:
    relaxed = json.loads(json.dumps(shown(bson.encode(fields), RELAXED), allow_nan=False))
    again = stored(relaxed)
    assert shown(again, RELAXED) == relaxed
    assert bson.decode(again, OPTIONS) == bson.decode(bson.encode(fields), OPTIONS) or "NaN" in repr(relaxed)


OPTIONS = bson.codec_options.CodecOptions(datetime_conversion=bson.codec_options.DatetimeConversion.DATETIME_MS)


def test_the_whole_way_through_the_server_keeps_the_bytes(mongo: Mongo) -> None:
    """Canonical documents that were read can be inserted again, and are the same to the last bit."""
    values = [case.values[1] for case in FORMS if case.values[1] is not None]
    original = bson.encode({"_id": 1, **{f"v{number}": value for number, value in enumerate(values)}})
    mongo.database.create_collection("things")
    mongo.collection("things").insert_one(RawBSONDocument(original))  # type: ignore[arg-type]
    (row,) = mongo.call("query", table="things", format="canonical")["rows"]
    mongo.collection("things").delete_one({})
    assert mongo.call("insert", table="things", rows=[row])["inserted"] == 1
    (batch,) = mongo.collection("things").find_raw_batches({})
    assert batch == original


def test_an_empty_timestamp_is_refused_since_the_server_would_put_the_time_there(mongo: Mongo) -> None:
    mongo.database.create_collection("things")
    row = {"at": {"$timestamp": {"t": 0, "i": 0}}}
    assert mongo.reason("insert", table="things", rows=[row]) == "bad_value"
    assert mongo.collection("things").count_documents({}) == 0


def test_canonical_is_for_documents_only(tmp_path: Any) -> None:
    from database_world import Shop

    assert Shop(tmp_path).refusal("query", table="customers", format="canonical")["code"] == "invalid_params"


def test_a_pipeline_shows_canonical_values_too(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": 1, "n": bson.Int64(5)}]})
    answer = mongo.call("aggregate", table="things", pipeline=[{"$match": {}}], format="canonical")
    assert answer["rows"] == [{"_id": {"$numberInt": "1"}, "n": {"$numberLong": "5"}}]


WORDS = st.sampled_from(
    [
        "$oid",
        "$date",
        "$numberLong",
        "$numberDouble",
        "$binary",
        "$uuid",
        "$literal",
        "$ref",
        "$id",
        "$code",
        "$",
        "x",
        "",
    ]
)
JSON = st.recursive(
    st.sampled_from(
        [None, True, 0, -1, 2**31, 2**63, 1.5, "", "1", "AA==", "2024-01-01", "Infinity", OID, "\ud800", "\0"]
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=6,
)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(JSON)
def test_any_json_is_refused_or_comes_back_from_canonical_as_the_same_bytes(value: Any) -> None:
    try:
        data = stored({"v": value})
    except InvalidParams as error:
        assert error.reason == "bad_value"
    else:
        assert stored(shown(data, CANONICAL)) == data


DAMAGED = bson.encode({"a": 1, "b": {"c": [1, "x", {"d": bson.Code("f", {"z": 1})}]}, "r": bson.Regex("a"), "t": True})


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    st.lists(
        st.tuples(st.integers(0, len(DAMAGED) - 1), st.integers(0, 255) | st.integers(0, 20)), min_size=1, max_size=3
    )
)
def test_a_damaged_document_is_shown_or_told(changes: list[tuple[int, int]]) -> None:
    data = bytearray(DAMAGED)
    for position, octet in changes:
        data[position] = octet
    try:
        for document, _, _ in rows([bytes(data)], RELAXED):
            json.dumps(document, allow_nan=False)
    except ClitoolError as error:
        assert error.reason == "database"
