"""When an index is believed, when it is written, and that neither ever keeps a change from counting at once."""

from __future__ import annotations

import os
import stat
import struct
import time
from typing import TYPE_CHECKING, Any

import pytest
from command import TOKEN, client, digest, run, write_clients
from indexed import write_index
from processes import NOBODY, give_to_nobody, run_as_nobody, run_at_once

from clitool import client_index_file
from clitool.admin.token_list import Wish, issue
from clitool.client_index import IndexedClients
from clitool.client_index_file import keep
from clitool.clients import load
from clitool.clients_file import ClientsFile
from clitool.clients_yaml import load_all, parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OTHER = "another-token-of-the-tests"
BEFORE = {"clients": {"anna": client("x:y")}}
AFTER = {"clients": {"anna": client("x:y", token=OTHER)}}  # as many bytes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_clients(tmp_path / "c", BEFORE)


def is_indexed(path: Path, *, trust: bool = False) -> bool:
    return isinstance(load(str(path), trust=trust), IndexedClients)


def verify(path: Path, token: str = TOKEN) -> Any:
    return run("--clients", str(path), "verify", stdin=token.encode()).document["authenticated"]


# A revoked token stops working at the very next call.


def in_place(path: Path) -> None:
    write_clients(path.parent, AFTER)


def in_place_with_its_old_times(path: Path) -> None:
    before = path.stat()
    write_clients(path.parent, AFTER)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def by_another_file(path: Path) -> None:
    write_clients(path.parent / "new", AFTER).rename(path)


def by_another_file_with_the_same_times(path: Path) -> None:
    before = path.stat()
    new = write_clients(path.parent / "new", AFTER)
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.rename(path)
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def through_a_hard_link(path: Path) -> None:
    os.link(path, path.parent / "other-name")
    (path.parent / "other-name").write_text(write_clients(path.parent / "new", AFTER).read_text())


def by_a_link(path: Path) -> None:
    target = write_clients(path.parent / "new", AFTER)
    write_index(target)
    path.unlink()
    path.symlink_to(target)


CHANGES = [
    in_place,
    in_place_with_its_old_times,
    by_another_file,
    by_another_file_with_the_same_times,
    through_a_hard_link,
    by_a_link,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_revoked_token_is_refused_by_the_very_next_call(path: Path, change: Callable[[Path], None]) -> None:
    """An index must not outlive the file that it was made from, however that file is changed."""
    write_index(path)
    assert is_indexed(path)
    assert verify(path)
    size = path.stat().st_size

    change(path)

    assert path.stat().st_size == size
    assert not verify(path)
    assert verify(path, OTHER)


def test_a_link_that_is_switched_brings_the_index_of_its_new_target(tmp_path: Path) -> None:
    """Each of the two files has an index that is up to date; the one of the file that counts must be asked."""
    link = write_clients(tmp_path / "links", "x")
    for name, document in (("a", BEFORE), ("b", AFTER)):
        target = write_clients(tmp_path / name, document)
        write_index(target)
        link.unlink()
        link.symlink_to(target)
        assert is_indexed(link)
        assert verify(link, TOKEN) is (name == "a")
        assert verify(link, OTHER) is (name == "b")


def test_an_index_that_a_call_wrote_does_not_outlive_a_change(path: Path) -> None:
    """The same without a short way to the index."""
    time.sleep(2.1)
    assert verify(path)
    assert is_indexed(path)

    in_place_with_its_old_times(path)

    assert not verify(path)
    assert verify(path, OTHER)


def test_a_file_that_is_young_gets_no_index(path: Path) -> None:
    """It could change again without a trace in its times."""
    assert verify(path)

    assert os.listdir(path.parent) == ["clients.yaml"]


def test_a_file_whose_times_lie_in_the_future_gets_no_index(path: Path) -> None:
    os.utime(path, ns=(time.time_ns() + 10**12, time.time_ns() + 10**12))
    time.sleep(2.1)

    assert "less than 2 seconds" in load_all(str(path)).not_indexed
    assert os.listdir(path.parent) == ["clients.yaml"]


def keep_index(path: Path, meanwhile: Callable[[], object] = lambda: None, *, trust: bool = False) -> str:
    """Read a clients file as a call does, as if that were in a minute, with something happening before the writing."""
    read_at = time.time_ns() + 60 * 10**9
    with ClientsFile(str(path), trust=trust) as file:
        status = file.status()
        clients = parse(file.read(), str(path))
        meanwhile()
        return keep(file, clients, status, read_at)


def test_a_file_that_changes_while_it_is_read_gets_no_index(path: Path) -> None:
    """What was read is not what the file says now."""
    assert "while it was read" in keep_index(path, lambda: in_place_with_its_old_times(path))

    assert not verify(path)


def test_a_file_that_changes_while_its_index_is_written_has_none_that_counts(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last look at the file it can still change; then the index is about a file that is no more."""

    def replace(source: str, target: str) -> None:
        in_place_with_its_old_times(path)
        os.rename(source, target)

    with monkeypatch.context() as context:
        context.setattr(os, "replace", replace)
        assert keep_index(path) == ""

    assert index_of(path).exists()
    assert not is_indexed(path)
    assert not verify(path)


def test_the_clock_of_the_file_system_counts_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where another machine makes the times of files, this one's clock may be ahead of them."""
    monkeypatch.setattr(client_index_file, "time_ns", lambda: time.time_ns() + 60 * 10**9)

    assert "less than 2 seconds" in keep_index(path)

    assert os.listdir(path.parent) == ["clients.yaml"]


# Who may read the index, and who could have written it.


def index_of(path: Path) -> Path:
    return path.with_name("clients.yaml.index")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o440, 0o700], ids=oct)
@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777], ids=oct)
def test_the_index_has_the_readers_of_the_file_and_no_other(path: Path, mode: int, umask: int) -> None:
    """It holds what the file holds."""
    path.chmod(mode)
    before = os.umask(umask)
    try:
        assert keep_index(path) == ""
    finally:
        os.umask(before)

    assert stat.S_IMODE(index_of(path).stat().st_mode) == mode & 0o644
    assert is_indexed(path)


def test_nobody_can_read_the_index_while_it_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is opened early is read later."""
    seen = []

    def look(*_: object) -> bytes:
        [draft] = path.parent.glob(".*")
        seen.append((draft.name, stat.S_IMODE(draft.stat().st_mode), draft.stat().st_size))
        return b""

    monkeypatch.setattr(client_index_file, "_check_clock", look)
    monkeypatch.setattr(client_index_file, "content", look)
    path.chmod(0o640)
    keep_index(path)

    assert seen == [(".clients.yaml.index.tmp", 0o600, 0), (".clients.yaml.index.tmp", 0o640, 0)]


def test_a_file_of_roots_with_a_group_gives_both_to_its_index(as_root: None, shared_path: Path) -> None:
    """The service may read, and root alone may write."""
    path = write_clients(shared_path / "c", BEFORE)
    path.parent.chmod(0o755)
    os.chown(path, 0, NOBODY)
    path.chmod(0o640)

    assert keep_index(path) == ""

    found = index_of(path).stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (0, NOBODY, 0o640)
    assert run_as_nobody(lambda: is_indexed(path))


def test_an_index_of_another_owners_file_is_his(as_root: None, path: Path) -> None:
    os.chown(path, NOBODY, NOBODY)
    path.chmod(0o644)

    assert keep_index(path, trust=True) == ""

    found = index_of(path).stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (NOBODY, NOBODY, 0o644)
    assert is_indexed(path, trust=True)


def test_who_cannot_give_the_index_its_owner_writes_none(as_root: None, shared_path: Path) -> None:
    """Else a service could read by itself what root alone may change."""
    path = write_clients(shared_path / "c", BEFORE)
    give_to_nobody(str(path.parent))
    os.chown(path, 0, NOBODY)
    path.chmod(0o640)

    assert "owner" in run_as_nobody(lambda: keep_index(path))

    assert os.listdir(path.parent) == ["clients.yaml"]


def test_who_cannot_write_in_the_folder_gets_the_same_answers(as_root: None, shared_path: Path) -> None:
    path = write_clients(shared_path / "c", BEFORE)
    path.parent.chmod(0o755)
    os.chown(path, 0, NOBODY)
    path.chmod(0o640)

    assert "Permission denied" in run_as_nobody(lambda: keep_index(path))
    assert run_as_nobody(lambda: load(str(path)).find(digest(TOKEN)) is not None)

    assert os.listdir(path.parent) == ["clients.yaml"]


def access_list(*entries: tuple[int, int, int]) -> bytes:
    """A list of (tag, permissions, id), as Linux keeps it."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NO_ID = 2**32 - 1
OWNER, USER, GROUP, MASK, OTHERS = 1, 2, 4, 16, 32


def set_access_list(path: Path, kind: str, *entries: tuple[int, int, int]) -> None:
    try:
        os.setxattr(path, f"system.posix_acl_{kind}", access_list(*entries))
    except (AttributeError, OSError):
        assert not os.environ.get("CI"), "CI needs a file system with access lists"
        pytest.skip("needs a file system with access lists")


@pytest.mark.parametrize("write", ["index", "file"])
def test_an_access_list_of_the_folder_lets_nobody_else_read(path: Path, write: str) -> None:
    """Whatever is made in such a folder inherits its list; the file itself may be older than that."""
    path.chmod(0o640)
    everyone = [(OWNER, 7, NO_ID), (USER, 4, NOBODY), (GROUP, 5, NO_ID), (MASK, 7, NO_ID), (OTHERS, 0, NO_ID)]
    set_access_list(path.parent, "default", *everyone)

    if write == "index":
        assert keep_index(path) == ""
    else:
        issue(str(path), Wish("anna"))

    written = index_of(path) if write == "index" else path
    assert not os.listxattr(written)
    assert stat.S_IMODE(written.stat().st_mode) == 0o640


def test_an_access_list_of_the_file_is_given_to_its_index(path: Path) -> None:
    entries = [(OWNER, 6, NO_ID), (USER, 4, NOBODY), (GROUP, 0, NO_ID), (MASK, 4, NO_ID), (OTHERS, 0, NO_ID)]
    set_access_list(path, "access", *entries)

    assert keep_index(path) == ""

    assert os.getxattr(index_of(path), "system.posix_acl_access") == access_list(*entries)
    assert is_indexed(path)


def as_link(index: Path) -> None:
    index.rename(index.with_name("elsewhere"))
    index.symlink_to("elsewhere")


def as_fifo(index: Path) -> None:
    index.unlink()
    os.mkfifo(index, 0o600)


def as_folder(index: Path) -> None:
    index.unlink()
    index.mkdir()


NOT_BELIEVED = [
    pytest.param(lambda index: index.chmod(0o620), id="its group may write it"),
    pytest.param(lambda index: index.chmod(0o602), id="everyone may write it"),
    pytest.param(lambda index: index.chmod(0o640), id="more may read it than the file"),
    pytest.param(as_link, id="a link"),
    pytest.param(as_fifo, id="a pipe"),
    pytest.param(as_folder, id="a folder"),
    pytest.param(lambda index: index.parent.chmod(0o1777), id="a sticky folder"),
]


@pytest.mark.parametrize("spoil", NOT_BELIEVED)
def test_an_index_that_somebody_else_could_have_written_is_not_believed(
    path: Path, spoil: Callable[[Path], object]
) -> None:
    """Whoever writes the index grants himself everything. This one says that anybody is anna."""
    twin = parse(path.read_bytes().replace(digest(TOKEN).encode(), digest(OTHER).encode()), str(path))
    index = index_of(path)
    index.touch(0o600)
    index.write_bytes(client_index_file.content(twin, client_index_file.identity(path.stat())))
    assert verify(path, OTHER)

    spoil(index)

    assert not verify(path, OTHER)
    assert verify(path)


def test_an_index_of_a_stranger_is_not_believed(as_root: None, path: Path) -> None:
    index = write_index(path)
    os.chown(index, NOBODY, NOBODY)

    assert not is_indexed(path)


def test_a_sticky_folder_gets_no_index(path: Path) -> None:
    path.parent.chmod(0o1777)

    assert "others may write" in keep_index(path)

    assert os.listdir(path.parent) == ["clients.yaml"]


# Whatever goes wrong, nothing is left that grows, and no call fails.


def test_what_a_killed_process_left_is_used_again_after_a_minute(path: Path) -> None:
    draft = path.with_name(".clients.yaml.index.tmp")
    draft.write_text("half")

    assert "another process" in keep_index(path)
    os.utime(draft, (time.time() - 61, time.time() - 61))
    assert keep_index(path) == ""

    assert sorted(os.listdir(path.parent)) == ["clients.yaml", "clients.yaml.index"]
    assert is_indexed(path)


def test_a_disk_that_is_full_is_no_fault_of_the_call(path: Path) -> None:
    index = write_index(path)
    old = index.read_bytes()[:-1]
    index.write_bytes(old)

    def on_a_full_disk(_: int) -> Any:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        return keep_index(path), load(str(path)).find(digest(TOKEN)) is not None

    [(why, found)] = run_at_once(on_a_full_disk, 1)

    assert "cannot write" in why
    assert found
    assert sorted(os.listdir(path.parent)) == ["clients.yaml", "clients.yaml.index"]
    assert index.read_bytes() == old


def test_many_processes_can_write_and_read_it_at_once(path: Path) -> None:
    def attempt(number: int) -> set[Any]:
        found = set()
        for _ in range(20):
            if number % 2:
                keep_index(path)
                index_of(path).write_bytes(b"damaged")
            clients = load(str(path))
            answer = clients.find(digest(TOKEN))
            found.add((answer and answer[0].name, clients.find(digest(OTHER))))
        return found

    assert run_at_once(attempt, 8) == [{("anna", None)}] * 8
    assert set(os.listdir(path.parent)) <= {"clients.yaml", "clients.yaml.index"}


@pytest.mark.parametrize("damage", [b"", b"x" * 5000], ids=["cut", "overwritten"])
def test_an_index_is_mended_by_the_call_that_finds_it_damaged(path: Path, damage: bytes) -> None:
    index = write_index(path)
    whole = index.read_bytes()
    buckets = whole.index(b"}", whole.index(b'"buckets"')) + 1  # the header stays intact
    index.write_bytes(whole[:buckets] + damage)
    time.sleep(2.1)

    assert verify(path)

    assert index.read_bytes() == whole
