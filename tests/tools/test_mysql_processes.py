"""MariaDB and many processes: nothing lost, nothing twice; and a server that dies in the middle."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database import family
from contexts import make_context
from mariadb_world import TOOLS, Maria, hidden
from processes import run_at_once
from services.mariadb import MariaDB

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY = 50
COLUMNS = ", ".join(f"c{number} INT" for number in range(MANY))


def patiently(world: Maria, tool: str, **params: Any) -> Any:
    """Return the result of a call that has a minute: fifty processes share few processors here."""
    return within(60, world, tool, **params)


def within(seconds: float, world: Maria, tool: str, **params: Any) -> Any:
    """Return the result of a call that has so many seconds."""
    settings = hidden({**world.settings, "timeout": seconds * 0.8})
    context = make_context(family, settings, folder=world.folder, seconds=seconds)
    try:
        return TOOLS[tool](context).execute(**params)
    finally:
        context.close()


@pytest.fixture
def counters(mariadb: MariaDB) -> Iterator[Maria]:
    world = Maria(
        mariadb,
        f"CREATE TABLE by_id (id INT PRIMARY KEY, {COLUMNS});"
        "CREATE TABLE by_name (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) UNIQUE, mail VARCHAR(20) UNIQUE,"
        f" {COLUMNS})",
        allowed_tables="all",
    )
    patiently(world, "query", table="by_id")  # the driver is imported here, once
    yield world
    world.drop()


@pytest.mark.parametrize(("table", "key", "value"), [("by_id", "id", 1), ("by_name", "name", "Ada")])
def test_fifty_processes_upsert_one_row(counters: Maria, table: str, key: str, value: object) -> None:
    """One inserts, all others update; what each of them wrote is there, and none is told of a deadlock."""

    def upsert(number: int) -> dict[str, int]:
        rows = [{key: value, f"c{number}": number}]
        result: dict[str, int] = patiently(counters, "upsert", table=table, key=key, rows=rows)
        return result

    counts = run_at_once(upsert, MANY)

    assert sorted(count["inserted"] for count in counts) == [0] * (MANY - 1) + [1]
    assert all(sum(count.values()) == 1 for count in counts)
    (row,) = counters.call("query", table=table)["rows"]
    assert [row[f"c{number}"] for number in range(MANY)] == list(range(MANY))


def test_processes_that_lock_rows_in_opposite_orders_come_through(counters: Maria) -> None:
    """The server ends a deadlock by refusing one of them, which begins again."""

    def upsert(number: int) -> Any:
        ids = range(1, 11) if number % 2 else range(10, 0, -1)
        rows = [{"id": each, f"c{number}": number} for each in ids]
        return patiently(counters, "upsert", table="by_id", key="id", rows=rows)

    run_at_once(upsert, 12)

    rows = counters.call("query", table="by_id")["rows"]
    assert [row["id"] for row in rows] == list(range(1, 11))
    assert all([row[f"c{number}"] for number in range(12)] == list(range(12)) for row in rows)


def test_processes_that_insert_at_once_number_their_own_rows(counters: Maria) -> None:
    """The numbers that each is told are those of its rows."""

    def insert(number: int) -> list[int]:
        rows = [{"c0": number, "c1": at} for at in range(20)]
        found: list[int] = patiently(counters, "insert", table="by_name", rows=rows)["ids"]
        return found

    told = run_at_once(insert, 8)

    for number, ids in enumerate(told):
        rows = counters.rows(f"SELECT id FROM by_name WHERE c0 = {number} ORDER BY c1")
        assert [row[0] for row in rows] == ids


def test_a_lock_that_is_held_too_long_is_told(maria: Maria) -> None:
    with maria.server.owner(maria.name) as handle, handle.cursor() as cursor:
        cursor.execute("START TRANSACTION")
        cursor.execute("UPDATE customers SET note = 'held' WHERE id = 1")
        for tool, more in (("update", {"values": {"note": "x"}}), ("delete", {})):
            with pytest.raises(ClitoolError) as caught:
                within(3, maria, tool, table="customers", where={"id": 1}, **more)
            assert caught.value.reason == "locked"
        cursor.execute("ROLLBACK")
    assert maria.call("update", table="customers", where={"id": 1}, values={"note": "x"})["affected"] == 1


def test_what_another_process_has_not_committed_is_not_read(maria: Maria) -> None:
    with maria.server.owner(maria.name) as handle, handle.cursor() as cursor:
        cursor.execute("START TRANSACTION")
        cursor.execute("UPDATE customers SET note = 'not yet' WHERE id = 1")
        assert maria.call("query", table="customers", where={"id": 1})["rows"][0]["note"] is None
        cursor.execute("COMMIT")
    assert maria.call("query", table="customers", where={"id": 1})["rows"][0]["note"] == "not yet"


@pytest.fixture(scope="module")
def stating() -> Iterator[MariaDB]:
    """A server that replicates statements, not rows, which the lower isolation level does not go with."""
    server = MariaDB("--log-bin", "--binlog-format=STATEMENT", "--skip-log-bin=0")
    yield server
    server.stop()


def test_a_server_that_replicates_statements_can_be_changed(stating: MariaDB) -> None:
    world = Maria(stating, "CREATE TABLE t (id INT PRIMARY KEY, v INT)", allowed_tables=["t"])
    assert world.rows("SELECT @@log_bin, @@binlog_format") == [(1, "STATEMENT")]

    assert world.call("insert", table="t", rows=[{"id": 1}, {"id": 2}]) == {"inserted": 2}
    rows = [{"id": 2, "v": 1}, {"id": 3, "v": 1}]
    assert world.call("upsert", table="t", key="id", rows=rows) == {"inserted": 1, "updated": 1, "unchanged": 0}
    assert world.call("update", table="t", where={"id": 1}, values={"v": 5})["affected"] == 1
    assert world.call("delete", table="t", where={"id": {"$gt": 1}})["affected"] == 2
    assert world.rows("SELECT * FROM t") == [(1, 5)]
    world.drop()


def test_a_server_that_dies_in_the_middle_has_all_rows_or_none() -> None:
    """And the call says that the connection ended, not that it went well."""
    server = MariaDB()
    try:
        world = Maria(
            server,
            "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, x TEXT); INSERT INTO t (x) VALUES ('before')",
            allowed_tables=["t"],
        )
        rows = [{"x": str(number) * 200} for number in range(10_000)]
        outcome: list[object] = []

        def insert() -> None:
            try:
                outcome.append(patiently(world, "insert", table="t", rows=rows))
            except ClitoolError as error:
                outcome.append(error)

        call = threading.Thread(target=insert)
        call.start()
        while not _sees_new_rows(world) and not outcome:
            time.sleep(0.001)
        server.process.kill()
        call.join()
        server.restart()

        (result,) = outcome
        assert isinstance(result, ClitoolError), "the insert was faster than the end of the server"
        assert result.reason == "connection_lost"
        assert world.rows("SELECT x FROM t") == [("before",)]
        assert world.call("insert", table="t", rows=[{"x": "after"}])["inserted"] == 1
    finally:
        server.stop()


def _sees_new_rows(world: Maria) -> bool:
    """Return whether rows are there that are not committed yet."""
    with world.server.owner(world.name) as handle, handle.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
        cursor.execute("SELECT COUNT(*) FROM t")
        (count,) = cursor.fetchone()
        return bool(count > 1)
