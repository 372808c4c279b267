"""A database whose account may read exactly the allowed tables, and statements to throw at the guard of database_sql.

What the server itself says is the judge: the account's rights, and the tables that a statement opens.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from clitool_tools.database.mysql.parameters import bind
from clitool_tools.database.mysql.screening import screen
from clitool_tools.database.mysql.statement import judge
from hypothesis import strategies as st
from mariadb_world import SECRET, Maria
from mysql.connector import Error

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from services.mariadb import MariaDB

SCRIPT = f"""
CREATE TABLE a (id INT PRIMARY KEY, k VARCHAR(50)); INSERT INTO a VALUES (1, 'x'), (2, 'y');
CREATE TABLE b (id INT PRIMARY KEY, k VARCHAR(50) UNIQUE); INSERT INTO b VALUES (1, 'x'), (3, 'z');
CREATE TABLE secret (id INT PRIMARY KEY, k VARCHAR(50)); INSERT INTO secret VALUES (1, '{SECRET}'), (2, '{SECRET}2');
CREATE TABLE hidden (id INT PRIMARY KEY, k VARCHAR(50)); INSERT INTO hidden VALUES (1, 'shown by a view only');
CREATE SEQUENCE s;
CREATE VIEW va AS SELECT id, k FROM a;
CREATE VIEW vh AS SELECT id, k FROM hidden;
CREATE VIEW vs AS SELECT id, k FROM secret;
CREATE FUNCTION f() RETURNS TEXT READS SQL DATA RETURN (SELECT k FROM secret LIMIT 1);
CREATE FUNCTION `count` (n INT) RETURNS TEXT READS SQL DATA RETURN (SELECT k FROM secret LIMIT 1);
CREATE FUNCTION `if` (n INT) RETURNS TEXT READS SQL DATA RETURN (SELECT k FROM secret LIMIT 1);
CREATE FUNCTION any_value (n INT) RETURNS TEXT READS SQL DATA RETURN (SELECT k FROM secret LIMIT 1);
"""
ALLOWED = ["a", "b", "va", "vh"]
OPENED = {*ALLOWED, "hidden"}  # what the allowed views are made of
DENIED = (1044, 1142, 1143, 1227, 1370)  # what the server says to an account without the right
NO_TABLE = 1146


class Strict(Maria):
    """The database, and one engine for many statements."""

    def __init__(self, server: MariaDB) -> None:
        super().__init__(server, SCRIPT, allowed_tables=ALLOWED, timeout=2)
        grants = "".join(f"GRANT SELECT ON {self.name}.{table} TO {self.name};" for table in ALLOWED)
        server.run(
            f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM {self.name};"
            f"{grants} GRANT EXECUTE ON {self.name}.* TO {self.name}"
        )
        self._context = self.context(seconds=3600)
        self.engine: Any = self._context.connection("")
        self._stack = ExitStack()
        self._owner = self._stack.enter_context(server.owner(self.name))
        for setting in ("TRANSACTION READ ONLY", "max_statement_time = 1"):
            self._owner.cmd_query(f"SET SESSION {setting}")

    def drop(self) -> None:
        self._context.close()
        self._stack.close()
        super().drop()

    def ask(self, sql: str) -> list[Any] | ClitoolError:
        """Return names and some rows, or the error: the guard's own, or with a `vendor_code` the server's."""
        rows = None
        try:
            rows = self.engine.statement(sql, []).rows
            return list(islice(rows, 6))
        except ClitoolError as error:
            return error
        finally:
            if rows is not None:
                rows.close()

    def opened(self, text: str) -> tuple[set[str], int]:
        """Return what the server opens when its owner, who may do everything, runs a text, and the error's number."""
        owner = self._owner
        owner.cmd_query("FLUSH TABLES")
        number = 0
        try:
            for result in owner.cmd_query_iter(text):
                if "columns" in result:
                    owner.get_rows()
        except Error as error:  # the tables are opened before most errors are found
            number = error.errno
        owner.cmd_query(f"SHOW OPEN TABLES FROM {self.name}")
        return {row[1].decode() for row in owner.get_rows(raw=True)[0]}, number


def is_admitted(answer: list[Any] | ClitoolError) -> bool:
    """Return whether the guard let a statement through to the server."""
    return not isinstance(answer, ClitoolError) or "vendor_code" in answer.details


def check(strict: Strict, sql: str) -> bool:
    """Return whether a statement was admitted; fail if it showed or touched more than the allowed tables."""
    answer = strict.ask(sql)
    assert SECRET not in str(answer), sql
    if not is_admitted(answer):
        assert isinstance(answer, ClitoolError)
        assert answer.code == "invalid_params" or answer.reason == "not_found", (sql, answer)
        return False
    source = screen(sql)
    opened, number = strict.opened(bind(source, [], judge(source).names))
    assert opened <= OPENED, sql
    if isinstance(answer, ClitoolError) and answer.details["vendor_code"] in DENIED:
        assert number == NO_TABLE, sql  # then the account was denied what is not there
    return True


def _one(words: str) -> st.SearchStrategy[str]:
    """Return one of the words; in a word, a § is a gap."""
    return st.sampled_from(words.split())


def _joined(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map("".join)


class Vocabulary:
    """What generated statements are made of. The same few names stand for tables, aliases, columns and functions."""

    leaves = _one("SELECT§1§k SELECT§id§k§FROM§a SELECT§k§FROM§secret SELECT§*§FROM§b")
    names = _one("a secret secret vh")
    aliases = _one("a secret t u v")
    columns = _one("* k id 1")
    joins = _one("§JOIN§ ,§ §LEFT§JOIN§ §STRAIGHT_JOIN§")
    hints = _one("§")
    ons = _one("§ §ON§1")
    lists = _one("§ § (k)")
    conditions = _one("1 k§=§'x'")
    clauses = _one("WHERE HAVING ORDER§BY WHERE§1§AND")
    ends = _one("§ §LIMIT§1")


class Strange(Vocabulary):
    """Every name in every spelling, calls of functions, and what servers and parser take for different things."""

    leaves = _one("SELECT§1 SELECT§id§FROM§a SELECT§*§FROM§b SELECT§k§FROM§secret SELECT§1§FROM§secret TABLE§secret")
    names = _one("""
        a a a a b b b va va vh secret vs hidden `secret` `a` SECRET A db.a db§.§`b` db.secret `db`.`secret` db§.§vs t s
        DUAL dual `dual` seq_1_to_3 information_schema.tables mysql.user only§a .secret .`a` a.b.secret "secret"
    """)
    aliases = _one("a b secret t `vs` `secret` only final x dual")
    columns = _one("""
        * id id k k 1 'secret' t.k secret.k a.id db.a.k count(*) max(k) COUNT(DISTINCT§k) concat(k,§'secret')
        if(1,§k,§0) k§AS§secret id§secret k§'from§secret' a.* sum(id)§OVER§(ORDER§BY§k) CASE§WHEN§k§THEN§1§END
        EXTRACT(DAY§FROM§k) TRIM('x'§FROM§k) SUBSTRING(k§FROM§1§FOR§2) 1.5 .5 `from` a.from @x current_user --1 -§-1
        NEXTVAL(s) interval(1,2) now()§+§interval§1§day
    """)
    joins = _one("§JOIN§ ,§ , §LEFT§JOIN§ §NATURAL§JOIN§ §CROSS§JOIN§ §STRAIGHT_JOIN§ §INNER§JOIN§ §FULL§JOIN§")
    hints = _one("§ § § §USE§INDEX§(PRIMARY) §FORCE§INDEX§FOR§JOIN§(PRIMARY) §PARTITION§(p)")
    ons = _one("§ § §ON§1 §USING§(id) §ON§a.id§=§b.id")
    lists = _one("§ § (id,§k) §(k)")
    conditions = _one("1 0 id§=§1 k§IN§('secret') k§IN§secret id§IN§(TABLE§secret) k§LIKE§'T%'")
    clauses = _one("WHERE WHERE HAVING GROUP§BY ORDER§BY LIMIT PROCEDURE QUALIFY WHERE§1§AND")
    ends = _one("""
        § § § §LIMIT§1 §ORDER§BY§1 §GROUP§BY§k§WITH§ROLLUP §WINDOW§w§AS§(ORDER§BY§k) §FOR§UPDATE §INTO§@x ;
        §PROCEDURE§ANALYSE() §LOCK§IN§SHARE§MODE §FETCH§FIRST§1§ROWS§ONLY §FOR§SYSTEM_TIME§ALL
    """)


GAPS = st.sampled_from(
    [" ", "\n", "/**/", " /* secret */ ", " -- from secret\n", "#,secret\n", "\t", " /*'*/ ", "--\n"]
)
TESTS = _one("EXISTS§ NOT§EXISTS§ id§IN§ k§=§ (id,k)§IN§ id§>§ALL§ 0§AND§EXISTS§")
CALLED = _one("f count if any_value concat max of against `f` `count` `if` db.f db.`count` COUNT F")
CALLS = st.lists(st.tuples(CALLED, _one("( §( §("), _one("1) ) k) 1,§2)")).map("".join), min_size=1, max_size=2).map(
    lambda calls: f"SELECT§{',§'.join(calls)}§FROM§a"
)


def _selects(inner: st.SearchStrategy[str], words: type[Vocabulary]) -> st.SearchStrategy[str]:
    """Return SELECTs whose subqueries come from `inner`."""
    subquery = inner.map(lambda sql: f"({sql})")
    alias = _joined(_one("§ §AS§"), words.aliases)
    derived = _joined(subquery, alias)
    listed = _joined(words.names, words.joins, words.names).map(lambda names: f"({names})")
    source = st.one_of(words.names, words.names, derived, listed, _joined(words.names, alias, words.hints))
    joined = _joined(source, words.joins, source, words.ons)
    columns = st.lists(st.one_of(words.columns, words.columns, subquery, derived), min_size=1, max_size=2).map(
        ",§".join
    )
    condition = st.one_of(words.conditions, _joined(TESTS, subquery))
    end = st.one_of(words.ends, _joined(st.just("§"), words.clauses, st.just("§"), st.one_of(condition, subquery)))
    plain = st.one_of(
        _joined(st.just("SELECT§"), columns, st.just("§FROM§"), st.one_of(source, source, joined), end),
        _joined(st.just("SELECT§"), columns),
    )
    table = st.tuples(words.aliases, words.lists, inner).map(lambda each: f"{each[0]}{each[1]}§AS§({each[2]})")
    tables = st.lists(table, min_size=1, max_size=2).map(",§".join)
    named = _joined(_one("WITH§ WITH§ WITH§RECURSIVE§"), tables, st.just("§"), plain)
    operand = st.one_of(plain, subquery, plain.map(lambda sql: f"({sql})"))
    compound = _joined(operand, _one("§UNION§ §UNION§ALL§ §EXCEPT§ §INTERSECT§"), operand)
    return st.one_of(plain, named, named, compound)


def _grown(words: type[Vocabulary]) -> st.SearchStrategy[str]:
    return st.recursive(words.leaves, lambda inner: _selects(inner, words), max_leaves=6)


def _spelt(pair: tuple[str, list[str]]) -> str:
    text, gaps = pair
    first, *rest = text.split("§")
    return first + "".join(gap + part for gap, part in zip(cycle(gaps), rest, strict=False))


STATEMENTS = st.tuples(
    st.one_of(_grown(Vocabulary), _grown(Vocabulary), _grown(Strange), CALLS), st.lists(GAPS, min_size=1, max_size=3)
).map(_spelt)

# What to put into a statement, in place of some characters or between them: signs, blanks, and words between blanks.
SIGNS = _one("""
    /* */ /**/ -- --\x7f # ' " ` `` '' \\ \\' ( ) , ; . .. @ := { } [ $ || -> <=> == * 0x x' b' n' _latin1 1 1. 1e1 e
    `secret` any_value(1) f() json_table \u017f \u0131 \u212a e\u0301 \U0001d482 \ufeff
""")
BLANKS = st.sampled_from(["-- ", "--\x0b", "\n", "\r", "\x0b", "\x0c", "\xa0", "\u3000", " (SELECT k FROM secret)"])
WORDS = _one("""
    ,secret JOIN§secret FROM§secret UNION§SELECT§k§FROM§secret secret , JOIN FROM SELECT AS LATERAL STRAIGHT_JOIN
    TABLE VALUES WITH RECURSIVE UNION ON USING USE INDEX FOR PARTITION INTO ONLY FULL PIVOT WINDOW OVER FETCH OFFSET
    LIMIT NEXT VALUE COUNT a vs hidden only dual columns against interval binary case end exists in group by order
    apply cross minus anti asof
""").map(lambda word: f" {word.replace('§', ' ')} ")
PIECES = st.one_of(SIGNS, BLANKS, WORDS)
CHANGES = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 5), PIECES), min_size=1, max_size=4)


def changed(sql: str, changes: list[tuple[int, int, str]]) -> str:
    """Return a statement with pieces in place of so many characters at some positions."""
    for position, length, piece in changes:
        at = position % (len(sql) + 1)
        sql = sql[:at] + piece + sql[at + length :]
    return sql
