"""Editing and deleting: exactly what was meant, and nothing else."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from file_world import World
from hypothesis import assume, given, settings
from hypothesis import strategies as st


def edit(world: World, data: bytes, old: str, new: str, **params: Any) -> bytes:
    path = world.root / "a.txt"
    path.write_bytes(data)
    answer = world.call("file_edit", path="a.txt", old_text=old, new_text=new, **params)
    after = path.read_bytes()
    assert answer == {"path": "a.txt", "size": len(after), "sha256": hashlib.sha256(after).hexdigest()}
    return after


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        pytest.param(b"a b c", "b", "x", b"a x c", id="in the middle"),
        pytest.param(b"a b c", "a b c", "", b"", id="everything"),
        pytest.param(b"a\r\nb\nc\r\n", "b", "x\ny", b"a\r\nx\ny\nc\r\n", id="mixed line ends stay"),
        pytest.param(b"a\r\nb\r\n", "a\r\nb", "b\r\na", b"b\r\na\r\n", id="crlf across lines"),
        pytest.param(b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n", id="byte order mark stays"),
        pytest.param("grün\n".encode(), "ü", "ue", b"gruen\n", id="other letters"),
        pytest.param(b"\xff old \xfe\n", "old", "new", b"\xff new \xfe\n", id="bytes that are no UTF-8 stay"),
        pytest.param(b"f(x) $1 \\n", "(x) $1 \\n", "\\1 \\g<0>", b"f\\1 \\g<0>", id="no expression"),
        pytest.param(b"a\0b", "\0", "0", b"a0b", id="NUL"),
        pytest.param(b"no newline", "newline", "end", b"no end", id="no newline at the end"),
        pytest.param(b"same", "same", "same", b"same", id="no change"),
    ],
)
def test_only_the_matched_bytes_change(world: World, data: bytes, old: str, new: str, after: bytes) -> None:
    """Not one other byte: no line end, no byte order mark, no last newline."""
    assert edit(world, data, old, new) == after
    assert os.listdir(world.root) == ["a.txt"]


@pytest.mark.parametrize(
    ("data", "old", "count"),
    [
        pytest.param(b"x x", "x", 2, id="two"),
        pytest.param(b"x" * 1000, "x", 1000, id="many"),
        pytest.param(b"aaa", "aa", 2, id="overlapping"),
        pytest.param(b"abcabcab", "abcab", 2, id="overlapping at the end"),
    ],
)
def test_a_text_that_occurs_more_than_once_is_refused_with_the_count(
    world: World, data: bytes, old: str, count: int
) -> None:
    (world.root / "a.txt").write_bytes(data)

    document = world.refusal("file_edit", path="a.txt", old_text=old, new_text="y")

    assert document["details"] == {"reason": "not_unique", "count": count}
    assert str(count) in document["error"]
    assert (world.root / "a.txt").read_bytes() == data


@pytest.mark.parametrize(
    ("data", "old", "hint"),
    [
        pytest.param(b"a\r\nb", "a\nb", r"\r\n", id="file has crlf"),
        pytest.param(b"a\nb", "a\r\nb", r"with \n", id="file has lf"),
        pytest.param(b"a\rb", "a\nb", r"with \r ", id="file has cr"),
        pytest.param(b"a b", "c", "read the file again", id="absent"),
        pytest.param(b"A", "a", "read the file again", id="letter case"),
        pytest.param("e\u0301".encode(), "é", "read the file again", id="not normalised"),
        pytest.param(b"", "a", "read the file again", id="empty file"),
    ],
)
def test_a_text_that_does_not_occur_is_refused_with_a_hint(world: World, data: bytes, old: str, hint: str) -> None:
    """Nothing is matched by guessing; the usual reason is named."""
    (world.root / "a.txt").write_bytes(data)

    document = world.refusal("file_edit", path="a.txt", old_text=old, new_text="y")

    assert document["details"]["reason"] == "no_match"
    assert hint in document["error"]
    assert (world.root / "a.txt").read_bytes() == data


def test_texts_that_repeat_themselves_are_counted_in_linear_time(world: World) -> None:
    """Five million places with five million bytes each would take hours one by one."""
    (world.root / "a.txt").write_bytes(b"a" * 9_000_000)

    assert world.reason("file_edit", path="a.txt", old_text="a" * 4_500_000, new_text="") == "not_unique"
    assert world.reason("file_edit", path="a.txt", old_text="a" * 4_500_000 + "b", new_text="") == "no_match"


def test_only_the_version_that_was_read_is_edited(world: World) -> None:
    (world.root / "a.txt").write_text("old")
    seen = world.call("file_read", path="a.txt")["sha256"]

    assert edit(world, b"old", "old", "new", if_sha256=seen) == b"new"
    assert world.reason("file_edit", path="a.txt", old_text="new", new_text="x", if_sha256=seen) == "changed"
    assert (world.root / "a.txt").read_text() == "new"


def test_a_file_does_not_grow_beyond_the_setting_by_editing(world: World) -> None:
    setting = {"max_file_bytes": 10}
    (world.root / "a.txt").write_text("x" * 9 + "y")
    (world.root / "b.txt").write_text("x" * 11)

    assert world.reason("file_edit", setting, path="a.txt", old_text="y", new_text="zz") == "too_large"
    assert world.reason("file_edit", setting, path="b.txt", old_text="x" * 11, new_text="") == "too_large"
    assert world.call("file_edit", setting, path="a.txt", old_text="y", new_text="z")["size"] == 10


@pytest.mark.parametrize(("old", "new"), [("\ud800", ""), ("a", "\udfff")], ids=["old", "new"])
def test_text_that_is_no_unicode_is_refused(world: World, old: str, new: str) -> None:
    (world.root / "a.txt").write_text("a")

    assert world.reason("file_edit", path="a.txt", old_text=old, new_text=new) == "bad_encoding"


def test_a_missing_file_is_not_made_by_editing(world: World) -> None:
    (world.root / "A.txt").write_text("a")

    document = world.refusal("file_edit", path="a.txt", old_text="a", new_text="b")

    assert document["details"] == {"reason": "not_found", "suggestion": "A.txt"}
    assert (world.root / "A.txt").read_text() == "a"


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.binary(max_size=60), st.text(min_size=1, max_size=4), st.text(max_size=4), st.binary(max_size=60))
def test_an_edit_is_one_replacement(before: bytes, old: str, new: str, after: bytes) -> None:
    """Whatever surrounds the text."""
    data = before + old.encode() + after
    places = [at for at in range(len(data)) if data.startswith(old.encode(), at)]
    assume(len(places) == 1)

    with tempfile.TemporaryDirectory() as folder:
        assert edit(World(Path(folder) / "world"), data, old, new) == before + new.encode() + after


# Deleting


def test_a_file_is_deleted_and_nothing_else(world: World) -> None:
    (world.root / "a.txt").write_text("a")
    (world.root / "b.txt").write_text("b")

    assert world.call("file_delete", path="a.txt") == {"path": "a.txt", "deleted": True}
    assert os.listdir(world.root) == ["b.txt"]
    assert world.reason("file_delete", path="a.txt") == "not_found"


@pytest.mark.parametrize("name", ["ok.txt", "rel.txt", "dir", "dangling.txt", "loop1", "abs.txt", "inner", "slash"])
def test_a_link_is_deleted_itself(trapped: World, name: str) -> None:
    """What it leads to stays."""
    before = trapped.beyond()
    link = trapped.root / name
    target = link.resolve() if link.exists() else None

    trapped.call("file_delete", path=name)

    assert not link.is_symlink()
    assert target is None or target.exists()
    assert trapped.beyond() == before


def test_a_link_is_no_version_of_a_file(trapped: World) -> None:
    digest = hashlib.sha256((trapped.root / "a.txt").read_bytes()).hexdigest()

    assert trapped.reason("file_delete", path="ok.txt", if_sha256=digest) == "symlink"
    assert (trapped.root / "ok.txt").is_symlink()


@pytest.mark.parametrize("path", ["sub", "d.txt", "sub/", ".", "./sub"])
def test_no_folder_is_deleted(trapped: World, path: str) -> None:
    assert trapped.reason("file_delete", path=path) in {"is_directory", "bad_path"}
    assert (trapped.root / "sub").is_dir()
    assert (trapped.root / "d.txt").is_dir()


def test_only_the_version_that_was_read_is_deleted(world: World) -> None:
    (world.root / "a.txt").write_text("old")
    seen = world.call("file_read", path="a.txt")["sha256"]
    (world.root / "a.txt").write_text("new")

    assert world.reason("file_delete", path="a.txt", if_sha256=seen) == "changed"
    assert (world.root / "a.txt").read_text() == "new"
    assert world.call("file_delete", path="a.txt", if_sha256=world.call("file_read", path="a.txt")["sha256"])["deleted"]


def test_a_file_that_is_replaced_between_look_and_deletion_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is removed is what was looked at."""
    from clitool.jail import Jail

    path = world.root / "a.txt"
    path.write_text("old")
    holds = Jail.holds

    def meanwhile(*args: object) -> bool:
        path.unlink()
        path.write_text("theirs")
        return holds(*args)  # type: ignore[arg-type]  # passed through

    monkeypatch.setattr(Jail, "holds", meanwhile)

    assert world.reason("file_delete", path="a.txt") == "changed"
    assert path.read_text() == "theirs"
