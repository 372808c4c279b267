"""The guard of database_sql on MySQL and MariaDB, as far as it needs no server: every refusal here asks none."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database import family
from clitool_tools.database.mysql import functions, scopes, syntax
from clitool_tools.database.mysql.lexer import Source, tokens
from clitool_tools.database.mysql.nodes import NODES, PARTS
from clitool_tools.database.mysql.parameters import bind
from clitool_tools.database.mysql.relations import relations
from clitool_tools.database.mysql.screening import screen
from clitool_tools.database.mysql.statement import admit, judge
from mysql_attacks import ACCEPTED, ACCEPTED_FOR_MYSQL, ATTACKS, STATEMENT, SYNTAX, TABLE
from sqlglot import exp

from clitool.errors import ClitoolError, InvalidParams, SettingsError
from clitool.family import Origin, Secret

if TYPE_CHECKING:
    from collections.abc import Callable

ALLOWED = ["customers", "orders", "visits", "v_orders"]


class NoServer:
    """A session that nobody may use."""

    def __getattribute__(self, name: str) -> Any:
        pytest.fail(f"the server was asked: {name}")


def connection(tables: object = ALLOWED) -> Any:
    address = Secret("mysql://user:password@127.0.0.1:1/shop")
    assert family.parse is not None
    settings = {"type": "mysql", "connection_string": address, "allowed_tables": tables}
    return family.parse(settings, Origin("/", ()))[""]


def refusal(sql: str, params: Any = (), tables: object = ALLOWED) -> ClitoolError:
    """Return the error of a statement that must be refused before a server is asked: in one line."""
    no_server: Any = NoServer()
    with pytest.raises(ClitoolError) as caught:
        admit(no_server, connection(tables), sql, params)
    assert "\n" not in str(caught.value)
    return caught.value


def cut(text: str) -> Source:
    return Source(text, tokens(text))


@pytest.mark.parametrize(("sql", "reason"), [pytest.param(sql, reason, id=name) for name, sql, reason in ATTACKS])
def test_what_is_not_permitted_is_refused_before_a_server_is_asked(sql: str, reason: str) -> None:
    """Every row of the table of attacks, and more of each kind."""
    error = refusal(sql)

    assert (error.code, error.reason) == ("invalid_params", reason)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [pytest.param(sql, reason, id=name) for name, sql, reason in ATTACKS if reason != TABLE and len(sql) < 2000],
)
def test_the_word_all_permits_tables_and_nothing_else(sql: str, reason: str) -> None:
    """Where every table is allowed, only those of the client's own database are, and everything else stays refused."""
    assert refusal(sql, tables="all").reason == reason


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        pytest.param(
            "SELECT 1\nFROM orders, secret",
            "the statement reads 'secret' (line 2, column 14), which is not in allowed_tables: "
            "customers, orders, visits, v_orders",
            id="table",
        ),
        pytest.param(
            "SELECT * FROM mysql.user",
            "the statement reads 'mysql.user' (line 1, column 21), which is not in this client's database; "
            "database_tables and database_describe tell about its tables",
            id="other database",
        ),
        pytest.param(
            "SELECT 1, SLEEP(5)",
            "the function 'SLEEP' (line 1, column 11) is not allowed: "
            "only built-in functions that compute from their arguments are",
            id="function",
        ),
        pytest.param(
            "SELECT COALESE(1)",
            "the function 'COALESE' (line 1, column 8) is not allowed: "
            "only built-in functions that compute from their arguments are; did you mean COALESCE?",
            id="misspelt function",
        ),
        pytest.param(
            "SELECT COUNT (*) FROM orders",
            "write no blank between COUNT and its parenthesis (line 1, column 8)",
            id="blank before the parenthesis",
        ),
        pytest.param(
            "SELECT `UPPER`('a')",
            "the function 'UPPER' (line 1, column 8) is not allowed: it must be written without quotes",
            id="function in quotes",
        ),
        pytest.param(
            "SELECT shop.UPPER('a')",
            "the function 'UPPER' (line 1, column 13) is not allowed: with a name before it, it is one of the "
            "database's own",
            id="function with a database",
        ),
        pytest.param(
            "SHOW TABLES",
            "the statement must be one SELECT (or WITH, VALUES), but it begins with 'SHOW'; "
            "database_describe and database_tables tell about tables",
            id="show",
        ),
        pytest.param(
            "insert into orders values (1)",
            "the statement must be one SELECT (or WITH, VALUES), but it begins with 'INSERT'; use database_insert",
            id="insert",
        ),
        pytest.param(
            "SELECT 1 INTO OUTFILE '/tmp/x'",
            "a query writes neither files nor variables; leave INTO out (line 1, column 10)",
            id="into",
        ),
        pytest.param(
            "SELECT '/*!'",
            "a server may run what follows /*! (line 1, column 9); leave it out, or bind the text as a parameter",
            id="comment that runs",
        ),
        pytest.param(
            "SELECT @x",
            "variables are not allowed; bind the value as a parameter (line 1, column 8)",
            id="variable",
        ),
        pytest.param(
            "SELECT 1; SELECT 2",
            "only one statement can be run, and here begins another (line 1, column 9)",
            id="two statements",
        ),
        pytest.param(
            "SELECT id FORM orders",
            "the statement has an error near line 1, column 21, or is written in a way that is not understood here",
            id="misspelt word",
        ),
        pytest.param("SELECT 1 FROM a.b.c", "a table has at most one name before it (line 1, column 19)", id="parts"),
        pytest.param("SELECT \u00a01", "the character U+00A0 cannot stand outside of strings and backquotes "
                     "(line 1, column 8)", id="no-break space"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_and_where_and_what_to_write_instead(sql: str, sentence: str) -> None:
    assert str(refusal(sql)) == sentence


def test_a_table_that_exists_is_refused_like_one_that_does_not() -> None:
    """What is not listed cannot be found out: the server is not even asked."""
    known, unknown = (str(refusal(f"SELECT 1 FROM {name}")) for name in ("secret", "nosuch"))

    assert known.replace("secret", "nosuch") == unknown


@pytest.mark.parametrize(
    "sql", ["SELECT 1 FROM t WHERE x = 'my password' 5", "SELECT 'my password' FROM", "SELECT 'my password"]
)
def test_an_error_repeats_no_value_of_the_statement(sql: str) -> None:
    assert "password" not in str(refusal(sql))


@pytest.mark.parametrize(
    ("sql", "tables"), [pytest.param(*each, id=each[0][:50]) for each in ACCEPTED + ACCEPTED_FOR_MYSQL]
)
def test_what_only_reads_allowed_tables_is_admitted(sql: str, tables: str) -> None:
    found = judge(screen(sql)).tables

    assert sorted({reference.name for reference in found}) == tables.split()


@pytest.mark.parametrize(
    "tables",
    [
        pytest.param([], id="empty list"),
        pytest.param(None, id="null"),
        pytest.param([""], id="empty name"),
        pytest.param(["${UNSET}"], id="unresolved reference"),
        pytest.param("orders,secret", id="several in one text"),
        pytest.param("*", id="star"),
        pytest.param(["All"], id="all in a list"),
    ],
)
def test_a_whitelist_that_names_no_table_is_an_error(tables: object) -> None:
    """Row 74: an empty or mistaken whitelist never means every table."""
    with pytest.raises(SettingsError):
        connection(tables)


@pytest.mark.parametrize(
    ("sql", "kinds", "texts"),
    [
        pytest.param("SELECT 1--1", "word number sign sign number", "SELECT 1 - - 1", id="minus minus"),
        pytest.param("SELECT 1 -- 1", "word number", "SELECT 1", id="comment"),
        pytest.param("SELECT 1 --", "word number", "SELECT 1", id="comment at the end"),
        pytest.param("SELECT /*/ 1 */ 2", "word number", "SELECT 2", id="comment that begins as it ends"),
        pytest.param("a/**/b", "word word", "a b", id="comment between words"),
        pytest.param("t.`from`.x", "word sign name sign word", "t . `from` . x", id="qualified"),
        pytest.param(
            ".5 1. 1e5 0x1F 0b1", "sign number number number number number", ". 5 1. 1e5 0x1F 0b1", id="numbers"
        ),
        pytest.param("x'41' X 'a' N'b'", "number word string string", "x'41' X 'a' N'b'", id="prefixes"),
        pytest.param("'a''b' 'a\\'b' \"a'b\"", "string string string", "'a''b' 'a\\'b' \"a'b\"", id="strings"),
        pytest.param("`a``b`", "name", "`a``b`", id="name"),
        pytest.param("? :a ':b' `:c` # ?", "value value string name", "? :a ':b' `:c`", id="places of values"),
        pytest.param("a>>b<=>c", "word sign sign word sign sign sign word", "a > > b < = > c", id="signs"),
        pytest.param("gr\u00f6\u00dfe$1", "word", "gr\u00f6\u00dfe$1", id="letters"),
    ],
)
def test_tokens_end_where_they_end_for_the_servers(sql: str, kinds: str, texts: str) -> None:
    found = list(tokens(sql))

    assert " ".join(token.kind for token in found) == kinds
    assert " ".join(token.text for token in found) == texts
    assert all(sql[token.start : token.end] == token.text for token in found)


@pytest.mark.parametrize(
    ("sql", "keywords"),
    [
        pytest.param("select From", ["SELECT", "FROM"], id="case does not matter"),
        pytest.param("a.from", ["", ""], id="behind a dot"),
        pytest.param("from.a", ["", ""], id="before a dot"),
        pytest.param("from.`a`", ["FROM"], id="before a dot and a name in backquotes"),
        pytest.param("a. from", ["A", "FROM"], id="behind a dot and a blank"),
        pytest.param("`from` 'from'", [], id="in quotes"),
        pytest.param("un\u0131on", [""], id="other letters"),
    ],
)
def test_a_word_is_a_name_where_the_servers_take_it_for_one(sql: str, keywords: list[str]) -> None:
    assert [token.keyword for token in tokens(sql) if token.kind == "word"] == keywords


def test_the_parser_sees_no_comment_and_every_position_as_it_is() -> None:
    source = cut("SELECT/*\n?*/ :name, ? -- :x\nFROM a # '\n WHERE 'b/*'")

    skeleton = source.skeleton()

    assert skeleton == "SELECT  \n    ?    , ?      \nFROM a    \n WHERE 'b/*'"
    assert len(skeleton) == len(source.sql)


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT '{}', \"{}\", N'{}', _latin1'{}', '{}' '{}' FROM t", id="texts"),
        pytest.param(
            "SELECT 1 AS '{}', DATE '{}', d + INTERVAL '{}' DAY_HOUR, a LIKE 'x' ESCAPE '{}' FROM t", id="words"
        ),
        pytest.param(
            "SELECT DATE_FORMAT(d, '{}'), JSON_EXTRACT(a, '{}'), a->>'{}', STR_TO_DATE('{}', '{}')", id="forms"
        ),
        pytest.param("SELECT 1 FROM JSON_TABLE('{}', '{}' COLUMNS (x INT PATH '{}')) t", id="JSON table"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("canary", id="word"),
        pytest.param("1 canary", id="interval with a unit"),
        pytest.param(" " * 15_000 + "canary", id="blanks, which it would count again and again"),
        pytest.param("$.canary" + "[?(" * 3000, id="path"),
    ],
)
def test_the_parser_sees_no_text_of_a_string(sql: str, text: str) -> None:
    """It would look for units in intervals and for steps in paths, and take minutes where it is made hard."""
    assert "canary" not in repr(syntax.parse(screen(sql.replace("{}", text)))).lower()


@pytest.mark.parametrize(
    ("sql", "params", "text"),
    [
        pytest.param("SELECT ?", [None], "SELECT NULL", id="null"),
        pytest.param("SELECT ?,?", [1, -2.5], "SELECT 1,-2.5e0", id="numbers"),
        pytest.param("SELECT 5-?", [-1], "SELECT 5--1", id="minus minus"),
        pytest.param("SELECT :a+:a", {"a": 3}, "SELECT 3+3", id="one name twice"),
        pytest.param("SELECT :a", {"a": 1, "b": 2}, "SELECT 1", id="one too many in an object"),
        pytest.param("SELECT ?", ["x"], "SELECT 'x'", id="text"),
        pytest.param("SELECT ?", ["'; DROP TABLE orders -- "],
                     "SELECT _utf8mb4 X'273b2044524f50205441424c45206f7264657273202d2d20'", id="SQL as a value"),
        pytest.param("SELECT ?", ["\\"], "SELECT _utf8mb4 X'5c'", id="backslash"),
        pytest.param("SELECT ?", [b"\0\xff"], "SELECT _binary X'00ff'", id="bytes"),
        pytest.param("SELECT '?', \"?\", `?`, ? /* ? */ -- ?\n# ?", [1],
                     "SELECT '?', \"?\", `?`, 1 /* ? */ -- ?\n# ?", id="marks in quotes and comments"),
        pytest.param("SELECT ':a', :a FROM `:a`", {"a": 1}, "SELECT ':a', 1 FROM `:a`", id="names in quotes"),
        pytest.param("SELECT 'it''s ?', '\\'?', ?", [1], "SELECT 'it''s ?', '\\'?', 1", id="marks behind quotes"),
        pytest.param("SELECT 1", [], "SELECT 1", id="none"),
        pytest.param("SELECT 1", {}, "SELECT 1", id="no names"),
        pytest.param("SELECT ? ; -- x", [1], "SELECT 1 ", id="without what ends it"),
        pytest.param("SELECT id FROM t LIMIT ?, ?", [2, 5], "SELECT id FROM t LIMIT 2, 5", id="limit"),
        pytest.param("SELECT %s, '%s', ?", [1], "SELECT %s, '%s', 1", id="marks of the driver"),
    ],
)  # fmt: skip
def test_values_stand_in_their_places_and_nothing_else_changes(sql: str, params: Any, text: str) -> None:
    assert bind(screen(sql), params) == text


@pytest.mark.parametrize(
    ("sql", "params", "reason"),
    [
        pytest.param("SELECT ?", [], "bad_value", id="too few"),
        pytest.param("SELECT ?", [1, 2], "bad_value", id="too many"),
        pytest.param("SELECT 1", [1], "bad_value", id="one for none"),
        pytest.param("SELECT :a", {"b": 1}, "bad_value", id="other name"),
        pytest.param("SELECT :a", {"A": 1}, "bad_value", id="other case"),
        pytest.param("SELECT :a", [1], "bad_value", id="list for an object"),
        pytest.param("SELECT ?", {"a": 1}, "bad_value", id="object for a list"),
        pytest.param("SELECT ?, :a", [1, 2], "bad_value", id="both ways, list"),
        pytest.param("SELECT ?, :a", {"a": 1}, "bad_value", id="both ways, object"),
        pytest.param("SELECT ?", [float("nan")], "bad_value", id="not a number"),
        pytest.param("SELECT ?", ["\ud800"], "bad_value", id="half a surrogate pair"),
        pytest.param("SELECT ?", [10**66], "bad_value", id="too many digits"),
        pytest.param("SELECT x?", ["41"], SYNTAX, id="becomes a hexadecimal string"),
        pytest.param("SELECT N?", ["a"], SYNTAX, id="becomes a national string"),
        pytest.param("SELECT a?", [1], SYNTAX, id="becomes a longer name"),
        pytest.param("SELECT 1?", [1], SYNTAX, id="becomes a longer number"),
        pytest.param("SELECT ?e5", [1], SYNTAX, id="becomes an exponent"),
        pytest.param("SELECT 'a'?", ["b"], SYNTAX, id="becomes a longer string"),
        pytest.param("SELECT ?'a'", ["b"], SYNTAX, id="becomes a longer string, too"),
        pytest.param("SELECT ? 'a'", ["b"], SYNTAX, id="beside a string"),
        pytest.param("SELECT ? ?", ["a", "b"], SYNTAX, id="beside another one"),
        pytest.param("SELECT _latin1 ?", ["a"], SYNTAX, id="behind a character set"),
        pytest.param("SELECT ??", [1, 2], SYNTAX, id="two marks in one"),
        pytest.param("SELECT 1 FROM ?", ["orders"], SYNTAX, id="for a table"),
        pytest.param("SELECT 1 ?", ["a"], SYNTAX, id="for a name without AS"),
        pytest.param("SELECT ?(1)", ["sleep"], SYNTAX, id="for a function"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_are_refused(sql: str, params: Any, reason: str) -> None:
    """A place is for one whole value; with another kind or number of values nothing is guessed."""
    assert refusal(sql, params).reason == reason


def test_the_params_are_told_apart_by_the_sentence() -> None:
    start = "the params do not fit the statement: "

    assert str(refusal("SELECT ?, ?", [1])) == start + "the statement takes 2 of them, and there are 1"
    assert str(refusal("SELECT :name", {"nam": 1})) == start + "the object has no 'name'; did you mean 'nam'?"
    assert str(refusal("SELECT :a", [1])) == start + "the statement has :a, which takes its value from an object"
    assert str(refusal("SELECT ?", {"a": 1})) == start + "the statement has ?, which takes its value from a list"
    assert str(refusal("SELECT ?x", [1])) == "put blanks around the ? and :name of the statement"


ARGUMENTS = {
    "CAST": "a AS CHAR", "CONVERT": "a USING utf8mb4", "EXTRACT": "DAY FROM a", "POSITION": "a IN b",
    "TIMESTAMPADD": "DAY, a, b", "TIMESTAMPDIFF": "DAY, a, b", "GET_FORMAT": "DATE, 'EUR'", "GROUPING": "a",
    "DATE_ADD": "a, INTERVAL 1 DAY", "DATE_SUB": "a, INTERVAL 1 DAY", "JSON_VALUE": "a, '$'", "JSON_OBJECTAGG": "a, b",
}  # fmt: skip
BEHIND = {
    "MATCH": " AGAINST ('x')",
    "PERCENTILE_CONT": " WITHIN GROUP (ORDER BY a) OVER ()",
    "PERCENTILE_DISC": " WITHIN GROUP (ORDER BY a) OVER ()",
}


@pytest.mark.parametrize("name", sorted(functions.ALLOWED - {"JSON_TABLE"}))
def test_every_function_of_the_list_can_be_called(name: str) -> None:
    """The list of functions and that of the parser's parts belong together: one that is in vain would be a mistake."""
    window = " OVER (ORDER BY a)" if name.lower() in functions._WINDOWS.split() else ""
    calls = [ARGUMENTS[name]] if name in ARGUMENTS else ["a", "", "a, b", "a, b, c", "a, b, c, d"]
    refused = []
    for arguments in calls:
        try:
            judge(screen(f"SELECT {name}({arguments}){BEHIND.get(name, window)} FROM t"))
        except ClitoolError as error:
            refused.append(str(error))

    assert len(refused) < len(calls), refused


def test_every_part_of_the_list_is_one_of_the_parser() -> None:
    """Names that a new version of sqlglot has no more are to be found at once."""
    for name in NODES:
        assert issubclass(getattr(exp, name), exp.Expr), name
    for name, parts in PARTS.items():
        assert parts <= getattr(exp, name).arg_types.keys(), name


def test_a_part_that_nobody_has_thought_of_is_refused() -> None:
    """What a new version of sqlglot makes of a statement is not permitted because it is new."""

    class Novelty(exp.Expression, exp.Func):
        pass

    source = screen("SELECT id FROM orders")
    tree = syntax.parse(source)
    tree.selects[0].replace(Novelty())

    with pytest.raises(InvalidParams, match="'Novelty'") as caught:
        syntax.check_parts(tree, source)
    assert caught.value.reason == STATEMENT


def test_a_part_in_a_place_that_nobody_has_thought_of_is_refused() -> None:
    source = screen("SELECT id FROM orders")
    tree = syntax.parse(source)
    tree.set("settings", [exp.Literal.number(1)])

    with pytest.raises(InvalidParams, match="'Select with settings'"):
        syntax.check_parts(tree, source)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda tree: tree.args["joins"].clear(), id="a table less"),
        pytest.param(lambda tree: tree.args["joins"][0].this.this.replace(exp.to_identifier("x")), id="no position"),
        pytest.param(lambda tree: tree.args["joins"][0].this.set("this", exp.Literal.string("x")), id="no name"),
        pytest.param(
            lambda tree: tree.args["joins"][0].this.this.meta.update(start=tree.args["from_"].this.this.meta["start"]),
            id="another position",
        ),
    ],
)
def test_tables_must_be_found_twice(change: Callable[[Any], object]) -> None:
    """A table that the parser did not see, or sees somewhere else, is found by the words before it."""
    source = screen("SELECT 1 FROM orders JOIN customers")
    tree = syntax.parse(source)
    assert [each.name for each in scopes.reading(tree, source).tables] == ["orders", "customers"]

    change(tree)

    with pytest.raises(InvalidParams) as caught:
        scopes.reading(tree, source)
    assert caught.value.reason == SYNTAX


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        pytest.param("SELECT a, b FROM c, d", "c d", id="list"),
        pytest.param("SELECT EXTRACT(DAY FROM a), TRIM(b FROM c) FROM d", "d", id="FROM of functions"),
        pytest.param("SELECT 1 FROM a JOIN b ON f(c, d), e", "a b e", id="condition"),
        pytest.param("SELECT 1 FROM (a, (b JOIN c)), d", "a b c d", id="parentheses"),
        pytest.param("SELECT 1 FROM a ORDER BY b, c", "a", id="order"),
        pytest.param("SELECT 1 FROM a WHERE b IN (SELECT c FROM d, e) GROUP BY f, g", "a d e", id="subquery"),
        pytest.param("SELECT 1 FROM a.b, `c`.`d` e", "b `d`", id="with a database"),
        pytest.param("SELECT 1 FROM a USE INDEX (b, c) IGNORE INDEX FOR JOIN (d), e", "a e", id="hints"),
        pytest.param("SELECT 1 FROM (SELECT 1 FROM a) b, c", "a c", id="derived"),
        pytest.param("WITH a AS (SELECT 1 FROM b) SELECT 1 FROM a UNION SELECT 2 FROM c", "b a c", id="with"),
        pytest.param("SELECT SUM(a) OVER w FROM b WINDOW w AS (ORDER BY c), v AS ()", "b", id="windows"),
        pytest.param("SELECT 1 FROM only a", "only", id="a word of another dialect"),
        pytest.param("SELECT 1 FROM lateral, a", "lateral a", id="a word of one server"),
        pytest.param("SELECT 1 FROM a, LATERAL (SELECT 1 FROM b) c, d", "a b d", id="lateral"),
        pytest.param("SELECT 1 FROM JSON_TABLE(a, '$' COLUMNS (b INT PATH '$')) c, d", "d", id="JSON table"),
        pytest.param("SELECT STRAIGHT_JOIN a FROM b STRAIGHT_JOIN c", "b c", id="straight"),
    ],
)
def test_tables_are_found_by_reserved_words(sql: str, names: str) -> None:
    source = cut(sql)
    found = relations(source)

    assert [token.text for token in source.tokens if token.start in found] == names.split()


CODE = """
import sys
from clitool_tools.database import family
from clitool_tools.database.mysql.screening import screen
from clitool_tools.database.mysql.statement import judge
screen("SELECT 1")
assert "sqlglot" not in sys.modules
{}
"""


def run(code: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", CODE.format(code)], capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.stderr.strip()


def test_a_missing_parser_is_named_with_what_to_install() -> None:
    code = """
sys.modules["sqlglot"] = None
from clitool.errors import DriverMissing
try:
    judge(screen("SELECT 1"))
except DriverMissing as error:
    print(error)
"""
    hint = "in clitool's own environment run: pip install 'clitool-convention[mysql]'"
    assert run(code) == (f"the Python package 'sqlglot' is missing; {hint}", "")


def test_the_parser_is_loaded_late_and_says_nothing() -> None:
    """Its warnings would stand on standard error, in the middle of what a host reads."""
    code = """
from clitool.errors import InvalidParams
for sql in ("SELECT 1", "SELECT doc->'$[' FROM t", "SELECT 1 FROM t FETCH FIRST 1 ROWS ONLY", "(RENAME TABLE a TO b)"):
    try:
        judge(screen(sql))
    except InvalidParams:
        pass
print("sqlglot" in sys.modules)
"""
    assert run(code) == ("True", "")
