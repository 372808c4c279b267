"""database_insert and database_upsert on SQLite."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from database_world import Shop
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_rows_may_have_different_columns_and_take_defaults(shop: Shop) -> None:
    rows = [
        {"day": "mon", "page": "/"},
        {"page": "/", "day": "tue", "count": 5},
        {"DAY": "wed", "Page": "/", "count": None},
    ]

    assert shop.call("insert", table="visits", rows=rows) == {"inserted": 3}
    assert shop.rows("SELECT * FROM visits") == [("mon", "/", 1), ("tue", "/", 5), ("wed", "/", None)]


def test_the_numbers_that_the_database_gives_are_told(shop: Shop) -> None:
    rows = [{"name": "a"}, {"name": "b", "id": 50}, {"name": "c"}]

    assert shop.call("insert", table="customers", rows=rows) == {"inserted": 3, "ids": [4, 50, 51]}


def test_a_row_without_columns_is_all_defaults(shop: Shop) -> None:
    assert shop.call("insert", table="orders", rows=[{}]) == {"inserted": 1, "ids": [4]}


def test_one_row_that_is_refused_refuses_all(shop: Shop) -> None:
    """Several rows are one transaction."""
    before = shop.dump()

    document = shop.refusal("insert", table="customers", rows=[{"name": "new"}, {"name": "ADA"}])
    assert document["details"] == {"reason": "duplicate_key", "row": 1}
    assert document["error"] == "rows[1]: a row with the same unique key exists already (customers.name)"
    rows = [{"id": 9, "name": "new"}, {"id": 1, "name": "bob"}]
    document = shop.refusal("upsert", table="customers", key=["id"], rows=rows)
    assert document["details"] == {"reason": "duplicate_key", "row": 1}
    assert shop.dump() == before


def test_what_is_refused_at_the_end_names_no_row(tmp_path: Path) -> None:
    """A deferred foreign key is checked when all rows are there."""
    shop = Shop(
        tmp_path,
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INT REFERENCES p DEFERRABLE INITIALLY DEFERRED);",
        allowed_tables=["p", "c"],
    )

    assert shop.refusal("insert", table="c", rows=[{"p": 1}, {"p": 2}])["details"] == {"reason": "constraint"}


@pytest.mark.parametrize(
    ("rows", "reason", "words"),
    [
        pytest.param([{"name": "Ada"}], "duplicate_key", "customers.name", id="unique"),
        pytest.param([{"id": 1, "name": "x"}], "duplicate_key", "customers.id", id="primary key"),
        pytest.param([{"email": "x"}], "constraint", "customers.name", id="null where none may be"),
        pytest.param([{"name": None}], "constraint", "customers.name", id="null written"),
        pytest.param([{"nmae": "x"}], "column_unknown", "did you mean 'name'", id="no such column"),
        pytest.param([{"name": "x", "NAME": "y"}], "bad_value", "twice", id="a column twice"),
        pytest.param([{"rowid": 1, "name": "x"}], "column_unknown", "rowid", id="the hidden number"),
        pytest.param([{"name": "x", "$set": {}}], "column_unknown", "$set", id="an operator"),
    ],
)
def test_a_row_is_refused(shop: Shop, rows: list[dict[str, Any]], reason: str, words: str) -> None:
    document = shop.refusal("insert", table="customers", rows=rows)

    assert document["details"]["reason"] == reason
    assert words in document["error"]


@pytest.mark.parametrize(
    ("table", "row", "reason"),
    [
        pytest.param("orders", {"customer_id": 99}, "constraint", id="foreign key"),
        pytest.param("orders", {"label": "x"}, "bad_value", id="generated column"),
        pytest.param("v_orders", {"name": "x"}, "table_not_allowed", id="a view"),
        pytest.param("ft", {"ft": "rebuild"}, "column_unknown", id="a command of a full-text table"),
        pytest.param("ft", {"rank": "x"}, "column_unknown", id="a hidden column of a full-text table"),
        pytest.param("strict_things", {"number": "x"}, "bad_value", id="strict type"),
        pytest.param("secret", {"k": "x"}, "table_not_allowed", id="a table that is not listed"),
    ],
)
def test_what_cannot_be_written_is_refused(shop: Shop, table: str, row: dict[str, Any], reason: str) -> None:
    before = shop.dump()

    assert shop.reason("insert", table=table, rows=[row]) == reason
    assert shop.dump() == before


def test_checks_of_the_table_are_kept(tmp_path: Path) -> None:
    shop = Shop(
        tmp_path,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT CONSTRAINT positive CHECK (n > 0))",
        allowed_tables=["t"],
    )

    document = shop.refusal("insert", table="t", rows=[{"n": 0}])

    assert (document["details"]["reason"], "positive" in document["error"]) == ("constraint", True)


@pytest.mark.parametrize("policy", ["REPLACE", "IGNORE", "ROLLBACK", "FAIL"])
def test_a_conflict_is_an_error_whatever_the_table_declares(tmp_path: Path, policy: str) -> None:
    """A table declared ON CONFLICT REPLACE would delete the other row in silence, IGNORE would lose the new one."""
    shop = Shop(
        tmp_path,
        f"""
        CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT {policy}, u TEXT UNIQUE ON CONFLICT {policy},
                        n TEXT DEFAULT 'x' NOT NULL ON CONFLICT {policy});
        INSERT INTO t VALUES (1, 'a', 'b'), (2, 'c', 'd');
        """,
        allowed_tables=["t"],
    )
    before = shop.dump()

    assert shop.reason("insert", table="t", rows=[{"id": 1, "u": "z"}]) == "duplicate_key"
    assert shop.reason("insert", table="t", rows=[{"u": "new"}, {"u": "a"}]) == "duplicate_key"
    assert shop.reason("update", table="t", where={"id": 2}, values={"u": "a"}) == "duplicate_key"
    assert shop.reason("upsert", table="t", key=["id"], rows=[{"id": 2, "u": "a"}]) == "duplicate_key"
    assert shop.reason("insert", table="t", rows=[{"n": None}]) == "constraint"
    assert shop.dump() == before


def test_virtual_tables_can_be_written(shop: Shop) -> None:
    assert shop.call("insert", table="ft", rows=[{"body": "second entry", "tag": "y"}]) == {"inserted": 1}
    assert shop.call("update", table="ft", where={"tag": "y"}, values={"body": "third entry"})["affected"] == 1
    assert shop.call("sql", sql="SELECT tag FROM ft WHERE ft MATCH 'third'")["rows"] == [{"tag": "y"}]
    assert shop.call("delete", table="ft", where={"tag": "y"})["affected"] == 1
    assert shop.call("insert", table="places", rows=[{"id": 2, "x0": 1, "x1": 2}]) == {"inserted": 1}
    assert shop.call("delete", table="places", where={"id": 2})["affected"] == 1


def test_upsert_updates_inserts_and_leaves_alone(shop: Shop) -> None:
    rows = [{"name": "ada", "note": "n"}, {"name": "New"}, {"name": "Bob", "note": "x"}, {"name": "Zoë"}]

    assert shop.call("upsert", table="customers", key=["name"], rows=rows) == {
        "inserted": 1,
        "updated": 1,
        "unchanged": 2,
    }
    assert shop.rows("SELECT * FROM customers") == [
        (1, "Ada", "ada@example.org", "n"),
        (2, "Bob", None, "x"),
        (3, "Zoë", None, 7),
        (4, "New", None, None),
    ]


def test_upsert_may_leave_out_a_column_that_must_not_be_null(shop: Shop) -> None:
    """The row is there already, and keeps its name."""
    assert shop.call("upsert", table="customers", key=["id"], rows=[{"id": 1, "note": "x"}])["updated"] == 1
    assert shop.reason("upsert", table="customers", key=["id"], rows=[{"id": 9, "note": "x"}]) == "constraint"


def test_upsert_with_nothing_but_the_key(shop: Shop) -> None:
    rows = [{"day": "mon", "page": "/"}, {"day": "mon", "page": "/"}]

    assert shop.call("upsert", table="visits", key=["page", "day"], rows=rows) == {
        "inserted": 1,
        "updated": 0,
        "unchanged": 1,
    }


def test_a_change_of_case_is_a_change(tmp_path: Path) -> None:
    """Values are compared to the byte, whatever the column's collation."""
    shop = Shop(
        tmp_path,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT COLLATE NOCASE, s TEXT COLLATE RTRIM);"
        "INSERT INTO t VALUES (1, 'a', 'b')",
        allowed_tables=["t"],
    )

    assert shop.call("upsert", table="t", key=["id"], rows=[{"id": 1, "n": "A"}])["updated"] == 1
    assert shop.call("upsert", table="t", key=["id"], rows=[{"id": 1, "s": "b "}])["updated"] == 1
    assert shop.call("upsert", table="t", key=["id"], rows=[{"id": 1, "n": "A", "s": "b "}])["unchanged"] == 1


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(["note"], id="not unique"),
        pytest.param(["id", "name"], id="two keys"),
        pytest.param(["id", "note"], id="more than the key"),
        pytest.param(["id", "ID"], id="the key twice"),
    ],
)
def test_the_key_must_be_one_unique_index(shop: Shop, key: list[str]) -> None:
    document = shop.refusal("upsert", table="customers", key=key, rows=[{"id": 1, "name": "x", "note": 1}])

    assert document["details"]["reason"] == "key_not_unique"
    assert "[id] or [name] or [email]" in document["error"]


@pytest.mark.parametrize(
    "index",
    [
        pytest.param("CREATE UNIQUE INDEX i ON t (a) WHERE a > 0", id="partial"),
        pytest.param("CREATE UNIQUE INDEX i ON t (abs(a))", id="expression"),
        pytest.param("CREATE UNIQUE INDEX i ON t (a, abs(b))", id="column and expression"),
        pytest.param("CREATE UNIQUE INDEX i ON t (a, b)", id="two columns"),
        pytest.param("CREATE INDEX i ON t (a)", id="not unique"),
    ],
)
def test_an_index_that_identifies_no_row_is_no_key(tmp_path: Path, index: str) -> None:
    shop = Shop(tmp_path, f"CREATE TABLE t (a INT, b INT); {index}", allowed_tables=["t"])

    assert shop.reason("upsert", table="t", key=["a"], rows=[{"a": 1, "b": 2}]) == "key_not_unique"


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"name": "x"}, id="missing"),
        pytest.param({"id": None, "name": "x"}, id="null"),
    ],
)
def test_every_row_needs_its_key(shop: Shop, row: dict[str, Any]) -> None:
    document = shop.refusal("upsert", table="customers", key=["id"], rows=[{"id": 9, "name": "y"}, row])

    assert document["details"] == {"reason": "bad_value", "row": 1}
    assert document["error"] == "rows[1] needs a value for the key column 'id', not null"
    assert shop.rows("SELECT count(*) FROM customers") == [(3,)]


MORE: Any = {"v": st.one_of(st.none(), st.integers(0, 2)), "w": st.sampled_from("xy")}
ROWS = st.lists(
    st.fixed_dictionaries({"k": st.sampled_from(["a", "A", "b", "c"])}, optional=MORE), min_size=1, max_size=8
)


@pytest.mark.parametrize("collation", ["BINARY", "NOCASE"])
@settings(deadline=None, derandomize=True, max_examples=60)
@given(batches=st.lists(ROWS, min_size=1, max_size=3))
def test_upsert_is_what_a_dictionary_does(collation: str, batches: list[list[dict[str, Any]]]) -> None:
    """The table and the counts are those of a plain model: update by key, insert if there is none."""
    model: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(
            Path(folder),
            f"CREATE TABLE t (k TEXT COLLATE {collation} UNIQUE, v DEFAULT 7, w TEXT)",
            allowed_tables=["t"],
        )
        for rows in batches:
            expected = {"inserted": 0, "updated": 0, "unchanged": 0}
            for row in rows:
                key = row["k"].lower() if collation == "NOCASE" else row["k"]
                old = model.get(key, {"k": row["k"], "v": 7, "w": None})
                new = {**old, **row, "k": old["k"]}
                expected["inserted" if key not in model else "unchanged" if new == old else "updated"] += 1
                model[key] = new
            assert shop.call("upsert", table="t", key=["k"], rows=rows) == expected

        assert sorted(shop.rows("SELECT k, v, w FROM t")) == sorted(tuple(row.values()) for row in model.values())


TRIGGERS = """
CREATE TABLE t (id INTEGER PRIMARY KEY, a);
CREATE TABLE audit (a);
CREATE TABLE prices (a);
CREATE TABLE parent (id INTEGER PRIMARY KEY);
CREATE TABLE child (id INTEGER PRIMARY KEY, p INT REFERENCES parent (id));
"""


@pytest.mark.parametrize(
    ("tool", "trigger", "reached"),
    [
        pytest.param("insert", "AFTER INSERT ON t BEGIN INSERT INTO audit VALUES (new.a); END", "audit", id="insert"),
        pytest.param("insert", "BEFORE INSERT ON t BEGIN DELETE FROM audit; END", "audit", id="delete before"),
        pytest.param("upsert", "AFTER UPDATE ON t BEGIN UPDATE audit SET a = 1; END", "audit", id="update"),
        pytest.param(
            "update", "AFTER UPDATE OF a ON t BEGIN INSERT INTO audit VALUES (1); END", "audit", id="of a column"
        ),
        pytest.param("delete", "AFTER DELETE ON t BEGIN INSERT INTO audit VALUES (old.a); END", "audit", id="delete"),
        pytest.param(
            "insert", "AFTER INSERT ON t BEGIN UPDATE t SET a = (SELECT a FROM prices); END", "prices", id="a read"
        ),
        pytest.param(
            "insert",
            "AFTER INSERT ON t WHEN (SELECT count(*) FROM prices) BEGIN SELECT 1; END",
            "prices",
            id="a read in the condition",
        ),
        pytest.param(
            "insert",
            "AFTER INSERT ON t BEGIN SELECT RAISE(ABORT, '') WHERE NOT EXISTS (SELECT 1 FROM prices); END",
            "prices",
            id="a check",
        ),
    ],
)
def test_a_trigger_that_reaches_an_unlisted_table_is_refused(
    tmp_path: Path, tool: str, trigger: str, reached: str
) -> None:
    """By name, before anything happens, unless the settings permit that very table."""
    shop = Shop(
        tmp_path, f"{TRIGGERS} INSERT INTO t VALUES (1, 1); INSERT INTO prices VALUES (5)", allowed_tables=["t"]
    )
    shop.run(f"CREATE TRIGGER tr {trigger}")
    params: dict[str, Any] = {
        "insert": {"rows": [{"a": 2}]},
        "upsert": {"rows": [{"id": 1, "a": 2}], "key": ["id"]},
        "update": {"where": {"id": 1}, "values": {"a": 2}},
        "delete": {"where": {"id": 1}},
    }[tool]
    before = shop.dump()

    document = shop.refusal(tool, table="t", **params)

    assert document["details"] == {"reason": "side_effects", "table": reached}
    assert repr(reached) in document["error"]
    assert shop.dump() == before
    shop.settings["allow_side_effects"] = [reached.upper()]
    shop.call(tool, table="t", **params)
    assert shop.dump() != before
    shop.settings.update(allow_side_effects=[], allowed_tables=["t", reached])
    shop.call(tool, table="t", **params)


def test_a_permitted_side_effect_opens_no_table(tmp_path: Path) -> None:
    """`allow_side_effects` is for triggers and cascades, never for the caller."""
    shop = Shop(tmp_path, TRIGGERS, allowed_tables=["t"], allow_side_effects=["audit"])

    assert shop.reason("query", table="audit") == "table_not_allowed"
    assert shop.reason("insert", table="audit", rows=[{"a": 1}]) == "table_not_allowed"
    assert shop.reason("sql", sql="SELECT * FROM audit") == "table_not_allowed"


@pytest.mark.parametrize("action", ["CASCADE", "SET NULL", "SET DEFAULT"])
def test_a_cascade_that_reaches_an_unlisted_table_is_refused(tmp_path: Path, action: str) -> None:
    shop = Shop(
        tmp_path,
        f"""
        CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2);
        CREATE TABLE child (p INT DEFAULT 2 REFERENCES t (id) ON DELETE {action} ON UPDATE {action});
        INSERT INTO child VALUES (1);
        """,
        allowed_tables=["t"],
    )
    before = shop.dump()

    assert shop.refusal("delete", table="t", where={"id": 1})["details"] == {"reason": "side_effects", "table": "child"}
    assert shop.reason("update", table="t", where={"id": 1}, values={"id": 5}) == "side_effects"
    assert shop.dump() == before
    shop.settings["allow_side_effects"] = ["child"]
    assert shop.call("delete", table="t", where={"id": 1})["affected"] == 1


def test_a_cascade_of_a_cascade_counts_too(tmp_path: Path) -> None:
    """The whole chain is known before the first row goes."""
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1);
        CREATE TABLE child (id INTEGER PRIMARY KEY, p INT REFERENCES t (id) ON DELETE CASCADE);
        CREATE TABLE grandchild (c INT REFERENCES child (id) ON DELETE CASCADE);
        CREATE TABLE log (x); CREATE TRIGGER tr AFTER DELETE ON grandchild BEGIN INSERT INTO log VALUES (1); END;
        """,
        allowed_tables=["t", "child", "grandchild"],
    )

    assert shop.refusal("delete", table="t", where={"id": 1})["details"]["table"] == "log"


def test_a_foreign_key_to_an_unlisted_table_is_checked_not_refused(tmp_path: Path) -> None:
    """Whether the parent exists is all that the caller learns; a reference without an action deletes nothing."""
    shop = Shop(tmp_path, f"{TRIGGERS} INSERT INTO parent VALUES (1);", allowed_tables=["child"])

    assert shop.call("insert", table="child", rows=[{"p": 1}])["inserted"] == 1
    assert shop.reason("insert", table="child", rows=[{"p": 2}]) == "constraint"
    shop.settings["allowed_tables"] = ["parent"]
    assert shop.reason("delete", table="parent", where={"id": 1}) == "constraint"


def test_a_table_whose_name_looks_like_content_is_a_table(tmp_path: Path) -> None:
    """Only tables of virtual tables count as their content."""
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (a); CREATE TABLE t_content (a);
        CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO t_content VALUES (new.a); END;
        """,
        allowed_tables=["t"],
    )

    assert shop.refusal("insert", table="t", rows=[{"a": 1}])["details"]["table"] == "t_content"


def test_a_trigger_may_keep_an_allowed_full_text_table_up_to_date(tmp_path: Path) -> None:
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a);
        CREATE VIRTUAL TABLE f USING fts5 (a, content='t', content_rowid='id');
        CREATE TRIGGER ai AFTER INSERT ON t BEGIN INSERT INTO f (rowid, a) VALUES (new.id, new.a); END;
        CREATE TRIGGER ad AFTER DELETE ON t BEGIN INSERT INTO f (f, rowid, a) VALUES ('delete', old.id, old.a); END;
        """,
        allowed_tables=["t"],
    )

    assert shop.refusal("insert", table="t", rows=[{"a": "hello"}])["details"]["table"] == "f"
    shop.settings["allowed_tables"] = ["t", "f"]
    assert shop.call("insert", table="t", rows=[{"a": "hello"}])["inserted"] == 1
    assert shop.call("sql", sql="SELECT a FROM f WHERE f MATCH 'hello'")["rows"] == [{"a": "hello"}]
    assert shop.call("delete", table="t", where={"a": "hello"})["affected"] == 1
    assert shop.call("sql", sql="SELECT a FROM f WHERE f MATCH 'hello'")["rows"] == []


def test_a_trigger_may_use_the_tables_that_are_functions(tmp_path: Path) -> None:
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a JSON, n INT);
        CREATE TRIGGER tr AFTER INSERT ON t BEGIN
            UPDATE t SET n = (SELECT count(*) FROM json_each(new.a)) WHERE id = new.id; END;
        """,
        allowed_tables=["t"],
    )

    assert shop.call("insert", table="t", rows=[{"a": [1, 2, 3]}])["inserted"] == 1
    assert shop.rows("SELECT n FROM t") == [(3,)]


def test_what_a_trigger_says_is_told(tmp_path: Path) -> None:
    shop = Shop(
        tmp_path,
        f"""{TRIGGERS}
        CREATE TRIGGER a BEFORE INSERT ON t WHEN new.a = 1 BEGIN SELECT RAISE(ABORT, 'ones are out'); END;
        CREATE TRIGGER r BEFORE INSERT ON t WHEN new.a = 2 BEGIN SELECT RAISE(ROLLBACK, 'twos are out'); END;
        CREATE TRIGGER i BEFORE INSERT ON t WHEN new.a = 3 BEGIN SELECT RAISE(IGNORE); END;
        """,
        allowed_tables=["t"],
    )

    for value, words in ((1, "ones are out"), (2, "twos are out")):
        document = shop.refusal("insert", table="t", rows=[{"a": 0}, {"a": value}])
        assert (document["details"]["reason"], words in document["error"]) == ("constraint", True)
    assert shop.call("insert", table="t", rows=[{"a": 3}, {"a": 4}]) == {"inserted": 1, "ids": [1]}
    assert shop.rows("SELECT a FROM t") == [(4,)]


def test_a_key_of_one_column_may_be_its_name(shop: Shop) -> None:
    row = {"id": 1, "name": "Renamed"}

    by_name = shop.call("upsert", table="customers", rows=[row], key="id")

    assert by_name["updated"] + by_name["unchanged"] == 1
    assert shop.call("upsert", table="customers", rows=[row], key=["id"])["unchanged"] == 1
