"""database_update and database_delete on MariaDB; what triggers and cascades of any change may reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mariadb_world import Maria

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mariadb import MariaDB

CHANGES = [
    pytest.param("update", {"values": {"note": "z"}}, id="update"),
    pytest.param("delete", {}, id="delete"),
]


def test_update_changes_what_matches(maria: Maria) -> None:
    """All that match count, also those that have the values already."""
    result = maria.call("update", table="customers", where={"id": {"$gte": 2}}, values={"note": "x", "email": None})

    assert result == {"affected": 2, "dry_run": False}
    assert maria.rows("SELECT id, note, email FROM customers") == [
        (1, None, "ada@example.org"),
        (2, "x", None),
        (3, "x", None),
    ]


def test_delete_removes_what_matches(maria: Maria) -> None:
    assert maria.call("delete", table="orders", where={"customer_id": 1}) == {"affected": 2, "dry_run": False}
    assert maria.rows("SELECT id FROM orders") == [(3,)]


@pytest.mark.parametrize(("tool", "more"), CHANGES)
def test_more_rows_than_permitted_change_nothing(maria: Maria, tool: str, more: dict[str, Any]) -> None:
    maria.run("DELETE FROM orders")
    before = maria.rows("SELECT * FROM customers")

    document = maria.refusal(tool, table="customers", where={"id": {"$gt": 0}}, max_affected=2, **more)
    assert document["details"]["reason"] == "too_many_affected"
    assert document["error"] == "more than 2 rows match, which is max_affected; nothing was changed"
    assert maria.rows("SELECT * FROM customers") == before
    assert maria.call(tool, table="customers", where={"id": {"$gt": 0}}, max_affected=3, **more)["affected"] == 3


@pytest.mark.parametrize(("tool", "more"), CHANGES)
def test_a_dry_run_counts_and_changes_nothing(maria: Maria, tool: str, more: dict[str, Any]) -> None:
    maria.run("DELETE FROM orders")
    before = maria.rows("SELECT * FROM customers")

    result = maria.call(tool, table="customers", where={"id": {"$gt": 1}}, dry_run=True, **more)

    assert result == {"affected": 2, "dry_run": True}
    assert maria.rows("SELECT * FROM customers") == before


@pytest.mark.parametrize(("tool", "more"), CHANGES)
def test_a_change_needs_a_filter(maria: Maria, tool: str, more: dict[str, Any]) -> None:
    assert maria.reason(tool, table="customers", where={}, **more) == "filter_required"


def test_a_foreign_key_refuses_without_names_of_others(maria: Maria) -> None:
    maria.run("CREATE TABLE hidden_child (p INT, FOREIGN KEY (p) REFERENCES customers (id)); "
              "INSERT INTO hidden_child VALUES (3)")  # fmt: skip

    document = maria.refusal("delete", table="customers", where={"id": 3})

    assert document["details"]["reason"] == "constraint"
    assert "hidden_child" not in document["error"]


def test_tables_of_every_sort_can_be_changed(mariadb: MariaDB) -> None:
    """Also those of which the server keeps what was."""
    world = Maria(
        mariadb,
        "CREATE TABLE versioned (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING;"
        "CREATE TABLE parts (id INT PRIMARY KEY, v INT) PARTITION BY RANGE (id)"
        " (PARTITION a VALUES LESS THAN (5), PARTITION b VALUES LESS THAN MAXVALUE);"
        "CREATE TABLE keyless (id INT, v INT);"
        "CREATE TABLE hiding (id INT, v INT, h INT INVISIBLE NOT NULL DEFAULT 1);",
        allowed_tables="all",
    )
    for table in ("versioned", "parts", "keyless", "hiding"):
        assert world.call("insert", table=table, rows=[{"id": 1}, {"id": 7}])["inserted"] == 2
        assert world.call("update", table=table, where={"id": {"$gt": 0}}, values={"v": 3})["affected"] == 2
        assert world.call("update", table=table, where={"id": 1}, values={"id": 9})["affected"] == 1
        assert world.reason("delete", table=table, where={"v": 3}, max_affected=1) == "too_many_affected"
        assert world.call("delete", table=table, where={"id": 7})["affected"] == 1
        assert world.call("query", table=table)["rows"] == [{"id": 9, "v": 3}]
    assert world.call("update", table="hiding", where={"h": 1}, values={"h": 2})["affected"] == 1
    world.drop()


ENGINES = """
CREATE TABLE myisam (id INT PRIMARY KEY, v INT) ENGINE=MyISAM;
CREATE TABLE aria (id INT PRIMARY KEY, v INT) ENGINE=Aria;
CREATE TABLE memory (id INT PRIMARY KEY, v INT) ENGINE=MEMORY;
CREATE TABLE merged (id INT PRIMARY KEY, v INT) ENGINE=MERGE UNION=(myisam) INSERT_METHOD=LAST;
CREATE TABLE innodb (id INT PRIMARY KEY, v INT);
CREATE TRIGGER tr AFTER UPDATE ON innodb FOR EACH ROW INSERT INTO aria VALUES (NEW.id, NEW.v);
INSERT INTO myisam VALUES (1, 1); INSERT INTO aria VALUES (1, 1); INSERT INTO memory VALUES (1, 1);
INSERT INTO innodb VALUES (1, 1), (2, 2);
"""


@pytest.fixture(scope="module")
def engines(mariadb: MariaDB) -> Iterator[Maria]:
    world = Maria(mariadb, ENGINES, allowed_tables="all")
    yield world
    world.drop()


@pytest.mark.parametrize("table", ["myisam", "aria", "memory"])
@pytest.mark.parametrize(
    ("tool", "params"),
    [
        pytest.param("insert", {"rows": [{"id": 8}, {"id": 9}]}, id="insert of several rows"),
        pytest.param("upsert", {"rows": [{"id": 8}, {"id": 9}], "key": "id"}, id="upsert of several rows"),
        pytest.param("update", {"where": {"id": 1}, "values": {"v": 9}}, id="update, which has a bound"),
        pytest.param("update", {"where": {"id": 1}, "values": {"v": 9}, "dry_run": True}, id="dry update"),
        pytest.param("delete", {"where": {"id": 1}}, id="delete, which has a bound"),
        pytest.param("delete", {"where": {"id": 1}, "dry_run": True}, id="dry delete"),
    ],
)
def test_what_needs_a_transaction_is_refused_without(
    engines: Maria, table: str, tool: str, params: dict[str, Any]
) -> None:
    """These engines cannot take back what was done."""
    document = engines.refusal(tool, table=table, **params)

    assert document["details"]["reason"] == "no_transactions"
    assert repr(table) in document["error"]
    assert engines.rows(f"SELECT * FROM {table}") == [(1, 1)]


def test_what_a_trigger_changes_needs_a_transaction_too(engines: Maria) -> None:
    """A dry run would leave behind what the trigger wrote."""
    for more in ({"dry_run": True}, {}):
        document = engines.refusal("update", table="innodb", where={"id": 1}, values={"v": 5}, **more)
        assert (document["details"]["reason"], "'aria'" in document["error"]) == ("no_transactions", True)
    assert engines.rows("SELECT * FROM aria") == [(1, 1)]


def test_one_row_needs_no_transaction(engines: Maria) -> None:
    for table in ("myisam", "aria", "memory"):
        assert engines.call("insert", table=table, rows=[{"id": 5, "v": 1}]) == {"inserted": 1}
        assert engines.call("upsert", table=table, key="id", rows=[{"id": 5, "v": 2}])["updated"] == 1
        assert engines.call("query", table=table, where={"id": 5})["rows"] == [{"id": 5, "v": 2}]
        engines.run(f"DELETE FROM {table} WHERE id = 5")


@pytest.mark.parametrize(
    ("tool", "params"),
    [
        pytest.param("insert", {"rows": [{"id": 8}]}, id="insert"),
        pytest.param("upsert", {"rows": [{"id": 8}], "key": "id"}, id="upsert"),
        pytest.param("update", {"where": {"id": 1}, "values": {"v": 9}}, id="update"),
        pytest.param("delete", {"where": {"id": 1}}, id="delete"),
    ],
)
def test_a_table_that_keeps_its_rows_in_others_is_not_changed(
    engines: Maria, tool: str, params: dict[str, Any]
) -> None:
    """A MERGE table would change tables that are not listed."""
    assert engines.reason(tool, table="merged", **params) == "table_not_allowed"
    assert engines.rows("SELECT * FROM myisam") == [(1, 1)]
    assert engines.call("query", table="merged")["rows"] == [{"id": 1, "v": 1}]


@pytest.mark.parametrize("tool", ["insert", "upsert", "update", "delete"])
def test_a_view_cannot_be_changed(maria: Maria, tool: str) -> None:
    more: dict[str, Any] = {
        "insert": {"rows": [{"id": 9}]},
        "upsert": {"rows": [{"id": 9}], "key": "id"},
        "update": {"where": {"id": 1}, "values": {"name": "x"}},
        "delete": {"where": {"id": 1}},
    }[tool]

    assert maria.refusal(tool, table="v_orders", **more)["error"] == "'v_orders' is a view; change the table behind it"


EFFECTS = """
CREATE TABLE t (id INT PRIMARY KEY, v INT, k INT UNIQUE);
CREATE TABLE child (id INT PRIMARY KEY, t_id INT, FOREIGN KEY (t_id) REFERENCES t (id) ON DELETE CASCADE);
CREATE TABLE grandchild (id INT PRIMARY KEY, c INT, FOREIGN KEY (c) REFERENCES child (id) ON DELETE SET NULL);
CREATE TABLE follower (k INT, FOREIGN KEY (k) REFERENCES t (k) ON UPDATE CASCADE);
CREATE TABLE audit (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(100));
CREATE TABLE chain (id INT PRIMARY KEY, v INT);
CREATE TRIGGER chained AFTER INSERT ON chain FOR EACH ROW INSERT INTO audit (what) VALUES ('chained');
CREATE TABLE plain (id INT PRIMARY KEY, v INT, note VARCHAR(100));
CREATE VIEW v_audit AS SELECT * FROM audit;
CREATE PROCEDURE p() INSERT INTO audit (what) VALUES ('p');
CREATE PROCEDURE v() INSERT INTO audit (what) VALUES ('v');
CREATE FUNCTION f() RETURNS INT NOT DETERMINISTIC RETURN 1;
INSERT INTO t VALUES (1, 1, 1), (2, 2, 2); INSERT INTO child VALUES (1, 1); INSERT INTO grandchild VALUES (1, 1);
INSERT INTO follower VALUES (2); INSERT INTO plain VALUES (1, 1, ''); INSERT INTO chain VALUES (1, 1);
"""
CONTENT = ("t", "child", "grandchild", "follower", "audit", "plain", "chain")


@pytest.fixture
def effects(mariadb: MariaDB) -> Iterator[Maria]:
    world = Maria(mariadb, EFFECTS, allowed_tables=["t", "plain", "chain"])
    yield world
    world.drop()


def content(world: Maria) -> list[Any]:
    return [world.rows(f"SELECT * FROM {table}") for table in CONTENT]


@pytest.mark.parametrize(
    ("tool", "params", "effects_", "reached"),
    [
        pytest.param("delete", {"where": {"id": 1}}, [], "child", id="delete"),
        pytest.param("delete", {"where": {"id": 77}}, [], "child", id="delete of nothing"),
        pytest.param("delete", {"where": {"id": 1}, "dry_run": True}, [], "child", id="dry run"),
        pytest.param("delete", {"where": {"id": 1}}, ["child"], "grandchild", id="a cascade of a cascade"),
        pytest.param("update", {"where": {"id": 2}, "values": {"k": 5}}, [], "follower", id="update of a key"),
        pytest.param("update", {"where": {"id": 2}, "values": {"v": 1, "k": 5}}, [], "follower", id="among others"),
        pytest.param("upsert", {"rows": [{"id": 2, "k": 5}], "key": "id"}, [], "follower", id="upsert of a key"),
    ],
)
def test_a_cascade_that_reaches_an_unlisted_table_is_refused(
    effects: Maria, tool: str, params: dict[str, Any], effects_: list[str], reached: str
) -> None:
    """By name, before anything is changed; the server checks no rights for a cascade."""
    effects.settings["allow_side_effects"] = effects_
    before = content(effects)

    document = effects.refusal(tool, table="t", **params)

    assert document["details"]["reason"] == "side_effects"
    assert repr(reached) in document["error"]
    assert content(effects) == before


@pytest.mark.parametrize(
    ("tool", "params"),
    [
        pytest.param("insert", {"rows": [{"id": 3, "k": 3}]}, id="insert"),
        pytest.param("update", {"where": {"id": 1}, "values": {"v": 9}}, id="update of no key"),
        pytest.param("upsert", {"rows": [{"id": 1, "v": 9}], "key": "id"}, id="upsert of no key"),
    ],
)
def test_what_causes_no_cascade_is_not_refused(effects: Maria, tool: str, params: dict[str, Any]) -> None:
    effects.call(tool, table="t", **params)


def test_a_permitted_side_effect_opens_no_table(effects: Maria) -> None:
    effects.settings["allow_side_effects"] = ["child", "grandchild"]

    assert effects.call("delete", table="t", where={"id": 1})["affected"] == 1
    assert effects.rows("SELECT * FROM grandchild") == [(1, None)]
    assert effects.reason("query", table="child") == "table_not_allowed"


@pytest.mark.parametrize(
    "action", ["ON DELETE CASCADE", "ON DELETE SET NULL", "ON UPDATE CASCADE", "ON UPDATE SET NULL"]
)
def test_every_sort_of_cascade_counts(mariadb: MariaDB, action: str) -> None:
    world = Maria(
        mariadb,
        "CREATE TABLE p (id INT PRIMARY KEY, v INT, KEY (v)); INSERT INTO p VALUES (1, 1);"
        f"CREATE TABLE c (p INT, FOREIGN KEY (p) REFERENCES p (id) {action})",
        allowed_tables=["p"],
    )
    change: dict[str, Any] = {"where": {"id": 1}, **({"values": {"id": 2}} if "UPDATE" in action else {})}

    assert world.reason("update" if "UPDATE" in action else "delete", table="p", **change) == "side_effects"
    other = {"where": {"id": 1}, **({} if "UPDATE" in action else {"values": {"id": 2}})}
    assert world.call("delete" if "UPDATE" in action else "update", table="p", **other)["affected"] == 1
    world.drop()


def test_a_cascade_into_another_database_counts(mariadb: MariaDB) -> None:
    """By its full name; also where all tables of this one are allowed."""
    other = Maria(mariadb, "", allowed_tables="all")
    world = Maria(mariadb, "CREATE TABLE p (id INT PRIMARY KEY); INSERT INTO p VALUES (1)", allowed_tables="all")
    other.run(f"CREATE TABLE c (p INT, FOREIGN KEY (p) REFERENCES {world.name}.p (id) ON DELETE CASCADE)")
    mariadb.run(f"GRANT SELECT, INSERT ON {other.name}.* TO {world.name}@'%'")

    document = world.refusal("delete", table="p", where={"id": 1})
    assert (document["details"]["reason"], f"'{other.name}.c'" in document["error"]) == ("side_effects", True)
    world.settings["allow_side_effects"] = [f"{other.name}.c"]
    assert world.call("delete", table="p", where={"id": 1})["affected"] == 1
    other.drop()
    world.drop()


def test_an_account_that_cannot_see_what_refers_to_a_table_deletes_nothing(effects: Maria) -> None:
    """Rights on single tables show only the foreign keys of these; the server cascades all the same."""
    effects.server.run(f"REVOKE ALL ON {effects.name}.* FROM {effects.name}@'%'")
    effects.server.run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {effects.name}.t TO {effects.name}@'%'")
    before = content(effects)

    for params in ({"tool": "delete"}, {"tool": "update", "values": {"k": 9}}):
        document = effects.refusal(table="t", where={"id": 1}, **params)
        assert document["details"]["reason"] == "permission"
        assert f"GRANT REFERENCES ON `{effects.name}`.*" in document["error"]
    assert content(effects) == before
    assert effects.call("update", table="t", where={"id": 1}, values={"v": 9})["affected"] == 1
    effects.server.run(f"GRANT REFERENCES ON {effects.name}.* TO {effects.name}@'%'")
    assert effects.reason("delete", table="t", where={"id": 1}) == "side_effects"


# A trigger's body -> what it is refused for, or None if it may run.
BODIES = [
    pytest.param("INSERT INTO audit (what) VALUES ('x')", "audit", id="insert"),
    pytest.param("REPLACE INTO audit (what) VALUES ('x')", "audit", id="replace"),
    pytest.param("UPDATE audit SET what = NEW.note", "audit", id="update"),
    pytest.param("DELETE FROM audit", "audit", id="delete"),
    pytest.param("DELETE a FROM audit AS a", "audit", id="delete by alias"),
    pytest.param("SET NEW.v = (SELECT COUNT(*) FROM audit)", "audit", id="read"),
    pytest.param("SET NEW.v = (SELECT COUNT(*) FROM plain, audit)", "audit", id="behind a comma"),
    pytest.param("SET NEW.v = (SELECT 1 FROM (chain JOIN (audit)) LIMIT 1)", "audit", id="in brackets"),
    pytest.param("SET NEW.v = (SELECT 1 FROM`audit`LIMIT 1)", "audit", id="in quotes"),
    pytest.param("SET NEW.v = (SELECT 1 FROM/**/audit/**/LIMIT 1)", "audit", id="between comments"),
    pytest.param("SET NEW.v = (SELECT 1 FROM chain /*!50000 , audit */ LIMIT 1)", "audit", id="in a comment that runs"),
    pytest.param("SET NEW.v = (SELECT 1 FROM chain /*M! , audit */ LIMIT 1)", "audit", id="in MariaDB's comment"),
    pytest.param("INSERT INTO {db}.audit (what) VALUES ('x')", "audit", id="with its database"),
    pytest.param("SET NEW.v = (SELECT 1 FROM mysql.user LIMIT 1)", "mysql.user", id="of another database"),
    pytest.param(
        "SET NEW.v = (SELECT 1 FROM information_schema.tables LIMIT 1)", "information_schema.tables", id="own"
    ),
    pytest.param("CALL p()", "p", id="procedure"),
    pytest.param("SET NEW.v = f()", "f", id="function"),
    pytest.param("BEGIN DECLARE f INT; SET f = 1; SET NEW.v = f(); END", "f", id="function called like a variable"),
    pytest.param("BEGIN p: LOOP CALL p; LEAVE p; END LOOP p; END", "p", id="procedure called like a label"),
    pytest.param("CALL v()", "v", id="procedure called like a column"),
    pytest.param("SET NEW.v = {db}.f()", "f", id="function with its database"),
    pytest.param("INSERT INTO chain VALUES (NEW.id + 10, 1)", "audit", id="through another trigger"),
    pytest.param("DELETE FROM t", "child", id="through a cascade"),
    pytest.param("INSERT INTO v_audit (what) VALUES ('x')", "v_audit", id="through a view"),
    pytest.param(
        "BEGIN DECLARE c CURSOR FOR SELECT what FROM audit; OPEN c; CLOSE c; END", "audit", id="through a cursor"
    ),
    pytest.param("SET NEW.note = UPPER(CONCAT(OLD.note, 'audit', NOW()))", None, id="its own row"),
    pytest.param(
        "SET NEW.v = (SELECT COUNT(*) FROM t AS x JOIN chain y ON y.id = x.id WHERE x.k > 1)", None, id="allowed"
    ),
    pytest.param("UPDATE t SET v = NEW.v WHERE id = NEW.id", "follower", id="through a cascade of what it may set"),
    pytest.param("INSERT INTO t (id) VALUES (NEW.id + 100)", None, id="a new row of an allowed table"),
    pytest.param("SET NEW.note = 'INSERT INTO audit' -- audit\n", None, id="in a text and a comment"),
    pytest.param("SET NEW.note = CONVERT(NEW.note USING utf8mb4) COLLATE utf8mb4_bin", None, id="collation"),
    pytest.param("SET NEW.note = CONCAT(_latin1'x', N'y', DATE'2024-01-01', x'41', @one)", None, id="literals"),
    pytest.param(
        "BEGIN DECLARE audited, n INT DEFAULT 0; DECLARE nope CONDITION FOR SQLSTATE '45000';"
        " one: LOOP SET audited = audited + 1; IF audited > 3 THEN LEAVE one; END IF; END LOOP one;"
        " IF NEW.v > 1000 THEN SIGNAL nope SET MESSAGE_TEXT = 'too much'; END IF;"
        " SELECT MAX(v) INTO n FROM t WHERE t.k IN (1, 2) AND v IS NOT NULL; SET NEW.note = n; END",
        None,
        id="a block",
    ),
]


@pytest.mark.parametrize(("body", "refused"), BODIES)
def test_a_trigger_that_may_reach_an_unlisted_table_is_refused(effects: Maria, body: str, refused: str | None) -> None:
    """By name, whatever way it takes there; what it says in texts and comments is no name."""
    with effects.server.owner(effects.name) as handle, handle.cursor() as cursor:
        cursor.execute(f"CREATE TRIGGER tr BEFORE UPDATE ON plain FOR EACH ROW {body.replace('{db}', effects.name)}")
    before = content(effects)
    change: dict[str, Any] = {"table": "plain", "where": {"id": 1}, "values": {"v": 5}}

    if refused is None:
        assert effects.call("update", **change)["affected"] == 1
        return
    document = effects.refusal("update", **change)
    assert document["details"]["reason"] == "side_effects"
    assert f"{refused!r}, which is neither in allowed_tables nor in allow_side_effects" in document["error"]
    assert content(effects) == before
    assert effects.call("insert", table="plain", rows=[{"id": 2}]) == {"inserted": 1}  # the trigger is not on that


def test_what_a_trigger_names_may_be_permitted(effects: Maria) -> None:
    """A procedure, too: its owner has said that it may."""
    for body, effect in (("INSERT INTO audit (what) VALUES ('x')", "audit"), ("CALL p()", "p")):
        effects.run(f"CREATE OR REPLACE TRIGGER tr AFTER INSERT ON plain FOR EACH ROW {body}")
        effects.settings["allow_side_effects"] = [effect]
        assert effects.call("insert", table="plain", rows=[{"id": len(effect) + 1}]) == {"inserted": 1}
    assert effects.rows("SELECT what FROM audit WHERE what <> 'chained' ORDER BY id") == [("x",), ("p",)]


def test_all_tables_are_those_of_the_database(effects: Maria) -> None:
    """Where all are allowed, a procedure and another database are not."""
    effects.settings["allowed_tables"] = "all"
    for body, reason in (
        ("INSERT INTO audit (what) VALUES ('x')", ""),
        ("CALL p()", "side_effects"),
        ("SET NEW.v = (SELECT 1 FROM mysql.user LIMIT 1)", "side_effects"),
    ):
        effects.run(f"CREATE OR REPLACE TRIGGER tr BEFORE UPDATE ON plain FOR EACH ROW {body}")
        change: dict[str, Any] = {"table": "plain", "where": {"id": 1}, "values": {"v": 7}}
        if reason:
            assert effects.reason("update", **change) == reason
        else:
            assert effects.call("update", **change)["affected"] == 1


@pytest.mark.parametrize("body", ["SET NEW.v = 1, NEW.K = NEW.k + 10", "SET `NEW`.`k` = 5"])
def test_a_key_that_the_table_s_own_trigger_sets_is_followed(effects: Maria, body: str) -> None:
    """Though the call sets another column."""
    effects.run(f"CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW {body}")
    before = content(effects)

    document = effects.refusal("update", table="t", where={"id": 2}, values={"v": 1})

    assert (document["details"]["reason"], "'follower'" in document["error"]) == ("side_effects", True)
    assert content(effects) == before


def test_a_key_that_the_table_s_own_trigger_reads_is_not(effects: Maria) -> None:
    effects.run("CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW SET NEW.v = IF(NEW.k > OLD.k, NEW.v, 0)")

    assert effects.call("update", table="t", where={"id": 2}, values={"v": 1})["affected"] == 1


def test_names_in_double_quotes_count_where_the_trigger_was_made_so(effects: Maria) -> None:
    effects.run(
        "SET sql_mode = 'ANSI_QUOTES';"
        'CREATE TRIGGER tr BEFORE UPDATE ON plain FOR EACH ROW SET NEW.v = (SELECT 1 FROM "audit" LIMIT 1)'
    )

    document = effects.refusal("update", table="plain", where={"id": 1}, values={"v": 5})

    assert (document["details"]["reason"], "'audit'" in document["error"]) == ("side_effects", True)


def test_a_trigger_that_the_account_may_not_read_is_refused(effects: Maria) -> None:
    """The server shows that there is one, and hides what it does."""
    effects.run("CREATE TRIGGER tr BEFORE UPDATE ON plain FOR EACH ROW SET NEW.note = 'x'")
    effects.server.run(f"REVOKE TRIGGER ON {effects.name}.* FROM {effects.name}@'%'")

    document = effects.refusal("update", table="plain", where={"id": 1}, values={"v": 5})
    assert (document["details"]["reason"], "'tr'" in document["error"]) == ("permission", True)
    assert effects.call("insert", table="plain", rows=[{"id": 2}]) == {"inserted": 1}


def test_what_a_trigger_says_is_a_constraint(effects: Maria) -> None:
    effects.run(
        "CREATE TRIGGER tr BEFORE UPDATE ON plain FOR EACH ROW"
        " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no\nsecret TOP-SECRET'"
    )

    assert effects.reason("update", table="plain", where={"id": 1}, values={"v": 5}) == "constraint"


def test_a_change_that_takes_too_long_is_taken_back(effects: Maria) -> None:
    """The server is told to stop, and nothing of it stays."""
    effects.run("CREATE TRIGGER tr BEFORE UPDATE ON plain FOR EACH ROW SET NEW.v = SLEEP(30)")
    effects.settings |= {"allow_side_effects": ["SLEEP"], "timeout": 1}
    before = content(effects)

    assert effects.reason("update", table="plain", where={"id": 1}, values={"note": "x"}) == "timeout"
    assert content(effects) == before
    assert effects.call("query", table="plain", where={"id": 1})["rows"] == [{"id": 1, "v": 1, "note": ""}]
