"""Calls to real servers through the resident worker: the same answers as cold, over connections that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from command import client, write_clients
from resident_world import World as Resident
from resident_world import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mail_world import MailWorld
    from mariadb_world import Maria
    from mongo_world import Mongo

MAIL = b"From: a@example.test\r\nTo: b@example.test\r\nSubject: Hello\r\n\r\nText\r\n"

UPDATE = {"connection": "maria", "table": "orders", "where": {"id": 1}, "values": {"total": "11.50"}}

# Tool, parameters, and the code: twice in a row, with calls that fail between those that do not.
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("database_query", {"connection": "maria", "table": "orders", "where": {"id": 2}}, ""),
    ("database_query", {"connection": "maria", "table": "secret"}, "invalid_params"),
    ("database_sql", {"connection": "maria", "sql": "SELECT COUNT(*) AS n FROM orders"}, ""),
    ("database_insert", {"connection": "maria", "table": "customers", "rows": [{"name": "Ada"}]}, "execution_error"),
    ("database_update", {**UPDATE, "dry_run": True}, ""),
    ("database_query", {"connection": "mongo", "table": "orders", "where": {"_id": 2}}, ""),
    ("database_query", {"connection": "mongo", "table": "secret"}, "invalid_params"),
    ("database_aggregate", {"connection": "mongo", "table": "orders", "pipeline": [{"$count": "n"}]}, ""),
    ("database_insert", {"connection": "mongo", "table": "customers", "rows": [{"_id": 1}]}, "execution_error"),
    ("mail_list_folders", {}, ""),
    ("mail_read_inbox", {}, ""),
    ("mail_read_message", {"uid": 999}, "execution_error"),
    ("mail_read_inbox", {"folder": "Nothing"}, "execution_error"),
]
QUERY = CALLS[0][1]


@pytest.fixture
def resident(maria: Maria, mongo_shop: Mongo, mail: MailWorld) -> Iterator[Resident]:
    """A resident worker whose client reaches one server of each kind."""
    mail.deliver(MAIL)
    settings = {
        "database": {"connections": {"maria": maria.settings, "mongo": mongo_shop.settings}},
        "mail": {key: value for key, value in mail.settings.items() if not key.startswith("smtp")},
    }
    world = Resident()
    write_clients(world.clients.parent, {"clients": {"anna": client("*", tools=settings)}})
    world.start()
    yield world
    world.close()


def test_the_answers_are_those_of_cold_calls(resident: Resident) -> None:
    for tool, params, code in CALLS * 2:
        cold = resident.call(tool, params=params, cold=True)
        warm = resident.call(tool, params=params)

        assert cold.document.get("code", "") == code, cold
        assert warm == cold

    assert resident.status()["calls"] == 2 * len(CALLS)


def test_one_process_and_its_connections_serve_all_calls(resident: Resident, maria: Maria) -> None:
    def opened() -> int:
        [[_, count]] = maria.server.rows("SHOW GLOBAL STATUS LIKE 'Connections'")
        return int(count)

    def call_all() -> None:
        for tool, params, _ in CALLS:
            resident.call(tool, params=params)
            assert until(lambda: resident.status()["under_way"] == 0)

    call_all()
    workers, before = sorted(resident.workers), opened()
    call_all()

    assert sorted(resident.workers) == workers
    assert opened() - before == 1  # that of this test


def test_a_call_that_is_killed_leaves_no_lock(resident: Resident, maria: Maria) -> None:
    """Its process is killed, and with it the transaction on the server."""
    assert resident.call("database_query", params=QUERY).status == 0
    with maria.server.owner(maria.name) as owner:
        cursor = owner.cursor()
        cursor.execute("LOCK TABLES orders WRITE")
        late = resident.call("database_update", params=UPDATE, before=("--timeout", "2"))
        cursor.execute("UNLOCK TABLES")
        cursor.close()

    assert late.verdict[0] == "execution_error"
    assert resident.call("database_update", params=UPDATE).status == 0


def test_a_server_that_was_restarted_is_reached_again(resident: Resident, maria: Maria) -> None:
    first = resident.call("database_query", params=QUERY)
    ids = [row[0] for row in maria.server.rows("SHOW PROCESSLIST") if row[1] == maria.name]
    assert ids
    for number in ids:
        maria.server.run(f"KILL {number}")

    assert first.status == 0
    assert resident.call("database_query", params=QUERY) == first
