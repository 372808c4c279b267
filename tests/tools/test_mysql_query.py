"""database_query and database_tables on MariaDB: tables, views and columns of every sort, limits, names."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from mariadb_world import SECRET, TOOLS, Maria
from services.mariadb import MariaDB

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_query_gives_rows_as_objects_with_their_columns(maria: Maria) -> None:
    assert maria.call("query", table="orders", where={"id": 1}) == {
        "rows": [
            {
                "id": 1,
                "customer_id": 1,
                "total": "10.50",
                "placed": "2024-01-31",
                "doc": {"a": [1, 2]},
                "label": "#1",
            }
        ],
        "columns": [
            {"name": "id", "type": "int(11)"},
            {"name": "customer_id", "type": "int(11)"},
            {"name": "total", "type": "decimal(10,2)"},
            {"name": "placed", "type": "date"},
            {"name": "doc", "type": "longtext"},
            {"name": "label", "type": "varchar(20)"},
        ],
        "truncated": False,
        "next_cursor": None,
    }


def test_null_sorts_first_and_descending_last(maria: Maria) -> None:
    def names(order: str) -> list[str]:
        return [row["name"] for row in maria.call("query", table="customers", order_by=[order])["rows"]]

    assert names("email") == ["Bob", "Zoë", "Ada"]
    assert names("-email") == ["Ada", "Bob", "Zoë"]


@pytest.mark.parametrize("tool", ["query", "describe", "insert", "upsert", "update", "delete"])
@pytest.mark.parametrize(
    "table",
    [
        pytest.param("secret", id="another table"),
        pytest.param("`secret`", id="in quotes"),
        pytest.param("orders, secret", id="two tables"),
        pytest.param("orders` UNION SELECT * FROM `secret", id="a quote inside"),
        pytest.param("orders -- ", id="a comment"),
        pytest.param("mysql.user", id="of another database"),
        pytest.param("information_schema.tables", id="of the server's own"),
        pytest.param("orders\0", id="nul"),
        pytest.param("örders", id="an accent, which the server's own look-up ignores"),
        pytest.param("orders ", id="a blank, which it ignores, too"),
    ],
)
def test_a_table_that_is_not_listed_is_refused(maria: Maria, tool: str, table: str) -> None:
    """Before a server is asked: nothing is listed that this could be."""
    more: dict[str, Any] = {
        "insert": {"rows": [{"k": "x"}]},
        "upsert": {"rows": [{"id": 1}], "key": "id"},
        "update": {"where": {"id": 1}, "values": {"k": "x"}},
        "delete": {"where": {"id": 1}},
    }.get(tool, {})

    assert maria.reason(tool, table=table, **more) == "table_not_allowed"
    assert maria.rows("SELECT COUNT(*) FROM secret WHERE k LIKE 'TOP%'") == [(2,)]


@pytest.mark.parametrize(
    "table", ["örders", "orders ", "orders\0", "ORDERS", "Orders", "x" * 900, "secrët", "a.b", "`"]
)
def test_a_name_is_compared_letter_by_letter_where_the_server_does(maria: Maria, table: str) -> None:
    """Its own tables of tables would find what differs by an accent or a blank."""
    maria.settings["allowed_tables"] = "all"

    assert maria.reason("query", table=table) == "not_found"


def test_another_spelling_grants_no_other_table(mariadb: MariaDB) -> None:
    """On a server that tells cases apart, `Orders` in the settings is not `orders`."""
    script = "CREATE TABLE `Orders` (id INT PRIMARY KEY); CREATE TABLE orders (k TEXT); INSERT INTO orders VALUES ('s')"
    world = Maria(mariadb, script, allowed_tables=["Orders"])

    assert world.call("tables") == {"tables": [{"name": "Orders", "type": "table"}]}
    document = world.refusal("query", table="orders")
    assert document["details"]["reason"] == "table_not_allowed"
    assert document["error"] == "the table 'orders' is not in allowed_tables: Orders"
    assert world.call("query", table="Orders")["rows"] == []
    world.drop()


def test_two_spellings_may_be_listed(mariadb: MariaDB) -> None:
    world = Maria(
        mariadb, "CREATE TABLE `A` (id INT); CREATE TABLE a (id INT, x INT)", allowed_tables=["A", "a"], max_rows=5
    )

    assert [table["name"] for table in world.call("tables")["tables"]] == ["A", "a"]
    assert len(world.call("query", table="a")["columns"]) == 2
    assert len(world.call("query", table="A")["columns"]) == 1
    world.drop()


@pytest.fixture(scope="module")
def folding() -> Iterator[MariaDB]:
    """A server that takes all spellings of a table's name for one."""
    server = MariaDB("--lower-case-table-names=1")
    yield server
    server.stop()


def test_spellings_are_one_where_the_server_says_so(folding: MariaDB) -> None:
    script = "CREATE TABLE Orders (Id INT PRIMARY KEY); CREATE TABLE secret (k TEXT); CREATE TABLE straße (id INT)"
    world = Maria(folding, script, allowed_tables=["ORDERS", "strasse"])

    assert world.call("tables") == {"tables": [{"name": "orders", "type": "table"}]}
    assert world.call("insert", table="oRDERS", rows=[{"id": 1}]) == {"inserted": 1}
    assert world.call("query", table="Orders", where={"ID": 1})["rows"] == [{"Id": 1}]
    assert world.call("describe", table="orders")["name"] == "orders"
    assert world.reason("query", table="Secret") == "table_not_allowed"
    assert world.reason("query", table="straße") == "table_not_allowed"  # only Unicode's folding makes that one name
    world.drop()


def test_a_cascade_is_found_whatever_the_spelling(folding: MariaDB) -> None:
    script = """
    CREATE TABLE Parent (id INT PRIMARY KEY); CREATE TABLE Secret (p INT, FOREIGN KEY (p) REFERENCES PARENT (id)
    ON DELETE CASCADE); INSERT INTO Parent VALUES (1); INSERT INTO Secret VALUES (1)
    """
    world = Maria(folding, script, allowed_tables=["PARENT"])

    assert "'secret'" in world.refusal("delete", table="Parent", where={"id": 1})["error"]
    world.settings["allow_side_effects"] = ["SECRET"]
    assert world.call("delete", table="Parent", where={"id": 1})["affected"] == 1
    world.drop()


def test_the_server_s_own_tables_are_not_found_by_their_names(maria: Maria) -> None:
    """Only tables of the one database exist."""
    maria.settings["allowed_tables"] = "all"

    for table in ("user", "tables", "mysql.user", "information_schema.TABLES", "seq_1_to_100"):
        assert maria.reason("query", table=table) == "not_found"


def test_an_allowed_table_that_does_not_exist_is_not_found(maria: Maria) -> None:
    """The nearest name that is offered is one of the allowed tables, never another one."""
    maria.settings["allowed_tables"] = ["orders", "oders", "secrets"]

    document = maria.refusal("query", table="oders")
    assert document["error"] == "the database has no table 'oders'; did you mean 'orders'?"
    assert document["details"]["reason"] == "not_found"
    assert maria.refusal("query", table="secrets")["error"] == "the database has no table 'secrets'"


def test_a_view_is_its_own_grant(maria: Maria) -> None:
    assert maria.call("query", table="v_orders", order_by=["id"])["rows"][0] == {"id": 1, "name": "Ada"}
    assert len(maria.call("query", table="v_secret")["rows"]) == 2
    assert maria.reason("query", table="secret") == "table_not_allowed"


SORTS = f"""
CREATE TABLE versioned (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING;
CREATE TABLE periods (id INT PRIMARY KEY, v INT, since TIMESTAMP(6) GENERATED ALWAYS AS ROW START,
    until TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (since, until)) WITH SYSTEM VERSIONING;
CREATE TABLE parts (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 4;
CREATE TABLE hiding (id INT PRIMARY KEY, v INT, hidden INT INVISIBLE DEFAULT 7);
CREATE TABLE aria (id INT PRIMARY KEY, v INT) ENGINE=Aria;
CREATE TABLE memory (id INT PRIMARY KEY, v INT) ENGINE=MEMORY;
CREATE SEQUENCE numbers;
CREATE TABLE other_secret (k VARCHAR(50)); INSERT INTO other_secret VALUES ('{SECRET}');
CREATE VIEW broken AS SELECT k FROM other_secret; DROP TABLE other_secret;
INSERT INTO versioned VALUES (1, 1); UPDATE versioned SET v = 2; INSERT INTO periods (id, v) VALUES (1, 1);
UPDATE periods SET v = 2; INSERT INTO parts VALUES (1, 2); INSERT INTO hiding VALUES (1, 2);
INSERT INTO aria VALUES (1, 2); INSERT INTO memory VALUES (1, 2);
"""


@pytest.fixture(scope="module")
def sorts(mariadb: MariaDB) -> Iterator[Maria]:
    world = Maria(mariadb, SORTS, allowed_tables="all")
    yield world
    world.drop()


def test_tables_of_every_sort_can_be_read(sorts: Maria) -> None:
    """Rows as they are now, also where the server keeps those that were."""
    for table in ("versioned", "periods", "parts", "hiding", "aria", "memory"):
        rows = sorts.call("query", table=table, where={"id": 1}, columns=["id", "v"])["rows"]
        assert rows == [{"id": 1, "v": 2}], table


def test_a_sequence_is_no_table(sorts: Maria) -> None:
    assert "numbers" not in [table["name"] for table in sorts.call("tables")["tables"]]
    assert sorts.reason("query", table="numbers") == "not_found"


def test_an_invisible_column_is_read_where_it_is_named(sorts: Maria) -> None:
    assert sorts.call("query", table="hiding")["rows"] == [{"id": 1, "v": 2}]
    assert sorts.call("query", table="hiding", columns=["hidden"], where={"hidden": 7})["rows"] == [{"hidden": 7}]
    described = sorts.call("describe", table="hiding")["columns"]
    assert [column.get("invisible") for column in described] == [None, None, True]


def test_a_view_on_what_is_gone_says_so(sorts: Maria) -> None:
    document = sorts.refusal("query", table="broken")

    assert document["details"]["reason"] == "database"
    assert "other_secret" not in document["error"]


ODD = ["a`b", "a'b", 'a"b', "a\\b", "SELECT", "a b", "größe", "日本", "-x", "$eq", "%s", "?", "a.b", "x" * 64]


def test_columns_may_be_called_anything(mariadb: MariaDB) -> None:
    declared = ", ".join(f"`{name.replace('`', '``')}` INT" for name in ODD)
    world = Maria(mariadb, f"CREATE TABLE `ta``ble'\"\\` (id INT PRIMARY KEY, {declared})", allowed_tables="all")
    table = "ta`ble'\"\\"
    row = {name: number for number, name in enumerate(ODD)}

    world.call("insert", table=table, rows=[{"id": 1, **row}])
    assert world.call("query", table=table, columns=ODD, where=row, order_by=ODD)["rows"] == [row]
    assert world.call("update", table=table, where={"a`b": 0}, values={"a'b": 9})["affected"] == 1
    assert world.call("upsert", table=table, key="id", rows=[{"id": 1, "a\\b": 8}])["updated"] == 1
    assert len(world.call("describe", table=table)["columns"]) == len(ODD) + 1
    world.drop()


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({"columns": ["nmae"]}, id="columns"),
        pytest.param({"where": {"nmae": 1}}, id="where"),
        pytest.param({"order_by": ["-nmae"]}, id="order"),
    ],
)
def test_an_unknown_column_is_refused_with_the_nearest_name(maria: Maria, params: dict[str, Any]) -> None:
    document = maria.refusal("query", table="customers", **params)

    assert document["details"]["reason"] == "column_unknown"
    assert "did you mean 'name'" in document["error"]


@pytest.mark.parametrize(
    "name", ["rowid", "*", "id, k", "1", "`id`", "(SELECT k FROM secret)", "customers.id", "íd", "", "name\0"]
)
def test_what_is_no_column_of_the_schema_is_refused(maria: Maria, name: str) -> None:
    """Nothing that a caller calls a column gets into SQL unless the schema has it."""
    for params in ({"columns": [name]}, {"where": {name: 1}}, {"order_by": [name]}):
        assert maria.reason("query", table="customers", **params) == "column_unknown"


@pytest.mark.parametrize(
    ("limit", "max_rows", "count", "truncated"),
    [
        pytest.param(2, 1000, 2, True, id="less than there are"),
        pytest.param(3, 1000, 3, False, id="as many as there are"),
        pytest.param(4, 1000, 3, False, id="more than there are"),
        pytest.param(100, 2, 2, True, id="the client's limit"),
        pytest.param(1, 1, 1, True, id="one"),
    ],
)
def test_a_cut_is_told_exactly(maria: Maria, limit: int, max_rows: int, count: int, *, truncated: bool) -> None:
    maria.settings["max_rows"] = max_rows

    result = maria.call("query", table="customers", limit=limit)

    assert (len(result["rows"]), result["truncated"]) == (count, truncated)
    assert (result["next_cursor"] is not None) == truncated


def test_memory_does_not_grow_with_the_table(mariadb: MariaDB) -> None:
    """Rows are taken from the connection as they are needed, and no more of them than the answer may hold."""
    world = Maria(
        mariadb,
        "CREATE TABLE t (id INT PRIMARY KEY, x VARCHAR(1000));"
        "INSERT INTO t SELECT seq, REPEAT('x', 1000) FROM seq_1_to_20000",
        allowed_tables=["t"],
        max_rows=1_000_000,
        max_bytes=100_000,
    )
    world.call("query", table="t", limit=1)
    tracemalloc.start()
    try:
        result = world.call("query", table="t", limit=1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    world.drop()

    assert result["truncated"]
    assert 80 < len(result["rows"]) < 100
    assert peak < 5_000_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param('{"a": [1, null, "x"]}', {"a": [1, None, "x"]}, id="object"),
        pytest.param("[]", [], id="empty array"),
        pytest.param('{"a": 1.10}', {"a": 1.1}, id="a zero at the end"),
        pytest.param('{"a": 12345678901234567890}', '{"a": 12345678901234567890}', id="an integer beyond 53 bits"),
        pytest.param('{"a": 0.1234567890123456789}', '{"a": 0.1234567890123456789}', id="more digits than a double"),
        pytest.param('{"a": 1, "a": 2}', '{"a": 1, "a": 2}', id="a key twice"),
        pytest.param('"text"', '"text"', id="a text"),
        pytest.param("1", "1", id="a number"),
        pytest.param("null", "null", id="null as a document"),
    ],
)
def test_a_json_column_shows_objects_and_arrays_unless_that_loses_something(
    maria: Maria, text: str, shown: Any
) -> None:
    """And it is known for one also to an account that may only read, to which the server hides the column's check."""
    maria.run(f"INSERT INTO orders (id, doc) VALUES (9, '{text}')")
    maria.server.run(f"REVOKE ALL ON {maria.name}.* FROM {maria.name}@'%'")
    maria.server.run(f"GRANT SELECT ON {maria.name}.orders TO {maria.name}@'%'")

    assert maria.call("query", table="orders", columns=["doc"], where={"id": 9})["rows"] == [{"doc": shown}]


def test_an_account_may_have_some_columns_only(maria: Maria) -> None:
    """What the server hides from the account is not there."""
    maria.server.run(f"REVOKE ALL ON {maria.name}.* FROM {maria.name}@'%'")
    maria.server.run(f"GRANT SELECT (id, name) ON {maria.name}.customers TO {maria.name}@'%'")
    maria.server.run(f"GRANT SELECT (id, doc) ON {maria.name}.orders TO {maria.name}@'%'")

    assert maria.call("query", table="customers", where={"id": 1})["rows"] == [{"id": 1, "name": "Ada"}]
    assert maria.reason("query", table="customers", columns=["email"]) == "column_unknown"
    assert maria.call("query", table="orders", where={"id": 1})["rows"] == [{"id": 1, "doc": '{"a": [1, 2]}'}]
    assert [table["name"] for table in maria.call("tables")["tables"]] == ["customers", "orders"]


def test_the_allowed_tables_that_exist_are_listed(maria: Maria) -> None:
    maria.settings["allowed_tables"] = ["v_orders", "orders", "nothing"]

    assert maria.call("tables") == {
        "tables": [{"name": "orders", "type": "table"}, {"name": "v_orders", "type": "view"}]
    }


def test_a_query_that_takes_too_long_is_stopped(maria: Maria) -> None:
    """On the server, too."""
    maria.run("CREATE VIEW slow AS SELECT id, SLEEP(20) AS s FROM customers")
    maria.settings |= {"allowed_tables": ["slow"], "timeout": 1}

    assert maria.reason("query", table="slow", where={"id": 1}) == "timeout"
    running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%slow%' AND ID <> CONNECTION_ID()"
    assert maria.server.comes_to([(0,)], running)


def test_a_value_beyond_the_size_of_an_answer_comes_as_the_first_row(maria: Maria) -> None:
    maria.settings["max_bytes"] = 100
    maria.run("UPDATE customers SET note = REPEAT('x', 5000)")

    page = maria.call("query", table="customers", columns=["note"])

    assert ([len(row["note"]) for row in page["rows"]], page["truncated"]) == ([5000], True)
    rest = maria.call("query", table="customers", columns=["note"], cursor=page["next_cursor"])
    assert len(rest["rows"]) == 1


def test_naming_a_column_twice_is_refused(maria: Maria) -> None:
    for params in ({"columns": ["id", "ID"]}, {"order_by": ["id", "-id"]}):
        assert maria.reason("query", table="customers", **params) == "schema"


def test_the_audit_line_names_what_is_touched(maria: Maria) -> None:
    context = maria.context()
    try:
        TOOLS["query"](context).execute(table="orders")
        assert context.touches == {"connection": "", "table": "orders"}
    finally:
        context.close()


def test_a_decision_opens_no_connection(maria: Maria) -> None:
    maria.over_tcp().settings["port"] = 1
    context = maria.context()

    assert TOOLS["query"](context).decide(table="orders") == {"connection": "", "table": "orders"}
    with pytest.raises(ClitoolError, match="secret"):
        TOOLS["query"](context).decide(table="secret")
    context.close()
