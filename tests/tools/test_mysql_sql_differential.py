"""What database_sql admits on MySQL and MariaDB, held against what the server then opens and what it grants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mysql_attacks import ACCEPTED, ATTACKS
from mysql_statements import CHANGES, STATEMENTS, Strict, changed, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mariadb import MariaDB

admitted: list[str] = []


@pytest.fixture(scope="module")
def strict(mariadb: MariaDB) -> Iterator[Strict]:
    world = Strict(mariadb)
    yield world
    world.drop()


@settings(deadline=None, derandomize=True, max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(sql=STATEMENTS)
def test_an_admitted_statement_opens_allowed_tables_only(strict: Strict, sql: str) -> None:
    """Whatever names, views, subqueries, common table expressions, gaps and functions are mixed."""
    sql = sql.replace("db", strict.name)
    if check(strict, sql):
        admitted.append(sql)


def test_enough_statements_were_admitted() -> None:
    """The test above would show little if nearly everything were refused."""
    assert len(admitted) > 50
    assert any("secret" in sql for sql in admitted)


# The tables of the strict database in place of the shop's.
SEEDS = [
    sql.replace("orders", "a").replace("customers", "b").replace("visits", "va").replace("name", "k")
    for sql in [*(sql for sql, _ in ACCEPTED), *(sql for _, sql, _ in ATTACKS)]
    if len(sql) < 300
]


@settings(deadline=None, derandomize=True, max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(sql=st.sampled_from(SEEDS), changes=CHANGES)
def test_a_damaged_statement_opens_allowed_tables_only(strict: Strict, sql: str, changes: list[Any]) -> None:
    """Wherever quotes, comments, blanks, letters or words of SQL are put into it."""
    check(strict, changed(sql, changes))
