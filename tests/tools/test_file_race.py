"""A neighbour who swaps what a path leads to while it is used: nothing outside is read, written or deleted."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from file_world import SECRET, World

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECONDS = 1.0
ENOUGH = 30  # of each outcome, or there was no race
AT_MOST = 60.0


@pytest.fixture
def contested(world: World) -> World:
    """`dir` with files of the same names as outside, and a link to outside waiting to take its place."""
    folder = world.root / "dir"
    folder.mkdir()
    for name in ("secret.txt", "victim.txt"):
        (folder / name).write_text("inside\n")
        (world.outside / name).write_text(SECRET + "\n")
    (world.root / "link").symlink_to("../outside")
    (world.root / "file.txt").write_text("inside\n")
    (world.root / "file-link").symlink_to("../outside/secret.txt")
    return world


def swap(one: bytes, other: bytes) -> None:
    """Exchange two names in one step, so that neither is ever missing."""
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        done = libc.renamex_np(one, other, 2)  # RENAME_SWAP
    else:
        done = libc.renameat2(-100, one, -100, other, 2)  # AT_FDCWD, RENAME_EXCHANGE
    assert done == 0, os.strerror(ctypes.get_errno())


@contextmanager
def neighbour(root: Path, real: str, link: str) -> Iterator[None]:
    """Another process that puts `link` in the place of `real` and back, as fast as it can."""
    pid = os.fork()
    if pid == 0:
        try:
            os.chdir(root)
            while True:
                swap(real.encode(), link.encode())
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        assert os.waitpid(pid, 0)[1] == signal.SIGKILL, "the neighbour failed"
        if (root / real).is_symlink():
            swap(os.fsencode(root / real), os.fsencode(root / link))


def outcomes(attempt: Callable[[], object]) -> tuple[list[object], list[str]]:
    """Return what `attempt` answered and why it was refused, for a second and until there is enough of both."""
    answers: list[object] = []
    reasons: list[str] = []
    start = monotonic()
    while monotonic() - start < SECONDS or min(len(answers), len(reasons)) < ENOUGH:
        if monotonic() - start > AT_MOST:
            break
        try:
            answers.append(attempt())
        except ClitoolError as error:
            reasons.append(error.reason)
    return answers, reasons


def rewrite(world: World) -> object:
    return world.call("file_write", path="dir/victim.txt", content="rewritten\n", overwrite=True)


def make_and_delete(world: World) -> object:
    world.call("file_write", path="dir/victim.txt", content="again\n", overwrite=True)
    return world.call("file_delete", path="dir/victim.txt")


def edit(world: World) -> object:
    path = "dir/secret.txt"
    return world.call("file_edit", path=path, old_text="inside", new_text="inside")


def require(answer: dict[str, list[dict[str, object]]], path: str) -> object:
    if path not in [entry["path"] for entry in answer.get("entries", answer.get("matches", []))]:
        raise PassedOver
    return answer


class PassedOver(ClitoolError):
    """An answer in which the contested folder does not occur counts as a refusal."""

    def __init__(self) -> None:
        self.reason = "passed over"


ATTEMPTS: dict[str, Callable[[World], object]] = {
    "read": lambda world: world.call("file_read", path="dir/secret.txt"),
    "read bytes": lambda world: world.call("file_read", path="dir/secret.txt", encoding="base64"),
    "list": lambda world: world.call("file_list", path="dir"),
    "list from above": lambda world: require(world.call("file_list", depth=3), "dir/secret.txt"),
    "search": lambda world: world.call("file_search", text="i", path="dir"),
    "search from above": lambda world: require(world.call("file_search", text="i"), "dir/secret.txt"),
    "write": rewrite,
    "write below": lambda world: world.call(
        "file_write", path="dir/new/x.txt", content="x", overwrite=True, create_parents=True
    ),
    "append": lambda world: world.call("file_append", path="dir/victim.txt", content="more\n"),
    "edit": edit,
    "delete": make_and_delete,
}

# What may become of a call while its folder changes between two looks.
REFUSALS = {"symlink", "changed", "is_directory", "passed over"}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_folder_swapped_for_a_link_never_leads_outside(contested: World, name: str) -> None:
    """The check and the use are one step: a link is refused by the open itself."""
    before = contested.beyond()

    with neighbour(contested.root, "dir", "link"):
        answers, reasons = outcomes(lambda: ATTEMPTS[name](contested))

    assert len(answers) >= ENOUGH
    assert len(reasons) >= ENOUGH
    assert "symlink" in reasons or "above" in name
    assert set(reasons) <= REFUSALS
    assert SECRET not in str(answers)
    assert contested.beyond() == before
    assert not [entry for entry in os.listdir(contested.root / "dir") if entry.startswith(".clitool")]


FILE_ATTEMPTS: dict[str, Callable[[World], object]] = {
    "read": lambda world: world.call("file_read", path="file.txt"),
    "search": lambda world: world.call("file_search", text="i", path="file.txt"),
    "append": lambda world: world.call("file_append", path="file.txt", content="more\n", create=False),
}


@pytest.mark.parametrize("name", FILE_ATTEMPTS)
def test_a_file_swapped_for_a_link_never_leads_outside(contested: World, name: str) -> None:
    """The last name is opened like the others, without following."""
    before = contested.beyond()

    with neighbour(contested.root, "file.txt", "file-link"):
        answers, reasons = outcomes(lambda: FILE_ATTEMPTS[name](contested))

    assert len(answers) >= ENOUGH
    assert len(reasons) >= ENOUGH
    assert "symlink" in reasons
    assert set(reasons) <= REFUSALS
    assert SECRET not in str(answers)
    assert contested.beyond() == before


def test_checking_the_real_path_before_opening_does_escape(contested: World) -> None:
    """The same neighbour beats the usual check; without this, the tests above would prove nothing."""
    root = os.path.realpath(contested.root)

    def naive() -> str:
        try:
            if not os.path.realpath(f"{root}/dir/secret.txt").startswith(f"{root}/"):
                return "refused"
            with open(f"{root}/dir/secret.txt") as file:
                return file.read()
        except OSError:
            return "lost the race"

    escapes, start = 0, monotonic()
    with neighbour(contested.root, "dir", "link"):
        while not escapes and monotonic() - start < AT_MOST:
            escapes += SECRET in naive()

    assert escapes
