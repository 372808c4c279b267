"""database_sql on SQLite: what must be refused, what must be accepted, and what must be bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.sqlite.functions import ALLOWED
from database_world import SECRET, Shop

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


TABLE, STATEMENT, FUNCTION = "table_not_allowed", "statement_not_allowed", "function_not_allowed"

REFUSED = [
    # A table that is not listed, in every spelling and every place.
    ("double quotes", 'SELECT * FROM "secret"', TABLE),
    ("brackets", "SELECT * FROM [secret]", TABLE),
    ("backticks", "SELECT * FROM `secret`", TABLE),
    ("single quotes", "SELECT * FROM 'secret'", TABLE),
    ("capitals", "SELECT * FROM SECRET", TABLE),
    ("qualified", "SELECT * FROM main.secret", TABLE),
    ("qualified and quoted", 'SELECT * FROM "MAIN"."Secret"', TABLE),
    ("other schema", "SELECT * FROM temp.secret", TABLE),
    ("comment for a blank", "SELECT * FROM/**/secret", TABLE),
    ("parentheses", "SELECT * FROM ((secret))", TABLE),
    ("count", "SELECT COUNT(*) FROM secret", TABLE),
    ("no column", "SELECT 1 FROM secret", TABLE),
    ("row number", "SELECT rowid FROM secret", TABLE),
    ("largest row number", "SELECT max(rowid) FROM secret", TABLE),
    ("view behind", "SELECT * FROM v_secret", TABLE),
    ("count of a view", "SELECT count(*) FROM v_secret", TABLE),
    ("named like an allowed table", "WITH orders AS (SELECT k FROM secret) SELECT * FROM orders", TABLE),
    ("named like an allowed view", "WITH v_secret AS (SELECT k FROM secret) SELECT * FROM v_secret", TABLE),
    (
        "inner name does not hide",
        "SELECT * FROM (WITH secret AS (SELECT 1 AS k) SELECT * FROM secret) a JOIN secret b",
        TABLE,
    ),
    ("exists", "SELECT EXISTS (SELECT 1 FROM secret)", TABLE),
    ("exists as a filter", "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM secret WHERE k LIKE 'T%')", TABLE),
    ("scalar", "SELECT (SELECT k FROM secret)", TABLE),
    ("in a table", "SELECT 'x' IN secret", TABLE),
    ("in a subquery", "SELECT 1 IN (SELECT rowid FROM secret)", TABLE),
    ("row value", "SELECT * FROM orders WHERE (id, label) IN (SELECT id, k FROM secret)", TABLE),
    ("order by", "SELECT id FROM orders ORDER BY (SELECT k FROM secret)", TABLE),
    ("group by", "SELECT count(*) FROM orders GROUP BY (SELECT k FROM secret)", TABLE),
    ("having", "SELECT count(*) FROM orders GROUP BY id HAVING (SELECT k FROM secret) > ''", TABLE),
    ("limit", "SELECT id FROM orders LIMIT (SELECT count(*) FROM secret)", TABLE),
    ("offset", "SELECT id FROM orders LIMIT 1 OFFSET (SELECT id FROM secret)", TABLE),
    ("case", "SELECT CASE WHEN (SELECT k FROM secret) LIKE 'T%' THEN 1 END", TABLE),
    ("window", "SELECT sum(1) OVER (ORDER BY (SELECT k FROM secret)) FROM orders", TABLE),
    ("aggregate filter", "SELECT count(*) FILTER (WHERE (SELECT k FROM secret) > '') FROM orders", TABLE),
    ("comma join", "SELECT * FROM orders, secret", TABLE),
    ("comma join in parentheses", "SELECT * FROM orders, (secret)", TABLE),
    ("natural join", "SELECT * FROM orders NATURAL JOIN secret", TABLE),
    ("left join that yields nothing", "SELECT o.id FROM orders o LEFT JOIN secret s ON s.id = o.id", TABLE),
    ("join using", "SELECT o.id FROM orders o JOIN secret USING (id)", TABLE),
    ("union", "SELECT label FROM orders UNION SELECT k FROM secret", TABLE),
    ("union that yields nothing", "SELECT label FROM orders UNION SELECT k FROM secret WHERE 0", TABLE),
    ("except", "SELECT label FROM orders EXCEPT SELECT k FROM secret", TABLE),
    ("recursive", "WITH RECURSIVE r AS (SELECT k FROM secret UNION SELECT k FROM r) SELECT * FROM r", TABLE),
    ("values", "VALUES ((SELECT k FROM secret))", TABLE),
    ("argument of a table function", "SELECT value FROM json_each((SELECT k FROM secret))", TABLE),
    ("join with a table function", "SELECT j.value FROM secret, json_each(secret.k) j", TABLE),
    ("behind a MySQL comment", "SELECT 1 /*! , k */ , (SELECT k FROM secret)", TABLE),
    ("unknown column of it", "SELECT nosuch FROM secret", TABLE),
    ("a table that does not exist", "SELECT 1 FROM nosuch", TABLE),
    # Full-text tables of others, and what the allowed one is made of.
    ("another full-text table", "SELECT * FROM hidden_ft WHERE hidden_ft MATCH 'TOP'", TABLE),
    ("content of another", "SELECT * FROM hidden_ft_content", TABLE),
    ("content of the allowed one", "SELECT * FROM ft_content", TABLE),
    ("count of its content", "SELECT count(*) FROM ft_data", TABLE),
    ("secret in a match", "SELECT * FROM ft WHERE ft MATCH (SELECT k FROM secret)", TABLE),
    # What tells about the database.
    ("sqlite_master", "SELECT * FROM sqlite_master", TABLE),
    ("sqlite_schema", "SELECT sql FROM sqlite_schema", TABLE),
    ("quoted sqlite_master", 'SELECT sql FROM main."sqlite_master"', TABLE),
    ("count of sqlite_master", "SELECT count(*) FROM sqlite_master", TABLE),
    ("row numbers of sqlite_master", "SELECT rowid FROM sqlite_master", TABLE),
    ("sqlite_sequence", "SELECT * FROM sqlite_sequence", TABLE),
    ("sqlite_temp_master", "SELECT * FROM sqlite_temp_master", TABLE),
    ("pragma function", "SELECT * FROM pragma_table_info('secret')", TABLE),
    ("count of a pragma function", "SELECT count(*) FROM pragma_table_list", TABLE),
    ("database list", "SELECT file FROM pragma_database_list", TABLE),
    ("dbstat", "SELECT * FROM dbstat", TABLE),
    ("count of dbstat", "SELECT count(*) FROM dbstat", TABLE),
    ("sqlite_dbpage", "SELECT data FROM sqlite_dbpage", TABLE),
    ("sqlite_stmt", "SELECT * FROM sqlite_stmt", TABLE),
    ("tokenizer table", "SELECT * FROM fts3tokenize('simple', 'x')", TABLE),
    # Functions that reach beyond the statement.
    ("load_extension", "SELECT load_extension('x')", FUNCTION),
    ("load_extension in capitals", "SELECT LOAD_EXTENSION('x', 'y')", FUNCTION),
    ("load_extension quoted", "SELECT \"load_extension\"('x')", FUNCTION),
    ("readfile", "SELECT readfile('/etc/passwd')", FUNCTION),
    ("writefile", "SELECT writefile('x', 'y')", FUNCTION),
    ("edit", "SELECT edit('x')", FUNCTION),
    ("fts3_tokenizer", "SELECT fts3_tokenizer('simple')", FUNCTION),
    ("library version", "SELECT sqlite_version()", FUNCTION),
    ("compile options", "SELECT sqlite_compileoption_get(0)", FUNCTION),
    ("log of the library", "SELECT sqlite_log(1, 'x')", FUNCTION),
    ("check of a table by name", "SELECT rtreecheck('main', 'secret')", FUNCTION),
    ("function in a filter", "SELECT id FROM orders WHERE load_extension('x')", FUNCTION),
    ("function in a limit", "SELECT id FROM orders LIMIT load_extension('x')", FUNCTION),
    ("made-up function", "SELECT system('id')", FUNCTION),
    # Everything that is not a SELECT.
    *(
        (text, text, STATEMENT)
        for text in (
            "PRAGMA table_info(secret)",
            "PRAGMA query_only",
            "PRAGMA query_only=0",
            "PRAGMA query_only(0)",
            "PRAGMA writable_schema=1",
            "PRAGMA user_version=5",
            "PRAGMA wal_checkpoint(TRUNCATE)",
            "PRAGMA journal_mode=off",
            "ATTACH 'other.db' AS o",
            "ATTACH ':memory:' AS o",
            "DETACH main",
            "VACUUM",
            "VACUUM INTO 'copy.db'",
            "INSERT INTO orders (id) VALUES (9)",
            "INSERT INTO orders (id) VALUES (9) RETURNING *",
            "UPDATE orders SET total = 0",
            "DELETE FROM orders",
            "REPLACE INTO orders (id) VALUES (1)",
            "WITH x AS (SELECT 1) DELETE FROM orders",
            "WITH x AS (SELECT 1) INSERT INTO orders (id) SELECT 9",
            "WITH x AS (SELECT 1) UPDATE orders SET total = 0",
            "WITH x AS (SELECT 1) REPLACE INTO orders (id) SELECT 1",
            "WITH x AS (SELECT 1) DELETE FROM orders RETURNING *",
            "CREATE TABLE t (a)",
            "CREATE TEMP TABLE t (a)",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TEMP VIEW v AS SELECT 1",
            "CREATE VIRTUAL TABLE x USING fts5 (a)",
            "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
            "CREATE INDEX i ON orders (total)",
            "DROP TABLE orders",
            "ALTER TABLE orders ADD x",
            "REINDEX",
            "ANALYZE",
            "BEGIN",
            "COMMIT",
            "ROLLBACK",
            "END",
            "SAVEPOINT a",
            "RELEASE a",
            "EXPLAIN SELECT 1",
            "EXPLAIN SELECT * FROM secret",
            "EXPLAIN QUERY PLAN SELECT * FROM secret",
            "TABLE secret",
            "DESCRIBE secret",
            "SHOW TABLES",
            ".tables",
            "SELECT 1; SELECT 2",
            "SELECT 1; DROP TABLE orders",
            "SELECT 1;; SELECT 2",
            "SELECT 1; -- x\nDROP TABLE orders",
            ";SELECT 1",
            "; COMMIT",
            "\ufeff;COMMIT",
            "\ufeffSELECT 1",
            "(SELECT 1)",
            " ",
            "\n",
            ";",
            "-- x",
            "/* x */",
            "/* x",
            "-- x\n",
            "/* SELECT */",
            "-- SELECT 1",
            "SELECTED",
            "SELECT\0 1",
            "SELECT '\ud800'",
            "ＳＥＬＥＣＴ 1",  # noqa: RUF001 - full width
            "SELECT " + "1" * 100_001,
        )
    ),
]


@pytest.mark.parametrize(("sql", "reason"), [pytest.param(sql, reason, id=name[:40]) for name, sql, reason in REFUSED])
def test_a_statement_is_refused(shop: Shop, sql: str, reason: str) -> None:
    """It is refused for the right reason, shows nothing of the secret, and changes nothing."""
    before = shop.dump()

    assert shop.reason("sql", sql=sql) == reason

    assert shop.dump() == before
    assert sorted(path.name for path in shop.folder.iterdir()) == ["shop.db"]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        pytest.param(sql, reason, id=name[:40])
        for name, sql, reason in REFUSED
        if reason != TABLE or "sqlite" in sql.lower() or "pragma" in sql or "dbstat" in sql or "fts3" in sql
    ],
)
def test_a_statement_is_refused_also_where_all_tables_are_allowed(shop: Shop, sql: str, reason: str) -> None:
    """`all` opens the owner's tables, and nothing else."""
    shop.settings["allowed_tables"] = "all"
    before = shop.dump()

    assert shop.reason("sql", sql=sql) == reason
    assert shop.dump() == before


ACCEPTED = [
    "SELECT replace(name, 'A', 'a') FROM customers",
    "SELECT id AS \"drop\", 'delete from x' AS s FROM orders",
    "SELECT id FROM orders WHERE label = 'x; DROP TABLE y'",
    "SELECT 'INSERT INTO t VALUES (' || quote(id) || ')' FROM orders",
    "SELECT 1;",
    "SELECT 1 ; -- the end",
    "SELECT 1; /* the end",
    "-- trace\n/* of */ SELECT id FROM orders",
    "/* a /* b */ SELECT 1",
    "  \t\n select\tID\nfrom\rORDERS",
    "WITH x AS (SELECT id FROM orders) SELECT * FROM x",
    "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n FROM c",
    "SELECT * FROM orders AS secret",
    "SELECT secret.id FROM orders secret",
    "SELECT id AS secret FROM orders ORDER BY secret",
    "WITH secret AS (SELECT id FROM orders) SELECT * FROM secret",
    "WITH secret AS (SELECT id FROM orders) SELECT count(*) FROM secret",
    "WITH sqlite AS (SELECT 1 AS a) SELECT count(*) FROM sqlite",
    "WITH orders AS (SELECT 1 AS a) SELECT * FROM orders",
    "SELECT id FROM orders UNION SELECT id FROM customers",
    "SELECT id FROM orders INTERSECT SELECT id FROM customers EXCEPT SELECT 9",
    "SELECT * FROM orders WHERE 1=1 OR id=2",
    "SELECT id, row_number() OVER w, lag(id) OVER w, ntile(2) OVER w FROM orders WINDOW w AS (ORDER BY id DESC)",
    "SELECT doc->'$.a', doc->>'a', json_extract(doc, '$.a[1]'), json_array_length(doc) FROM orders",
    "SELECT o.id, j.key, j.value FROM orders o, json_each(o.doc) j",
    "SELECT fullkey FROM json_tree('{\"a\": [1, 2]}')",
    "SELECT json_group_array(id), json_group_object(id, total) FROM orders",
    "SELECT * FROM orders LIMIT 2, 5",
    "SELECT * FROM orders LIMIT 1 OFFSET 1",
    "SELECT group_concat(name, ';'), count(DISTINCT id), avg(id), total(id), sum(id), max(id), min(id) FROM customers",
    "SELECT date('now'), datetime(0, 'unixepoch'), strftime('%Y', '2020-01-01'), julianday('now'), current_timestamp",
    "SELECT snippet(ft, 0, '<', '>', '…', 5), bm25(ft), rank FROM ft WHERE ft MATCH 'hello' ORDER BY rank",
    "SELECT highlight(ft, 0, '<', '>') FROM ft('world')",
    "SELECT id FROM places WHERE x0 >= 1 AND x1 <= 4",
    "SELECT * FROM v_orders",
    "SELECT count(*) FROM v_orders",
    "SELECT c.name, sum(o.total) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id HAVING count(*)",
    "SELECT * FROM customers NATURAL LEFT JOIN orders",
    "SELECT * FROM visits CROSS JOIN strict_things",
    "VALUES (1, 2), (3, 4)",
    "SELECT sin(1), power(2, 3), round(1.5), abs(-1), coalesce(NULL, 1), iif(1, 2, 3), printf('%d', 3), sign(-2)",
    "SELECT hex(zeroblob(4)), length(randomblob(4)), typeof(x'00'), unicode('a'), char(65), random() IS NOT NULL",
    "SELECT CASE id WHEN 1 THEN 'a' ELSE 'b' END, id BETWEEN 1 AND 2, id IN (1, 2) FROM orders",
    "SELECT label LIKE '#%', label GLOB '#*' FROM orders WHERE label IS NOT NULL",
    "SELECT total IS NULL, total NOT NULL, NOT id, -id, ~id, id << 1, id % 2, label || 'x' FROM orders",
    "SELECT CAST('12' AS INTEGER), CAST(1 AS TEXT)",
    "SELECT EXISTS (SELECT 1 FROM orders), (SELECT max(id) FROM orders)",
    "SELECT (SELECT count(*) FROM customers c WHERE c.id = o.customer_id) FROM orders o",
    "SELECT 0x10, 'it''s', \"name\" FROM customers",
    "SELECT upper(name) COLLATE NOCASE FROM customers ORDER BY name COLLATE BINARY",
    "SELECT rowid, oid, _rowid_ FROM customers",
    "SELECT " + ", ".join(["1"] * 500),
    "SELECT id FROM orders WHERE id IN (" + ", ".join(map(str, range(5000))) + ")",
    "SELECT 1" + " OR 1=1" * 500,
    "SELECT " + "(" * 20 + "1" + ")" * 20,
]


@pytest.mark.parametrize("sql", [pytest.param(sql, id=sql[:40]) for sql in ACCEPTED])
@pytest.mark.parametrize("tables", ["listed", "all"])
def test_an_ordinary_statement_is_accepted(shop: Shop, sql: str, tables: str) -> None:
    if tables == "all":
        shop.settings["allowed_tables"] = "all"

    assert set(shop.call("sql", sql=sql)) == {"rows", "columns", "truncated"}


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        pytest.param("SELECT", "bad_statement", id="incomplete"),
        pytest.param("SELECT * FROM", "bad_statement", id="no table"),
        pytest.param("SELECT id FORM orders", "bad_statement", id="misspelt word"),
        pytest.param("SELECT id INTO x FROM orders", "bad_statement", id="into"),
        pytest.param("SELECT 'x' INTO OUTFILE '/tmp/x'", "bad_statement", id="into a file"),
        pytest.param("SELECT id FROM orders FOR UPDATE", "bad_statement", id="for update"),
        pytest.param("SELECT nosuch FROM orders", "column_unknown", id="no such column"),
        pytest.param("SELECT secret.k", "column_unknown", id="column without a table"),
        pytest.param("SELECT id FROM orders, customers", "bad_statement", id="ambiguous column"),
        pytest.param("SELECT abs()", "bad_statement", id="wrong number of arguments"),
        pytest.param("SELECT json('{')", "bad_statement", id="malformed JSON"),
        pytest.param("SELECT * FROM ft WHERE ft MATCH '\"'", "bad_statement", id="malformed match"),
    ],
)
def test_an_error_in_the_statement_is_told(shop: Shop, sql: str, reason: str) -> None:
    assert shop.reason("sql", sql=sql) == reason


@pytest.mark.parametrize("allowed", [pytest.param(None, id="some tables"), pytest.param("all", id="all tables")])
@pytest.mark.parametrize(
    ("sql", "offered"),
    [
        pytest.param("SELECT nam FROM customers", "'name'", id="plain"),
        pytest.param(
            "SELECT c.emial FROM customers c JOIN orders o ON o.customer_id = c.id", "'email'", id="of an alias"
        ),
        pytest.param("SELECT main.customers.emial FROM customers", "'email'", id="of a table with its database"),
        pytest.param("SELECT x.name FROM (SELECT id FROM customers) x", None, id="out of reach"),
        pytest.param("SELECT zzzzz FROM customers", None, id="near to nothing"),
    ],
)
def test_the_nearest_column_is_offered(shop: Shop, sql: str, offered: str | None, allowed: str | None) -> None:
    shop.settings["allowed_tables"] = allowed or shop.settings["allowed_tables"]
    sentence = shop.refusal("sql", sql=sql)["error"]

    assert sentence.partition("; did you mean ")[2] == (f"{offered}?" if offered else "")


def test_no_column_is_offered_of_a_table_that_is_not_allowed(shop: Shop) -> None:
    shop.run("ALTER TABLE secret ADD hidden_column TEXT")

    assert "mean" not in shop.refusal("sql", sql="SELECT hidden_colum FROM orders")["error"]


def test_an_allowed_table_that_does_not_exist_is_not_found(shop: Shop) -> None:
    shop.settings["allowed_tables"] = ["orders", "gone"]
    assert shop.reason("sql", sql="SELECT * FROM gone") == "not_found"

    shop.settings["allowed_tables"] = "all"
    assert shop.reason("sql", sql="SELECT * FROM gone") == "not_found"


def test_a_refusal_says_the_same_whether_the_table_exists(shop: Shop) -> None:
    """Nobody learns the names of tables or of their columns by trying."""
    there = shop.refusal("sql", sql="SELECT nosuch FROM secret")
    not_there = shop.refusal("sql", sql="SELECT nosuch FROM sekret")

    assert there["error"].replace("'secret'", "'sekret'") == not_there["error"]


ENDLESS = "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r)"
BOMB = (
    "WITH c0 AS (SELECT 1 x)"
    + "".join(f", c{n} AS (SELECT a.x FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 30))
    + " SELECT count(*) FROM c29"
)


@pytest.mark.parametrize(
    ("sql", "reasons"),
    [
        pytest.param(f"{ENDLESS} SELECT count(*) FROM r", {"timeout"}, id="endless recursion"),
        pytest.param(f"{ENDLESS} SELECT n FROM r ORDER BY -n", {"timeout"}, id="endless sort"),
        pytest.param(
            "WITH RECURSIVE r (a) AS (VALUES (1), (2), (3)) SELECT count(*) FROM "
            + ", ".join(f"r r{n}" for n in range(20)),
            {"timeout"},
            id="cross join",
        ),
        pytest.param(BOMB, {"timeout", "database"}, id="a statement that doubles while it is compiled"),
        pytest.param("SELECT zeroblob(2e9)", {"too_large"}, id="two gigabytes of zeros"),
        pytest.param("SELECT hex(randomblob(4e8))", {"too_large"}, id="random bytes"),
        pytest.param("SELECT replace(hex(zeroblob(7000000)), '0', 'xxxxxxxx')", {"too_large"}, id="replace"),
        pytest.param(
            f"{ENDLESS} SELECT group_concat(hex(zeroblob(1000))) FROM r",
            {"too_large", "timeout"},
            id="endless concatenation",
        ),
        pytest.param("SELECT " + "(" * 500 + "1" + ")" * 500, {"bad_statement"}, id="nested parentheses"),
        pytest.param("SELECT " + "abs(" * 500 + "1" + ")" * 500, {"bad_statement"}, id="nested functions"),
        pytest.param("SELECT 1" + " OR 1=1" * 10_000, {"bad_statement"}, id="many conditions"),
        pytest.param("SELECT " + ",".join(["1"] * 40_000), {"bad_statement"}, id="many columns"),
        pytest.param("SELECT 1" + " UNION ALL SELECT 1" * 3000, {"bad_statement"}, id="many parts"),
        pytest.param(
            "SELECT * FROM " + ", ".join(f"orders o{n}" for n in range(70)), {"bad_statement"}, id="many joins"
        ),
        pytest.param("SELECT '' LIKE '" + "%_" * 20_000 + "'", {"bad_statement"}, id="long pattern"),
    ],
)
def test_work_is_bounded(shop: Shop, sql: str, reasons: set[str]) -> None:
    """Time, memory, the size of values and of the statement itself have an end."""
    shop.settings["timeout"] = 0.5

    assert shop.reason("sql", sql=sql) in reasons


def test_rows_of_an_endless_query_are_cut(shop: Shop) -> None:
    answer = shop.call("sql", sql=f"{ENDLESS} SELECT n FROM r", limit=3)

    assert answer == {
        "rows": [{"n": 1}, {"n": 2}, {"n": 3}],
        "columns": [{"name": "n", "type": "integer"}],
        "truncated": True,
    }


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT id FROM customers LIMIT 100", id="inner limit"),
        pytest.param("SELECT id FROM customers UNION ALL SELECT id FROM customers", id="union"),
        pytest.param("WITH x AS (SELECT id FROM customers) SELECT * FROM x -- LIMIT 1", id="comment"),
    ],
)
def test_the_bound_on_rows_holds_for_every_shape(shop: Shop, sql: str) -> None:
    shop.settings["max_rows"] = 2

    answer = shop.call("sql", sql=sql, limit=50)

    assert (len(answer["rows"]), answer["truncated"]) == (2, True)


def test_rows_stop_at_the_size_that_the_client_may_have(shop: Shop) -> None:
    shop.settings["max_bytes"] = 1000

    answer = shop.call("sql", sql=f"{ENDLESS} SELECT hex(zeroblob(50)) AS z FROM r")

    assert (len(answer["rows"]), answer["truncated"]) == (9, True)


@pytest.mark.parametrize(
    ("sql", "params", "row"),
    [
        pytest.param("SELECT ?, ? AS b, ?", [1, "x", None], {"?": 1, "b": "x", "?_2": None}, id="list"),
        pytest.param(
            "SELECT :a AS a, @b AS b, $c AS c, :a AS d",
            {"a": 1, "b": 2.5, "c": "x"},
            {"a": 1, "b": 2.5, "c": "x", "d": 1},
            id="object",
        ),
        pytest.param(
            "SELECT typeof(?) AS a, typeof(?) AS b",
            [True, {"$binary": {"base64": "AA=="}}],
            {"a": "integer", "b": "blob"},
            id="truth value and bytes",
        ),
        pytest.param(
            "SELECT ? AS a", [{"$numberDouble": "Infinity"}], {"a": {"$numberDouble": "Infinity"}}, id="infinity"
        ),
        pytest.param("SELECT ':a', '?' AS b", [], {"':a'": ":a", "b": "?"}, id="marks in strings"),
        pytest.param("SELECT ? AS a", ["'; DROP TABLE orders"], {"a": "'; DROP TABLE orders"}, id="SQL as a value"),
        pytest.param("SELECT count(*) AS n FROM json_each(?)", ["[1, 2, 3]"], {"n": 3}, id="a list as JSON"),
    ],
)
def test_values_are_bound(shop: Shop, sql: str, params: Any, row: dict[str, Any]) -> None:
    assert shop.call("sql", sql=sql, params=params)["rows"] == [row]


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        pytest.param("SELECT ?", None, id="none"),
        pytest.param("SELECT ?", [], id="too few"),
        pytest.param("SELECT ?", [1, 2], id="too many"),
        pytest.param("SELECT :a", {"b": 1}, id="other name"),
        pytest.param("SELECT ?", {"a": 1}, id="object for a list"),
        pytest.param("SELECT ?", [2**63], id="integer beyond 64 bits"),
        pytest.param("SELECT ?", [[1]], id="list as a value"),
        pytest.param("SELECT ?", [{"a": 1}], id="object as a value"),
        pytest.param("SELECT ?", ["\ud800"], id="half a surrogate pair"),
        pytest.param("SELECT ?", [float("nan")], id="not a number"),
    ],
)
def test_params_that_do_not_fit_are_refused(shop: Shop, sql: str, params: Any) -> None:
    assert shop.reason("sql", sql=sql, params=params) == "bad_value"


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        pytest.param("SELECT 1 AS a, 2 AS a", {"a": 1, "a_2": 2}, id="twice"),
        pytest.param("SELECT 1 AS a, 2 AS a, 3 AS a", {"a": 1, "a_2": 2, "a_3": 3}, id="three times"),
        pytest.param("SELECT 1 AS a, 2 AS a, 3 AS a_2", {"a": 1, "a_3": 2, "a_2": 3}, id="the new name is taken"),
        pytest.param("SELECT 1 AS a_2, 2 AS a, 3 AS a", {"a_2": 1, "a": 2, "a_3": 3}, id="taken before"),
    ],
)
def test_columns_of_one_name_are_told_apart(shop: Shop, sql: str, row: dict[str, int]) -> None:
    """No value hides another, and `columns` has the names as the rows do."""
    answer = shop.call("sql", sql=sql)

    assert answer["rows"] == [row]
    assert [column["name"] for column in answer["columns"]] == list(row)


def test_very_many_columns_of_one_name_take_no_time(shop: Shop) -> None:
    """The deadline of the call is the limit: a cubic search took seconds."""
    answer = shop.call("sql", sql="SELECT 1 AS a" + ", 1 AS a" * 1999)

    assert list(answer["rows"][0]) == ["a", *(f"a_{number}" for number in range(2, 2001))]


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        pytest.param(" /* x */ ", "it is empty", id="comment"),
        pytest.param("(SELECT 1)", "it begins with '('", id="parenthesis"),
        pytest.param("\ufeffSELECT 1", r"it begins with '\ufeff'", id="byte order mark"),
        pytest.param(";", "it begins with ';'", id="semicolon"),
    ],
)
def test_a_refusal_says_how_the_statement_begins(shop: Shop, sql: str, found: str) -> None:
    document = shop.refusal("sql", sql=sql)

    assert document["details"]["reason"] == "statement_not_allowed"
    assert found in document["error"]


def test_the_type_of_a_column_is_that_of_its_values(shop: Shop) -> None:
    answer = shop.call(
        "sql",
        sql="SELECT 1 AS a, 'x' AS b, 0.5 AS c, x'00' AS d, NULL AS e, 1 AS f"
        " UNION ALL SELECT NULL, 'y', 1.5, x'', NULL, 'x'",
    )

    assert [column["type"] for column in answer["columns"]] == ["integer", "text", "real", "binary", "null", "any"]


def test_the_type_of_a_value_that_json_lacks_is_told_by_its_form(shop: Shop) -> None:
    answer = shop.call("sql", sql="SELECT 1e999 AS a, CAST(x'ff' AS TEXT) AS b UNION ALL SELECT 0.5, 'x'")

    assert [column["type"] for column in answer["columns"]] == ["real", "text"]


def test_a_query_that_is_cut_has_ended_when_its_answer_is_there(shop: Shop) -> None:
    """Else it would end after the database is closed, which Python reports on standard error."""
    from database_world import TOOLS

    context = shop.context()
    tool = TOOLS["sql"](context)
    assert tool.execute(sql="SELECT id FROM customers", limit=1)["truncated"]
    context.close()
    del tool  # an error here is an error of the test


def test_the_audit_line_names_the_tables_that_are_read(shop: Shop) -> None:
    from database_world import TOOLS

    context = shop.context()
    TOOLS["sql"](context).execute(sql="WITH secret AS (SELECT id FROM orders) SELECT * FROM secret, v_orders")
    context.close()

    assert context.touches == {"connection": "", "tables": ["customers", "orders", "v_orders"]}


def test_a_real_table_called_json_each_is_a_table(tmp_path: Path) -> None:
    """A table of the owner's goes before the function of the same name, and is not open because of it."""
    shop = Shop(
        tmp_path,
        f"CREATE TABLE json_each (k); INSERT INTO json_each VALUES ('{SECRET}'); CREATE TABLE t (a);",
        allowed_tables=["t"],
    )

    assert shop.reason("sql", sql="SELECT * FROM json_each") == "table_not_allowed"
    assert shop.reason("sql", sql="SELECT count(*) FROM json_each") == "table_not_allowed"
    shop.settings["allowed_tables"] = ["t", "json_each"]
    assert shop.call("sql", sql="SELECT count(*) AS n FROM json_each")["rows"] == [{"n": 1}]


def test_a_full_text_table_on_the_content_of_another_needs_that_too(tmp_path: Path) -> None:
    """What a virtual table reads while it runs is held against the whitelist as well."""
    shop = Shop(
        tmp_path,
        f"""
        CREATE TABLE secret (id INTEGER PRIMARY KEY, body); INSERT INTO secret VALUES (1, '{SECRET}');
        CREATE VIRTUAL TABLE ft USING fts5 (body, content='secret', content_rowid='id');
        INSERT INTO ft (ft) VALUES ('rebuild');
        """,
        allowed_tables=["ft"],
    )

    assert shop.reason("sql", sql="SELECT body FROM ft WHERE ft MATCH 'top'") == "table_not_allowed"
    shop.settings["allowed_tables"] = ["ft", "secret"]
    assert shop.call("sql", sql="SELECT body FROM ft WHERE ft MATCH 'top'")["rows"] == [{"body": SECRET}]


def test_a_table_with_another_programs_collation_can_be_read(tmp_path: Path) -> None:
    import sqlite3

    shop = Shop(tmp_path, "CREATE TABLE t (a)", allowed_tables=["w"])
    handle = sqlite3.connect(shop.path, isolation_level=None)
    handle.create_collation("local", lambda one, two: (one > two) - (one < two))
    handle.execute("CREATE TABLE w (a TEXT COLLATE local PRIMARY KEY, b)")
    handle.execute("INSERT INTO w VALUES ('x', 1)")
    handle.close()

    assert shop.call("sql", sql="SELECT a FROM w WHERE b = 1")["rows"] == [{"a": "x"}]
    assert shop.call("query", table="w", where={"b": 1})["rows"] == [{"a": "x", "b": 1}]
    assert shop.reason("query", table="w", where={"a": "x"}) == "database"
    assert shop.reason("query", table="w", where={"a": {"$like": "x%"}}) == "database"


def test_no_function_of_the_allow_list_reaches_beyond_the_statement() -> None:
    """The dangerous ones by name, so that nobody adds them by mistake."""
    for name in (
        "load_extension",
        "fts3_tokenizer",
        "readfile",
        "writefile",
        "edit",
        "eval",
        "rtreecheck",
        "optimize",
        "sqlite_log",
        "sqlite_compileoption_get",
        "sqlite_offset",
    ):
        assert name not in ALLOWED


@pytest.mark.parametrize(
    ("action", "first", "second", "permitted"),
    [
        pytest.param("READ", "customers", "id", True, id="its table"),
        pytest.param("READ", "CUSTOMERS", "", True, id="its table in capitals"),
        pytest.param("READ", "secret", "k", False, id="another table"),
        pytest.param("READ", "secret", "", False, id="another table without a column"),
        pytest.param("READ", "sqlite_master", "sql", False, id="the schema"),
        pytest.param("UPDATE", "customers", "id", False, id="a change"),
        pytest.param("PRAGMA", "table_info", "secret", False, id="a pragma"),
        pytest.param("PRAGMA", "data_version", "", False, id="the pragma of full-text tables"),
        pytest.param("ATTACH", "other.db", "", False, id="another file"),
        pytest.param("FUNCTION", "", "like", True, id="a harmless function"),
        pytest.param("FUNCTION", "", "load_extension", False, id="a dangerous function"),
    ],
)
def test_a_query_that_we_build_is_guarded_too(action: str, first: str, second: str, *, permitted: bool) -> None:
    """A mistake of ours in building SQL would still reach nothing but the one table."""
    import sqlite3

    from clitool_tools.database.sqlite.guard import ReadGuard
    from clitool_tools.database.table import Table

    guard = ReadGuard(Table("customers", ()), is_plain=True)

    answer = guard(getattr(sqlite3, f"SQLITE_{action}"), first, second, "main", "customers")

    assert (answer == sqlite3.SQLITE_OK) == permitted
    assert (guard.refusal is None) == permitted
