"""The seam between the engine and what speaks MySQL's protocol, tried without the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from clitool_tools.database.mysql.clock import Clock
from clitool_tools.database.mysql.driver import DriverError, connect
from mysql_sessions import parsed, towards
from mysql_wires import WITH_EXTENSION

if TYPE_CHECKING:
    from collections.abc import Iterator

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
