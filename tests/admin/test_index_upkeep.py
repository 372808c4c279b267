"""The index of the clients file, as `clitool check` and `clitool token` keep it: large files have one at once."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from command import CLITOOL, TOKEN, client, environment, run, write_clients
from indexed import write_index

from clitool.admin.index_upkeep import LARGE
from clitool.client_index import IndexedClients
from clitool.clients import load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A clients file that is too large to be left to the next call."""
    others = {f"client-{number}": client("x:y", token=f"token-{number}") for number in range(LARGE // 100)}
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("calculator:use"), **others}})
    assert path.stat().st_size > LARGE
    return path


def is_indexed(path: Path) -> bool:
    return isinstance(load(str(path)), IndexedClients)


def last_finding(path: Path, *before: str) -> str:
    found = run(*before, "--clients", str(path), "check", stdin=None).stdout.decode().splitlines()[-2]
    return found.removeprefix(f"{path}.index: ")


def test_check_writes_the_index_of_a_large_file_that_was_just_changed(large: Path) -> None:
    assert last_finding(large) == "ok: the index of the clients file is up to date"

    assert is_indexed(large)


def test_check_leaves_the_index_of_a_small_file_to_the_next_call(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("calculator:use")}})

    assert last_finding(path).endswith(": it changed less than 2 seconds ago, or in the future")


def test_check_warns_where_a_large_file_can_have_no_index(large: Path) -> None:
    large.parent.chmod(0o1777)

    assert last_finding(large) == (
        "warning: there is none, so calls read the whole clients file: "
        f"others may write in {large.parent}, so an index there would not be believed"
    )


def test_check_mends_an_index_that_is_damaged_anywhere(large: Path) -> None:
    index = write_index(large)
    whole = index.read_bytes()
    index.write_bytes(whole[:-1])

    last_finding(large)

    assert index.read_bytes() == whole


def test_a_change_of_a_large_file_by_token_leaves_an_index(large: Path) -> None:
    secret = run("--clients", str(large), "token", "issue", "anna", "--id", "new").stdout
    assert is_indexed(large)
    assert run("--clients", str(large), "verify", stdin=secret).document["authenticated"]

    run("--clients", str(large), "token", "revoke", "anna", "t")

    assert is_indexed(large)
    assert not run("--clients", str(large), "verify", stdin=TOKEN.encode()).document["authenticated"]
    assert run("--clients", str(large), "verify", stdin=secret).document["authenticated"]


def test_a_new_token_is_printed_although_the_wait_for_the_index_is_interrupted(large: Path) -> None:
    """The token is in the file; nobody could ever read it otherwise."""
    before = large.stat().st_ino
    words = [CLITOOL, "--clients", str(large), "token", "issue", "anna"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment(), stderr=subprocess.DEVNULL) as process:
        while large.stat().st_ino == before:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        secret, _ = process.communicate()

    assert secret.startswith(b"clt_")
    assert run("--clients", str(large), "verify", stdin=secret).document["authenticated"]
