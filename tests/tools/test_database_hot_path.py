"""What a call on SQLite imports: a list, not a stopwatch. Whoever makes it longer says so here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.sqlite.functions import ALLOWED_IN_SCHEMA
from database_world import SHOP, Shop
from family_imports import imports_of

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = {"clitool_tools", "database", "database.engine", "database.names", "database.settings"}
ENGINE = {
    "_functools",
    "_sqlite3",
    "database.policy",
    "database.sqlite",
    "database.sqlite.database",
    "database.sqlite.file",
    "database.sqlite.location",
    "database.sqlite.schema",
    "database.table",
}
QUERY = {
    "clitool.json_array",
    "database.kinds",
    "database.page",
    "database.query",
    "database.sqlite.condition",  # also for the order
    "database.sqlite.guard",
    "database.sqlite.selecting",
    "database.values",
    "database.where",
}
CURSOR = {"binascii", "database.cursor", "zlib"}


@pytest.fixture
def loaded(tmp_path: Path) -> Any:
    Shop(tmp_path, SHOP)
    settings = {"type": "sqlite", "connection_string": "sqlite:///shop.db", "allowed_tables": ["customers"]}
    return lambda tool, **params: imports_of(tmp_path, "database", tool, settings, **params)


def test_the_family_alone_imports_no_tool_and_no_engine(loaded: Any) -> None:
    assert loaded("") == FAMILY


@pytest.mark.parametrize(
    ("params", "more"),
    [
        pytest.param({"where": {"id": 1}}, set(), id="a row by its key"),
        pytest.param({}, set(), id="all rows"),
        pytest.param({"limit": 1}, CURSOR, id="a page"),
    ],
)
def test_a_query_imports_what_it_needs(loaded: Any, params: dict[str, Any], more: set[str]) -> None:
    assert loaded("database_query", table="customers", **params) == FAMILY | ENGINE | QUERY | more


def test_listing_tables_imports_nothing_that_queries_them(loaded: Any) -> None:
    assert loaded("database_tables") == FAMILY | ENGINE | {"database.sqlite.objects", "database.tables"}


def test_the_one_function_that_is_allowed_without_its_list_is_on_it() -> None:
    """The guard does not load the list for `typeof`, which stands in every condition."""
    assert "typeof" in ALLOWED_IN_SCHEMA
