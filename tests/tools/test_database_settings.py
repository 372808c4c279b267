"""The settings of the database family: what is read from clients.yaml and what is refused there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database import family
from clitool_tools.database.settings import SETTINGS_SCHEMA
from database_world import Shop

from clitool.errors import SettingsError
from clitool.family import Origin, Secret
from clitool.schema import problems

if TYPE_CHECKING:
    from pathlib import Path

GOOD: dict[str, Any] = {"type": "sqlite", "connection_string": "sqlite:///shop.db", "allowed_tables": ["orders"]}


def parse(folder: Path, **settings: object) -> Any:
    assert family.parse is not None
    protected = [str(folder / "clients.yaml"), str(folder / "state")]
    return family.parse({**GOOD, **settings}, Origin(str(folder), protected))


@pytest.mark.parametrize(
    "tables",
    [
        pytest.param([], id="empty list"),
        pytest.param(None, id="null"),
        pytest.param("", id="empty text"),
        pytest.param("*", id="star"),
        pytest.param(["*"], id="star in a list"),
        pytest.param("ALL", id="all in capitals"),
        pytest.param(["all"], id="all in a list"),
        pytest.param(["orders", "All"], id="all among others"),
        pytest.param([""], id="empty name"),
        pytest.param([" "], id="blank name"),
        pytest.param([" orders"], id="blank before"),
        pytest.param(["orders "], id="blank behind"),
        pytest.param(["${UNSET}"], id="unresolved reference"),
        pytest.param("orders,secret", id="several in one text"),
        pytest.param("orders", id="a name without a list"),
        pytest.param(["orders", None], id="null in the list"),
        pytest.param([["orders"]], id="list in the list"),
        pytest.param([7], id="number"),
        pytest.param(True, id="true"),
        pytest.param({"orders": True}, id="mapping"),
        pytest.param(["sqlite_master"], id="the schema itself"),
        pytest.param(["SQLITE_SEQUENCE"], id="a table of SQLite's own"),
        pytest.param(["orders\n"], id="newline"),
        pytest.param(["ord\0ers"], id="nul"),
    ],
)
def test_a_whitelist_that_names_no_table_is_an_error(tmp_path: Path, tables: object) -> None:
    """An empty or mistaken whitelist never means every table."""
    with pytest.raises(SettingsError) as caught:
        parse(tmp_path, allowed_tables=tables)

    assert caught.value.key == "allowed_tables"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("shop.db", id="a path"),
        pytest.param("/srv/shop.db", id="an absolute path"),
        pytest.param("sqlite:shop.db", id="no slashes"),
        pytest.param("sqlite://shop.db", id="a host"),
        pytest.param("sqlite://localhost/srv/shop.db", id="localhost"),
        pytest.param("sqlite:///", id="no file"),
        pytest.param("SQLITE:///shop.db", id="capitals"),
        pytest.param("sqlite+pysqlite:///shop.db", id="a driver"),
        pytest.param("sqlite:///:memory:", id="memory"),
        pytest.param("sqlite:///%3Amemory%3A", id="memory, escaped"),
        pytest.param("sqlite:///:memory:shop", id="almost memory"),
        pytest.param("sqlite:///file:shop.db", id="uri"),
        pytest.param("sqlite:///file:shop.db?mode=rwc", id="uri with a mode"),
        pytest.param("sqlite:///file%3Ashop.db", id="uri, escaped"),
        pytest.param("sqlite:///shop.db?mode=rwc", id="mode"),
        pytest.param("sqlite:///shop.db?vfs=unix-none", id="vfs"),
        pytest.param("sqlite:///shop.db?immutable=1", id="immutable"),
        pytest.param("sqlite:///shop.db?", id="question mark"),
        pytest.param("sqlite:///shop.db#x", id="fragment"),
        pytest.param("sqlite:///shop%00.db", id="nul"),
        pytest.param("sqlite:///shop%0A.db", id="newline"),
        pytest.param("sqlite:///shop%zz.db", id="not hexadecimal"),
        pytest.param("sqlite:///shop%4", id="half an escape"),
        pytest.param("sqlite:///shop%+1.db", id="a sign in an escape"),
        pytest.param("sqlite:///shop%ff.db", id="not UTF-8"),
        pytest.param("mysql://root@localhost/shop", id="another engine"),
        pytest.param("sqlite:///clients.yaml", id="the clients file"),
        pytest.param("sqlite:///x/../clients.yaml", id="the clients file by dot dot"),
        pytest.param("sqlite:///state/state.db", id="a file of a protected folder"),
        pytest.param("sqlite:///link.yaml", id="a symlink to the clients file"),
        pytest.param("sqlite:///hard.yaml", id="a second name of the clients file"),
    ],
)
def test_a_connection_string_that_is_no_plain_file_is_refused(tmp_path: Path, text: str) -> None:
    """SQLite's URI options, memory, and clitool's own files cannot be named; the text is never repeated."""
    (tmp_path / "clients.yaml").write_text("clients: {}")
    (tmp_path / "link.yaml").symlink_to("clients.yaml")
    (tmp_path / "hard.yaml").hardlink_to(tmp_path / "clients.yaml")

    with pytest.raises(SettingsError) as caught:
        parse(tmp_path, connection_string=Secret(text))

    assert caught.value.key == "connection_string"
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("sqlite:///{name}", "shop.db", id="relative"),
        pytest.param("sqlite:///{folder}/{name}", "shop.db", id="absolute"),
        pytest.param("sqlite:///x/../{name}", "shop.db", id="dot dot"),
        pytest.param("sqlite:///a%3Fmode=rwc", "a?mode=rwc", id="question mark in the name"),
        pytest.param("sqlite:///a%23b", "a#b", id="fragment in the name"),
        pytest.param("sqlite:///a%2541", "a%41", id="percent in the name is decoded once"),
        pytest.param("sqlite:///sh%C3%B6p%20&x=1;.db", "shöp &x=1;.db", id="unicode and blanks"),
        pytest.param("sqlite:///'quote\".db", "'quote\".db", id="quotes"),
    ],
)
def test_any_file_name_can_be_written(tmp_path: Path, text: str, name: str) -> None:
    """What could be an option or an escape in SQLite's URI is only a name here."""
    shop = Shop(tmp_path)
    (tmp_path / "x").mkdir()
    shop.path.rename(tmp_path / name)
    before = sorted(tmp_path.iterdir())
    shop.settings["connection_string"] = text.format(folder=tmp_path, name=name)

    assert shop.call("query", table="customers", limit=1)["rows"][0]["name"] == "Ada"
    shop.call("insert", table="customers", rows=[{"name": "new"}])

    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        pytest.param({"type": "postgresql"}, ("type",), id="an engine to come"),
        pytest.param({"allowed_tables": None}, ("allowed_tables",), id="null"),
        pytest.param({"allowed_tables": []}, ("allowed_tables",), id="empty"),
        pytest.param({"max_rows": 0}, ("max_rows",), id="no rows"),
        pytest.param({"max_rows": "10"}, ("max_rows",), id="text for a number"),
        pytest.param({"timeout": 0}, ("timeout",), id="no time"),
        pytest.param({"allowedTables": "all"}, ("allowedTables",), id="unknown key"),
        pytest.param({"connections": {"a b": GOOD}}, ("connections",), id="connection with a blank"),
        pytest.param(
            {"connections": {"shop": {**GOOD, "x": 1}}}, ("connections", "shop", "x"), id="unknown key inside"
        ),
        pytest.param(
            {"connections": {"shop": {"type": "sqlite"}}},
            ("connections", "shop", "allowed_tables"),
            id="key missing inside",
        ),
    ],
)
def test_the_schema_refuses_what_is_no_setting(settings: dict[str, Any], path: tuple[str, ...]) -> None:
    """Unknown keys and wrong types never reach the parser."""
    found = {problem.path for problem in problems({**GOOD, **settings}, SETTINGS_SCHEMA, word="setting")}

    assert path in found


def test_the_schema_accepts_both_shapes() -> None:
    assert problems(GOOD, SETTINGS_SCHEMA, word="setting") == []
    assert problems({"connections": {"shop": GOOD, "crm-2": GOOD}}, SETTINGS_SCHEMA, word="setting") == []


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        pytest.param({"connections": {"shop": GOOD}, **GOOD}, "type", id="both shapes"),
        pytest.param({"connections": {"shop": GOOD}, "timeout": 3}, "timeout", id="a limit beside connections"),
        pytest.param({"type": "sqlite", "allowed_tables": "all"}, "connection_string", id="no connection string"),
        pytest.param({"type": "sqlite", "connection_string": "sqlite:///x"}, "allowed_tables", id="no whitelist"),
        pytest.param({}, "type", id="nothing"),
        pytest.param(
            {"connections": {"shop": {**GOOD, "allowed_tables": []}}},
            "connections.shop.allowed_tables",
            id="empty whitelist of one of several",
        ),
        pytest.param({**GOOD, "allow_side_effects": "all"}, "allow_side_effects", id="side effects on everything"),
        pytest.param({**GOOD, "allow_side_effects": ["*"]}, "allow_side_effects", id="star as a side effect"),
    ],
)
def test_a_wrong_set_of_settings_names_the_key(tmp_path: Path, settings: dict[str, Any], key: str) -> None:
    assert family.parse is not None
    with pytest.raises(SettingsError) as caught:
        family.parse(settings, Origin(str(tmp_path)))

    assert caught.value.key == key


def test_the_connection_string_is_a_secret() -> None:
    """Both shapes mark it write-only, so that the core wraps it."""
    inside = SETTINGS_SCHEMA["properties"]["connections"]["additionalProperties"]["properties"]

    assert SETTINGS_SCHEMA["properties"]["connection_string"]["writeOnly"] is True
    assert inside["connection_string"]["writeOnly"] is True


@pytest.fixture
def two(tmp_path: Path) -> Shop:
    """A client with two databases."""
    shop = Shop(tmp_path)
    one = dict(shop.settings)
    shop.settings = {"connections": {"shop": one, "crm": {**one, "allowed_tables": ["orders"]}}}
    return shop


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        pytest.param(None, "crm, shop", id="none named"),
        pytest.param("", "crm, shop", id="empty"),
        pytest.param("sohp", "did you mean 'shop'", id="misspelt"),
        pytest.param("SHOP", "shop", id="capitals"),
    ],
)
def test_one_of_several_connections_must_be_named(two: Shop, connection: str | None, words: str) -> None:
    document = two.refusal("tables", connection=connection)

    assert document["details"]["reason"] == "connection_unknown"
    assert words in document["error"]


def test_each_connection_has_its_own_whitelist(two: Shop) -> None:
    """A table that one connection allows stays closed in the other."""
    assert two.call("query", table="customers", connection="shop")["rows"]
    assert two.reason("query", table="customers", connection="crm") == "table_not_allowed"


def test_a_single_connection_need_not_be_named(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    assert shop.reason("tables", connection="shop") == "connection_unknown"

    shop.settings = {"connections": {"shop": shop.settings}}
    assert shop.call("tables") == shop.call("tables", connection="shop")
