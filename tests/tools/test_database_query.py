"""database_query, database_tables and database_describe on SQLite."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from database_world import ALLOWED, SECRET, Shop

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_a_query_gives_rows_as_objects_with_their_columns(shop: Shop) -> None:
    assert shop.call("query", table="customers", columns=["id", "name"], where={"id": 1}) == {
        "rows": [{"id": 1, "name": "Ada"}],
        "columns": [{"name": "id", "type": "INTEGER"}, {"name": "name", "type": "TEXT"}],
        "truncated": False,
        "next_cursor": None,
    }


def test_rows_come_in_the_order_of_the_primary_key(shop: Shop) -> None:
    assert [row["id"] for row in shop.call("query", table="customers")["rows"]] == [1, 2, 3]


def test_null_sorts_first_and_descending_last(shop: Shop) -> None:
    rising = shop.call("query", table="customers", order_by=["email", "-id"])["rows"]
    falling = shop.call("query", table="customers", order_by=["-email"])["rows"]

    assert [row["id"] for row in rising] == [3, 2, 1]
    assert [row["id"] for row in falling] == [1, 2, 3]


def test_names_are_compared_without_case_and_shown_as_the_schema_has_them(shop: Shop) -> None:
    answer = shop.call("query", table="CUSTOMERS", columns=["ID"], where={"NAME": "ada"}, order_by=["-Id"])

    assert answer["rows"] == [{"id": 1}]


TABLES = [
    pytest.param("secret", id="not listed"),
    pytest.param("nosuch", id="neither listed nor there"),
    pytest.param("main.customers", id="qualified"),
    pytest.param('"customers"', id="quoted"),
    pytest.param("customers;--", id="more than a name"),
    pytest.param("customers ", id="blank behind"),
    pytest.param("customers\0", id="nul"),
    pytest.param("\ud800", id="half a surrogate pair"),
    pytest.param("сustomers", id="a cyrillic letter"),  # noqa: RUF001 - that is the point
    pytest.param("ｃustomers", id="a full-width letter"),  # noqa: RUF001 - as above
    pytest.param("sqlite_master", id="the schema"),
    pytest.param("SQLite_Schema", id="the schema by its new name"),
    pytest.param("sqlite_sequence", id="a table of SQLite's own"),
    pytest.param("pragma_table_info", id="a pragma"),
    pytest.param("dbstat", id="pages"),
    pytest.param("json_each", id="a table that is a function"),
    pytest.param("ft_content", id="content of a virtual table"),
    pytest.param("hidden_ft", id="another full-text table"),
    pytest.param("(SELECT k FROM secret)", id="a subquery"),
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("tool", ["query", "describe", "insert", "upsert", "update", "delete"])
def test_a_table_that_is_not_listed_is_refused(shop: Shop, tool: str, table: str) -> None:
    """Whether it exists or not, in every spelling, for every tool, and nothing happens."""
    before = shop.dump()
    more: dict[str, Any] = {
        "query": {},
        "describe": {},
        "insert": {"rows": [{"k": 1}]},
        "upsert": {"rows": [{"id": 1, "k": 1}], "key": ["id"]},
        "update": {"where": {"id": 1}, "values": {"k": 1}},
        "delete": {"where": {"id": 1}},
    }[tool]

    assert shop.reason(tool, table=table, **more) == "table_not_allowed"
    assert shop.dump() == before


def test_the_word_all_leaves_sqlites_own_tables_closed(shop: Shop) -> None:
    """`all` means the owner's tables and views."""
    shop.settings["allowed_tables"] = "all"

    assert shop.call("query", table="secret", limit=1)["rows"] == [{"id": 1, "k": SECRET}]
    assert shop.reason("query", table="sqlite_master") == "table_not_allowed"
    assert shop.reason("query", table="json_each") == "not_found"
    assert [table["name"] for table in shop.call("tables")["tables"]] == [
        "customers",
        "ft",
        "hidden_ft",
        "orders",
        "places",
        "secret",
        "strict_things",
        "v_orders",
        "v_secret",
        "visits",
    ]


def test_a_kelvin_sign_is_no_k(tmp_path: Path) -> None:
    """Only ASCII letters are equal in both cases, as in SQLite: another letter is another table."""
    shop = Shop(tmp_path, "CREATE TABLE \u212aeys (a); CREATE TABLE keys (b);", allowed_tables=["keys"])

    assert shop.reason("query", table="\u212aeys") == "table_not_allowed"
    assert shop.call("query", table="KEYS")["columns"] == [{"name": "b", "type": ""}]


def test_an_allowed_table_that_does_not_exist_is_not_found(shop: Shop) -> None:
    shop.settings["allowed_tables"] = ["custmers", "customers"]

    assert "did you mean 'customers'" in shop.refusal("query", table="custmers")["error"]


def test_the_refusal_of_a_table_names_the_allowed_ones(shop: Shop) -> None:
    assert ", ".join(ALLOWED) in shop.refusal("query", table="secret")["error"]


def test_a_view_is_its_own_grant(shop: Shop) -> None:
    """An allowed view shows what it shows, although the table behind it stays closed."""
    assert shop.call("query", table="v_secret", where={"k": SECRET})["rows"] == [{"k": SECRET}]
    assert shop.reason("query", table="secret") == "table_not_allowed"


def test_a_view_on_the_schema_shows_nothing(tmp_path: Path) -> None:
    """SQLite's own tables are not reached through a view either."""
    shop = Shop(tmp_path, "CREATE VIEW v AS SELECT sql FROM sqlite_master;", allowed_tables=["v"])

    assert shop.reason("query", table="v") == "table_not_allowed"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        pytest.param("load_extension('/x')", "database", id="by SQLite"),
        pytest.param("sqlite_compileoption_get(0)", "function_not_allowed", id="by the guard"),
        pytest.param("readfile('/etc/passwd')", "database", id="because there is none"),
    ],
)
def test_a_view_with_a_dangerous_function_is_refused(tmp_path: Path, function: str, reason: str) -> None:
    """The schema of the file is not trusted to call functions that reach beyond it."""
    shop = Shop(tmp_path, f"CREATE VIEW v AS SELECT {function} AS a;", allowed_tables=["v"])

    assert shop.reason("query", table="v") == reason


def test_a_view_on_a_table_that_is_a_function_can_be_read(tmp_path: Path) -> None:
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (a); INSERT INTO t VALUES ('[1, 2]');
        CREATE VIEW v AS SELECT j.value FROM t, json_each(t.a) j;
        """,
        allowed_tables=["v", "t"],
    )

    assert shop.call("query", table="v")["rows"] == [{"value": 1}, {"value": 2}]
    assert shop.call("sql", sql="SELECT value FROM v")["rows"] == [{"value": 1}, {"value": 2}]


def test_a_view_on_a_full_text_table_can_be_read(tmp_path: Path) -> None:
    shop = Shop(
        tmp_path,
        """
        CREATE VIRTUAL TABLE f USING fts5 (body); INSERT INTO f VALUES ('hello');
        CREATE VIEW v AS SELECT highlight(f, 0, '<', '>') AS a FROM f WHERE f MATCH 'hello';
        """,
        allowed_tables=["v"],
    )

    assert shop.call("query", table="v")["rows"] == [{"a": "<hello>"}]


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({"columns": ["nme"]}, id="columns"),
        pytest.param({"order_by": ["nme"]}, id="order_by"),
        pytest.param({"order_by": ["-nme"]}, id="order_by descending"),
        pytest.param({"where": {"nme": 1}}, id="where"),
        pytest.param({"where": {"$or": [{"id": 1}, {"$not": {"nme": 1}}]}}, id="where inside"),
    ],
)
def test_an_unknown_column_is_refused_with_the_nearest_name(shop: Shop, params: dict[str, Any]) -> None:
    document = shop.refusal("query", table="customers", **params)

    assert document["details"]["reason"] == "column_unknown"
    assert "did you mean 'name'" in document["error"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param('id" FROM secret --', id="a quote"),
        pytest.param("id, k", id="two"),
        pytest.param("rowid", id="the hidden number of a row"),
        pytest.param("ft", id="the hidden column of a full-text table"),
        pytest.param("*", id="star"),
        pytest.param("count(*)", id="a function"),
        pytest.param("customers.id", id="qualified"),
        pytest.param("id\0", id="nul"),
        pytest.param("", id="empty"),
        pytest.param("'id'", id="a string"),
    ],
)
@pytest.mark.parametrize("table", ["visits", "ft"])
def test_what_is_no_column_of_the_schema_is_refused(shop: Shop, table: str, name: str) -> None:
    """A name reaches SQL only if the live schema has it."""
    assert shop.reason("query", table=table, columns=[name]) == "column_unknown"
    assert shop.reason("query", table=table, order_by=[f"-{name}"]) == "column_unknown"
    assert shop.reason("query", table=table, where={name: 1}) == "column_unknown"


ODD = [
    'q"uote',
    "a b",
    "select",
    "ünïcödé",
    "-minus",
    "semi;colon",
    "it's",
    "[b]",
    "`c`",
    "a.b",
    "100%",
    "$price",
    "日本",
    "\t",
]


def test_columns_may_be_called_anything(tmp_path: Path) -> None:
    columns = ", ".join('"' + name.replace('"', '""') + '" INT' for name in ODD)
    shop = Shop(tmp_path, f'CREATE TABLE "odd ""table" ({columns});', allowed_tables=['odd "table'])
    row = dict(zip(ODD, range(len(ODD)), strict=True))
    table = 'odd "table'

    assert shop.call("insert", table=table, rows=[row])["inserted"] == 1
    assert shop.call("update", table=table, where=row, values=row)["affected"] == 1
    for name, value in row.items():
        assert shop.call("query", table=table, columns=[name], where={name: value}, order_by=[name])["rows"] == [
            {name: value}
        ]
    assert shop.call("query", table=table, order_by=["--minus"])["rows"] == [row]
    assert [column["name"] for column in shop.call("describe", table=table)["columns"]] == ODD
    assert shop.call("delete", table=table, where=row)["affected"] == 1


def test_tables_of_every_sort_can_be_read(shop: Shop) -> None:
    assert shop.call("query", table="ft", where={"body": {"$like": "hello%"}})["rows"] == [
        {"body": "hello world", "tag": "x"}
    ]
    assert shop.call("query", table="places", where={"x0": {"$gte": 1.5}})["rows"] == [{"id": 1, "x0": 2.0, "x1": 3.0}]
    assert shop.call("query", table="v_orders", where={"id": 3})["rows"] == [{"id": 3, "name": "Bob"}]
    assert shop.call("query", table="orders", columns=["label"], where={"label": "#2"})["rows"] == [{"label": "#2"}]


@pytest.mark.parametrize(
    ("limit", "max_rows", "count", "truncated"),
    [
        pytest.param(2, 1000, 2, True, id="fewer than there are"),
        pytest.param(3, 1000, 3, False, id="as many as there are"),
        pytest.param(100, 1000, 3, False, id="more than there are"),
        pytest.param(100, 2, 2, True, id="the client's bound"),
        pytest.param(100, 3, 3, False, id="the client's bound is enough"),
    ],
)
def test_a_cut_is_told_exactly(shop: Shop, limit: int, max_rows: int, count: int, *, truncated: bool) -> None:
    shop.settings["max_rows"] = max_rows

    answer = shop.call("query", table="customers", limit=limit)

    assert (len(answer["rows"]), answer["truncated"]) == (count, truncated)
    assert (answer["next_cursor"] is not None) == truncated


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 90, id="ascii"),
        pytest.param("é" * 15, id="two bytes a character"),
        pytest.param("😀" * 7, id="beyond the basic plane"),
        pytest.param('"\\\n' * 15, id="escapes"),
        pytest.param("\x01\x7f" * 7, id="control characters"),
    ],
)
def test_rows_stop_at_the_size_that_the_client_may_have(tmp_path: Path, text: str) -> None:
    """`max_bytes` bounds the rows as they are written, whatever the text is made of."""
    shop = Shop(tmp_path, "CREATE TABLE t (id INTEGER PRIMARY KEY, text)", allowed_tables=["t"], max_bytes=1200)
    shop.write("INSERT INTO t (text) VALUES (?)", [(text,)] * 50)

    answer = shop.call("query", table="t")
    more = shop.call("query", table="t", cursor=answer["next_cursor"])

    assert answer["truncated"]
    assert 900 < len(json.dumps(list(answer["rows"]), separators=(",", ":"))) <= 1202
    assert more["rows"][0]["id"] == len(answer["rows"]) + 1


def test_the_first_row_comes_however_large_it_is(tmp_path: Path) -> None:
    shop = Shop(tmp_path, "CREATE TABLE t (id INTEGER PRIMARY KEY, text)", allowed_tables=["t"], max_bytes=10)
    shop.write("INSERT INTO t (text) VALUES (?)", [("x" * 10_000,)] * 3)

    answer = shop.call("query", table="t")

    assert [len(row["text"]) for row in answer["rows"]] == [10_000]
    assert answer["truncated"]


def test_a_value_beyond_all_bounds_says_what_to_do(tmp_path: Path) -> None:
    """A value that would fill the memory is not read."""
    shop = Shop(tmp_path, "CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)", allowed_tables=["t"])
    shop.run("INSERT INTO t VALUES (1, zeroblob(20000000))")

    assert shop.reason("query", table="t") == "too_large"
    assert shop.call("query", table="t", columns=["id"])["rows"] == [{"id": 1}]


def test_a_query_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    """The statement ends by itself when its time is over."""
    shop = Shop(
        tmp_path,
        """
        CREATE VIEW v AS WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) AS n FROM r;
        """,
        allowed_tables=["v"],
        timeout=0.2,
    )

    document = shop.refusal("query", table="v")

    assert document["details"]["reason"] == "timeout"
    assert "0.2 s" in document["error"]


def test_naming_a_column_twice_is_refused(shop: Shop) -> None:
    assert shop.reason("query", table="customers", columns=["id", "ID"]) == "schema"
    assert shop.reason("query", table="customers", order_by=["id", "-id"]) == "schema"


def test_values_of_another_kind_than_their_column_come_as_they_are(shop: Shop) -> None:
    """SQLite keeps what it was given; a text in a number's column breaks nothing."""
    shop.write(
        "INSERT INTO orders (id, customer_id, total, placed, doc) VALUES (?, ?, ?, ?, ?)",
        [(7, "seven", "ten", b"\xff", "not json"), (8, 8.5, b"\0", 20240131, 5)],
    )

    rows = shop.call("query", table="orders", where={"id": {"$gte": 7}})["rows"]

    assert rows == [
        {
            "id": 7,
            "customer_id": "seven",
            "total": "ten",
            "placed": {"$binary": {"base64": "/w==", "subType": "00"}},
            "doc": "not json",
            "label": "#7",
        },
        {
            "id": 8,
            "customer_id": 8.5,
            "total": {"$binary": {"base64": "AA==", "subType": "00"}},
            "placed": 20240131,
            "doc": 5,
            "label": "#8",
        },
    ]


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        pytest.param('{"a": [1, 2.5, null]}', {"a": [1, 2.5, None]}, id="an object"),
        pytest.param("[]", [], id="an array"),
        pytest.param('"text"', '"text"', id="a string stays a text"),
        pytest.param("true", "true", id="a word stays a text"),
        pytest.param('{"a": 1, "a": 2}', '{"a": 1, "a": 2}', id="a key twice would be lost"),
        pytest.param('{"a": 9007199254740993}', '{"a": 9007199254740993}', id="a large integer would be lost"),
        pytest.param("[0.12345678901234567890]", "[0.12345678901234567890]", id="digits would be lost"),
        pytest.param("[1e999]", "[1e999]", id="infinity is no JSON"),
        pytest.param("[NaN]", "[NaN]", id="NaN is no JSON"),
        pytest.param("{broken", "{broken", id="no JSON at all"),
        pytest.param("[" * 100_000, "[" * 100_000, id="too deep"),
    ],
)
def test_a_json_column_shows_objects_and_arrays_unless_that_loses_something(
    shop: Shop, stored: str, shown: object
) -> None:
    shop.write("INSERT INTO orders (id, doc) VALUES (9, ?)", [(stored,)])

    assert shop.call("query", table="orders", columns=["doc"], where={"id": 9})["rows"] == [{"doc": shown}]


def test_the_allowed_tables_that_exist_are_listed(shop: Shop) -> None:
    shop.settings["allowed_tables"] = ["orders", "v_orders", "ft", "nosuch", "CUSTOMERS"]

    assert shop.call("tables") == {
        "tables": [
            {"name": "customers", "type": "table"},
            {"name": "ft", "type": "table"},
            {"name": "orders", "type": "table"},
            {"name": "v_orders", "type": "view"},
        ]
    }


def test_a_table_is_described(shop: Shop) -> None:
    described = shop.call("describe", table="customers")

    assert described["columns"][0] == {
        "name": "id",
        "type": "INTEGER",
        "kind": "integer",
        "nullable": False,
        "default": None,
        "primary_key": 1,
        "generated": False,
    }
    assert described["columns"][1] == {
        "name": "name",
        "type": "TEXT",
        "kind": "text",
        "nullable": False,
        "default": None,
        "primary_key": 0,
        "generated": False,
        "collation": "NOCASE",
    }
    assert [(index["columns"], index["unique"], index["primary_key"]) for index in described["indexes"]] == [
        (["id"], True, True),
        (["name"], True, False),
        (["email"], True, False),
    ]


def test_kinds_follow_the_declared_types(tmp_path: Path) -> None:
    kinds = {
        "INT": "integer",
        "BIGINT UNSIGNED": "integer",
        "BOOLEAN": "integer",
        "VARCHAR(10)": "text",
        "CLOB": "text",
        "BLOB": "binary",
        "DOUBLE": "real",
        "FLOAT": "real",
        "DECIMAL(10,2)": "decimal",
        "NUMERIC": "decimal",
        "JSON": "json",
        "DATE": "any",
        "DATETIME": "any",
        "": "any",
        "STRING": "any",
    }
    shop = Shop(
        tmp_path, f"CREATE TABLE t ({', '.join(f'c{n} {kind}' for n, kind in enumerate(kinds))})", allowed_tables=["t"]
    )

    described = shop.call("describe", table="t")["columns"]

    assert {column["type"]: column["kind"] for column in described} == kinds


def test_a_description_hides_tables_that_are_not_allowed(tmp_path: Path) -> None:
    """Foreign keys and views tell the names of allowed tables only."""
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE owners (id INTEGER PRIMARY KEY);
        CREATE TABLE a (id INTEGER PRIMARY KEY);
        CREATE TABLE t (o INT REFERENCES owners (id) ON DELETE CASCADE, a INT REFERENCES a (id));
        CREATE VIEW v AS SELECT t.a FROM t, owners;
        """,
        allowed_tables=["t", "a", "v"],
    )

    assert shop.call("describe", table="t")["foreign_keys"] == [
        {"columns": ["o"], "table": None, "references": [None], "on_update": "NO ACTION", "on_delete": "CASCADE"},
        {"columns": ["a"], "table": "a", "references": ["id"], "on_update": "NO ACTION", "on_delete": "NO ACTION"},
    ]
    assert sorted(shop.call("describe", table="v")["base_tables"], key=str) == [None, "t"]


@pytest.mark.parametrize(
    ("column", "collation"),
    [
        pytest.param("a", "BINARY", id="binary"),
        pytest.param("b", "NOCASE", id="nocase"),
        pytest.param("c", "RTRIM", id="rtrim"),
    ],
)
def test_the_collation_of_a_column_is_told_also_through_a_view(tmp_path: Path, column: str, collation: str) -> None:
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (a TEXT, b TEXT COLLATE NOCASE, c TEXT COLLATE RTRIM);
        CREATE VIEW v AS SELECT * FROM t;
        """,
        allowed_tables=["t", "v"],
    )

    for table in ("t", "v"):
        described = {each["name"]: each for each in shop.call("describe", table=table)["columns"]}
        assert described[column]["collation"] == collation


def test_the_audit_line_names_what_is_touched(shop: Shop) -> None:
    context = shop.context()
    from database_world import TOOLS

    TOOLS["query"](context).execute(table="customers", where={"name": "Ada"})
    context.close()

    assert context.touches == {"connection": "", "table": "customers"}


def test_a_decision_opens_nothing(shop: Shop) -> None:
    """What a call would touch is said without the database."""
    from database_world import TOOLS

    shop.path.unlink()
    context = shop.context()

    decided = TOOLS["query"](context).decide(table="customers", where={}, limit=1)

    assert decided == {"connection": "", "table": "customers"}
    assert not shop.path.exists()
