"""The database file and who else uses it: missing, damaged, locked, in WAL mode, read-only, killed in the middle."""

from __future__ import annotations

import os
import signal
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from database_world import TOOLS, Shop, in_child, succeeded

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOBODY = 65534
ALL_TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("query", {"table": "customers"}),
    ("tables", {}),
    ("describe", {"table": "customers"}),
    ("sql", {"sql": "SELECT * FROM customers"}),
    ("insert", {"table": "customers", "rows": [{"name": "x"}]}),
    ("upsert", {"table": "customers", "rows": [{"id": 1, "note": 1}], "key": ["id"]}),
    ("update", {"table": "customers", "where": {"id": 1}, "values": {"note": 1}}),
    ("delete", {"table": "customers", "where": {"id": 1}}),
]
EVERY_TOOL = pytest.mark.parametrize(("tool", "params"), [pytest.param(*each, id=each[0]) for each in ALL_TOOLS])


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def open_shop() -> Iterator[Shop]:
    """A shop that an unprivileged user can reach, which pytest's own folders do not let in."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Shop(Path(folder))


def as_nobody(action: Callable[[], Any]) -> bool:
    """Run `action` in a child without privileges and return whether it raised nothing."""

    def drop() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        action()

    return succeeded(in_child(drop))


def has_ended(child: int) -> bool:
    """Return whether a child is over; it can still be waited for."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def reads(shop: Shop) -> None:
    """Fail unless both ways of reading give Ada."""
    assert shop.call("query", table="customers", where={"id": 1})["rows"][0]["name"] == "Ada"
    assert shop.call("sql", sql="SELECT name FROM customers WHERE id = 1")["rows"] == [{"name": "Ada"}]


@EVERY_TOOL
def test_a_missing_file_is_never_made(shop: Shop, tool: str, params: dict[str, Any]) -> None:
    """No tool creates a database, not even an empty one."""
    shop.path.unlink()

    assert shop.reason(tool, **params) == "unreachable"
    assert list(shop.folder.iterdir()) == []


@EVERY_TOOL
@pytest.mark.parametrize(
    ("content", "reasons"),
    [
        pytest.param(b"hello world" * 100, {"unreachable"}, id="a text"),
        pytest.param(b"SQLite format 3\0" + b"\xff" * 4000, {"unreachable"}, id="a header and noise"),
        pytest.param(b"", {"not_found", ""}, id="empty"),
        pytest.param(b"S", {"unreachable"}, id="one byte"),
    ],
)
def test_a_file_that_is_no_database_is_told_in_a_sentence(
    shop: Shop, tool: str, params: dict[str, Any], content: bytes, reasons: set[str]
) -> None:
    shop.path.write_bytes(content)

    if tool == "tables" and not content:
        assert shop.call("tables") == {"tables": []}
    else:
        assert shop.reason(tool, **params) in reasons
    assert shop.path.read_bytes() == content


def test_a_damaged_database_is_told_in_a_sentence(shop: Shop) -> None:
    content = shop.path.read_bytes()
    shop.path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))

    assert shop.reason("query", table="customers") in ("database", "unreachable")
    assert shop.reason("insert", table="customers", rows=[{"name": "x"}]) in ("database", "unreachable")


@EVERY_TOOL
@pytest.mark.parametrize("missing", [pytest.param(100, id="part of a page"), pytest.param(4096, id="a page")])
def test_a_database_whose_end_is_missing_is_damaged(
    shop: Shop, tool: str, params: dict[str, Any], missing: int
) -> None:
    """SQLite takes the rest of a page for zeros: it would show rows that nobody wrote, and write over lost ones."""
    content = shop.path.read_bytes()[:-missing]
    shop.path.write_bytes(content)

    assert shop.reason(tool, **params) == "database"
    assert shop.path.read_bytes() == content


@EVERY_TOOL
@pytest.mark.parametrize("kind", ["folder", "fifo", "device"])
def test_only_a_regular_file_is_opened(shop: Shop, tool: str, params: dict[str, Any], kind: str) -> None:
    """A pipe would block for ever, a device is not a database."""
    shop.path.unlink()
    if kind == "folder":
        shop.path.mkdir()
    elif kind == "fifo":
        os.mkfifo(shop.path)
    else:
        shop.path.symlink_to("/dev/zero")

    assert shop.reason(tool, **params) == "unreachable"


@EVERY_TOOL
def test_a_file_that_becomes_a_protected_one_is_not_opened(shop: Shop, tool: str, params: dict[str, Any]) -> None:
    """The check is repeated when the file is opened."""
    from clitool_tools.database import family
    from contexts import make_context

    protected = shop.folder / "clients.yaml"
    context = make_context(family, shop.settings, folder=str(shop.folder), protected=[str(protected)])
    protected.hardlink_to(shop.path)

    with pytest.raises(ClitoolError) as caught:
        TOOLS[tool](context).execute(**params)
    assert caught.value.reason == "unreachable"


def test_reading_leaves_no_trace(shop: Shop) -> None:
    """Not a byte of the file, not a file beside it."""
    before = shop.path.read_bytes()

    for tool, params in ALL_TOOLS[:4]:
        shop.call(tool, **params)

    assert shop.path.read_bytes() == before
    assert [path.name for path in shop.folder.iterdir()] == ["shop.db"]


def test_reading_an_unused_wal_database_leaves_no_trace(shop: Shop) -> None:
    """SQLite would leave files of the reader behind, which the owner's program could not write."""
    shop.run("PRAGMA journal_mode=WAL")

    for tool, params in ALL_TOOLS[:4]:
        shop.call(tool, **params)

    reads(shop)
    assert [path.name for path in shop.folder.iterdir()] == ["shop.db"]


@pytest.mark.parametrize("state", ["unused", "empty log", "in use", "left with a log"])
@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_a_wal_database_can_be_read_without_any_right_to_write(open_shop: Shop, state: str, mode: int) -> None:
    """Also by another user, in a folder that this user may not write."""
    open_shop.run("PRAGMA journal_mode=WAL")
    owner = sqlite3.connect(open_shop.path, isolation_level=None)
    if state in ("in use", "left with a log"):
        owner.execute("UPDATE customers SET note = 'from the log' WHERE id = 1")
    if state == "left with a log":
        saved = {path: path.read_bytes() for path in open_shop.folder.iterdir()}
    if state != "in use":
        owner.close()
    if state == "left with a log":
        for path, content in saved.items():
            path.write_bytes(content)
    if state == "empty log":
        Path(f"{open_shop.path}-wal").touch()
    open_shop.folder.chmod(mode)

    def read() -> None:
        reads(open_shop)
        note = open_shop.call("query", table="customers", where={"id": 1})["rows"][0]["note"]
        assert note == ("from the log" if state in ("in use", "left with a log") else None)

    assert as_nobody(read)
    owner.close()


def test_a_wal_database_that_is_changed_while_it_is_read_is_not_believed(shop: Shop) -> None:
    """Read without locks, a row counts only if the file is still as it was; also that there is none."""
    shop.run("PRAGMA journal_mode=WAL")
    context = shop.context()
    engine = context.connection("")
    tables = [engine.table("customers"), engine.table("visits")]
    shop.run("INSERT INTO customers (name) VALUES ('late')")

    from clitool_tools.database.engine import Selection

    for table in tables:
        with pytest.raises(ClitoolError) as caught:
            list(engine.select(Selection(table, table.columns, None, [], 10, is_total=False)))
        assert caught.value.reason == "locked"
    context.close()


def test_a_wal_database_can_be_written(shop: Shop) -> None:
    shop.run("PRAGMA journal_mode=WAL")

    assert shop.call("insert", table="customers", rows=[{"name": "new"}])["inserted"] == 1
    assert shop.call("query", table="customers", where={"name": "new"})["rows"]


@EVERY_TOOL
def test_a_locked_database_is_waited_for_and_then_told(shop: Shop, tool: str, params: dict[str, Any]) -> None:
    shop.settings["timeout"] = 0.2
    other = sqlite3.connect(shop.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        assert shop.reason(tool, **params) == "locked"
    finally:
        other.close()


def test_a_reader_does_not_stop_a_writer_for_long(shop: Shop) -> None:
    """A page that was cut off holds no lock."""
    context = shop.context()
    TOOLS["query"](context).execute(table="customers", limit=1)
    TOOLS["sql"](context).execute(sql="SELECT * FROM customers", limit=1)

    assert shop.call("insert", table="customers", rows=[{"name": "new"}])["inserted"] == 1
    context.close()


def test_a_file_without_the_right_to_read_is_told(open_shop: Shop) -> None:
    open_shop.path.chmod(0o600)

    for tool, params in ALL_TOOLS:
        assert as_nobody(lambda tool=tool, params=params: _has_reason(open_shop, tool, params, "unreachable")), tool


def test_a_file_without_the_right_to_write_can_be_read_only(open_shop: Shop) -> None:
    open_shop.path.chmod(0o644)

    assert as_nobody(lambda: reads(open_shop))
    for tool, params in ALL_TOOLS[4:]:
        assert as_nobody(lambda tool=tool, params=params: _has_reason(open_shop, tool, params, "permission")), tool


def _has_reason(shop: Shop, tool: str, params: dict[str, Any], reason: str) -> None:
    assert shop.reason(tool, **params) == reason


def left_in_the_middle(shop: Shop) -> None:
    """Let a writer die with half of its change in the file."""

    def half() -> None:
        handle = sqlite3.connect(shop.path, isolation_level=None)
        handle.execute("PRAGMA cache_size=5")
        handle.execute("BEGIN IMMEDIATE")
        handle.execute("UPDATE customers SET note = 'half'")
        rows = [(f"n{number}", "x" * 500) for number in range(2000)]
        handle.executemany("INSERT INTO customers (name, note) VALUES (?, ?)", rows)
        os.kill(os.getpid(), signal.SIGKILL)

    assert not succeeded(in_child(half))
    assert Path(f"{shop.path}-journal").stat().st_size


def test_a_database_that_was_left_in_the_middle_of_a_change_is_put_in_order(shop: Shop) -> None:
    """The next reader takes the half change back, as any user of SQLite would."""
    left_in_the_middle(shop)

    reads(shop)
    assert shop.call("sql", sql="SELECT count(*) AS n, max(note) AS m FROM customers")["rows"] == [{"n": 3, "m": "x"}]


def test_without_the_right_to_write_it_is_told(open_shop: Shop) -> None:
    """Half a change is never shown."""
    left_in_the_middle(open_shop)
    for path in open_shop.folder.iterdir():
        path.chmod(0o644)

    assert as_nobody(lambda: _has_reason(open_shop, "query", {"table": "customers"}, "unreachable"))
    assert as_nobody(lambda: _has_reason(open_shop, "sql", {"sql": "SELECT 1"}, "unreachable"))


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_writer_that_is_killed_leaves_all_or_nothing(shop: Shop, journal: str) -> None:
    """SIGKILL in the middle of a large insert: the whole of it is there, or none."""
    shop.run(f"PRAGMA journal_mode={journal}")
    rows = [{"name": f"n{number}", "note": "x" * 400} for number in range(10_000)]
    log = Path(f"{shop.path}-{'wal' if journal == 'WAL' else 'journal'}")
    killed = 0
    for attempt in range(5):
        child = in_child(lambda: shop.call("insert", table="customers", rows=rows))
        while not (log.exists() and log.stat().st_size) and not has_ended(child):
            time.sleep(0.001)
        time.sleep(0.02 * attempt)
        os.kill(child, signal.SIGKILL)
        killed += not succeeded(child)

        count = shop.call("sql", sql="SELECT count(*) AS n FROM customers")["rows"][0]["n"]
        assert count in (3, 10_003)
        if count > 3:
            shop.run("DELETE FROM customers WHERE id > 3")
    assert killed
    assert shop.rows("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_many_writers_lose_nothing(shop: Shop, journal: str) -> None:
    """Ten processes insert at once, all rows are there."""
    shop.run(f"PRAGMA journal_mode={journal}")

    def insert(writer: int) -> None:
        for number in range(5):
            shop.call("insert", table="customers", rows=[{"name": f"w{writer}-{number}"}])

    children = [in_child(lambda writer=writer: insert(writer)) for writer in range(10)]

    assert [succeeded(child) for child in children] == [True] * 10
    assert shop.rows("SELECT count(*) FROM customers WHERE name LIKE 'w%'") == [(50,)]


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_many_changes_of_one_row_all_succeed(shop: Shop, journal: str) -> None:
    """A change counts the rows before it writes; nobody else may write in between."""
    shop.run(f"PRAGMA journal_mode={journal}")

    def change(writer: int) -> None:
        for number in range(10):
            shop.call("update", table="customers", where={"id": 1}, values={"note": writer * 100 + number})
            shop.call("upsert", table="visits", key=["day", "page"], rows=[{"day": "mon", "page": "/"}])

    children = [in_child(lambda writer=writer: change(writer)) for writer in range(6)]

    assert [succeeded(child) for child in children] == [True] * 6


def test_many_upserts_of_one_key_make_one_row(shop: Shop) -> None:
    """Ten processes upsert the same new key: one inserts, the others update."""

    def upsert(writer: int) -> None:
        done = shop.call("upsert", table="customers", key=["name"], rows=[{"name": "same", "note": writer}])
        os._exit(10 + done["inserted"])

    children = [in_child(lambda writer=writer: upsert(writer)) for writer in range(10)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

    assert sorted(codes) == [10] * 9 + [11]
    assert shop.rows("SELECT count(*) FROM customers WHERE name = 'same'") == [(1,)]


def test_readers_see_whole_changes_only(shop: Shop) -> None:
    """Two rows that are changed together are never seen apart."""

    def write() -> None:
        for number in range(30):
            shop.call("update", table="customers", where={"id": {"$in": [1, 2]}}, values={"note": number})

    child = in_child(write)
    sql = "SELECT DISTINCT note FROM customers WHERE id IN (1, 2) AND typeof(note) = 'integer'"
    while not has_ended(child):
        rows = shop.call("sql", sql=sql)
        assert len(rows["rows"]) <= 1
    assert succeeded(child)


def test_after_the_deadline_nothing_is_begun(shop: Shop) -> None:
    from clitool_tools.database import family
    from contexts import make_context

    context = make_context(family, shop.settings, folder=str(shop.folder), seconds=0)

    with pytest.raises(ClitoolError) as caught:
        TOOLS["insert"](context).execute(table="customers", rows=[{"name": "x"}])
    context.close()

    assert caught.value.reason == "timeout"
    assert shop.rows("SELECT count(*) FROM customers") == [(3,)]


def test_the_deadline_of_the_call_ends_a_statement_too(shop: Shop) -> None:
    """The shorter one of both times counts."""
    shop.settings["timeout"] = 60
    context = shop.context(seconds=0.5)

    with pytest.raises(ClitoolError) as caught:
        TOOLS["sql"](context).execute(
            sql="WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
        )
    context.close()

    assert caught.value.reason == "timeout"
