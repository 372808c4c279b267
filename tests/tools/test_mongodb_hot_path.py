"""What a query on MongoDB imports of our own: a list, not a stopwatch. Whoever makes it longer says so here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from family_imports import imports_of

if TYPE_CHECKING:
    from pathlib import Path

    from mongo_world import Mongo

FAMILY = {"clitool_tools", "database", "database.engine", "database.names", "database.settings"}
ENGINE = {
    "address", "codes", "condition", "database", "driver", "faults", "format", "forms", "keyset", "options", "reader",
    "rows", "schema", "selecting", "session", "table", "values",
}  # fmt: skip
QUERY = {
    "clitool.json_array",
    "database.document_query",
    "database.kinds",
    "database.page",
    "database.percent",
    "database.policy",
    "database.query",
    "database.table",
    "database.values",
    "database.where",
}


def test_a_document_by_its_key_imports_what_it_needs_beside_the_driver(mongo_shop: Mongo, tmp_path: Path) -> None:
    names = imports_of(tmp_path, "database", "database_query", mongo_shop.settings, table="customers", where={"_id": 1})

    own = {name for name in names if name.startswith(("clitool", "database"))}
    assert own == FAMILY | QUERY | {"database.mongodb"} | {f"database.mongodb.{name}" for name in ENGINE}
    assert "sqlglot" not in names
