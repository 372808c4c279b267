"""database_update and database_delete on SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from database_world import TOOLS, Shop

from clitool.errors import InvalidParams

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


CHANGES: list[Any] = [
    pytest.param("update", {"values": {"note": "new"}}, id="update"),
    pytest.param("delete", {}, id="delete"),
]


def test_update_changes_what_matches(shop: Shop) -> None:
    assert shop.call("update", table="customers", where={"email": None}, values={"note": None, "EMAIL": None}) == {
        "affected": 2,
        "dry_run": False,
    }
    assert shop.rows("SELECT id, note FROM customers ORDER BY id") == [(1, None), (2, None), (3, None)]


def test_delete_removes_what_matches(shop: Shop) -> None:
    assert shop.call("delete", table="customers", where={"name": "zoë"}) == {"affected": 1, "dry_run": False}
    assert shop.rows("SELECT id FROM customers ORDER BY id") == [(1,), (2,)]


@pytest.mark.parametrize(("tool", "more"), CHANGES)
def test_nothing_that_matches_is_no_error(shop: Shop, tool: str, more: dict[str, Any]) -> None:
    assert shop.call(tool, table="customers", where={"id": 99}, **more)["affected"] == 0


@pytest.mark.parametrize(("tool", "more"), CHANGES)
def test_a_change_needs_a_filter(shop: Shop, tool: str, more: dict[str, Any]) -> None:
    """Nobody changes a whole table by leaving something out; it is decided without the database."""
    before = shop.dump()

    assert shop.reason(tool, table="customers", where={}, **more) == "filter_required"
    with pytest.raises(InvalidParams) as caught:
        TOOLS[tool](shop.context()).decide(table="customers", where={}, **more)
    assert caught.value.reason == "filter_required"
    assert shop.dump() == before


@pytest.mark.parametrize(("tool", "more"), CHANGES)
@pytest.mark.parametrize(
    "where",
    [
        pytest.param({"$and": []}, id="empty and"),
        pytest.param({"$not": {}}, id="empty not"),
        pytest.param({"$and": [{}]}, id="empty part"),
        pytest.param({"id": {}}, id="empty condition"),
    ],
)
def test_a_filter_that_says_nothing_is_refused(
    shop: Shop, tool: str, more: dict[str, Any], where: dict[str, Any]
) -> None:
    before = shop.dump()

    assert shop.reason(tool, table="customers", where=where, **more) == "bad_filter"
    assert shop.dump() == before


@pytest.mark.parametrize(("tool", "more"), CHANGES)
def test_more_rows_than_permitted_change_nothing(shop: Shop, tool: str, more: dict[str, Any]) -> None:
    """The bound is exact, and exceeding it leaves every row as it was."""
    shop.run("DELETE FROM orders")
    before = shop.dump()
    everyone = {"id": {"$gt": 0}}

    assert shop.reason(tool, table="customers", where=everyone, max_affected=2, **more) == "too_many_affected"
    assert shop.dump() == before
    assert shop.call(tool, table="customers", where=everyone, max_affected=3, **more)["affected"] == 3


@pytest.mark.parametrize(("tool", "more"), CHANGES)
def test_a_thousand_rows_are_the_most_by_default(tmp_path: Path, tool: str, more: dict[str, Any]) -> None:
    shop = Shop(tmp_path, "CREATE TABLE t (id INTEGER PRIMARY KEY, note)", allowed_tables=["t"])
    shop.write("INSERT INTO t (note) VALUES (?)", [(n,) for n in range(1001)])

    assert shop.reason(tool, table="t", where={"id": {"$gt": 0}}, **more) == "too_many_affected"
    assert shop.call(tool, table="t", where={"id": {"$gt": 1}}, **more)["affected"] == 1000


@pytest.mark.parametrize(("tool", "more"), CHANGES)
def test_a_dry_run_counts_and_changes_nothing(shop: Shop, tool: str, more: dict[str, Any]) -> None:
    """It is the real change, taken back."""
    shop.run("DELETE FROM orders")
    before = shop.dump()

    assert shop.call(tool, table="customers", where={"id": {"$in": [1, 2]}}, dry_run=True, **more) == {
        "affected": 2,
        "dry_run": True,
    }
    assert shop.reason(tool, table="customers", where={"id": {"$gt": 0}}, dry_run=True, max_affected=1, **more) == (
        "too_many_affected"
    )
    assert shop.dump() == before


@pytest.mark.parametrize(("tool", "more"), CHANGES)
def test_the_audit_line_says_how_many_rows_were_changed(shop: Shop, tool: str, more: dict[str, Any]) -> None:
    shop.run("DELETE FROM orders")
    context = shop.context()

    TOOLS[tool](context).execute(table="customers", where={"id": 1}, **more)
    context.close()

    assert context.touches == {"connection": "", "table": "customers", "affected": 1, "dry_run": False}


def test_a_dry_run_finds_the_conflict(shop: Shop) -> None:
    conflict = {"where": {"id": 1}, "values": {"name": "bob"}}

    assert shop.reason("update", table="customers", dry_run=True, **conflict) == "duplicate_key"
    assert shop.reason("delete", table="customers", where={"id": 1}, dry_run=True) == "constraint"


def test_a_constraint_that_is_checked_at_the_end_is_an_error_too(tmp_path: Path) -> None:
    """And nothing is changed."""
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE p (id INTEGER PRIMARY KEY);
        CREATE TABLE c (p INT REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);
        """,
        allowed_tables=["p", "c"],
    )
    before = shop.dump()

    assert shop.reason("delete", table="p", where={"id": 1}) == "constraint"
    assert shop.reason("insert", table="c", rows=[{"p": 7}]) == "constraint"
    assert shop.dump() == before


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        pytest.param({}, "bad_value", id="nothing to set"),
        pytest.param({"nosuch": 1}, "column_unknown", id="no such column"),
        pytest.param({"name": "x", "NAME": "y"}, "bad_value", id="a column twice"),
        pytest.param({"name": 5}, "bad_value", id="another kind"),
        pytest.param({"name": None}, "constraint", id="null where none may be"),
        pytest.param({"name": {"$inc": 1}}, "bad_value", id="an operator"),
        pytest.param({"id = 1; --": 1}, "column_unknown", id="SQL as a name"),
        pytest.param({"$set": {"note": 1}}, "column_unknown", id="another language"),
    ],
)
def test_values_that_cannot_be_set_are_refused(shop: Shop, values: dict[str, Any], reason: str) -> None:
    before = shop.dump()

    assert shop.reason("update", table="customers", where={"id": 1}, values=values) == reason
    assert shop.dump() == before


def test_a_view_cannot_be_changed(tmp_path: Path) -> None:
    """Not even one with triggers for that: what it would do is not the client's to know."""
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT id FROM t;
        CREATE TRIGGER tr INSTEAD OF DELETE ON v BEGIN DELETE FROM t; END;
        """,
        allowed_tables=["t", "v"],
    )

    assert shop.reason("delete", table="v", where={"id": 1}) == "table_not_allowed"
    assert shop.reason("update", table="v", where={"id": 1}, values={"id": 2}) == "table_not_allowed"


def test_the_content_of_a_virtual_table_cannot_be_changed(shop: Shop) -> None:
    """That would break the virtual table, also where all tables are allowed."""
    shop.settings["allowed_tables"] = "all"

    assert shop.reason("delete", table="ft_content", where={"id": 1}) == "table_not_allowed"
    assert shop.reason("delete", table="sqlite_sequence", where={"name": "x"}) == "table_not_allowed"


def test_tables_of_every_sort_can_be_changed(shop: Shop) -> None:
    shop.run("INSERT INTO visits VALUES ('mon', '/', 1), ('tue', '/', 2)")
    shop.run("INSERT INTO strict_things VALUES (1, 'x', 2.5)")

    assert shop.call("update", table="visits", where={"day": {"$like": "t%"}}, values={"count": 5})["affected"] == 1
    assert shop.call("delete", table="visits", where={"count": {"$lt": 5}})["affected"] == 1
    assert shop.call("update", table="strict_things", where={"anything": "x"}, values={"anything": 7})["affected"] == 1
    assert shop.rows("SELECT * FROM visits") == [("tue", "/", 5)]
    assert shop.rows("SELECT * FROM strict_things") == [(1, 7, 2.5)]


def test_the_key_of_a_row_can_be_changed(shop: Shop) -> None:
    shop.run("DELETE FROM orders")

    changed = shop.call("update", table="customers", where={"id": 3}, values={"id": "9223372036854775807"})

    assert changed["affected"] == 1
    assert shop.rows("SELECT max(id) FROM customers") == [(2**63 - 1,)]


def test_numbers_are_never_given_twice(tmp_path: Path) -> None:
    shop = Shop(tmp_path, "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a)", allowed_tables=["t"])

    assert shop.call("insert", table="t", rows=[{"a": 1}, {"a": 2}])["ids"] == [1, 2]
    shop.call("delete", table="t", where={"id": 2})
    assert shop.call("insert", table="t", rows=[{"a": 3}])["ids"] == [3]


def test_a_change_that_takes_too_long_is_taken_back(tmp_path: Path) -> None:
    """The time of a statement ends also in the middle of a change."""
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a);
        CREATE TABLE n (a); INSERT INTO n VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10);
        INSERT INTO t VALUES (1, 0), (2, 0);
        CREATE TRIGGER tr AFTER UPDATE ON t WHEN new.id = 2 BEGIN
            DELETE FROM n WHERE (SELECT count(*) FROM n a, n b, n c, n d, n e, n f, n g, n h, n i) < 0; END;
        """,
        allowed_tables=["t", "n"],
        timeout=0.3,
    )

    assert shop.reason("update", table="t", where={"id": {"$gt": 0}}, values={"a": 1}) == "timeout"
    assert shop.rows("SELECT a FROM t") == [(0,), (0,)]
