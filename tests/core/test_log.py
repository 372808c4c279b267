"""Logs: one whole line each, by many processes, wherever they may go; a log never fails a call."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import give_to_nobody, run_as_nobody, run_at_once

import clitool.log_days  # noqa: F401 - before a child gives up its right to read the source tree
from clitool.log import MAX_AUDIT_LINE, MAX_LINE, MAX_TRACEBACK_LINES, Logger, audit, open_sink
from clitool.places import LogSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warn|error) \[ref-1\] (.*)")
RECORD = {
    "phase": "outcome",
    "reference": "ref-1",
    "client": "analyst",
    "tool": "file_read",
    "code": "ok",
    "reason": "",
    "ms": 12,
    "touched": {"path": "a.txt"},
}


@pytest.fixture
def open_folder() -> Iterator[str]:
    """Return a folder that the user of `run_as_nobody` owns and reaches; pytest's own folders are root's alone."""
    with tempfile.TemporaryDirectory() as folder:
        give_to_nobody(folder)
        yield folder


def logs_in(directory: Path | str) -> LogSettings:
    return LogSettings(str(directory))


def today(directory: Path | str) -> str:
    return os.path.join(directory, time.strftime("%Y-%m-%d", time.gmtime()))


def read(directory: Path | str, name: str) -> str:
    """Return the text of the file called `name` in the only day's folder."""
    (day,) = os.listdir(directory)
    with open(os.path.join(directory, day, name), encoding="utf-8") as file:
        return file.read()


def records(directory: Path | str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in read(directory, "audit.jsonl").splitlines()]


def fail(message: str) -> None:
    raise RuntimeError(message)


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


# Lines


@pytest.mark.parametrize("level", ["debug", "info", "warn", "error"])
def test_a_line_has_time_level_reference_and_message(tmp_path: Path, level: str) -> None:
    getattr(Logger(logs_in(tmp_path), "core", "ref-1"), level)("all went well")
    found = LINE.fullmatch(read(tmp_path, "core.log").removesuffix("\n"))
    assert found
    assert found.groups() == (level, "all went well")


def test_the_folder_is_the_day_in_utc_whatever_the_time_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    try:
        before = time.strftime("%Y-%m-%d", time.gmtime())
        Logger(logs_in(tmp_path), "core", "ref-1").info("x")
        after = time.strftime("%Y-%m-%d", time.gmtime())
    finally:
        monkeypatch.undo()
        time.tzset()
    (day,) = os.listdir(tmp_path)
    assert day in (before, after)
    assert read(tmp_path, "core.log").startswith(day)


def test_each_family_has_a_file_of_its_own(tmp_path: Path) -> None:
    Logger(logs_in(tmp_path), "core", "ref-1").info("from the core")
    Logger(logs_in(tmp_path), "tool_mail", "ref-1").info("from the tool")
    assert read(tmp_path, "core.log").endswith("from the core\n")
    assert read(tmp_path, "tool_mail.log").endswith("from the tool\n")


@pytest.mark.parametrize(
    ("message", "written"),
    [
        pytest.param("a\nb", r"a\nb", id="newline"),
        pytest.param("a\r\nb", r"a\r\nb", id="crlf"),
        pytest.param("a\x00b", r"a\x00b", id="nul"),
        pytest.param("\x1b[2J\x1b]0;x\x07", r"\x1b[2J\x1b]0;x\x07", id="terminal escapes"),
        pytest.param("a\x85b\u2028c\u2029d", r"a\x85b\u2028c\u2029d", id="other line ends"),
        pytest.param("a\u202eb", r"a\u202eb", id="bidi override"),
        pytest.param("a\ud800b", r"a\ud800b", id="lone surrogate"),
        pytest.param("a\u200bb\ufeff", r"a\u200bb\ufeff", id="invisible"),
        pytest.param("größer 日本 😀", "größer 日本 😀", id="readable text stays"),
        pytest.param("x\n2026-01-01T00:00:00.000Z info [ref-2] all clear", None, id="forged line"),
        pytest.param("", "", id="empty"),
    ],
)
def test_a_message_is_one_line_whatever_it_holds(tmp_path: Path, message: str, written: str | None) -> None:
    """A caller's text can neither forge a log line nor move a terminal's cursor."""
    Logger(logs_in(tmp_path), "core", "ref-1").info(message)
    text = read(tmp_path, "core.log")
    found = LINE.fullmatch(text.removesuffix("\n"))
    assert text.count("\n") == 1
    assert found
    assert written is None or found[2] == written


@pytest.mark.parametrize("character", ["x", "ß", "日", "😀", "\0", "\U000e0001", "\ud800"])
def test_a_line_is_cut_at_its_limit(tmp_path: Path, character: str) -> None:
    Logger(logs_in(tmp_path), "core", "ref-1").info(character * 100_000)
    text = read(tmp_path, "core.log")
    assert MAX_LINE - 16 < len(text.encode()) <= MAX_LINE
    assert text.endswith(" [cut]\n")


def test_a_traceback_is_one_log_line_for_each_of_its_lines(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as raised:
        fail("first\nsecond\n\x1b[2J")
    Logger(logs_in(tmp_path), "core", "ref-1").traceback(raised.value)
    lines = read(tmp_path, "core.log").splitlines()
    assert all(LINE.fullmatch(line) for line in lines)
    assert "Traceback" in lines[0]
    assert [line.partition("] ")[2] for line in lines[-3:]] == ["RuntimeError: first", "second", r"\x1b[2J"]


def test_an_endless_traceback_is_cut_and_keeps_its_end(tmp_path: Path) -> None:
    Logger(logs_in(tmp_path), "core", "ref-1").traceback(RuntimeError("line\n" * 10_000 + "the end"))
    lines = read(tmp_path, "core.log").splitlines()
    assert len(lines) == MAX_TRACEBACK_LINES
    assert lines[-1].endswith("the end")


# Modes, folders, symbolic links


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777], ids=oct)
def test_folders_and_files_are_private_under_any_umask(tmp_path: Path, umask: int) -> None:
    """What callers did is nobody else's business."""
    directory = str(tmp_path / "new" / "log")

    def write(_: int) -> bool:
        os.umask(umask)
        return Logger(logs_in(directory), "core", "ref-1").try_write("info", "x")

    assert run_at_once(write, 1) == [True]
    assert [mode(p) for p in (str(tmp_path / "new"), directory, today(directory))] == [0o700] * 3
    assert mode(os.path.join(today(directory), "core.log")) == 0o600 & ~umask


def test_a_symlink_in_the_place_of_a_log_file_is_not_followed(tmp_path: Path) -> None:
    """Whoever can plant a link in the log folder cannot make us write elsewhere."""
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    directory = tmp_path / "log"
    os.makedirs(today(directory))
    os.symlink(victim, os.path.join(today(directory), "core.log"))
    os.symlink(victim, os.path.join(today(directory), "audit.jsonl"))
    assert not Logger(logs_in(directory), "core", "ref-1").try_write("info", "x")
    assert not audit(logs_in(directory), RECORD)
    os.write(sink := open_sink(logs_in(directory), "core"), b"stray")
    os.close(sink)
    assert victim.read_text() == "untouched"


def test_a_dangling_symlink_creates_nothing(tmp_path: Path) -> None:
    """O_CREAT through a link would create a file anywhere."""
    directory = tmp_path / "log"
    os.makedirs(today(directory))
    os.symlink(tmp_path / "born", os.path.join(today(directory), "core.log"))
    assert not Logger(logs_in(directory), "core", "ref-1").try_write("info", "x")
    assert not os.path.lexists(tmp_path / "born")


def test_a_symlink_in_the_place_of_the_days_folder_is_not_followed(tmp_path: Path) -> None:
    """The same for the folder of the day."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    directory = tmp_path / "log"
    directory.mkdir()
    os.symlink(elsewhere, today(directory))
    assert not Logger(logs_in(directory), "core", "ref-1").try_write("info", "x")
    assert os.listdir(elsewhere) == []


def test_a_file_with_a_second_name_is_not_written(tmp_path: Path) -> None:
    """A hard link is the same attack as a symlink, and O_NOFOLLOW does not see it."""
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    directory = tmp_path / "log"
    os.makedirs(today(directory))
    os.link(victim, os.path.join(today(directory), "core.log"))
    assert not Logger(logs_in(directory), "core", "ref-1").try_write("info", "x")
    assert victim.read_text() == "untouched"


@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_only_a_regular_file_is_written(tmp_path: Path, kind: str) -> None:
    """A FIFO would stop every call until somebody reads it."""
    os.makedirs(today(tmp_path))
    path = os.path.join(today(tmp_path), "core.log")
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
    else:
        os.symlink("/dev/null", path)
    assert not Logger(logs_in(tmp_path), "core", "ref-1").try_write("info", "x")


# A log that cannot be written


@pytest.mark.parametrize(
    "directory",
    [
        pytest.param(None, id="no log"),
        pytest.param("/dev/null/log", id="below a file"),
        pytest.param("/proc/log", id="where nothing can be made"),
        pytest.param("/nul\0/log", id="nul in the path"),
        pytest.param("/sur\ud800/log", id="lone surrogate in the path"),
        pytest.param("/" + "x" * 300, id="too long a name"),
        pytest.param("", id="empty path"),
    ],
)
def test_a_log_that_cannot_be_written_fails_nothing(
    tmp_path: Path, directory: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.chmod(tmp_path, 0o500)
    settings = LogSettings(directory)

    def write() -> tuple[bool, bool]:
        logger = Logger(settings, "core", "ref-1")
        logger.info("x")
        logger.traceback(RuntimeError("x"))
        os.close(open_sink(settings, "core"))
        return logger.try_write("info", "x"), audit(settings, RECORD)

    assert run_as_nobody(write) == (False, False)


@pytest.mark.parametrize("locked", ["log folder", "day"])
def test_a_folder_without_the_right_to_write_fails_nothing(open_folder: str, locked: str) -> None:
    os.mkdir(today(open_folder))
    give_to_nobody(today(open_folder))
    if locked == "day":
        os.chmod(today(open_folder), 0o500)
    else:
        os.rmdir(today(open_folder))
        os.chmod(open_folder, 0o500)

    def write() -> tuple[bool, bool]:
        logger = Logger(logs_in(open_folder), "core", "ref-1")
        logger.error("x")
        return logger.try_write("info", "x"), audit(logs_in(open_folder), RECORD)

    assert run_as_nobody(write) == (False, False)


def test_a_dangling_symlink_as_log_folder_fails_nothing(tmp_path: Path) -> None:
    os.symlink(tmp_path / "missing", tmp_path / "log")
    assert not Logger(logs_in(tmp_path / "log"), "core", "ref-1").try_write("info", "x")


def test_a_line_that_the_disk_cut_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    """What follows a full disk must be readable: the audit trail is evidence."""
    import resource

    assert audit(logs_in(tmp_path), RECORD)
    size = os.path.getsize(os.path.join(today(tmp_path), "audit.jsonl"))

    def overflow(_: int) -> bool:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, resource.RLIM_INFINITY))
        return audit(logs_in(tmp_path), RECORD)

    assert run_at_once(overflow, 1) == [False]
    assert audit(logs_in(tmp_path), {**RECORD, "reference": "ref-2"})
    first, torn, last = read(tmp_path, "audit.jsonl").splitlines()
    assert len(torn) == 20
    assert (json.loads(first)["reference"], json.loads(last)["reference"]) == ("ref-1", "ref-2")


# Many processes


def test_eight_processes_write_whole_lines(tmp_path: Path) -> None:
    settings = logs_in(tmp_path / "log")

    def write(number: int) -> int:
        logger = Logger(settings, "core", "ref-1")
        written = 0
        for line in range(500):
            written += logger.try_write("info", f"{number} {line} " + "x" * (line * 7 % 3000))
            written += audit(settings, {**RECORD, "ms": line})
        return written

    assert run_at_once(write, 8) == [1000] * 8
    lines = [line for line in read(tmp_path / "log", "core.log").splitlines() if line]
    found = [match for line in lines if (match := LINE.fullmatch(line))]
    assert len(lines) == len(found) == 4000
    written = {tuple(match[2].split(" ")) for match in found}
    assert written == {(str(n), str(i), "x" * (i * 7 % 3000)) for n in range(8) for i in range(500)}
    audited = [json.loads(line) for line in read(tmp_path / "log", "audit.jsonl").splitlines() if line]
    assert sorted(each["ms"] for each in audited) == sorted(list(range(500)) * 8)


# Stray output


def test_stray_output_goes_to_the_file_of_the_family(tmp_path: Path) -> None:
    sink = open_sink(logs_in(tmp_path), "tool_file")
    os.write(sink, b"printed\n")
    Logger(logs_in(tmp_path), "tool_file", "ref-1").info("logged")
    os.write(sink, b"printed again\n")
    os.close(sink)
    first, second, third = read(tmp_path, "tool_file.log").splitlines()
    assert (first, third) == ("printed", "printed again")
    assert LINE.fullmatch(second)


def test_a_sink_is_not_inherited_by_programs(tmp_path: Path) -> None:
    for log in (logs_in(tmp_path), LogSettings(None)):
        sink = open_sink(log, "core")
        assert not os.get_inheritable(sink)
        os.close(sink)


def test_stray_output_is_lost_without_a_log() -> None:
    sink = open_sink(LogSettings(None), "core")
    assert os.fstat(sink).st_rdev == os.stat(os.devnull).st_rdev
    assert os.write(sink, b"gone") == 4
    os.close(sink)


# Audit


def test_an_audit_line_says_who_did_what_when_and_how_it_ended(tmp_path: Path) -> None:
    assert audit(logs_in(tmp_path), RECORD)
    (line,) = records(tmp_path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time"))
    assert line == RECORD


@pytest.mark.parametrize("level", ["best_effort", "required"])
def test_an_audit_line_that_was_written_is_reported(tmp_path: Path, level: Any) -> None:
    assert audit(LogSettings(str(tmp_path), 30, level), RECORD)
    assert not audit(LogSettings(None, 30, level), RECORD)


def test_what_no_audit_line_may_hold_is_left_out(tmp_path: Path) -> None:
    """Values and secrets stay out even if someone passes them."""
    audit(logs_in(tmp_path), {**RECORD, "params": {"password": "hunter2"}, "token": "clt_secret", "result": [1]})
    assert "hunter2" not in read(tmp_path, "audit.jsonl")
    assert set(records(tmp_path)[0]) == {"time", *RECORD}


@pytest.mark.parametrize(
    "touched",
    [
        pytest.param({"path": "x" * 100_000}, id="long path"),
        pytest.param({"paths": ["/a/b"] * 100_000}, id="many paths"),
        pytest.param({f"{n}": "\U0001f600" * 200 for n in range(1000)}, id="many keys"),
        pytest.param({"\U0001f600" * 100_000: 1}, id="long key"),
        pytest.param({"path": "\x00" * 5000}, id="escapes grow"),
        pytest.param({"path": "\x7f\x9b[2J"}, id="control characters"),
        pytest.param({"number": float("nan")}, id="nan"),
        pytest.param({"number": float("inf")}, id="infinity"),
        pytest.param({"number": 10**5000}, id="huge number"),
        pytest.param({"bytes": b"\xff", "path": "a.txt"}, id="bytes"),
        pytest.param({"a": {(1, 2): 3}}, id="strange key"),
        pytest.param({"set": {1}, "object": object()}, id="no JSON"),
        pytest.param(None, id="null"),
        pytest.param(17, id="not a mapping"),
        pytest.param({"deep": json.loads("[" * 900 + "]" * 900)}, id="deep"),
    ],
)
def test_whatever_a_tool_says_it_touched_gives_one_line_of_strict_json(tmp_path: Path, touched: object) -> None:
    """A tool cannot stop its own audit line, nor break the file."""
    assert audit(logs_in(tmp_path), {**RECORD, "touched": touched})
    text = read(tmp_path, "audit.jsonl")
    assert text.removesuffix("\n").isprintable()
    assert text.isascii()
    assert len(text) <= MAX_AUDIT_LINE
    assert json.loads(text, parse_constant=pytest.fail)["reference"] == "ref-1"


def test_a_loop_in_what_a_tool_touched_gives_one_line(tmp_path: Path) -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    assert audit(logs_in(tmp_path), {**RECORD, "touched": loop})
    assert records(tmp_path)[0]["touched"]["shortened"] is True


def test_shortened_lines_still_name_what_was_touched(tmp_path: Path) -> None:
    audit(logs_in(tmp_path), {**RECORD, "touched": {"table": "orders", "rows": 3, "keys": ["k"] * 50_000}})
    touched = records(tmp_path)[0]["touched"]
    assert touched["table"] == "orders"
    assert touched["rows"] == 3
    assert touched["shortened"] is True


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from([*RECORD, "params"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text(min_size=200) | st.binary(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ),
    )
)
def test_any_record_gives_one_short_line_of_strict_json(record: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert audit(logs_in(folder), record)
        text = read(folder, "audit.jsonl")
    line = json.loads(text, parse_constant=pytest.fail)
    assert text.count("\n") == 1
    assert text.isascii()
    assert not any(ord(c) < 32 or ord(c) == 127 for c in text[:-1])
    assert len(text) <= MAX_AUDIT_LINE
    assert set(line) <= {"time", *RECORD}


# Retention


def old_day(directory: Path, name: str, *files: str) -> None:
    os.makedirs(directory / name)
    for file in files:
        (directory / name / file).write_text("x")


def test_the_first_line_of_a_day_removes_days_that_are_too_old(tmp_path: Path) -> None:
    now = time.time()
    ages = {days: time.strftime("%Y-%m-%d", time.gmtime(now - days * 86400)) for days in (1, 6, 9, 400)}
    for day in ages.values():
        old_day(tmp_path, day, "core.log", "output.log", "tool_file.log", "audit.jsonl")
    Logger(LogSettings(str(tmp_path), 7), "core", "ref-1").info("x")
    assert set(os.listdir(tmp_path)) == {ages[1], ages[6], os.path.basename(today(tmp_path))}


def test_later_lines_of_the_day_remove_nothing(tmp_path: Path) -> None:
    Logger(LogSettings(str(tmp_path), 7), "core", "ref-1").info("x")
    old_day(tmp_path, "2001-01-01", "core.log")
    Logger(LogSettings(str(tmp_path), 7), "core", "ref-1").info("x")
    assert "2001-01-01" in os.listdir(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["2001-1-01", "20010101", "2001-01-01x", "x2001-01-01", "٢٠٠١-01-01", "2001-01-0x", "2001_01_01", "notes", ".."],
)
def test_a_folder_that_is_no_day_stays(tmp_path: Path, name: str) -> None:
    """The folder may hold what is not ours."""
    if name != "..":
        old_day(tmp_path / "log", name, "core.log")
    (tmp_path / "core.log").write_text("x")
    Logger(LogSettings(str(tmp_path / "log"), 1), "core", "ref-1").info("x")
    assert os.path.exists(tmp_path / "log" / name / "core.log")


def test_foreign_files_in_an_old_day_stay(tmp_path: Path) -> None:
    """Nothing that we did not write is removed, and no tree is."""
    old_day(tmp_path, "2001-01-01", "core.log", "thesis.odt", "tool_file.log")
    old_day(tmp_path / "2001-01-01", "sub", "core.log")
    Logger(LogSettings(str(tmp_path), 1), "core", "ref-1").info("x")
    assert set(os.listdir(tmp_path / "2001-01-01")) == {"thesis.odt", "sub"}
    assert os.path.exists(tmp_path / "2001-01-01" / "sub" / "core.log")


def test_retention_follows_no_symlink(tmp_path: Path) -> None:
    """A link among the days must not lead the removal elsewhere, nor a link among the files."""
    old_day(tmp_path, "elsewhere", "core.log")
    directory = tmp_path / "log"
    old_day(directory, "2001-01-02")
    os.symlink(tmp_path / "elsewhere", directory / "2001-01-01")
    os.symlink(tmp_path / "elsewhere" / "core.log", directory / "2001-01-02" / "core.log")
    Logger(LogSettings(str(directory), 1), "core", "ref-1").info("x")
    assert (tmp_path / "elsewhere" / "core.log").read_text() == "x"
    assert os.path.lexists(directory / "2001-01-01")
    assert not os.path.lexists(directory / "2001-01-02")


@pytest.mark.parametrize("keep_days", [1, 30, 36_500, 10**12])
def test_any_number_of_days_to_keep_works(tmp_path: Path, keep_days: int) -> None:
    assert Logger(LogSettings(str(tmp_path), keep_days), "core", "ref-1").try_write("info", "x")


def test_old_days_that_cannot_be_removed_fail_nothing(open_folder: str) -> None:
    os.mkdir(old := os.path.join(open_folder, "2001-01-01"))  # root's: the child may not empty it
    with open(os.path.join(old, "core.log"), "w", encoding="utf-8"):
        pass
    if os.getuid():
        os.chmod(old, 0o500)
    assert run_as_nobody(lambda: Logger(LogSettings(open_folder, 1), "core", "ref-1").try_write("info", "x"))
    assert os.path.exists(os.path.join(old, "core.log"))
