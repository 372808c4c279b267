"""Writing and appending: whole or not at all, the bytes as given, and never more than was asked for."""

from __future__ import annotations

import base64
import hashlib
import os
import resource
import signal
import stat
from typing import TYPE_CHECKING, Any

import pytest
from file_world import PARAMS, World
from processes import give_to_nobody, run_as_nobody, run_at_once

if TYPE_CHECKING:
    from collections.abc import Callable


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def names(world: World) -> list[str]:
    return sorted(os.listdir(world.root))


def test_a_new_file_is_reported_with_size_and_digest(world: World) -> None:
    data = "größe\n".encode()

    answer = world.call("file_write", path="a.txt", content="größe\n")

    assert answer == {"path": "a.txt", "size": len(data), "sha256": sha256(data), "created": True}
    assert (world.root / "a.txt").read_bytes() == data
    assert names(world) == ["a.txt"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="nothing"),
        pytest.param("a\r\nb\r\n", id="crlf"),
        pytest.param("a\nb\r\nc\r", id="mixed"),
        pytest.param("\ufeffbom", id="byte order mark"),
        pytest.param("nul\0byte", id="NUL"),
        pytest.param("no newline", id="no newline"),
    ],
)
def test_the_bytes_are_those_of_the_content(world: World, content: str) -> None:
    world.call("file_write", path="a.txt", content=content)

    assert (world.root / "a.txt").read_bytes() == content.encode()


def test_an_existing_file_is_kept_unless_told_otherwise(world: World) -> None:
    """A model that believes to append must not lose the file."""
    (world.root / "a.txt").write_text("old")

    document = world.refusal("file_write", path="a.txt", content="new")

    assert document["details"]["reason"] == "exists"
    assert "overwrite" in document["error"]
    assert "if_sha256" in document["error"]
    assert (world.root / "a.txt").read_text() == "old"
    assert names(world) == ["a.txt"]
    assert world.call("file_write", path="a.txt", content="new", overwrite=True)["created"] is False
    assert (world.root / "a.txt").read_text() == "new"


def test_the_version_that_was_read_can_be_replaced(world: World) -> None:
    (world.root / "a.txt").write_text("old")
    seen = world.call("file_read", path="a.txt")["sha256"]

    assert world.call("file_write", path="a.txt", content="new", if_sha256=seen.upper())["created"] is False
    assert world.reason("file_write", path="a.txt", content="newer", if_sha256=seen) == "changed"
    assert world.reason("file_write", path="a.txt", content="newer", if_sha256=seen, overwrite=True) == "changed"
    assert world.reason("file_write", path="b.txt", content="newer", if_sha256=seen) == "changed"
    assert (world.root / "a.txt").read_text() == "new"
    assert names(world) == ["a.txt"]


def test_a_second_name_is_cut_off_by_replacing_and_cannot_be_asked_about(trapped: World) -> None:
    """The outside file keeps its content, and no digest tells what it is."""
    digest = sha256((trapped.outside / "hard.txt").read_bytes())
    before = trapped.beyond()

    assert trapped.reason("file_write", path="hard.txt", content="x", if_sha256=digest) == "hardlink"
    assert trapped.reason("file_delete", path="hard.txt", if_sha256=digest) == "hardlink"
    trapped.call("file_write", path="hard.txt", content="x", overwrite=True)

    assert trapped.beyond() == before
    assert trapped.call("file_read", path="hard.txt")["content"] == "x"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        pytest.param("\ud800", "text", id="surrogate"),
        pytest.param("YWJj\n", "base64", id="newline"),
        pytest.param("YW Jj", "base64", id="blank"),
        pytest.param("YWJ", "base64", id="padding missing"),
        pytest.param("YWJj=", "base64", id="padding too much"),
        pytest.param("YW==YWJj", "base64", id="padding in the middle"),
        pytest.param("_-8=", "base64", id="other alphabet"),
        pytest.param("é", "base64", id="no ASCII"),
        pytest.param("=", "base64", id="padding alone"),
    ],
)
def test_content_that_is_not_in_its_encoding_is_refused(world: World, content: str, encoding: str) -> None:
    """Nothing is dropped or guessed."""
    assert world.reason("file_write", path="a.txt", content=content, encoding=encoding) == "bad_encoding"
    assert names(world) == []


def test_bytes_are_written_from_base64(world: World) -> None:
    data = bytes(range(256))

    answer = world.call("file_write", path="a.bin", content=base64.b64encode(data).decode(), encoding="base64")

    assert answer["sha256"] == sha256(data)
    assert (world.root / "a.bin").read_bytes() == data


@pytest.mark.parametrize("tool", ["file_write", "file_append"])
def test_a_file_does_not_grow_beyond_the_setting(world: World, tool: str) -> None:
    """The size counts in bytes."""
    setting = {"max_file_bytes": 10}

    document = world.refusal(tool, setting, path="a.txt", content="é" * 6)

    assert document["details"]["reason"] == "too_large"
    assert "10" in document["error"]
    assert names(world) == []
    assert world.call(tool, setting, path="a.txt", content="é" * 5)["size"] == 10


def test_content_in_base64_counts_decoded(world: World) -> None:
    content = base64.b64encode(b"x" * 10).decode()

    assert world.call("file_write", {"max_file_bytes": 10}, path="a", content=content, encoding="base64")["size"] == 10


def test_parents_are_made_only_when_asked_for(world: World) -> None:
    document = world.refusal("file_write", path="x/y/a.txt", content="a")

    assert document["details"]["reason"] == "not_found"
    assert "create_parents" in document["error"]
    assert names(world) == []
    assert world.call("file_write", path="x/y/a.txt", content="a", create_parents=True)["created"] is True
    assert world.call("file_write", path="x/y/b.txt", content="b", create_parents=True)["created"] is True
    assert (world.root / "x" / "y" / "a.txt").read_text() == "a"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        pytest.param("dir/new/a.txt", "symlink", id="behind a link"),
        pytest.param("dangling.txt/new/a.txt", "symlink", id="behind a dangling link"),
        pytest.param("a.txt/new/b.txt", "not_directory", id="below a file"),
        pytest.param("pipe.txt/b.txt", "not_directory", id="below a pipe"),
        pytest.param("new/../../outside/b.txt", "outside_root", id="dot dot"),
    ],
)
def test_parents_are_made_inside_only(trapped: World, path: str, reason: str) -> None:
    """Each is made relative to the one before, which is no link."""
    before = trapped.beyond()

    assert trapped.reason("file_write", path=path, content="a", create_parents=True) == reason
    assert trapped.beyond() == before
    assert not (trapped.root / "nowhere.txt").exists()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o664, 0o4755, 0o2755, 0o6711], ids=oct)
@pytest.mark.parametrize("tool", ["file_write", "file_edit"])
def test_the_mode_of_a_replaced_file_stays(world: World, tool: str, mode: int) -> None:
    """A script stays executable, a secret stays secret; setuid and setgid are dropped."""
    path = world.root / "a.sh"
    path.write_text("in")
    path.chmod(mode)

    world.call(tool, path="a.sh", **PARAMS[tool])

    assert stat.S_IMODE(path.stat().st_mode) == mode & 0o777


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000, 0o027], ids=oct)
@pytest.mark.parametrize("tool", ["file_write", "file_append"])
def test_a_new_file_gets_the_mode_that_the_umask_gives(world: World, tool: str, umask: int) -> None:
    before = os.umask(umask)
    try:
        world.call(tool, path="a.txt", content="x")
    finally:
        os.umask(before)

    assert stat.S_IMODE((world.root / "a.txt").stat().st_mode) == 0o666 & ~umask


def test_owner_and_group_of_a_replaced_file_stay(world: World) -> None:
    path = world.root / "a.txt"
    path.write_text("x")
    give_to_nobody(str(path))
    before = path.stat()

    world.call("file_write", path="a.txt", content="y", overwrite=True)

    after = path.stat()
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino


def test_without_its_group_a_file_gives_the_group_no_more_than_others_have(shared_world: World) -> None:
    """Rights of a group must not fall to another group."""
    world = shared_world
    path = world.root / "a.txt"
    path.write_text("x")
    path.chmod(0o676)
    world.root.chmod(0o777)
    world.call("file_write", path="b.txt", content="x")  # imports what the child may not find

    run_as_nobody(lambda: world.call("file_write", path="a.txt", content="y", overwrite=True))

    assert path.read_text() == "y"
    assert stat.S_IMODE(path.stat().st_mode) == (0o666 if os.getuid() == 0 else 0o676)


@pytest.mark.parametrize("tool", ["file_write", "file_append", "file_edit"])
def test_a_file_that_may_not_be_written_is_not_replaced_either(shared_world: World, tool: str) -> None:
    """Renaming needs no right on the file; the tools ask for it all the same."""
    world = shared_world
    path = world.root / "a.txt"
    path.write_text("in")
    path.chmod(0o444)
    world.root.chmod(0o777)
    (world.root / "b.txt").write_text("in")
    world.call(tool, path="b.txt", **PARAMS[tool])  # imports what the child may not find

    assert run_as_nobody(lambda: world.reason(tool, path="a.txt", **PARAMS[tool])) == "permission"
    assert path.read_text() == "in"
    assert not [name for name in names(world) if name.startswith(".clitool")]


@pytest.mark.parametrize("tool", ["file_write", "file_append", "file_delete"])
def test_a_folder_that_may_not_be_written_is_an_error_without_its_path(shared_world: World, tool: str) -> None:
    world = shared_world
    (world.root / "a.txt").write_text("in")
    (world.root / "b.txt").write_text("in")
    world.call(tool, path="b.txt", **PARAMS[tool])  # imports what the child may not find
    path = "a.txt" if tool == "file_delete" else "new.txt"

    document = run_as_nobody(lambda: world.refusal(tool, path=path, **PARAMS[tool]))

    assert document["details"]["reason"] == "permission"
    assert str(world.base) not in document["error"]


def test_a_name_of_the_full_length_can_be_written(world: World) -> None:
    """The temporary name is not made from the real one."""
    name = "x" * 251 + ".txt"

    world.call("file_write", path=name, content="a")
    world.call("file_write", path=name, content="b", overwrite=True)

    assert (world.root / name).read_text() == "b"


def limited(limit: int, action: Callable[[], Any]) -> Any:
    """Run `action` in a child that may not make files larger than `limit` bytes."""

    def child(_: int) -> Any:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        result = action()
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return result

    return run_at_once(child, 1)[0]


@pytest.mark.parametrize("tool", ["file_write", "file_append", "file_edit"])
def test_a_full_disk_leaves_the_old_file_and_no_trace(world: World, tool: str) -> None:
    """The limit of a process stands for a full disk: the write stops in the middle."""
    old = "in" + "x" * 4000
    (world.root / "a.txt").write_text(old)
    params: dict[str, dict[str, Any]] = {
        "file_write": {"content": "y" * 9000, "overwrite": True},
        "file_append": {"content": "y" * 9000},
        "file_edit": {"old_text": "in", "new_text": "y" * 9000},
    }

    assert limited(8000, lambda: world.reason(tool, path="a.txt", **params[tool])) == "no_space"
    assert (world.root / "a.txt").read_text() == old
    assert names(world) == ["a.txt"]


@pytest.mark.parametrize("tool", ["file_write", "file_append"])
def test_a_full_disk_leaves_no_new_file(world: World, tool: str) -> None:
    assert limited(100, lambda: world.reason(tool, path="a.txt", content="y" * 9000)) == "no_space"
    assert names(world) == []


def test_on_a_disk_without_links_new_files_are_made_all_the_same(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """FAT and many network and shared folders have no hard links."""

    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)

    assert world.call("file_write", path="a.txt", content="a")["created"] is True
    assert world.reason("file_write", path="a.txt", content="b") == "exists"
    assert (world.root / "a.txt").read_text() == "a"
    assert names(world) == ["a.txt"]


def test_a_file_that_appears_while_another_is_made_is_not_overwritten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making and claiming the name are one step, also against programs that know no lock of ours."""
    sync = os.fsync

    def meanwhile(fd: int) -> None:
        (world.root / "a.txt").write_text("theirs")
        sync(fd)

    monkeypatch.setattr(os, "fsync", meanwhile)

    assert world.reason("file_write", path="a.txt", content="ours") == "exists"
    assert (world.root / "a.txt").read_text() == "theirs"
    assert names(world) == ["a.txt"]


@pytest.mark.parametrize("tool", ["file_write", "file_edit"])
def test_a_change_by_others_while_writing_is_not_overwritten(
    world: World, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    """The version is compared once more right before the renaming."""
    path = world.root / "a.txt"
    path.write_text("in")
    params: dict[str, dict[str, Any]] = {
        "file_write": {"content": "ours", "if_sha256": sha256(b"in")},
        "file_edit": {"old_text": "in", "new_text": "out"},
    }
    sync = os.fsync

    def meanwhile(fd: int) -> None:
        with open(path, "a") as file:
            file.write(" theirs")
        sync(fd)

    monkeypatch.setattr(os, "fsync", meanwhile)

    assert world.reason(tool, path="a.txt", **params[tool]) == "changed"
    assert path.read_text() == "in theirs"
    assert names(world) == ["a.txt"]


@pytest.mark.parametrize("new", [True, False], ids=["new file", "old file"])
def test_a_folder_moved_out_of_the_root_while_writing_gets_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, new: bool
) -> None:
    """The open folder is looked up again right before the renaming."""
    folder = world.root / "sub"
    folder.mkdir()
    if not new:
        (folder / "a.txt").write_text("old")
    sync = os.fsync

    def meanwhile(fd: int) -> None:
        if folder.exists():
            folder.rename(world.outside / "sub")
        sync(fd)

    monkeypatch.setattr(os, "fsync", meanwhile)

    assert world.reason("file_write", path="sub/a.txt", content="new", overwrite=True) == "changed"
    left = {path.name: path.read_text() for path in (world.outside / "sub").iterdir()}
    assert left == ({} if new else {"a.txt": "old"})


def test_a_folder_that_cannot_be_synced_does_not_turn_success_into_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def files_only(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(22, "Invalid argument")
        sync(fd)

    monkeypatch.setattr(os, "fsync", files_only)

    assert world.call("file_write", path="a.txt", content="x")["created"] is True


def test_a_renaming_that_was_done_and_reported_as_failed_is_a_success(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network file systems repeat a request whose answer got lost."""
    (world.root / "a.txt").write_text("old")
    rename = os.rename

    def twice(*args: Any, **kwargs: Any) -> None:
        rename(*args, **kwargs)
        rename(*args, **kwargs)

    monkeypatch.setattr(os, "rename", twice)

    assert world.call("file_write", path="a.txt", content="new", overwrite=True)["size"] == 3
    assert (world.root / "a.txt").read_text() == "new"
    assert names(world) == ["a.txt"]


def test_a_link_that_was_made_and_reported_as_failed_is_a_success(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def twice(*args: Any, **kwargs: Any) -> None:
        link(*args, **kwargs)
        link(*args, **kwargs)

    monkeypatch.setattr(os, "link", twice)

    assert world.call("file_write", path="a.txt", content="new")["created"] is True
    assert names(world) == ["a.txt"]


def test_a_draft_that_cannot_be_removed_does_not_turn_success_into_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        assert world.call("file_write", path="a.txt", content="new")["created"] is True

    assert (world.root / "a.txt").read_text() == "new"


@pytest.mark.parametrize("number", [22, 38, 95], ids=os.strerror)
@pytest.mark.parametrize("call", ["fsync", "fchmod"])
def test_what_a_file_system_does_not_have_is_not_missed(
    world: World, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """Shared folders and FAT have no modes, some no sync; a replaced file is then never more open than before."""

    def unsupported(*_: object) -> None:
        raise OSError(number, "not supported")

    (world.root / "a.txt").write_text("old")
    (world.root / "a.txt").chmod(0o644)
    monkeypatch.setattr(os, call, unsupported)

    world.call("file_write", path="a.txt", content="new", overwrite=True)
    world.call("file_append", path="a.txt", content="more")

    assert (world.root / "a.txt").read_text() == "new\nmore"
    assert stat.S_IMODE((world.root / "a.txt").stat().st_mode) == (0o600 if call == "fchmod" else 0o644)


@pytest.mark.parametrize("error", [5, 28, 122, 24, 13, 30], ids=os.strerror)
def test_no_fault_leaves_a_trace(world: World, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    (world.root / "a.txt").write_text("old")

    def fault(_: int) -> None:
        raise OSError(error, f"fault at {world.root}", str(world.root))

    monkeypatch.setattr(os, "fsync", fault)

    document = world.refusal("file_write", path="a.txt", content="new", overwrite=True)

    assert document["details"]["reason"] in {"io", "no_space", "permission"}
    assert str(world.root) not in document["error"]
    assert names(world) == ["a.txt"]
    assert (world.root / "a.txt").read_text() == "old"


# Appending


def test_text_is_added_on_a_line_of_its_own(world: World) -> None:
    path = world.root / "log.txt"

    first, second = {"path": "log.txt", "size": 3, "created": True}, {"path": "log.txt", "size": 8, "created": False}
    assert world.call("file_append", path="log.txt", content="one") == first
    assert world.call("file_append", path="log.txt", content="two\n") == second
    assert world.call("file_append", path="log.txt", content="three\n")["size"] == 14
    assert path.read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("before", "ensure_newline", "after"),
    [
        pytest.param("", True, "new", id="empty"),
        pytest.param("old", True, "old\nnew", id="no newline"),
        pytest.param("old\n", True, "old\nnew", id="newline"),
        pytest.param("old\r\n", True, "old\r\nnew", id="crlf"),
        pytest.param("old\r", True, "old\rnew", id="cr"),
        pytest.param("a\nold", True, "a\nold\nnew", id="no newline, lf before"),
        pytest.param("a\r\nold", True, "a\r\nold\r\nnew", id="no newline, crlf before"),
        pytest.param("a\rold", True, "a\rold\rnew", id="no newline, cr before"),
        pytest.param("\nold", True, "\nold\nnew", id="no newline, an empty first line"),
        pytest.param("\r\nold", True, "\r\nold\r\nnew", id="no newline, an empty first line with crlf"),
        pytest.param("a\r\nb\nold", True, "a\r\nb\nold\nnew", id="mixed, lf last"),
        pytest.param("a\nb\r\nold", True, "a\nb\r\nold\r\nnew", id="mixed, crlf last"),
        pytest.param("a\n\rold", True, "a\n\rold\rnew", id="mixed, cr last"),
        pytest.param("a\r\n" + "x" * 60_000, True, "a\r\n" + "x" * 60_000 + "\r\nnew", id="a long last line"),
        pytest.param("a\r\n" + "x" * 70_000, True, "a\r\n" + "x" * 70_000 + "\nnew", id="a very long last line"),
        pytest.param("\ufeff", True, "\ufeffnew", id="only a byte order mark"),
        pytest.param("\ufeff\n", True, "\ufeff\nnew", id="a byte order mark and an empty line"),
        pytest.param("\ufeffold", True, "\ufeffold\nnew", id="no newline, a byte order mark before"),
        pytest.param("old", False, "oldnew", id="not wanted"),
        pytest.param("a\r\nold", False, "a\r\noldnew", id="not wanted, crlf before"),
    ],
)
def test_a_missing_newline_is_added_first(world: World, before: str, ensure_newline: bool, after: str) -> None:
    (world.root / "a.txt").write_bytes(before.encode())

    world.call("file_append", path="a.txt", content="new", ensure_newline=ensure_newline)

    assert (world.root / "a.txt").read_bytes() == after.encode()


def test_a_missing_file_is_not_made_if_not_wanted(world: World) -> None:
    (world.root / "LOG.txt").write_text("x")

    document = world.refusal("file_append", path="log.txt", content="x", create=False)

    assert document["details"] == {"reason": "not_found", "suggestion": "LOG.txt"}
    assert names(world) == ["LOG.txt"]


def test_appending_keeps_the_file_itself(world: World) -> None:
    """Others may hold it open, as with logs; nothing is copied."""
    path = world.root / "a.txt"
    path.write_bytes(b"\xff\xfeold\n")
    path.chmod(0o640)
    before = path.stat()

    world.call("file_append", path="a.txt", content="new\n")

    after = path.stat()
    assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, before.st_size + 4)


def test_appending_does_not_grow_a_file_beyond_the_setting(world: World) -> None:
    (world.root / "a.txt").write_text("x" * 8)
    setting = {"max_file_bytes": 10}

    assert world.reason("file_append", setting, path="a.txt", content="yy") == "too_large"
    assert world.call("file_append", setting, path="a.txt", content="y")["size"] == 10


def test_a_stray_draft_of_a_killed_process_does_not_hinder(world: World) -> None:
    (world.root / ".clitool-0123456789ab.tmp").write_text("half")

    world.call("file_write", path="a.txt", content="x")
    world.call("file_write", path="a.txt", content="y", overwrite=True)

    assert (world.root / "a.txt").read_text() == "y"


def test_a_temporary_name_is_never_used_twice(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever guesses it can only make the write fail: a link there is not followed, a file not reused."""
    monkeypatch.setattr(os, "urandom", lambda count: b"\0" * count)
    trap = world.root / ".clitool-000000000000.tmp"
    trap.symlink_to("../outside/secret.txt")
    before = world.beyond()

    assert world.reason("file_write", path="a.txt", content="x") == "exists"
    assert world.beyond() == before
    assert trap.is_symlink()
