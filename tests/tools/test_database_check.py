"""What `clitool check` says about a database, and what a call imports."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from clitool_tools.database import family
from clitool_tools.database.installed import missing
from database_world import ALLOWED, SHOP, Shop

from clitool.family import Origin

if TYPE_CHECKING:
    from pathlib import Path


def findings(shop: Shop, *, probe: bool = True) -> list[tuple[str, str, str]]:
    assert family.check is not None
    found = [(each.level, each.key, each.message) for each in family.check(shop.context().settings, probe)]
    assert str(shop.folder) not in repr(found)
    return found


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    tmp_path.chmod(0o755)
    return Shop(tmp_path)


def test_a_good_database_is_ok(shop: Shop) -> None:
    found = findings(shop)

    assert {level for level, _, _ in found} == {"ok"}
    assert ("ok", "connection_string", "the database can be read") in found


def test_nothing_is_opened_unless_that_is_asked_for(shop: Shop) -> None:
    shop.path.write_bytes(b"no database" * 100)

    assert findings(shop, probe=False) == []
    assert [(level, key) for level, key, _ in findings(shop)] == [("error", "connection_string")]


def test_a_missing_file_is_an_error(shop: Shop) -> None:
    shop.path.unlink()

    assert [(level, key) for level, key, _ in findings(shop, probe=False)] == [("error", "connection_string")]
    assert not shop.path.exists()


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_database_that_everyone_can_write_is_a_warning(shop: Shop, what: str) -> None:
    (shop.path if what == "file" else shop.folder).chmod(0o777)

    found = findings(shop, probe=False)

    assert [(level, key) for level, key, _ in found] == [("warning", "connection_string")]
    assert what in found[0][2]


def test_allowed_tables_that_do_not_exist_are_errors(shop: Shop) -> None:
    shop.settings["allowed_tables"] = ["Customers", "gone"]

    assert [message for level, _, message in findings(shop) if level == "error"] == ["the database has no table 'gone'"]


def test_the_tables_behind_a_view_are_told(shop: Shop) -> None:
    shop.settings["allowed_tables"] = ["v_orders", "orders"]

    messages = [message for _, _, message in findings(shop)]

    assert (
        "the view 'v_orders' reads customers, orders; "
        "database_sql refuses it, because customers is not in allowed_tables"
    ) in messages


def test_a_view_that_is_broken_is_an_error_of_its_own(shop: Shop) -> None:
    shop.run("DROP TABLE secret")

    found = [(level, key, message) for level, key, message in findings(shop) if level == "error"]

    assert found == [
        ("error", "allowed_tables", "'v_secret' cannot be used: SQLite reports: no such table: main.secret")
    ]
    assert shop.reason("query", table="v_secret") == "database"
    assert shop.call("query", table="customers")["rows"]


def test_side_effects_that_would_be_refused_are_told(tmp_path: Path) -> None:
    """The owner learns it before a client does."""
    shop = Shop(
        tmp_path,
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a);
        CREATE TABLE audit (a);
        CREATE TRIGGER tr AFTER UPDATE OF a ON t BEGIN INSERT INTO audit VALUES (1); END;
        CREATE TABLE child (p INT REFERENCES t (id) ON DELETE CASCADE);
        """,
        allowed_tables=["t"],
    )
    tmp_path.chmod(0o755)

    warnings = [message for level, key, message in findings(shop) if (level, key) == ("warning", "allow_side_effects")]

    assert warnings == [
        "updating 't' is refused: a trigger or cascade reaches 'audit'",
        "deleting from 't' is refused: a trigger or cascade reaches 'child'",
    ]
    shop.settings["allow_side_effects"] = ["audit", "child"]
    assert {level for level, _, _ in findings(shop)} == {"ok"}


def test_every_connection_is_checked_under_its_own_key(shop: Shop) -> None:
    settings = shop.settings
    shop.settings = {"connections": {"shop": settings, "old": {**settings, "connection_string": "sqlite:///old.db"}}}

    found = findings(shop)

    assert ("ok", "connections.shop.connection_string", "connection 'shop': the database can be read") in found
    assert ("error", "connections.old.connection_string") in [(level, key) for level, key, _ in found]


def test_checking_changes_nothing(shop: Shop) -> None:
    """Changes are compiled to see what they would reach, and never run."""
    before = shop.path.read_bytes()

    findings(shop)

    assert shop.path.read_bytes() == before


def modules_of(call: str, tmp_path: Path) -> set[str]:
    """Return what a fresh interpreter imports for a call, beyond what the core always needs."""
    program = f"""
import sys
import os, clitool.json_array, clitool.lean  # the core's
clitool.lean.dumps(0)
from clitool.family import Origin
from clitool.tool import Context, Deadline
before = set(sys.modules)
from clitool_tools.database import family
settings = {{"type": "sqlite", "connection_string": "sqlite:///shop.db", "allowed_tables": {ALLOWED!r}}}
context = Context(client="x", settings=family.parse(settings, Origin({str(tmp_path)!r})), reference="x", logger=None,
                  deadline=Deadline(8), open_state=None, connect=family.connect)
tools = {{name: family.tool(name) for name in family.tool_names}}
{call}
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    return {name for name in done.stdout.split() if not name.startswith("clitool_tools")}


@pytest.mark.parametrize(
    ("call", "more"),
    [
        pytest.param("tools['database_query'](context).execute(table='customers', where={'id': 1})", set(), id="query"),
        pytest.param(
            "tools['database_insert'](context).execute(table='customers', rows=[{'name': 'x'}])", set(), id="insert"
        ),
        pytest.param("tools['database_sql'](context).execute(sql='SELECT 1')", set(), id="sql"),
        pytest.param(
            "tools['database_query'](context).execute(table='customers', limit=1)",
            {"binascii", "zlib"},
            id="query with a cursor",
        ),
    ],
)
def test_a_call_imports_the_driver_and_nothing_else(tmp_path: Path, call: str, more: set[str]) -> None:
    """Nor does the family itself, which `list` loads."""
    Shop(tmp_path, SHOP)

    assert modules_of("", tmp_path) == set()
    assert modules_of(call, tmp_path) <= modules_of("import _sqlite3", tmp_path) | more


MYSQL = {"type": "mysql", "host": "127.0.0.1", "port": 1, "user": "u", "database": "d", "allowed_tables": ["t"]}
MONGODB = {"type": "mongodb", "connection_string": "mongodb://127.0.0.1:1/d", "allowed_tables": ["t"]}


@pytest.mark.parametrize("probe", [False, True])
@pytest.mark.parametrize(
    ("settings", "module", "level", "package"),
    [
        pytest.param(MYSQL, "mysql.connector", "error", "mysql-connector-python", id="connector"),
        pytest.param(MYSQL, "sqlglot", "warning", "sqlglot", id="parser"),
        pytest.param(MONGODB, "pymongo", "error", "pymongo", id="pymongo"),
    ],
)
def test_a_package_that_is_missing_is_told_without_a_server(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, object], module: str, level: str, package: str, *, probe: bool
) -> None:
    """Every call would fail for it; who only runs `check` would not hear of it before."""
    monkeypatch.setitem(sys.modules, module, None)
    assert family.parse is not None
    assert family.check is not None
    found = list(family.check(family.parse(settings, Origin("/")), probe))

    (told,) = [each for each in found if each.key == "type"]
    assert told.level == level
    assert f"{package!r} is missing" in told.message


def test_a_part_of_a_package_is_missing_where_the_package_is() -> None:
    (found,) = missing("no_such_package.part", "no-such-package", "clitool-convention[mysql]", "type")

    assert "pip install 'clitool-convention[mysql]'" in found.message


@pytest.mark.parametrize("settings", [MYSQL, MONGODB])
def test_packages_that_are_there_are_not_told(settings: dict[str, object]) -> None:
    assert family.parse is not None
    assert family.check is not None
    assert list(family.check(family.parse(settings, Origin("/")), False)) == []
