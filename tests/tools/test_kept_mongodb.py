"""A client of MongoDB that one call after the other uses: nothing of a call is left for the next one."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from keeping import Keeping, freeze
from mongo_world import PASSWORD, TOOLS, Mongo
from services.mongod import Mongod

from clitool.errors import ClitoolError, InvalidParams, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MANY = [{"_id": number, "text": "x" * 1000} for number in range(5000)]
EVERYBODY = {"name": {"$ne": "nobody"}}


class KeptMongo(Keeping, Mongo):
    """The shop, all calls on which share a client."""

    def fresh(self, tool: str, **params: Any) -> Any:
        """Return the outcome of a call with a client of its own."""
        return outcome(Mongo.context(self), tool, params)

    def kept(self, tool: str, *, seconds: float = 8.0, **params: Any) -> Any:
        """Return the outcome of a call that takes over what is kept."""
        return outcome(self.context(seconds), tool, params)

    def leave(self, what: Callable[[Any], object], seconds: float = 8.0) -> object:
        """Let a call do something with its engine, in which it may fail, and end; return what is still held of it."""
        context = self.context(seconds)
        try:
            return what(context.connection(""))
        except ClitoolError as error:
            return error
        finally:
            context.close()

    @contextmanager
    def failing(self, command: str, **data: Any) -> Iterator[None]:
        """Let the server fail the client's next command of this name."""
        point = {"failCommands": [command], "appName": "clitool", **data}
        with self.server.owner() as owner:
            owner.admin.command("configureFailPoint", "failCommand", mode={"times": 1}, data=point)
            try:
                yield
            finally:
                owner.admin.command("configureFailPoint", "failCommand", mode="off")

    def open_cursors(self) -> int:
        """Return how many cursors the server holds open."""
        found: int = self.database.command("serverStatus")["metrics"]["cursor"]["open"]["total"]
        return found


def outcome(context: Any, tool: str, params: dict[str, Any]) -> Any:
    try:
        answer = TOOLS[tool](context).execute(**params)
        return {**answer, "columns": sorted(answer["columns"], key=str)} if tool == "describe" else answer  # a sample
    except ClitoolError as error:
        return report(error)
    finally:
        context.close()


@pytest.fixture
def shop(replica_set: Mongod) -> Iterator[KeptMongo]:
    world = KeptMongo(replica_set)
    world.fill()
    world.fill({"things": MANY})
    yield world
    world.drop()


# What a call leaves; each gives back what lives on in the process.


def half_read(shop: KeptMongo) -> object:
    def read(engine: Any) -> object:
        rows = engine.aggregate(engine.table("things"), [], 4000, is_canonical=False)
        next(rows)
        return rows

    return shop.leave(read, 0.4)


def fail_while_reading(shop: KeptMongo) -> object:
    def read(engine: Any) -> None:
        for _ in engine.aggregate(engine.table("things"), [], 4000, is_canonical=False):
            raise InvalidParams("the answer is too long", "too_large")

    return shop.leave(read)


def fail_in_a_transaction(shop: KeptMongo) -> object:
    return shop.kept("upsert", table="customers", key="_id", rows=[{"_id": 1, "note": 8}, {"_id": 9, "name": "Bob"}])


def take_too_long(shop: KeptMongo) -> object:
    with shop.failing("find", blockConnection=True, blockTimeMS=600):
        return shop.kept("query", seconds=0.4, table="customers")


def lose_the_connection(shop: KeptMongo) -> object:
    with shop.failing("update", closeConnection=True):
        return shop.kept("update", table="customers", where={"_id": 1}, values={"note": None})


LEAVINGS = [
    pytest.param(lambda shop: shop.leave(lambda engine: engine.tables()), id="nothing"),
    pytest.param(half_read, id="documents of which some are read"),
    pytest.param(fail_while_reading, id="an error while documents are read"),
    pytest.param(fail_in_a_transaction, id="an error in a transaction"),
    pytest.param(
        lambda shop: shop.kept("delete", table="customers", where=EVERYBODY, dry_run=True), id="a change taken back"
    ),
    pytest.param(lambda shop: shop.kept("insert", table="customers", rows=[{"_id": 1}]), id="an error of the caller's"),
    pytest.param(take_too_long, id="a query that took too long"),
    pytest.param(lose_the_connection, id="a connection that was lost"),
]


@pytest.mark.parametrize("leave", LEAVINGS)
def test_the_next_call_has_the_client_as_if_it_were_new(shop: KeptMongo, leave: Callable[[KeptMongo], object]) -> None:
    """It finds nothing of the call before, no cursor and no clock, and sees what others have changed since."""
    cursors = shop.open_cursors()
    held = leave(shop)
    time.sleep(0.5)  # so that the time of a short call is over
    assert shop.open_cursors() <= cursors
    assert shop.collection("customers").find_one({"_id": 1}) == {
        "_id": 1, "name": "Ada", "email": "ada@example.org", "note": None,
    }  # fmt: skip
    shop.collection("customers").insert_one({"_id": 7, "name": "Eve"})
    shop.collection("customers").create_index("email")
    shop.collection("orders").drop()

    for tool, params in READING:
        assert shop.kept(tool, **params) == shop.fresh(tool, **params)
    assert shop.kept("update", table="customers", where=EVERYBODY, values={"note": 1}) == {
        "affected": 4,
        "dry_run": False,
    }
    assert (shop.keeper.opened, shop.keeper.resumed) == (1, len(READING) + 1)
    del held


READING: list[tuple[str, dict[str, Any]]] = [
    ("query", {"table": "customers"}),
    ("query", {"table": "orders"}),
    ("tables", {}),
    ("describe", {"table": "customers"}),
    ("aggregate", {"table": "customers", "pipeline": [{"$group": {"_id": None, "n": {"$sum": 1}}}]}),
    ("delete", {"table": "customers", "where": EVERYBODY, "dry_run": True}),
]


def test_a_call_in_which_nothing_was_opened_leaves_nothing(shop: KeptMongo) -> None:
    shop.leave(lambda engine: engine)

    assert shop.keeper.parked == {}


def test_a_short_call_leaves_the_next_one_the_time_that_the_settings_give(shop: KeptMongo) -> None:
    """The driver's own thread would go by the times of the call that made the client."""
    shop.kept("query", seconds=0.5, table="customers")
    (engine,) = shop.keeper.parked.values()

    assert engine.session.client.options.pool_options.connect_timeout == 5


def test_a_client_that_is_slow_to_come_back_is_replaced_while_there_is_time_for_it(shop: KeptMongo) -> None:
    before = shop.kept("query", table="customers")
    with shop.failing("connectionStatus", blockConnection=True, blockTimeMS=2500):
        assert shop.kept("query", table="customers") == before

    assert shop.keeper.opened == 2


def test_nothing_of_the_driver_is_left_when_the_client_is_given_up(shop: KeptMongo) -> None:
    before = threads()
    shop.kept("query", table="customers")
    shop.keeper.close()

    for thread in threads() - before:
        thread.join(5)
        assert not thread.is_alive()


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if "pymongo" in thread.name}


# What happens while nobody calls


MEANWHILE = [
    pytest.param(lambda shop: shop.database.command("updateUser", shop.name, roles=[]), id="no rights"),
    pytest.param(lambda shop: shop.database.command("updateUser", shop.name, roles=["read"]), id="fewer rights"),
    pytest.param(lambda shop: shop.database.command("dropUser", shop.name), id="the account is gone"),
    pytest.param(lambda shop: renewed(shop, PASSWORD), id="another account of its name"),
    pytest.param(lambda shop: renewed(shop, "another"), id="another one with another password"),
    pytest.param(lambda shop: shop.collection("customers").drop(), id="no collection"),
    pytest.param(lambda shop: shop.collection("orders").rename("customers", dropTarget=True), id="another collection"),
]


def renewed(shop: KeptMongo, password: str) -> None:
    shop.database.command("dropUser", shop.name)
    shop.database.command("createUser", shop.name, pwd=password, roles=["readWrite"])


@pytest.mark.parametrize("happen", MEANWHILE)
def test_what_the_owner_changes_counts_at_the_next_call_as_at_a_first_one(
    shop: KeptMongo, happen: Callable[[KeptMongo], object]
) -> None:
    """Above all accounts and their rights: a client from before is no way around them."""
    shop.kept("query", table="customers")
    happen(shop)

    for tool, params in (*READING, ("update", {"table": "customers", "where": EVERYBODY, "values": {"note": 1}})):
        assert shop.kept(tool, **params) == shop.fresh(tool, **params)


@pytest.fixture(scope="module")
def mortal_server() -> Iterator[Mongod]:
    """A replica set that may be killed."""
    server = Mongod(replica_set=True, auth=True)
    yield server
    server.stop()


@pytest.fixture
def mortal(mortal_server: Mongod) -> Iterator[KeptMongo]:
    world = KeptMongo(mortal_server)
    world.fill()
    yield world
    os.kill(mortal_server.process.pid, signal.SIGCONT)
    world.drop()


def test_a_server_that_started_anew_is_met_again(mortal: KeptMongo) -> None:
    before = mortal.kept("query", table="customers")
    mortal.server.process.stop()
    mortal.settings["timeout"] = 0.5
    assert mortal.kept("query", table="customers")["details"]["reason"] == "unreachable"
    assert mortal.keeper.parked == {}
    mortal.server.restart()
    mortal.settings["timeout"] = 5

    assert mortal.kept("query", table="customers") == before


def test_so_is_one_that_started_anew_while_nobody_called(mortal: KeptMongo) -> None:
    before = mortal.kept("query", table="customers")
    mortal.server.process.stop()
    mortal.server.restart()

    assert mortal.kept("query", table="customers") == before
    assert mortal.kept("insert", table="customers", rows=[{"_id": 8, "name": "Hal"}])["inserted"] == 1


def test_a_server_that_stands_still_does_not_hold_up_a_call_beyond_its_time(mortal: KeptMongo) -> None:
    mortal.kept("query", table="customers")
    freeze(mortal.server.process)

    assert mortal.kept("query", seconds=2.5, table="customers")["details"]["reason"] in ("unreachable", "timeout")


def test_nor_the_end_of_a_call(mortal: KeptMongo) -> None:
    """What is half read cannot be ended then."""
    mortal.fill({"things": MANY})

    def stop(engine: Any) -> object:
        rows = engine.aggregate(engine.table("things"), [], 4000, is_canonical=False)
        next(rows)
        freeze(mortal.server.process)
        return rows

    held = mortal.leave(stop)
    os.kill(mortal.server.process.pid, signal.SIGCONT)
    assert len(mortal.kept("query", table="customers")["rows"]) == 3
    del held


@pytest.mark.parametrize("options", [{}, {"directConnection": "true"}], ids=["found by its set", "named alone"])
def test_a_server_that_gave_up_its_role_is_not_taken_for_the_one_that_it_was(
    mortal: KeptMongo, options: dict[str, str]
) -> None:
    """It may be behind, and takes no changes."""
    mortal.settings["connection_string"] = mortal.server.address(mortal.name, mortal.name, PASSWORD, **options)
    mortal.settings["timeout"] = 1
    before = mortal.kept("query", table="customers")
    mortal.database.client.admin.command("replSetStepDown", 3, force=True)
    try:
        assert mortal.kept("query", table="customers")["details"]["reason"] == "unreachable"
    finally:
        mortal.server._wait_for_writes()

    assert mortal.kept("query", table="customers") == before


def test_an_account_is_not_asked_for_where_the_connection_string_names_none(mongod: Mongod) -> None:
    world = KeptMongo(mongod)
    world.fill()
    for _ in range(3):
        assert len(world.call("query", table="customers")["rows"]) == 3
    assert (world.keeper.opened, world.keeper.resumed) == (1, 2)
    world.drop()
