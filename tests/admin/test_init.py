"""`clitool init`: a folder that works at once, or nothing at all."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from command import CLITOOL, environment, run
from processes import run_at_once

from clitool.tokens import is_intact

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    assert run("init", str(tmp_path / "demo")).status == 0
    return tmp_path / "demo"


def test_what_is_printed_can_be_used_at_once(tmp_path: Path) -> None:
    """A shell runs every command that the text tells to try."""
    printed = run("init", str(tmp_path / "a demo's folder")).stdout.decode()
    token = re.findall(r"^  (clt_\w+)$", printed, re.MULTILINE)[0]
    assert is_intact(token.encode())
    script = "\n".join(line[2:] for line in printed.partition("Try:")[2].splitlines() if line.startswith("  "))
    commands = re.findall(r"clitool call (\w+)", script)
    done = subprocess.run(
        ["/bin/sh"],
        input=script.encode(),
        capture_output=True,
        check=False,
        env=environment(PATH=f"{os.path.dirname(CLITOOL)}:/usr/bin:/bin"),
    )
    answers = done.stdout.decode().splitlines()
    assert done.stderr == b""
    assert '"name":"demo"' in answers[0]
    verdicts = [re.findall(r'"ok":(true|false)|"reason":"(\w+)"', line) for line in answers[1:]]
    assert len(commands) == len(verdicts) == 5
    assert [line[-1][1] or line[0][0] for line in verdicts] == [
        "true",
        "true",
        "table_not_allowed",
        "outside_root",
        "scope_missing",
    ]


def test_the_sample_is_free_of_findings(demo: Path) -> None:
    result = run("--clients", str(demo / "clients.yaml"), "check", "--connect", "--json")
    assert result.status == 0, result
    assert {finding["level"] for finding in result.document["findings"]} == {"ok"}


def test_the_answer_for_programs(tmp_path: Path) -> None:
    document = run("init", str(tmp_path / "demo"), "--json").document
    assert set(document) == {"clients", "token", "client"}
    answer = run("--clients", document["clients"], "verify", stdin=document["token"].encode()).document
    assert (answer["name"], answer["authenticated"]) == (document["client"], True)


def test_a_relative_name_is_relative_to_the_working_folder(tmp_path: Path) -> None:
    document = run("init", "here/there", "--json", cwd=str(tmp_path)).document
    assert document["clients"] == str(tmp_path / "here" / "there" / "clients.yaml")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_nothing_is_readable_for_others(tmp_path: Path, umask: int) -> None:
    """Whatever the umask: folders 0700, files 0600."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'umask {umask:o}; exec "$0" init "$1"', CLITOOL, str(tmp_path / "demo")],
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done
    paths = [tmp_path / "demo", *(tmp_path / "demo").rglob("*")]
    assert len(paths) > 6
    assert {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in paths} == {(True, 0o700), (False, 0o600)}


def test_the_database_holds_what_the_text_says(demo: Path) -> None:
    with closing(sqlite3.connect(demo / "shop.db")) as connection:
        count = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("customers", "products", "orders", "staff", "order_totals")
        }
        assert count == {"customers": 24, "products": 12, "orders": 60, "staff": 3, "order_totals": 60}
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_neither_the_token_nor_a_trace_of_the_making_is_left(tmp_path: Path) -> None:
    token = run("init", str(tmp_path / "demo"), "--json").document["token"].encode()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(token in path.read_bytes() for path in files)
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == ["clients.yaml", "files", "shop.db"]


@pytest.mark.parametrize("name", ["clients.yaml", "files", "shop.db"])
@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_nothing_that_exists_is_touched(tmp_path: Path, name: str, kind: str) -> None:
    """A second `init`, or one in a folder in use, changes nothing."""
    place = tmp_path / name
    if kind == "file":
        place.write_text("mine")
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("nowhere")
    before = snapshot(tmp_path)
    result = run("init", str(tmp_path))
    assert (result.status, result.stdout) == (1, b"")
    assert name.encode() in result.stderr
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_is_refused_and_stays_empty(tmp_path: Path, mode: int) -> None:
    """The clients file would not be accepted there, so nothing is left behind."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    result = run("init", str(folder))
    assert result.status == 1
    assert b"chmod go-w" in result.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("what", ["a file in the way", "a name that is too long", "a folder that cannot be made"])
def test_what_cannot_be_made_leaves_nothing(tmp_path: Path, what: str) -> None:
    (tmp_path / "file").write_text("")
    folder = {
        "a file in the way": f"{tmp_path}/file/demo",
        "a name that is too long": f"{tmp_path}/new/{'x' * 300}",
        "a folder that cannot be made": "/dev/null/demo",
    }[what]
    result = run("init", folder, "--json")
    assert (result.status, result.document["code"]) == (1, "execution_error")
    assert result.stderr.count(b"\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_of_many_at_once_one_wins_and_its_token_is_valid(tmp_path: Path) -> None:
    results = run_at_once(lambda _: run("init", str(tmp_path / "demo"), "--json"), 8)
    winners = [result.document for result in results if result.status == 0]
    assert len(winners) == 1
    answer = run("--clients", winners[0]["clients"], "verify", stdin=winners[0]["token"].encode()).document
    assert answer["authenticated"]
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == ["clients.yaml", "files", "shop.db"]


def test_a_folder_with_a_strange_name_cannot_write_settings(tmp_path: Path) -> None:
    """The folder's name is no part of the clients file."""
    folder = tmp_path / "x\nclients: {evil: {scopes: ['*']}} # {}$(id)`id`'\"\\ é"
    document = run("init", str(folder), "--json").document
    assert document["clients"] == str(folder / "clients.yaml")
    assert run("--clients", document["clients"], "token", "list", "--json").document[0]["client"] == "demo"


def snapshot(folder: Path) -> list[tuple[str, int, bytes]]:
    paths = sorted(folder.rglob("*"))
    return [(str(path), path.lstat().st_mode, path.read_bytes() if path.is_file() else b"") for path in paths]
