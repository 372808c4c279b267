"""What a query on MySQL imports: a list, not a stopwatch. Whoever makes it longer says so here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from family_imports import imports_of

if TYPE_CHECKING:
    from mariadb_world import Maria

FAMILY = {"clitool_tools", "database", "database.engine", "database.names", "database.settings"}
ENGINE = {
    "address", "clock", "database", "domains", "driver", "literal", "schema", "selecting", "server", "session", "table",
    "values",
}  # fmt: skip
QUERY = {
    "clitool.json_array",
    "database.page",
    "database.policy",
    "database.query",
    "database.table",
    "database.values",
}
FILTER = {"database.kinds", "database.where", *(f"database.mysql.{name}" for name in ("condition", "gap"))}
KEY = {f"database.mysql.{name}" for name in ("forms", "numeric")} | {"math"}
EXTENSION = {"database.mysql.errand", "database.mysql.extension"}
PURE = {f"database.mysql.{name}" for name in ("connector", "packets", "stream")}
# What the C extension itself brings along: dates, without the part of them that is written in Python.
OF_THE_EXTENSION = {"_datetime", "_mysql_connector", "itertools"}


def loaded(maria: Maria, **params: Any) -> set[str]:
    return imports_of(Path(maria.folder), "database", "database_query", maria.settings, table="customers", **params)


def test_a_row_by_its_key_takes_the_extension_alone(maria: Maria) -> None:
    """Neither the connector's Python modules nor `ssl`, `socket` or `decimal`."""
    maria.settings.pop("host", None)
    maria.settings.pop("port", None)
    maria.settings["socket"] = maria.server.socket

    own = {f"database.mysql.{name}" for name in ENGINE} | {"database.mysql"}
    expected = FAMILY | QUERY | FILTER | KEY | EXTENSION | own

    assert loaded(maria, where={"id": 1}) - OF_THE_EXTENSION == expected


@pytest.mark.parametrize(
    ("params", "more"),
    [pytest.param({"where": {"id": 1}}, KEY, id="a row by its key"), pytest.param({}, set(), id="all rows")],
)
def test_the_other_way_takes_the_same_but_for_the_wire(maria: Maria, params: dict[str, Any], more: set[str]) -> None:
    names = {name for name in loaded(maria.over_tcp(), **params) if name.startswith(("clitool", "database"))}

    own = {f"database.mysql.{name}" for name in ENGINE} | {"database.mysql"}
    assert names == FAMILY | QUERY | FILTER | (more - {"math"}) | PURE | own
