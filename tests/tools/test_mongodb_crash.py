"""Servers that are killed, or lose their connections, in the middle of a change: all or nothing, and a clear error."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from mongo_world import TOOLS, Mongo
from services.mongod import Mongod

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGE = 1_000_000  # characters; so the driver sends the rows in two parts
ROWS = [{"_id": number, "text": "x" * LARGE} for number in range(60)]
FEW = [{"_id": number, "text": "x"} for number in range(5)]


@pytest.fixture(scope="module")
def fragile() -> Iterator[Mongod]:
    """A replica set that the tests of this module kill and start again."""
    server = Mongod(replica_set=True)
    yield server
    server.stop()


@pytest.fixture
def shop(fragile: Mongod) -> Iterator[Mongo]:
    """An empty collection on it."""
    world = Mongo(fragile, allowed_tables=["things"], timeout=2)
    world.database.create_collection("things")
    yield world
    world.drop()


@contextmanager
def trouble(world: Mongo, command: str, mode: Any, **data: Any) -> Iterator[Callable[[], None]]:
    """Let the server have trouble with a command of the tools; give what waits until it has."""
    only = {"failCommands": [command], "appName": "clitool", **data}
    count = order(world, "configureFailPoint", mode=mode, data=only)["count"]
    yield lambda: order(world, "waitForFailPoint", timesEntered=count + 1, maxTimeMS=20_000)
    if not data.get("blockConnection"):
        order(world, "configureFailPoint", mode="off")


def order(world: Mongo, command: str, **more: Any) -> Any:
    """Give an order about the trouble that commands have; the client is closed while the server lives."""
    with world.server.owner() as client:
        return client.admin.command(command, "failCommand", **more)


def outcome(world: Mongo, tool: str, seconds: float = 30.0, **params: Any) -> Any:
    """Return the answer of a call, or its error."""
    context = world.context(seconds)
    try:
        return TOOLS[tool](context).execute(table="things", **params)
    except ClitoolError as error:
        return error
    finally:
        context.close()


def kill_during(world: Mongo, command: str, mode: Any, tool: str, *, restart: bool = False, **params: Any) -> Any:
    """Return what becomes of a call while the server is killed in the middle of this command of it."""
    with ThreadPoolExecutor(1) as pool:
        with trouble(world, command, mode, blockConnection=True, blockTimeMS=20_000) as reached:
            future = pool.submit(outcome, world, tool, **params)
            reached()
            world.server.process.kill()
        if restart:
            world.server.restart()
        found = future.result()
    if not restart:
        world.server.restart()
    return found


def stored(world: Mongo) -> int:
    return world.collection("things").count_documents({})


NOTHING, PERHAPS = "nothing was changed", "it may have been made or not"


def test_a_server_killed_between_two_parts_of_an_insert_has_none_of_it(shop: Mongo) -> None:
    error = kill_during(shop, "insert", {"skip": 1}, "insert", rows=ROWS)

    assert isinstance(error, ClitoolError)
    assert (error.reason, NOTHING in str(error)) == ("connection_lost", True)
    assert stored(shop) == 0


def test_a_server_killed_at_the_commit_has_all_or_nothing_and_the_error_says_that_this_is_unknown(shop: Mongo) -> None:
    error = kill_during(shop, "commitTransaction", "alwaysOn", "insert", rows=ROWS)

    assert isinstance(error, ClitoolError)
    assert (error.reason, error.details, PERHAPS in str(error)) == ("connection_lost", {"outcome": "unknown"}, True)
    assert stored(shop) in (0, len(ROWS))


def test_a_server_that_is_back_in_time_has_it_all_and_once(shop: Mongo) -> None:
    """The commit is asked again; the server no longer knows it, so the transaction begins anew."""
    shop.settings["timeout"] = 25

    assert kill_during(shop, "commitTransaction", "alwaysOn", "insert", restart=True, rows=FEW)["inserted"] == len(FEW)
    assert stored(shop) == len(FEW)


def test_an_update_of_many_rows_is_lost_as_a_whole(shop: Mongo) -> None:
    shop.settings["timeout"] = 0.5
    shop.collection("things").insert_many([{"n": number} for number in range(100)])

    with trouble(shop, "update", "alwaysOn", closeConnection=True):
        error = outcome(shop, "update", where={"n": {"$gte": 0}}, values={"m": 1})

    assert isinstance(error, ClitoolError)
    assert (error.reason, NOTHING in str(error)) == ("connection_lost", True)
    assert shop.collection("things").count_documents({"m": 1}) == 0


def test_one_row_on_a_connection_that_is_lost_again_and_again_is_of_unknown_fate(shop: Mongo) -> None:
    shop.settings["timeout"] = 0.5
    with trouble(shop, "insert", "alwaysOn", closeConnection=True):
        error = outcome(shop, "insert", rows=FEW[:1])

    assert isinstance(error, ClitoolError)
    assert (error.reason, error.details, PERHAPS in str(error)) == ("connection_lost", {"outcome": "unknown"}, True)
    assert stored(shop) in (0, 1)


LOST: list[Any] = [
    pytest.param("insert", "insert", {"rows": FEW}, id="several rows"),
    pytest.param("commitTransaction", "insert", {"rows": FEW}, id="at the commit"),
    pytest.param("insert", "insert", {"rows": FEW[:1]}, id="one row"),
    pytest.param("update", "upsert", {"rows": FEW, "key": "_id"}, id="upsert of several"),
    pytest.param("update", "upsert", {"rows": FEW[:1], "key": "_id"}, id="upsert of one"),
]


@pytest.mark.parametrize(("command", "tool", "params"), LOST)
def test_a_connection_that_is_lost_once_is_no_trouble(shop: Mongo, command: str, tool: str, params: Any) -> None:
    """What the protocol allows to repeat is repeated, and done once."""
    with trouble(shop, command, {"times": 1}, closeConnection=True):
        answer = outcome(shop, tool, **params)

    assert answer["inserted"] == len(params["rows"]) == stored(shop)


@pytest.mark.parametrize("rows", [FEW, FEW[:1]], ids=["several rows", "one row"])
def test_a_change_that_nobody_confirms_may_have_been_made(shop: Mongo, rows: list[Any]) -> None:
    """The primary has it, the majority did not say so in time: both "done" and "failed" would be lies."""
    shop.settings["timeout"] = 0.5
    command = "commitTransaction" if len(rows) > 1 else "insert"
    concern = {"code": 64, "errmsg": "waiting for replication timed out", "errInfo": {"wtimeout": True}}
    with trouble(shop, command, "alwaysOn", writeConcernError=concern):
        error = outcome(shop, "insert", rows=rows)

    assert isinstance(error, ClitoolError)
    assert (error.reason, error.details) == ("connection_lost", {"outcome": "unknown"})
    assert stored(shop) == len(rows)


def test_a_transaction_that_the_server_gives_up_begins_anew(shop: Mongo) -> None:
    with trouble(shop, "insert", {"times": 3}, errorCode=112, errorLabels=["TransientTransactionError"]):
        assert outcome(shop, "insert", rows=FEW)["inserted"] == len(FEW)

    assert stored(shop) == len(FEW)


def test_a_transaction_that_the_server_gives_up_again_and_again_ends_in_time(shop: Mongo) -> None:
    shop.settings["timeout"] = 0.5
    with trouble(shop, "insert", "alwaysOn", errorCode=112, errorLabels=["TransientTransactionError"]):
        error = outcome(shop, "insert", rows=FEW)

    assert isinstance(error, ClitoolError)
    assert error.reason in ("locked", "timeout")
    assert stored(shop) == 0


def test_a_server_that_hangs_ends_the_call_with_nothing_changed(shop: Mongo) -> None:
    shop.settings["timeout"] = 0.5
    with trouble(shop, "insert", {"times": 1}, blockConnection=True, blockTimeMS=2000):
        error = outcome(shop, "insert", rows=FEW)

    assert isinstance(error, ClitoolError)
    assert error.reason == "timeout"
    assert stored(shop) == 0


def test_one_row_on_a_standalone_server_that_loses_the_connection_is_of_unknown_fate(mongod: Mongod) -> None:
    world = Mongo(mongod, allowed_tables=["things"], timeout=2)
    try:
        world.database.create_collection("things")
        with trouble(world, "insert", {"times": 1}, closeConnection=True):
            error = outcome(world, "insert", rows=FEW[:1])
    finally:
        world.drop()

    assert isinstance(error, ClitoolError)
    assert (error.reason, error.details) == ("connection_lost", {"outcome": "unknown"})
