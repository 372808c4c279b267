"""Several processes at once, and processes that are killed: no change is lost, no file is half."""

from __future__ import annotations

import fcntl
import os
import signal
from random import Random
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.file import family
from contexts import make_context
from file_world import PARAMS, TOOLS, World
from processes import run_at_once

from clitool.errors import ClitoolError, ExecutionError

if TYPE_CHECKING:
    from collections.abc import Callable

WRITERS, ROUNDS = 4, 50


def outcome(world: World, tool: str, **params: Any) -> str:
    """Return ``done``, or why the call was refused."""
    try:
        world.call(tool, **params)
    except ClitoolError as error:
        return error.reason
    return "done"


def test_lines_of_many_writers_are_all_there_and_whole(world: World) -> None:
    """One write each, at the end."""

    def write(index: int) -> None:
        for number in range(ROUNDS * 4):
            world.call("file_append", path="log.txt", content=f"{index}-{number} {'x' * 200}\n")

    run_at_once(write, WRITERS)

    lines = (world.root / "log.txt").read_text().splitlines()
    assert sorted(lines) == sorted(f"{i}-{n} {'x' * 200}" for i in range(WRITERS) for n in range(ROUNDS * 4))


def test_no_edit_of_another_process_is_lost(world: World) -> None:
    """Reading, replacing and renaming are one turn."""
    (world.root / "a.txt").write_text("end")

    def write(index: int) -> None:
        for number in range(ROUNDS):
            world.call("file_edit", path="a.txt", old_text="end", new_text=f"{index}-{number}\nend")

    run_at_once(write, WRITERS)

    lines = (world.root / "a.txt").read_text().split("\n")
    assert sorted(lines) == sorted(["end", *(f"{i}-{n}" for i in range(WRITERS) for n in range(ROUNDS))])


def test_edits_and_appends_do_not_lose_each_other(world: World) -> None:
    """An append to the file that an edit is about to replace would be gone."""
    (world.root / "a.txt").write_text("count 0\n")

    def write(index: int) -> None:
        for number in range(ROUNDS):
            if index % 2:
                world.call("file_append", path="a.txt", content=f"{index}-{number}\n")
            else:
                world.call("file_edit", path="a.txt", old_text="count ", new_text="count 1")

    run_at_once(write, WRITERS)

    first, *lines = (world.root / "a.txt").read_text().splitlines()
    assert first == f"count {'1' * ROUNDS * (WRITERS // 2)}0"
    assert sorted(lines) == sorted(f"{i}-{n}" for i in range(1, WRITERS, 2) for n in range(ROUNDS))


def test_of_many_that_replace_one_version_only_one_succeeds(world: World) -> None:
    """Compare and swap: every success saw the success before it."""
    (world.root / "a.txt").write_text("0")

    def count(_: int) -> list[str]:
        outcomes = []
        for _ in range(ROUNDS):
            seen = world.call("file_read", path="a.txt")
            more = str(int(seen["content"]) + 1)
            outcomes.append(outcome(world, "file_write", path="a.txt", content=more, if_sha256=seen["sha256"]))
        return outcomes

    outcomes = [each for outcomes in run_at_once(count, WRITERS) for each in outcomes]

    assert set(outcomes) <= {"done", "changed"}
    assert outcomes.count("done") == int((world.root / "a.txt").read_text())
    assert outcomes.count("done") >= ROUNDS


def test_of_many_that_make_a_file_only_one_succeeds(world: World) -> None:
    def make(index: int) -> list[str]:
        return [outcome(world, "file_write", path=f"{number}.txt", content=str(index)) for number in range(ROUNDS)]

    outcomes = run_at_once(make, WRITERS)

    assert len(os.listdir(world.root)) == ROUNDS
    for number in range(ROUNDS):
        made = [index for index in range(WRITERS) if outcomes[index][number] == "done"]
        assert [str(index) for index in made] == [(world.root / f"{number}.txt").read_text()]
        assert {outcomes[index][number] for index in range(WRITERS)} == {"done", "exists"}


def test_a_file_that_is_just_being_made_is_read_whole_or_missing(world: World) -> None:
    """Its two names in between do not make it look like a hard link."""

    def work(index: int) -> set[str]:
        paths = [f"{number}.txt" for number in range(ROUNDS * 4)]
        if index:
            return {outcome(world, "file_read", path=path) for path in paths}
        return {outcome(world, "file_write", path=path, content="whole") for path in paths}

    assert set().union(*run_at_once(work, 3)) <= {"done", "not_found"}


def test_a_second_name_that_is_just_going_away_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the test above, at the very moment between the two steps of making a file."""
    draft = world.root / ".clitool-0123456789ab.tmp"
    draft.write_text("whole")
    os.link(draft, world.root / "a.txt")
    monkeypatch.setattr("time.sleep", lambda _: draft.unlink(missing_ok=True))

    assert world.call("file_read", path="a.txt")["content"] == "whole"


@pytest.mark.parametrize("tool", ["file_write", "file_append", "file_edit", "file_delete"])
def test_a_lock_that_is_held_too_long_is_an_error_before_the_deadline(world: World, tool: str) -> None:
    """Every change waits for its turn; the caller learns why nothing happened, and nothing did."""
    (world.root / "a.txt").write_text("in")
    held = os.open(world.root, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    context = make_context(family, {"root_path": str(world.root), "allow_write": True}, seconds=0.5)

    with pytest.raises(ExecutionError) as caught:
        TOOLS[tool](context).execute(path="a.txt", **PARAMS[tool])

    assert caught.value.reason == "locked"
    assert context.deadline.remaining() > 0
    assert (world.root / "a.txt").read_text() == "in"
    context.close()
    os.close(held)
    world.call(tool, path="a.txt", **PARAMS[tool])


def test_reading_waits_for_no_lock(world: World) -> None:
    (world.root / "a.txt").write_text("in")
    held = os.open(world.root, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)

    for tool in ("file_read", "file_search"):
        world.call(tool, path="a.txt", **PARAMS[tool])
    world.call("file_list")
    os.close(held)


@pytest.mark.parametrize("old", [True, False], ids=["old file", "new file"])
def test_a_killed_writer_leaves_the_old_file_or_the_new_one(world: World, old: bool) -> None:
    """Killed at any moment: never a mixture, never a part."""
    contents = {letter: letter * 3_000_000 for letter in "abc"}
    if old:
        (world.root / "file.txt").write_text(contents["a"])
    random = Random(1)

    for _ in range(40):
        kill_after(random.uniform(0, 0.03), lambda: write_for_ever(world, contents))
        if (world.root / "file.txt").exists():
            text = (world.root / "file.txt").read_text()
            assert contents.get(text[:1]) == text
        else:
            assert not old


def write_for_ever(world: World, contents: dict[str, str]) -> None:
    while True:
        for content in contents.values():
            world.call("file_write", path="file.txt", content=content, overwrite=True)


def kill_after(seconds: float, action: Callable[[], object]) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            action()
        finally:
            os._exit(1)
    sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
