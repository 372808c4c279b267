"""The state store: what was set is there, for its owner alone, after any crash."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import give_to_nobody, run_as_nobody, run_at_once

import clitool.state_file  # also before a child gives up its right to read the source tree
from clitool.errors import ExecutionError, InvalidParams
from clitool.state import MAX_KEY, MAX_VALUE, State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    store = State(str(tmp_path / "state"), "analyst", "mail")
    yield store
    store.close()


@pytest.fixture
def open_folder() -> Iterator[str]:
    """Return a folder that the user of `run_as_nobody` owns and reaches; pytest's own folders are root's alone."""
    with tempfile.TemporaryDirectory() as folder:
        give_to_nobody(folder)
        yield folder


class Clock:
    """Stands still until it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000_000.0
        monkeypatch.setattr("clitool.state.time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def refusal(directory: str | None, use: str = "set") -> str:
    """Return the sentence with which the store refuses, after checking that its kind is right."""
    store = State(directory, "analyst", "mail")
    try:
        with pytest.raises(ExecutionError) as raised:
            store.get("key") if use == "get" else store.set("key", "value")
    finally:
        store.close()
    assert raised.value.reason == "state"
    assert not directory or directory not in str(raised.value)
    return str(raised.value)


def fill(store: State) -> None:
    for number in range(300):
        store.put_if_absent(f"key {number}", "value" * 100)
    store.close()


def get_all(store: State) -> None:
    for number in range(300):
        store.get(f"key {number}")


def get_in_a_new_process(directory: Path, client: str) -> str:
    """Return what an interpreter of its own prints (a fork would share SQLite's bookkeeping of locks)."""
    program = "import sys; from clitool.state import State; s = State(*sys.argv[1:]); print(s.get('key')); s.close()"
    command = [sys.executable, "-c", program, str(directory), client, "mail"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


# Get, set, delete, put if absent


def test_nothing_is_under_a_key_that_was_never_set(state: State) -> None:
    assert state.get("key") is None
    assert state.delete("key") is False


def test_what_was_set_survives_the_process(tmp_path: Path) -> None:
    def write(_: int) -> None:
        State(str(tmp_path), "analyst", "mail").set("key", "value")

    run_at_once(write, 1)
    store = State(str(tmp_path), "analyst", "mail")
    assert store.get("key") == "value"
    store.close()


def test_the_last_value_counts(state: State) -> None:
    state.set("key", "first")
    state.set("key", "second")
    assert state.get("key") == "second"


def test_what_was_deleted_is_gone(state: State) -> None:
    state.set("key", "value")
    assert state.delete("key") is True
    assert state.get("key") is None
    assert state.delete("key") is False


def test_only_the_first_put_if_absent_is_kept(state: State) -> None:
    assert state.put_if_absent("key", "first") is True
    assert state.put_if_absent("key", "second") is False
    assert state.get("key") == "first"


def test_a_closed_store_opens_again(state: State) -> None:
    state.set("key", "value")
    state.close()
    state.close()
    assert state.get("key") == "value"


@pytest.mark.parametrize(
    "text",
    ["", " ", "\0", "a\0b", "ä", "a\u0308", "日本", "😀", "\ud800", "\udfff\ud800", "%", "'; DROP TABLE x; --", "\n"],
    ids=ascii,
)
def test_any_text_comes_back_as_it_was(state: State, text: str) -> None:
    state.set(text, text)
    state.set(text + "x", "another")
    assert state.get(text) == text
    assert state.delete(text)


def test_keys_that_only_look_alike_are_different(state: State) -> None:
    for key in ("é", "e\u0301", "A", "a", "a ", "1", "01", "1.0"):
        assert state.put_if_absent(key, key)


# Namespaces


OTHERS = [
    pytest.param("other", "mail", id="another client"),
    pytest.param("analyst", "file", id="another family"),
    pytest.param("analyst\0mail", "", id="names run together"),
    pytest.param("ANALYST", "mail", id="capitals"),
    pytest.param("%", "%", id="wildcards"),
    pytest.param("' OR '1'='1", "' OR '1'='1", id="quotes"),
]


@pytest.mark.parametrize(("client", "family"), OTHERS)
def test_a_client_or_family_never_sees_what_another_keeps(
    state: State, tmp_path: Path, client: str, family: str
) -> None:
    """Each client and family has keys of its own: nothing is read, replaced, deleted or blocked across them."""
    state.set("key", "mine")
    other = State(str(tmp_path / "state"), client, family)
    assert other.get("key") is None
    assert other.delete("key") is False
    assert other.put_if_absent("key", "theirs") is True
    other.set("key", "theirs too")
    other.close()
    assert state.get("key") == "mine"


# Expiry


def test_an_expired_entry_is_gone_at_once(state: State, clock: Clock) -> None:
    state.set("key", "value", expires_in=10)
    clock.now += 9.999
    assert state.get("key") == "value"
    clock.now += 0.001
    assert state.get("key") is None
    assert state.delete("key") is False
    assert state.put_if_absent("key", "next", expires_in=10) is True
    clock.now += 10
    assert state.get("key") is None


def test_setting_again_sets_the_expiry_again(state: State, clock: Clock) -> None:
    state.set("key", "value", expires_in=10)
    state.set("key", "value")
    clock.now += 1e9
    assert state.get("key") == "value"
    state.set("key", "value", expires_in=10)
    clock.now += 10
    assert state.get("key") is None


def test_a_lost_put_if_absent_leaves_the_expiry(state: State, clock: Clock) -> None:
    state.set("key", "value", expires_in=10)
    assert not state.put_if_absent("key", "other", expires_in=1000)
    clock.now += 10
    assert state.get("key") is None


def test_expired_entries_of_all_are_removed_by_later_writes(state: State, tmp_path: Path, clock: Clock) -> None:
    """A client that went away leaves nothing for ever."""
    gone = State(str(tmp_path / "state"), "gone", "gone")
    for number in range(150):
        gone.set(f"key {number}", "value", expires_in=1)
    gone.close()
    clock.now += 1
    state.set("a", "1")
    state.put_if_absent("b", "1")
    with sqlite3.connect(tmp_path / "state" / "state.db") as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (2,)
    connection.close()


@pytest.mark.parametrize("seconds", [0, 0.0, -0.0, -1, float("nan"), float("inf"), float("-inf")])
def test_an_expiry_must_be_positive_and_finite(state: State, seconds: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        state.set("key", "value", expires_in=seconds)
    with pytest.raises(ValueError, match="positive and finite"):
        state.put_if_absent("key", "value", expires_in=seconds)
    assert state.get("key") is None


@pytest.mark.parametrize("seconds", [5e-324, 1e-9])
def test_the_shortest_expiry_is_no_error(state: State, seconds: float) -> None:
    state.set("key", "value", expires_in=seconds)
    assert state.put_if_absent("key", "next")


@pytest.mark.parametrize("seconds", [1e12, 1e308, 10**18])
def test_the_longest_expiry_is_no_error(state: State, seconds: float) -> None:
    state.set("key", "value", expires_in=seconds)
    assert state.get("key") == "value"


# Bounds


def test_the_longest_key_and_value_fit(state: State) -> None:
    state.set("😀" * MAX_KEY, "x" * MAX_VALUE)
    assert state.get("😀" * MAX_KEY) == "x" * MAX_VALUE


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("k" * (MAX_KEY + 1), "v", id="key"),
        pytest.param("k", "v" * (MAX_VALUE + 1), id="value"),
        pytest.param("k", "😀" * (MAX_VALUE // 4 + 1), id="value in bytes"),
    ],
)
def test_what_is_too_long_is_refused(state: State, key: str, value: str) -> None:
    """A caller cannot fill the disk with one entry."""
    for write in (state.set, state.put_if_absent):
        with pytest.raises(InvalidParams) as raised:
            write(key, value)
        assert raised.value.reason == "too_large"


@pytest.mark.parametrize("method", ["get", "delete"])
def test_a_key_that_is_too_long_is_refused_everywhere(state: State, method: str) -> None:
    with pytest.raises(InvalidParams):
        getattr(state, method)("k" * (MAX_KEY + 1))


# A model


KEYS = st.sampled_from(["a", "b", "A", "\0", "\ud800"])
STEPS = st.one_of(
    st.tuples(st.sampled_from(["set", "put"]), KEYS, st.text(max_size=5), st.none() | st.integers(1, 5)),
    st.tuples(st.sampled_from(["get", "delete"]), KEYS),
    st.tuples(st.just("sleep"), st.integers(1, 4)),
    st.tuples(st.just("close")),
)


class Model:
    """What a store should do, in a dict."""

    def __init__(self) -> None:
        self.now = 0.0
        self.entries: dict[str, tuple[str, float]] = {}

    def get(self, key: str) -> str | None:
        value, expires = self.entries.get(key, ("", 0.0))
        return value if expires > self.now else None

    def set(self, key: str, value: str, expires_in: float | None) -> None:
        self.entries[key] = (value, float("inf") if expires_in is None else self.now + expires_in)

    def put(self, key: str, value: str, expires_in: float | None) -> bool:
        absent = self.get(key) is None
        if absent:
            self.set(key, value, expires_in)
        return absent

    def delete(self, key: str) -> bool:
        present = self.get(key) is not None
        self.entries.pop(key, None)
        return present


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(["one", "two"]), STEPS), max_size=30))
def test_any_sequence_of_uses_agrees_with_a_dict(steps: list[tuple[str, Any]]) -> None:
    models = {"one": Model(), "two": Model()}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        clock = Clock(monkeypatch)
        stores = {client: State(folder, client, "mail") for client in models}
        for client, (use, *arguments) in steps:
            if use == "sleep":
                clock.now += arguments[0]
                for model in models.values():
                    model.now += arguments[0]
            elif use == "close":
                stores[client].close()
            else:
                method = getattr(stores[client], "put_if_absent" if use == "put" else use)
                assert method(*arguments) == getattr(models[client], use)(*arguments), (use, arguments)
        for store in stores.values():
            store.close()


# Many processes


@pytest.mark.parametrize("count", [2, 8])
def test_of_many_processes_exactly_one_puts_first(tmp_path: Path, count: int) -> None:
    """Whoever counts on it (locks, one-time approvals, sending a mail once) must be able to."""
    for turn in range(10):
        folder = str(tmp_path / str(turn))  # new each time: they race for making the file, too

        def claim(number: int, folder: str = folder) -> tuple[bool, str | None]:
            store = State(folder, "analyst", "mail")
            won = store.put_if_absent("key", str(number))
            seen = store.get("key")
            store.close()
            return won, seen

        answers = run_at_once(claim, count)
        winners = [number for number, (won, _) in enumerate(answers) if won]
        assert len(winners) == 1
        assert {seen for _, seen in answers} == {str(winners[0])}


def test_of_many_processes_exactly_one_takes_over_an_expired_entry(tmp_path: Path) -> None:
    first = State(str(tmp_path), "analyst", "mail")
    for turn in range(10):
        first.set(f"key {turn}", "old", expires_in=1e-6)
    first.close()
    time.sleep(0.001)

    def claim(_: int) -> list[bool]:
        store = State(str(tmp_path), "analyst", "mail")
        won = [store.put_if_absent(f"key {turn}", "new") for turn in range(10)]
        store.close()
        return won

    assert [sum(turn) for turn in zip(*run_at_once(claim, 8), strict=True)] == [1] * 10


def test_many_processes_lose_nothing(tmp_path: Path) -> None:
    def write(number: int) -> None:
        store = State(str(tmp_path), "analyst", "mail")
        for line in range(30):
            store.set(f"{number} {line}", "value", expires_in=3600 if line % 2 else None)
        store.close()

    run_at_once(write, 8)
    store = State(str(tmp_path), "analyst", "mail")
    assert all(store.get(f"{number} {line}") == "value" for number in range(8) for line in range(30))
    store.close()


def test_a_second_store_in_a_process_does_not_drop_the_locks_of_the_first(tmp_path: Path) -> None:
    """Opening and closing the file beside SQLite would (sqlite.org/howtocorrupt.html, 2.2): what was set got lost."""
    first = State(str(tmp_path), "first", "mail")
    first.set("key", "before")
    second = State(str(tmp_path), "second", "mail")
    second.set("key", "value")

    # If another process holds itself for the last user, it removes the write-ahead log that these two write.
    assert get_in_a_new_process(tmp_path, "third") == "None"
    first.set("key", "after")
    assert get_in_a_new_process(tmp_path, "first") == "after"
    first.close()
    second.close()


# Kill


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2])
def test_a_kill_at_any_time_leaves_what_was_set_and_a_usable_store(tmp_path: Path, delay: float) -> None:
    """A host kills without warning; what the store has confirmed must be there."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        store = State(str(tmp_path), "analyst", "mail")
        for number in range(100_000):
            store.set(f"key {number}", str(number) * 100, expires_in=3600 if number % 3 else None)
            os.write(writer, b"%d\n" % number)
        os._exit(0)
    os.close(writer)
    time.sleep(delay)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(reader) as confirmed:
        numbers = [int(line) for line in confirmed]
    store = State(str(tmp_path), "analyst", "mail")
    assert all(store.get(f"key {number}") == str(number) * 100 for number in numbers)
    assert store.put_if_absent("after", "value")
    store.close()
    with sqlite3.connect(tmp_path / "state.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


# The file


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777], ids=oct)
def test_folder_and_files_are_private_under_any_umask(tmp_path: Path, umask: int) -> None:
    """What a client keeps is nobody else's business."""
    folder = str(tmp_path / "new" / "state")

    def write(_: int) -> dict[str, int]:
        os.umask(umask)
        store = State(folder, "analyst", "mail")
        store.set("key", "value")
        return {name: mode(os.path.join(folder, name)) for name in os.listdir(folder)}

    assert run_at_once(write, 1) == [dict.fromkeys(["state.db", "state.db-wal", "state.db-shm"], 0o600)]
    assert (mode(str(tmp_path / "new")), mode(folder)) == (0o700, 0o700)


def test_a_file_that_others_can_read_is_made_private(state: State, tmp_path: Path) -> None:
    """A restored backup may have come back readable."""
    state.set("key", "value")
    state.close()
    os.chmod(tmp_path / "state" / "state.db", 0o644)
    assert state.get("key") == "value"
    assert mode(str(tmp_path / "state" / "state.db")) == 0o600


def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    """systemd makes it with 0755, and nobody may be locked out of a folder that is not ours alone."""
    os.chmod(tmp_path, 0o755)
    store = State(str(tmp_path), "analyst", "mail")
    store.set("key", "value")
    store.close()
    assert mode(str(tmp_path)) == 0o755


@pytest.mark.parametrize("permissions", [0o777, 0o775, 0o757, 0o1777], ids=oct)
def test_a_folder_where_others_write_is_refused(tmp_path: Path, permissions: int) -> None:
    """Whoever can rename there can put a link in the place of the file at any moment."""
    os.chmod(tmp_path, permissions)
    assert "chmod go-w" in refusal(str(tmp_path))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", ["symlink", "dangling symlink", "folder", "fifo"])
def test_something_else_in_the_place_of_the_file_is_refused(tmp_path: Path, kind: str) -> None:
    """A planted link leads nowhere: what it points to is neither opened nor made."""
    folder, victim = tmp_path / "state", tmp_path / "victim.db"
    folder.mkdir(mode=0o700)
    path = folder / "state.db"
    if kind == "symlink":
        sqlite3.connect(victim).close()
        victim.write_bytes(b"")
    if "symlink" in kind:
        path.symlink_to(victim)
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    assert "no regular file" in refusal(str(folder))
    assert (victim.read_bytes() == b"") if kind == "symlink" else not victim.exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(b"this is not a database, it is a text file of some length" * 50, "not a database", id="text"),
        pytest.param(b"SQLite format 3\0" + b"\xff" * 5000, "state", id="noise after the magic"),
        pytest.param(b"\0" * 4096, "not a database", id="zeros"),
    ],
)
def test_a_damaged_file_is_said_in_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "state.db").write_bytes(content)
    for use in ("get", "set"):
        assert sentence in refusal(str(tmp_path), use)
    assert (tmp_path / "state.db").read_bytes() == content


def test_an_overwritten_page_is_said_in_one_sentence(state: State, tmp_path: Path) -> None:
    fill(state)
    with open(tmp_path / "state" / "state.db", "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 40_000)
    with pytest.raises(ExecutionError, match="damaged") as raised:
        get_all(state)
    assert raised.value.reason == "state"


def test_a_file_cut_in_half_is_said_in_one_sentence(state: State, tmp_path: Path) -> None:
    fill(state)
    os.truncate(tmp_path / "state" / "state.db", 50_000)
    with pytest.raises(ExecutionError, match="damaged"):
        get_all(state)


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "state.db") as connection:
        connection.execute("CREATE TABLE entries (title TEXT, expires REAL)")
    connection.close()
    assert "another program's" in refusal(str(tmp_path))


def test_an_empty_file_is_a_new_store(tmp_path: Path) -> None:
    """A kill right after the file was made leaves it empty."""
    (tmp_path / "state.db").touch()
    store = State(str(tmp_path), "analyst", "mail")
    store.set("key", "value")
    store.close()
    assert mode(str(tmp_path / "state.db")) == 0o600


@pytest.mark.parametrize(
    ("directory", "sentence"),
    [
        pytest.param(None, "there is no folder for state", id="none"),
        pytest.param("", "there is no folder for state", id="empty"),
        pytest.param("/dev/null/state", "cannot be read or written", id="below a file"),
        pytest.param("/proc/state", "cannot be read or written", id="where nothing can be made"),
        pytest.param("/nul\0/state", "cannot be read or written", id="nul"),
        pytest.param("/sur\ud800", "cannot be read or written", id="lone surrogate"),
        pytest.param("/" + "x" * 300, "cannot be read or written", id="too long a name"),
    ],
)
def test_a_folder_that_cannot_be_is_said_in_one_sentence(directory: str | None, sentence: str) -> None:
    assert sentence in refusal(directory)


@pytest.mark.parametrize("locked", ["folder", "file", "missing folder"])
def test_a_store_without_the_right_to_write_is_said_in_one_sentence(open_folder: str, locked: str) -> None:
    folder = os.path.join(open_folder, "state")
    path = os.path.join(folder, "state.db")
    if locked == "missing folder":
        os.chmod(open_folder, 0o500)
    else:
        store = State(folder, "analyst", "mail")
        store.get("key")
        store.close()
        give_to_nobody(folder, *([] if locked == "file" else [path]))
        os.chmod(path, 0o400)
        if locked == "folder":
            os.chmod(folder, 0o500)
    assert "cannot be read or written" in run_as_nobody(lambda: refusal(folder))


def test_a_lock_that_is_held_for_too_long_is_said_in_one_sentence(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clitool.state_file, "BUSY_SECONDS", 0.05)
    state.set("key", "value")
    state.close()
    other = sqlite3.connect(tmp_path / "state" / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert "try again" in refusal(str(tmp_path / "state"))
        assert state.get("key") == "value"  # readers do not wait for writers
    finally:
        other.close()


def test_a_full_disk_is_said_in_one_sentence(tmp_path: Path) -> None:
    import resource

    def overflow(_: int) -> str:
        store = State(str(tmp_path), "analyst", "mail")
        store.set("key", "value")
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
        with pytest.raises(ExecutionError) as raised:
            store.set("big", "x" * MAX_VALUE)
        assert "disk" in str(raised.value) or "cannot be" in str(raised.value)
        return store.get("key") or ""

    assert run_at_once(overflow, 1) == ["value"]


def test_the_store_is_opened_at_the_first_use_only(tmp_path: Path) -> None:
    store = State(str(tmp_path / "state"), "analyst", "mail")
    store.close()
    assert not (tmp_path / "state").exists()
