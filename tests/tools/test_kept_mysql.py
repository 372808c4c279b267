"""A connection to MariaDB that one call after the other uses: nothing of a call is left for the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.mysql.session import Session
from keeping import Keeping, freeze
from mariadb_world import PASSWORD, RIGHTS, TOOLS, Maria
from mysql_sessions import PINNED, is_gone, parsed, towards
from services.fake_mysql import OK

from clitool.errors import ClitoolError, report
from clitool.tool import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mysql_sessions import StartFake
    from services.fake_mysql import Conversation
    from services.mariadb import MariaDB


class KeptMaria(Keeping, Maria):
    """The shop, all calls on which share a connection."""

    def fresh(self, tool: str, **params: Any) -> Any:
        """Return the result of a call with a connection of its own."""
        context = Maria.context(self)
        try:
            return TOOLS[tool](context).execute(**params)
        finally:
            context.close()

    def leave(self, what: Callable[[Session], object]) -> None:
        """Let a call do something in its session, in which it may fail, and end."""
        context = self.context()
        try:
            what(context.connection("").session)
        except ClitoolError:
            pass
        finally:
            context.close()

    def use(self) -> Session:
        """Begin a call that has no end, and return its session."""
        session: Session = self.context().connection("").session
        return session


@pytest.fixture
def maria(mariadb: MariaDB) -> Iterator[KeptMaria]:
    world = KeptMaria(mariadb)
    mariadb.run(f"GRANT CREATE TEMPORARY TABLES, LOCK TABLES ON {world.name}.* TO {world.name}@'%'")
    yield world
    world.drop()


def run(*statements: str) -> Callable[[Session], object]:
    return lambda session: [session.run(sql).all() for sql in statements]


def begin(session: Session) -> None:
    """Begin a change that nothing ends."""
    session._opened(reads_only=False)
    session._begin("change", "START TRANSACTION READ WRITE")


def change(session: Session) -> None:
    begin(session)
    session.run("UPDATE orders SET total = 99")
    session.run("DELETE FROM visits")


def half_read(session: Session) -> None:
    next(session.run("SELECT id, name FROM customers").rows())


def fail_in_the_middle(session: Session) -> None:
    begin(session)
    session.run("UPDATE orders SET total = 98")
    session.run("INSERT INTO orders (id) VALUES (1)")


LEAVINGS = [
    pytest.param(lambda session: session.server, id="nothing"),
    pytest.param(lambda session: session.read(), id="a read transaction"),
    pytest.param(change, id="a change that was not committed"),
    pytest.param(fail_in_the_middle, id="an error in the middle of a change"),
    pytest.param(run("SELECT nonsense"), id="a wrong statement"),
    pytest.param(run("SET @x = 7, @customers = 'all'"), id="variables"),
    pytest.param(run("SET @@session.sql_select_limit = 1, @@session.sql_mode = ''"), id="settings of ours"),
    pytest.param(run("SET NAMES latin1", "SET @@session.time_zone = '+05:00'"), id="text and times"),
    pytest.param(run("SET @@session.group_concat_max_len = 4, @@session.div_precision_increment = 0"), id="others"),
    pytest.param(run("SET @@session.autocommit = 0", "SET @@session.completion_type = 2"), id="the ways of COMMIT"),
    pytest.param(run("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"), id="another isolation"),
    pytest.param(run("SET SESSION TRANSACTION READ WRITE"), id="the right to write"),
    pytest.param(run("SET @@session.max_statement_time = 0.001"), id="a short time limit"),
    pytest.param(run("CREATE TEMPORARY TABLE customers (id INT)"), id="a temporary table in place of another one"),
    pytest.param(run("LOCK TABLES orders WRITE, customers WRITE"), id="locks of tables"),
    pytest.param(run("SELECT GET_LOCK('x', 0)"), id="a lock with a name"),
    pytest.param(run("PREPARE p FROM 'SELECT 1'"), id="a prepared statement"),
    pytest.param(run("USE information_schema"), id="another database"),
    pytest.param(run("SET ROLE NONE", "SET @@session.last_insert_id = 5"), id="another role"),
    pytest.param(lambda session: session.run("SELECT * FROM orders"), id="rows that nobody reads"),
    pytest.param(half_read, id="rows of which some are read"),
]


@pytest.mark.parametrize("leave", LEAVINGS)
def test_the_next_call_has_the_connection_as_if_it_were_new(
    maria: KeptMaria, leave: Callable[[Session], object]
) -> None:
    """It finds nothing of the call before, sees what others have committed since, and its session is set as any."""
    before = maria.fresh("query", table="orders")
    maria.leave(leave)
    assert list(maria.keeper.parked) == [""]
    assert maria.fresh("query", table="orders") == before
    maria.run(
        "SET SESSION lock_wait_timeout = 1; INSERT INTO customers (name) VALUES ('Eve');"
        " UPDATE orders SET total = 77 WHERE id = 2; ALTER TABLE orders ADD COLUMN added INT DEFAULT 5"
    )
    assert maria.rows("SELECT IS_FREE_LOCK('x')") == [(1,)]

    for tool, params in (
        ("query", {"table": "customers"}),
        ("query", {"table": "orders"}),
        ("describe", {"table": "orders"}),
        ("sql", {"sql": "SELECT GROUP_CONCAT(name), NOW() > '2000-01-01', 1 / 3 FROM customers"}),
        ("insert", {"table": "visits", "rows": [{"day": "2024-01-01", "page": "x"}]}),
    ):
        kept = maria.call(tool, **params)
        maria.run("DELETE FROM visits")
        assert kept == maria.fresh(tool, **params)
        maria.run("DELETE FROM visits")
    assert (maria.keeper.opened, maria.keeper.resumed) == (1, 5)


OWN = {"pseudo_thread_id", "timestamp", "rand_seed1", "rand_seed2"}  # of each session, or of each moment


def variables(session: Session) -> dict[bytes | None, bytes | None]:
    session.read()
    rows = [row for row in session.run("SHOW SESSION VARIABLES").all() if (row[0] or b"").decode() not in OWN]
    return {name: value for name, value, *_ in rows if name != b"max_statement_time"}


@pytest.mark.parametrize("leave", LEAVINGS)
def test_every_variable_of_the_session_is_as_in_a_new_one(maria: KeptMaria, leave: Callable[[Session], object]) -> None:
    maria.leave(leave)
    maria.server.run("SET GLOBAL group_concat_max_len = 12345, GLOBAL max_allowed_packet = 2097152")
    fresh = Session(parsed(maria.settings), Deadline(8))

    try:
        assert variables(maria.use()) == variables(fresh)
        assert maria.keeper.resumed == 1
    finally:
        fresh.close()
        maria.server.run("SET GLOBAL group_concat_max_len = DEFAULT, GLOBAL max_allowed_packet = DEFAULT")


def test_the_time_that_a_statement_has_is_that_of_the_new_call(maria: KeptMaria) -> None:
    context = maria.context(2.0)
    context.connection("").session.read()
    context.close()

    rows = maria.use().run("SELECT @@session.max_statement_time").all()

    assert float(rows[0][0] or 0) == 5  # of the settings; the first call had less


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(lambda session: None, id="nothing was opened"),
        pytest.param(
            lambda session: session.run("SELECT * FROM seq_1_to_9999999"), id="more rows than anybody waits for"
        ),
        pytest.param(lambda session: session.run(f"KILL {session.server.id}"), id="it killed itself"),
    ],
)
def test_a_connection_of_no_more_use_is_not_kept(maria: KeptMaria, leave: Callable[[Session], object]) -> None:
    maria.leave(leave)

    assert maria.keeper.parked == {}
    assert len(maria.call("query", table="customers")["rows"]) == 3


def test_a_statement_that_took_too_long_is_over_for_the_next_call(
    maria: KeptMaria, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(maria.settings, "timeout", 0.3)
    assert maria.reason("sql", sql="SELECT COUNT(*) FROM customers a, seq_1_to_9999999 b, seq_1_to_9999999 c") in (
        "timeout", "table_not_allowed",
    )  # fmt: skip
    maria.leave(run("SELECT SLEEP(5)"))

    assert len(maria.call("query", table="customers")["rows"]) == 3


# What happens while nobody calls


def ids(maria: KeptMaria) -> list[Any]:
    return [row[0] for row in maria.rows(f"SELECT id FROM information_schema.processlist WHERE user = '{maria.name}'")]


def test_a_connection_that_was_killed_is_replaced(maria: KeptMaria) -> None:
    before = maria.call("query", table="customers")
    (number,) = ids(maria)
    maria.server.run(f"KILL {number}")
    assert is_gone(maria.server, number)

    assert maria.call("query", table="customers") == before
    assert maria.keeper.opened == 2


def test_one_that_the_server_forgot_is_replaced(maria: KeptMaria) -> None:
    """It ends connections that nothing comes from for `wait_timeout`."""
    maria.server.run("SET GLOBAL wait_timeout = 1")
    try:
        before = maria.call("query", table="customers")
        assert is_gone(maria.server, ids(maria)[0])
    finally:
        maria.server.run("SET GLOBAL wait_timeout = DEFAULT")

    assert maria.call("query", table="customers") == before
    assert maria.keeper.opened == 2


@pytest.fixture
def mortal(mortal: Maria) -> Iterator[KeptMaria]:
    world = KeptMaria(mortal.server)
    yield world
    world.keeper.close()


def test_a_server_that_started_anew_is_met_again(mortal: KeptMaria) -> None:
    before = mortal.call("query", table="customers")
    mortal.server.process.kill()
    assert mortal.reason("query", table="customers") == "unreachable"
    assert mortal.keeper.parked == {}
    mortal.server.restart()

    assert mortal.call("query", table="customers") == before


def test_a_server_that_stands_still_does_not_hold_up_the_end_of_a_call(mortal: KeptMaria) -> None:
    context = mortal.context()
    context.connection("").session.read()
    freeze(mortal.server.process)
    context.close()

    assert mortal.keeper.parked == {}


def test_nor_the_next_call_beyond_its_time(mortal: KeptMaria) -> None:
    mortal.call("query", table="customers")
    freeze(mortal.server.process)

    with pytest.raises(ClitoolError) as caught:
        TOOLS["query"](mortal.context(2.0)).execute(table="customers")

    assert caught.value.reason in ("unreachable", "timeout")


MEANWHILE = [
    pytest.param("ALTER USER {0} IDENTIFIED BY 'another'", id="another password"),
    pytest.param("ALTER USER {0} ACCOUNT LOCK", id="the account is locked"),
    pytest.param("DROP USER {0}", id="the account is gone"),
    pytest.param("DROP USER {0}; CREATE USER {0} IDENTIFIED BY 'x'", id="another account of its name"),
    pytest.param("REVOKE ALL PRIVILEGES, GRANT OPTION FROM {0}", id="no rights"),
    pytest.param("REVOKE {2} ON {1}.* FROM {0}; GRANT SELECT ON {1}.visits TO {0}", id="fewer rights"),
    pytest.param("REVOKE UPDATE ON {1}.* FROM {0}", id="no right to change"),
    pytest.param("ALTER USER {0} REQUIRE X509", id="a certificate is asked for"),
    pytest.param("SET GLOBAL sql_mode = 'ONLY_FULL_GROUP_BY'", id="another mode of SQL"),
    pytest.param("SET GLOBAL init_connect = 'SET @@session.group_concat_max_len = 4'", id="a greeting"),
    pytest.param("SET GLOBAL read_only = 1", id="nothing can be written"),
    pytest.param("DROP TABLE {1}.visits", id="no table"),
    pytest.param("RENAME TABLE {1}.visits TO {1}.v, {1}.orders TO {1}.visits", id="another table"),
    pytest.param("ALTER TABLE {1}.visits MODIFY page INT, ADD COLUMN more INT FIRST", id="other columns"),
]
AFTERWARDS = "SET GLOBAL sql_mode = DEFAULT, GLOBAL init_connect = '', GLOBAL read_only = 0"


@pytest.mark.parametrize("script", MEANWHILE)
def test_what_the_owner_changes_counts_at_the_next_call_as_at_a_first_one(maria: KeptMaria, script: str) -> None:
    """Above all passwords, accounts and rights: a connection from before is no way around them."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("query", {"table": "visits"}),
        ("sql", {"sql": "SELECT GROUP_CONCAT(page), day FROM visits"}),
        ("update", {"table": "visits", "where": {"day": "2024-01-01"}, "values": {"page": "7"}}),
        ("delete", {"table": "visits", "where": {"page": {"$ne": "0"}}, "dry_run": True}),
        ("describe", {"table": "visits"}),
    ]
    maria.run("INSERT INTO visits VALUES ('2024-01-01', '1', 1), ('2024-01-02', '2', 2), ('2024-01-03', '3', 3)")
    maria.call("query", table="visits")
    maria.server.run(script.format(f"{maria.name}@'%'", maria.name, RIGHTS))

    try:
        for tool, params in calls:
            assert outcome(maria.call, tool, **params) == outcome(maria.fresh, tool, **params)
    finally:
        maria.server.run(AFTERWARDS + f"; CREATE USER IF NOT EXISTS {maria.name}@'%'")


def outcome(call: Callable[..., Any], tool: str, **params: Any) -> Any:
    try:
        return call(tool, **params)
    except ClitoolError as error:
        return report(error)


# Servers that cannot be trusted


SHA2 = b"\xfecaching_sha2_password\x0012345678901234567890\0"  # what MySQL 8 says to every other login


@pytest.mark.parametrize(
    "said", [[b"\xfemysql_clear_password\0"], [SHA2, b"\x01\x04"]], ids=["as it is", "by the method of MySQL 8"]
)
def test_another_login_gives_the_password_to_nobody_in_plain(fake_mysql: StartFake, said: list[bytes]) -> None:
    """What was refused at the first login is refused at the next one."""

    def behave(talk: Conversation) -> None:
        answers(talk)
        for packet in said:
            talk.say(packet)
            talk.hear()

    server = fake_mysql(behave, over_tcp=True)
    session = towards(server.place)
    session.read()
    assert session.park()

    assert not session.resume(Deadline(5))
    session.close()
    assert PASSWORD.encode() not in server.heard


def answers(talk: Conversation) -> None:
    """Behave as the client wants it until it logs in again."""
    talk.let_in()
    while (query := talk.hear()) and query[:1] != b"\x11":
        if query[1:].startswith(b"SELECT @@version"):
            modes = ["utf8mb4"] * 3
            talk.rows(("10.11.19-MariaDB", "0", PINNED, "1", "7", "999", *modes, "+00:00", "1", "1"))
        elif query[1:].startswith(b"START"):
            talk.say(b"\0\0\0\x03\0\0\0")
        else:
            talk.say(OK)


@pytest.mark.parametrize("modes", [PINNED, ""], ids=["as it must be", "without its modes"])
def test_a_session_is_looked_at_again(fake_mysql: StartFake, modes: str) -> None:
    """A proxy may give us another session at the other end of the same connection; here it logs in as MySQL 8 does."""

    def behave(talk: Conversation) -> None:
        answers(talk)
        talk.say(SHA2)
        talk.hear()
        talk.say(b"\x01\x03")
        talk.say(OK)
        talk.hear()
        talk.say(OK)
        talk.hear()
        talk.rows(("10.11.19-MariaDB", "0", modes, "1", "7", "999", *["utf8mb4"] * 3, "+00:00", "1", "1"))

    session = towards(fake_mysql(behave).place)
    session.read()
    assert session.park()

    assert session.resume(Deadline(5)) == bool(modes)
    session.close()


@pytest.mark.parametrize(
    "answer", [b"\xff\x17\x04#08S01Unknown command", b"", b"\x01"], ids=["refused", "hung up", "nonsense"]
)
@pytest.mark.parametrize("step", [b"\x1f", b"\x11"], ids=["reset", "login"])
def test_a_server_that_does_not_do_its_part_loses_the_connection(
    fake_mysql: StartFake, answer: bytes, step: bytes
) -> None:
    def behave(talk: Conversation) -> None:
        talk.let_in()
        while query := talk.hear():
            if query[:1] == step:
                break
            if query[1:].startswith(b"SELECT @@version"):
                talk.rows(("10.11.19-MariaDB", "0", PINNED, "1", "7", "999", *["utf8mb4"] * 3, "+00:00", "1", "1"))
            else:
                talk.say(OK)
        if answer:
            talk.say(answer)
        else:
            talk.plain.shutdown(2)

    session = towards(fake_mysql(behave).place)
    assert session.server

    assert not (session.park() and session.resume(Deadline(5)))
    session.close()
