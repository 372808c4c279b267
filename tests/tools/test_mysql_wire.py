"""The seam between the engine and what speaks MySQL's protocol, tried without the engine."""

from __future__ import annotations

import threading
import time
from threading import Event
from typing import TYPE_CHECKING

import pytest
from clitool_tools.database.mysql.clock import Clock
from clitool_tools.database.mysql.driver import DriverError, connect
from clitool_tools.database.mysql.errand import Errand
from mysql_sessions import parsed, towards
from mysql_wires import WITH_EXTENSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clitool_tools.database.mysql.driver import Row, Wire
    from mariadb_world import Maria
    from mysql_sessions import StartFake
    from services.fake_mysql import Conversation


def rows(wire: Wire, sql: str) -> list[Row]:
    return [row for batch in wire.query(sql).batches for row in batch]


@pytest.fixture
def wire(maria: Maria) -> Iterator[Wire]:
    maria.server.run(f"GRANT CREATE TEMPORARY TABLES ON {maria.name}.* TO {maria.name}@'%'")
    found = connect(parsed(maria.settings).address, Clock(10))
    yield found
    found.close()


def test_a_reset_session_is_as_new_on_the_same_connection(wire: Wire, maria: Maria) -> None:
    """What one call left behind, the next one on the same connection must not find."""
    asked = "SELECT @x, @@session.sql_select_limit, @@session.autocommit, CONNECTION_ID(), DATABASE()"
    before = rows(wire, asked)
    for sql in (
        "SET @x = 7, @@session.sql_select_limit = 1, @@session.autocommit = 0",
        "CREATE TEMPORARY TABLE customers (a INT)",
        "DELETE FROM orders",
    ):
        wire.query(sql)
    assert rows(wire, asked)[0][:3] == (b"7", b"1", b"0")
    wire.reset()

    assert rows(wire, asked) == before
    assert len(rows(wire, "SELECT name FROM customers")) == 3
    assert len(maria.rows("SELECT * FROM orders")) == 3


NOT_DONE = [
    pytest.param(b"\xff\x17\x04#08S01Unknown command", "server", 1047, id="refused"),
    pytest.param(b"", "lost", 0, id="hung up"),
]
if not WITH_EXTENSION:  # whose library takes whatever is no refusal for a consent
    NOT_DONE.append(pytest.param(b"\x01", "lost", 0, id="nonsense"))


@pytest.mark.parametrize(("answer", "kind", "code"), NOT_DONE)
def test_a_reset_that_was_not_done_is_an_error(fake_mysql: StartFake, answer: bytes, kind: str, code: int) -> None:
    """A session that was not reset must not pass for a new one."""

    def behave(talk: Conversation) -> None:
        talk.let_in()
        talk.hear()
        if answer:
            talk.say(answer)
        else:
            talk.plain.shutdown(2)

    session = towards(fake_mysql(behave).place)
    wire = connect(session._connection.address, Clock(5))
    with pytest.raises(DriverError) as caught:
        wire.reset()
    wire.abort()

    assert (caught.value.kind, caught.value.code) == (kind, code)


BEGINNING = (
    b"\x01",
    b"\x03def\0\0\0\x01a\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0",
    b"\xfe\0\0\x02\0",
    b"\x01x",
)


def stall(talk: Conversation) -> None:
    """Send a row and half of the next one."""
    talk.let_in()
    talk.hear()
    for packet in BEGINNING:
        talk.say(packet)
    talk.plain.sendall(b"\x20\0\0\x05\x1fxxx")
    talk.hear()


def drip(talk: Conversation) -> None:
    """Send a row, and then one byte after the other of the next one."""
    talk.let_in()
    talk.hear()
    for packet in BEGINNING:
        talk.say(packet)
    for octet in b"\xff\0\0\x05\xfe" + b"x" * 200:
        talk.plain.sendall(bytes([octet]))
        time.sleep(0.02)


@pytest.mark.parametrize("behave", [stall, drip])
def test_a_row_that_does_not_end_is_given_up_in_time(
    fake_mysql: StartFake, behave: Callable[[Conversation], None]
) -> None:
    """A time limit for each read would wait for as long as something comes."""
    wire = connect(towards(fake_mysql(behave).place)._connection.address, Clock(0.4))
    with pytest.raises(DriverError) as caught:
        rows(wire, "SELECT 1")
    wire.abort()

    assert caught.value.kind == "slow"


def test_a_statement_can_be_given_up_from_outside(fake_mysql: StartFake) -> None:
    wire = connect(towards(fake_mysql(stall).place)._connection.address, Clock(30))
    caller = threading.Timer(0.2, wire.abort)
    caller.start()
    with pytest.raises(DriverError) as caught:
        rows(wire, "SELECT 1")
    caller.join()

    assert caught.value.kind in ("lost", "slow")


def test_a_wire_that_was_given_up_does_nothing_more(wire: Wire) -> None:
    wire.abort()
    for step in (lambda: wire.query("SELECT 1"), wire.reset, wire.log_in):
        with pytest.raises(DriverError) as caught:
            step()
        assert caught.value.kind == "lost"
    wire.abort()
    wire.close()


def test_a_result_that_is_given_up_is_not_read(wire: Wire) -> None:
    """It would take a minute, and its connection is of no more use."""
    batches = wire.query("SELECT a.seq, b.seq FROM seq_1_to_100000 a, seq_1_to_100000 b").batches
    assert len(next(iter(batches))) > 0
    wire.abort()

    with pytest.raises(DriverError):
        list(batches)


def test_the_wire_is_the_one_that_is_tested(wire: Wire) -> None:
    assert type(wire).__name__ == ("ExtensionWire" if WITH_EXTENSION else "ConnectorWire")


# Errands


def test_an_errand_gives_back_what_its_work_does() -> None:
    late = Event()

    assert Errand(lambda: 7, late.set).result(10) == 7
    with pytest.raises(ZeroDivisionError):
        Errand(lambda: 1 / 0, late.set).result(10)
    assert not late.is_set()


@pytest.mark.parametrize("how", ["in time", "from outside"])
def test_an_errand_that_was_left_cleans_up_after_itself(how: str) -> None:
    goes_on, late = Event(), Event()
    errand = Errand(goes_on.wait, late.set)
    if how == "from outside":
        threading.Timer(0.1, errand.leave).start()
    with pytest.raises(TimeoutError):
        errand.result(0.05 if how == "in time" else 10)

    assert not errand.leave()
    assert not late.is_set()
    goes_on.set()
    assert late.wait(10)
    assert errand.leave()
