"""database_sql on a real MariaDB, with an account that may do everything: what is refused, the guard refuses."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from answers import answered
from mariadb_world import SECRET, TOOLS, Maria
from mysql.connector import Error
from mysql_attacks import ACCEPTED, ACCEPTED_FOR_MYSQL, ATTACKS, FUNCTION, STATEMENT, SYNTAX, TABLE
from services.mariadb import MariaDB

if TYPE_CHECKING:
    from collections.abc import Iterator

ALLOWED = ["customers", "orders", "visits", "v_orders"]
MORE = """
CREATE SEQUENCE seq1;
CREATE FULLTEXT INDEX names ON customers (name);
CREATE FUNCTION f_secret() RETURNS TEXT READS SQL DATA RETURN (SELECT k FROM secret LIMIT 1);
CREATE PROCEDURE p_read() SELECT k FROM secret;
"""


class Mighty(Maria):
    """The shop, with an account that may do everything on the server, and a look at what the server is asked."""

    def __init__(self, server: MariaDB) -> None:
        super().__init__(server, allowed_tables=ALLOWED)
        self.run(MORE)
        server.run(f"GRANT ALL ON *.* TO {self.name} WITH GRANT OPTION; SET GLOBAL general_log = ON")
        ((folder, file),) = server.rows("SELECT @@datadir, @@general_log_file")
        self.log = Path(folder) / file

    def drop(self) -> None:
        self.server.run("SET GLOBAL general_log = OFF")
        super().drop()

    def asked(self, start: int) -> str:
        """Return who connected to the server, and what it was asked, behind a position of its log."""
        lines = self.log.read_bytes()[start:].decode().splitlines(keepends=True)
        return "".join(line for line in lines if not line.endswith("Quit\t\n"))  # which comes later than one hangs up

    def position(self) -> int:
        return self.log.stat().st_size

    def state(self) -> list[Any]:
        """Return everything that a statement might have changed."""
        return [
            self.rows(sql)
            for sql in (
                "CHECKSUM TABLE customers, orders, visits, secret",
                "SELECT table_name, create_time FROM information_schema.tables WHERE table_schema = DATABASE()",
                "SELECT routine_name FROM information_schema.routines ORDER BY 1",
                "SELECT user, host FROM mysql.user ORDER BY 1, 2",
                "SELECT event_name FROM information_schema.events",
                "SELECT trigger_name FROM information_schema.triggers",
                "SELECT @@global.general_log, @@global.max_connections, @@global.tx_read_only",
            )
        ]


@pytest.fixture(scope="module")
def mighty(mariadb: MariaDB) -> Iterator[Mighty]:
    world = Mighty(mariadb)
    yield world
    world.drop()


def test_the_server_is_asked_nothing_for_what_is_refused(mighty: Mighty) -> None:
    """Every row of the table of attacks: no connection, no change, no file, and nothing of the secret."""
    before, start = mighty.state(), mighty.position()

    for name, sql, reason in ATTACKS:
        assert mighty.reason("sql", sql=sql) == reason, name

    assert mighty.asked(start) == ""
    assert mighty.state() == before
    assert not Path("/tmp/clitool-attack").exists()


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT id FROM customers /*!UNION SELECT k FROM secret*/", id="comment that MySQL runs"),
        pytest.param("SELECT id FROM customers /*M!UNION SELECT k FROM secret*/", id="comment that MariaDB runs"),
        pytest.param("SELECT 1.FROM secret UNION SELECT k FROM secret", id="number that runs into a word"),
        pytest.param("SELECT * FROM .secret", id="dot before the name"),
        pytest.param("SELECT * FROM {OJ customers LEFT JOIN secret ON 1}", id="braces"),
        pytest.param("SELECT {x (SELECT k FROM secret LIMIT 1)}", id="braces around a value"),
        pytest.param("SELECT f_secret()", id="function of the owner's"),
        pytest.param("SELECT * FROM customers full JOIN secret", id="alias like a word of another dialect"),
        pytest.param("WITH x AS (SELECT 1) SELECT k FROM customers secret, (SELECT k FROM secret) y", id="alias"),
    ],
)
def test_these_attacks_are_real(mighty: Mighty, sql: str) -> None:
    """The server itself, asked by the same account, shows the secret: the guard alone stands before it."""
    assert SECRET in str(mighty.rows(sql))

    assert mighty.refusal("sql", sql=sql)["code"] == "invalid_params"


def test_a_name_that_the_server_takes_for_a_table_shows_nothing(mighty: Mighty) -> None:
    """Common table expressions run under names that no table has, because MariaDB mistakes some for tables."""
    sql = "WITH secret AS (SELECT 1 k) SELECT k FROM (WITH secret AS (SELECT k FROM secret) SELECT k FROM secret) x"
    assert SECRET in str(mighty.rows(sql))

    assert mighty.reason("sql", sql=sql) == "not_found"


@pytest.mark.parametrize(("sql", "tables"), [pytest.param(*each, id=each[0][:50]) for each in ACCEPTED])
def test_what_only_reads_allowed_tables_runs(mighty: Mighty, sql: str, tables: str) -> None:
    context = mighty.context()
    try:
        tool = TOOLS["sql"](context)
        assert tool.decide(sql=sql) == {"connection": "", "tables": tables.split()}
        assert set(tool.execute(sql=sql)) == {"rows", "columns", "truncated"}
    finally:
        context.close()


@pytest.mark.parametrize("sql", [pytest.param(sql, id=sql[:50]) for sql, _ in ACCEPTED_FOR_MYSQL])
def test_what_only_the_other_server_knows_is_refused_by_this_one(mighty: Mighty, sql: str) -> None:
    try:
        mighty.rows(sql)
    except Error as error:
        assert mighty.refusal("sql", sql=sql)["details"]["vendor_code"] == error.errno
    else:
        mighty.call("sql", sql=sql)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        pytest.param("SELECT id, total FROM orders ORDER BY id LIMIT 2",
                     [{"id": 1, "total": "10.50"}, {"id": 2, "total": "20.00"}], id="rows"),
        pytest.param("SELECT c.name, SUM(o.total) AS sum FROM orders o JOIN customers c ON c.id = o.customer_id"
                     " GROUP BY c.name ORDER BY sum", [{"name": "Bob", "sum": "3.00"}, {"name": "Ada", "sum": "30.50"}],
                     id="join"),
        pytest.param("WITH secret AS (SELECT id FROM orders WHERE id > 1) SELECT MAX(id) m FROM secret", [{"m": 3}],
                     id="common table expression with the name of a table"),
        pytest.param("WITH RECURSIVE r AS (SELECT 1 n UNION SELECT n + 1 FROM r WHERE n < 4) SELECT MAX(n) n FROM r",
                     [{"n": 4}], id="recursive"),
        pytest.param("SELECT 5--1 AS a, 'it''s' AS b, \"x\" AS c, _gbk'\u20ac\\' -- ' IS NULL AS d",
                     [{"a": 6, "b": "it's", "c": "x", "d": 0}], id="where strings and comments end"),
        pytest.param("SELECT name FROM v_orders WHERE id = 3", [{"name": "Bob"}], id="view"),
        pytest.param("SELECT id FROM orders WHERE id > 5", [], id="no rows"),
        pytest.param("SELECT x'4142' AS a, 1/3 AS b, NULL AS c, 1e0 AS d, '2024-01-01' + INTERVAL 1 DAY AS e",
                     [{"a": {"$binary": {"base64": "QUI=", "subType": "00"}}, "b": "0.3333", "c": None, "d": 1.0,
                       "e": "2024-01-02"}], id="kinds of values"),
        pytest.param("SELECT 1 AS a, 2 AS a, 3 AS a_2", [{"a": 1, "a_3": 2, "a_2": 3}], id="columns of one name"),
    ],
)  # fmt: skip
def test_the_answer_is_the_servers(mighty: Mighty, sql: str, rows: list[dict[str, Any]]) -> None:
    assert mighty.call("sql", sql=sql)["rows"] == rows


def test_columns_have_the_types_of_their_values(mighty: Mighty) -> None:
    answer = mighty.call("sql", sql="SELECT 1 AS a, 1.5 AS b, 1e0 AS c, NULL AS d, x'00' AS e")

    assert {each["name"]: each["type"] for each in answer["columns"]} == {
        "a": "integer", "b": "text", "c": "real", "d": "null", "e": "binary",
    }  # fmt: skip


def test_it_is_the_callers_own_text_that_runs_in_a_transaction_that_cannot_change_anything(mighty: Mighty) -> None:
    start = mighty.position()
    mighty.call("sql", sql="/* trace 7 */ select `id`, ? -- ?\nfrom orders where id = ? ;", params=["a'b", 2])
    asked = mighty.asked(start)

    assert "/* trace 7 */ select `id`, _utf8mb4 X'612762' -- ?\nfrom orders where id = 2\n" in asked
    assert "READ ONLY" in asked[: asked.index("/* trace 7 */")]
    assert "ROLLBACK" in asked[asked.index("/* trace 7 */") :]


def test_deciding_runs_nothing_of_the_statement(mighty: Mighty) -> None:
    context = mighty.context()
    start = mighty.position()
    try:
        decided = TOOLS["sql"](context).decide(sql="SELECT 'canary' FROM orders, v_orders")
    finally:
        context.close()

    assert decided == {"connection": "", "tables": ["orders", "v_orders"]}
    assert "canary" not in mighty.asked(start)


@pytest.mark.parametrize(
    ("params", "row"),
    [
        pytest.param(["x", 1, None], ["x", 1, None], id="text, number, null"),
        pytest.param(["it's \\ \" ` /*! -- # ?", -5, 2.5], ["it's \\ \" ` /*! -- # ?", -5, 2.5], id="signs"),
        pytest.param(["Zo\u00eb \U0001f600", 2**53 + 1, True], ["Zo\u00eb \U0001f600", 2**53 + 1, 1], id="large"),
        pytest.param(
            ["", {"$binary": {"base64": "AP8=", "subType": "00"}}, 1e300],
            ["", {"$binary": {"base64": "AP8=", "subType": "00"}}, 1e300],
            id="bytes",
        ),
        pytest.param(
            ["'; DROP TABLE orders; -- ", "%s", "%(a)s"], ["'; DROP TABLE orders; -- ", "%s", "%(a)s"], id="SQL"
        ),
    ],
)
def test_values_come_back_as_they_were_bound(mighty: Mighty, params: list[Any], row: list[Any]) -> None:
    by_place = mighty.call("sql", sql="SELECT ? AS a, ? AS b, ? AS c", params=params)
    by_name = mighty.call("sql", sql="SELECT :a AS a, :b AS b, :c AS c", params=dict(zip("abc", params, strict=True)))

    assert by_place["rows"] == by_name["rows"] == [dict(zip("abc", answered(row), strict=True))]


@pytest.mark.parametrize(
    ("sql", "params", "rows"),
    [
        pytest.param(
            "SELECT id FROM orders WHERE id IN (?, ?) ORDER BY id LIMIT ? OFFSET ?",
            [1, 3, 1, 1],
            [{"id": 3}],
            id="limit",
        ),
        pytest.param(
            "SELECT DATE_ADD('2024-01-31', INTERVAL ? MONTH) AS x", [-2], [{"x": "2023-11-30"}], id="interval"
        ),
        pytest.param("SELECT -? AS x, 1-? AS y, ?*? AS z", [5, -3, -2, 4], [{"x": -5, "y": 4, "z": -8}], id="signs"),
        pytest.param(
            "SELECT name FROM customers WHERE name LIKE CONCAT(:a, '%')", {"a": "A"}, [{"name": "Ada"}], id="like"
        ),
        pytest.param("WITH x AS (SELECT ? AS a) SELECT a FROM x WHERE a = ?", [1, 1], [{"a": 1}], id="with"),
        pytest.param(
            "SELECT ? x, ? IS NULL y, ? IN ('a') z", ["it's", None, "a"], [{"x": "it's", "y": 1, "z": 1}], id="names"
        ),
        pytest.param("SELECT CASE WHEN ? THEN ? ELSE ? END AS x", [True, "a", None], [{"x": "a"}], id="case"),
    ],
)
def test_a_value_may_stand_where_a_literal_may(mighty: Mighty, sql: str, params: Any, rows: list[Any]) -> None:
    assert mighty.call("sql", sql=sql, params=params)["rows"] == rows


@pytest.mark.parametrize("params", [[[1]], [{"a": 1}], [float("nan")], ["\ud800"], [], [1, 2], {"a": 1}, None])
def test_params_that_do_not_fit_are_refused(mighty: Mighty, params: Any) -> None:
    assert mighty.reason("sql", sql="SELECT ?", params=params) == "bad_value"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        pytest.param("SELECT nosuch FROM orders", "column_unknown", id="no such column"),
        pytest.param("SELECT secret.k FROM orders", "column_unknown", id="column of a table that is not read"),
        pytest.param("SELECT id FROM orders, customers", SYNTAX, id="ambiguous column"),
        pytest.param("SELECT CONV(1)", SYNTAX, id="wrong number of arguments"),
        pytest.param("SELECT 1 == 1", SYNTAX, id="operator that only the parser knows"),
        pytest.param("SELECT id FROM orders WINDOW w AS (ORDER BY id), secret", SYNTAX, id="half a window"),
        pytest.param("SELECT REGEXP_LIKE('a', 'a')", FUNCTION, id="function of the other server"),
        pytest.param("SELECT * FROM orders UNION SELECT 1", SYNTAX, id="union of different width"),
        pytest.param("SELECT (SELECT id FROM orders)", SYNTAX, id="several rows for one value"),
    ],
)
def test_an_error_that_the_server_finds_is_told_without_its_words(mighty: Mighty, sql: str, reason: str) -> None:
    error = mighty.refusal("sql", sql=sql)

    assert error["details"]["reason"] == reason
    assert "vendor_code" in error["details"]
    assert "MariaDB" not in error["error"]


@pytest.mark.parametrize(
    ("sql", "offered"),
    [
        pytest.param("SELECT nam FROM customers", "'name'", id="plain"),
        pytest.param(
            "SELECT c.emial FROM customers c JOIN orders o ON o.customer_id = c.id", "'email'", id="of an alias"
        ),
        pytest.param("SELECT id FROM (SELECT id FROM orders ORDER BY placd) x", "'placed'", id="in a subquery"),
        pytest.param("SELECT nme FROM v_orders", "'name'", id="of a view"),
        pytest.param("SELECT kk FROM customers", None, id="near to a column of a table that is not allowed"),
        pytest.param("SELECT emial FROM orders", None, id="near to a column of a table that is not read"),
        pytest.param("SELECT nam", None, id="no table"),
        pytest.param("SELECT x.name FROM (SELECT id FROM customers) x", None, id="out of reach"),
        pytest.param("SELECT i FROM customers", "'id'", id="near to a column of a table whose name has other letters"),
    ],
)
def test_the_nearest_column_is_offered_of_what_the_statement_may_read(
    maria: Maria, sql: str, offered: str | None
) -> None:
    """What is not allowed is not told by an offer either."""
    maria.run("ALTER TABLE secret ADD kkk INT; CREATE TABLE `Customers` (ii INT)")
    error = maria.refusal("sql", sql=sql)

    assert error["details"] == {"reason": "column_unknown", "vendor_code": 1054, "sqlstate": "42S22"}
    assert error["error"].partition("; did you mean ")[2] == (f"{offered}?" if offered else "")


# Six times as many rows with each step; MariaDB ends a recursion after a thousand steps of its own accord.
ENDLESS = "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT r.n + t.n FROM r, {} t)"
NUMBERS = "(SELECT 1 n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6)"


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(f"{ENDLESS.format(NUMBERS)} SELECT COUNT(*) FROM r", id="47"),
        pytest.param(f"{ENDLESS.format(NUMBERS)} SELECT n FROM r ORDER BY -n", id="47 sorted"),
        pytest.param("SELECT COUNT(*) FROM " + ", ".join(f"{NUMBERS} t{n}" for n in range(14)), id="cross join"),
    ],
)
def test_a_statement_ends_at_the_time_limit(
    mariadb: MariaDB, mighty: Mighty, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    """On the server, too, which goes on with nothing of it."""
    monkeypatch.setitem(mighty.settings, "timeout", 0.3)

    assert mighty.reason("sql", sql=sql) == "timeout"
    assert mariadb.comes_to([], f"SELECT info FROM information_schema.processlist WHERE user = '{mighty.name}'")


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        pytest.param("SELECT REPEAT('a', 1e9) AS x", [{"x": None}], id="59"),
        pytest.param("SELECT SPACE(1e9) AS x, LPAD('a', 1e9, 'b') AS y", [{"x": None, "y": None}], id="59 others"),
        pytest.param(
            f"SELECT LENGTH(GROUP_CONCAT(REPEAT('a', 1000000))) AS x FROM {NUMBERS} t", [{"x": 2**20}], id="group"
        ),
    ],
)
def test_values_have_a_largest_size(mighty: Mighty, sql: str, rows: list[dict[str, Any]]) -> None:
    assert mighty.call("sql", sql=sql)["rows"] == rows


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT id FROM customers LIMIT 100", id="inner limit"),
        pytest.param("SELECT id FROM customers UNION ALL SELECT id FROM customers", id="union"),
        pytest.param("(SELECT id FROM customers)", id="parentheses"),
        pytest.param("WITH x AS (SELECT id FROM customers) SELECT * FROM x -- LIMIT 1", id="comment"),
        pytest.param(f"SELECT a.n FROM {NUMBERS} a, {NUMBERS} b, {NUMBERS} c, {NUMBERS} d, {NUMBERS} e", id="product"),
    ],
)
def test_the_bound_on_rows_holds_for_every_shape(mighty: Mighty, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setitem(mighty.settings, "max_rows", 2)

    answer = mighty.call("sql", sql=sql, limit=50)

    assert (len(answer["rows"]), answer["truncated"]) == (2, True)


def test_rows_stop_at_the_size_that_the_client_may_have(mighty: Mighty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mighty.settings, "max_bytes", 1000)

    answer = mighty.call("sql", sql=f"SELECT REPEAT('a', 100) AS z FROM {NUMBERS} a, {NUMBERS} b")

    assert (len(answer["rows"]), answer["truncated"]) == (9, True)


@pytest.mark.parametrize(
    "size",
    [
        pytest.param("1000000", id="all of them"),
        pytest.param("IF(a.n > 3, 1000000, 1)", id="behind short ones"),
    ],
)
def test_long_rows_beyond_that_size_are_not_read_into_memory(
    mighty: Mighty, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    monkeypatch.setitem(mighty.settings, "max_bytes", 2000)
    monkeypatch.setitem(mighty.settings, "max_rows", 1000)
    mighty.call("sql", sql="SELECT 1")  # so that everything is imported
    tracemalloc.start()
    try:
        answer = mighty.call("sql", sql=f"SELECT REPEAT('a', {size}) AS z FROM {NUMBERS} a, {NUMBERS} b, {NUMBERS} c",
                             limit=1000)  # fmt: skip
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert answer["truncated"]
    assert peak < 15_000_000


def test_more_columns_than_a_table_can_have_are_too_many(mighty: Mighty) -> None:
    """MariaDB gives them where no table is read."""
    assert len(mighty.call("sql", sql=f"SELECT {', '.join(['1'] * 4096)}")["columns"]) == 4096
    assert mighty.reason("sql", sql=f"SELECT {', '.join(['1'] * 4097)}") == "too_large"


def test_a_view_is_a_grant_of_its_own(mighty: Mighty, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner decides what it shows; the tables behind it stay closed."""
    monkeypatch.setitem(mighty.settings, "allowed_tables", ["v_secret"])

    assert mighty.call("sql", sql="SELECT k FROM v_secret LIMIT 1")["rows"] == [{"k": SECRET}]
    assert mighty.reason("sql", sql="SELECT k FROM secret") == TABLE
    assert mighty.reason("sql", sql="SELECT k FROM v_secret JOIN orders") == TABLE


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        pytest.param("SELECT * FROM mysql.user", TABLE, id="other database"),
        pytest.param("SELECT * FROM information_schema.tables", TABLE, id="what tells about the server"),
        pytest.param("SELECT * FROM nosuch", "not_found", id="no such table"),
        pytest.param("SELECT * FROM seq_1_to_1000000000", "not_found", id="numbers from nowhere"),
        pytest.param("SELECT * FROM seq1", "not_found", id="sequence"),
        pytest.param("SELECT f_secret()", FUNCTION, id="function"),
        pytest.param("SELECT * FROM orders FOR UPDATE", STATEMENT, id="lock"),
    ],
)
def test_the_word_all_opens_the_tables_of_one_database(
    mighty: Mighty, monkeypatch: pytest.MonkeyPatch, sql: str, reason: str
) -> None:
    monkeypatch.setitem(mighty.settings, "allowed_tables", "all")

    assert mighty.call("sql", sql=f"SELECT COUNT(*) AS n FROM {mighty.name}.secret")["rows"] == [{"n": 2}]
    assert mighty.reason("sql", sql=sql) == reason


def test_an_allowed_table_that_does_not_exist_is_not_found(mighty: Mighty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mighty.settings, "allowed_tables", ["orders", "gone"])

    error = mighty.refusal("sql", sql="SELECT 1 FROM gone")

    assert (error["code"], error["error"]) == ("execution_error", "the database has no table 'gone'")


# Names that one server or the other, in this version or with a blank behind, does not have as a function of its own.
NOT_BUILT_IN = [
    "any_value",
    "regexp_like",
    "json_schema_valid",
    "uuid_to_bin",
    "st_geohash",
    "point",
    "against",
    "of",
    "count",
]


@pytest.fixture(scope="module")
def shadowed(mariadb: MariaDB) -> Iterator[Maria]:
    """A database whose owner has functions with the names of built-in ones; each shows the secret."""
    world = Maria(mariadb, allowed_tables=ALLOWED)
    for name in NOT_BUILT_IN:
        world.run(
            f"CREATE FUNCTION `{name}` (n INT) RETURNS TEXT READS SQL DATA RETURN (SELECT k FROM secret LIMIT 1);"
            f"GRANT EXECUTE ON FUNCTION {world.name}.`{name}` TO {world.name}"
        )
    yield world
    world.drop()


@pytest.mark.parametrize("name", NOT_BUILT_IN)
def test_no_function_of_the_owner_is_called_by_the_name_of_a_built_in_one(shadowed: Maria, name: str) -> None:
    """The server calls it if it has none itself, or if a blank follows; which of both it would do is not guessed."""
    assert SECRET in str(shadowed.rows(f"SELECT {name} (1)"))

    for call in (f"{name}(1)", f"{name} (1)", f"{name}/**/(1)", f"`{name}`(1)", f"{shadowed.name}.{name}(1)"):
        for sql in (f"SELECT {call}", f"SELECT id FROM orders ORDER BY {call.upper()}"):
            assert shadowed.reason("sql", sql=sql) in (FUNCTION, SYNTAX)


def test_a_function_of_the_owner_is_named_in_the_refusal(shadowed: Maria) -> None:
    assert shadowed.refusal("sql", sql="SELECT Count(*) FROM orders")["error"] == (
        "the function 'count' is not allowed: the database has one of its own by this name"
    )


def test_other_functions_of_the_owner_are_in_nobodys_way(shadowed: Maria) -> None:
    assert shadowed.call("sql", sql="SELECT MAX(id) AS m FROM orders")["rows"] == [{"m": 3}]


@pytest.mark.parametrize("name", ["Orders", "ORDERS", "order\u017f", "`orders `"])
def test_case_counts_where_the_server_says_so(mighty: Mighty, name: str) -> None:
    """`orders` is listed; another table whose name differs in case only is another one, whether it exists or not."""
    assert mighty.reason("sql", sql=f"SELECT 1 FROM {name}") == TABLE

    mighty.run("CREATE TABLE Orders (k TEXT)")
    try:
        assert mighty.reason("sql", sql=f"SELECT 1 FROM {name}") == TABLE
        assert mighty.reason("sql", sql=f"SELECT 1 FROM {mighty.name.upper()}.orders") == TABLE
    finally:
        mighty.run("DROP TABLE Orders")


@pytest.fixture(scope="module")
def lower() -> Iterator[Maria]:
    server = MariaDB("--lower-case-table-names=1")
    world = Maria(server, allowed_tables=["Orders", "v_orders"])
    world.run("CREATE TABLE order\u017f (k TEXT)")
    yield world
    server.stop()


@pytest.mark.parametrize("name", ["orders", "ORDERS", "`Orders`", "V_Orders", "db.ORDERS", "DB.orders"])
def test_case_does_not_count_where_the_server_says_so(lower: Maria, name: str) -> None:
    sql = f"SELECT 1 FROM {name.replace('db', lower.name).replace('DB', lower.name.upper())}"

    assert len(lower.call("sql", sql=sql)["rows"]) == 3


@pytest.mark.parametrize("name", ["secret", "SECRET", "order\u017f", "ORDER\u017f", "customers", "MYSQL.USER"])
def test_other_tables_stay_closed_where_case_does_not_count(lower: Maria, name: str) -> None:
    """Only letters of ASCII are taken for equal; for others each server has rules of its own."""
    assert lower.reason("sql", sql=f"SELECT 1 FROM {name}") == TABLE


def test_names_of_common_table_expressions_hide_no_table_where_case_does_not_count(lower: Maria) -> None:
    assert lower.reason("sql", sql="WITH Secret AS (SELECT 1) SELECT * FROM secret") == TABLE
    assert lower.call("sql", sql="WITH secret AS (SELECT 1 a) SELECT a FROM secret")["rows"] == [{"a": 1}]
