"""The jail by itself: paths taken apart by their spelling, and walked name by name."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import closing
from pathlib import Path
from stat import S_ISLNK
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clitool.errors import ClitoolError, ExecutionError, InvalidParams, code_of
from clitool.jail import Jail, locate, locate_file, refusal, show, visible
from clitool.tool import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable

QUIETLY = settings(deadline=None, derandomize=True, max_examples=300)
SECRET = "SECRET"


def plant(base: Path) -> Path:
    """Make a root with a file, a folder and links out of it, beside a secret; return the root."""
    root = base / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("inside")
    (root / "sub" / "b.txt").write_text("inside")
    (root / "sub" / "deep" / "c.txt").write_text("inside")
    (base / "outside").mkdir()
    (base / "outside" / "a.txt").write_text(SECRET)
    links = {"dir": "../outside", "up": "..", "all": "/", "link.txt": "../outside/a.txt", "in": "sub"}
    for name, target in links.items():
        (root / name).symlink_to(target)
        (root / "sub" / name).symlink_to(f"../{target}")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path)


def content(jail: Jail, path: str) -> str:
    location = locate_file(path)
    with jail.parent(location) as folder, folder.open(location.name) as file:
        return file.read().decode()


def refused(action: Callable[[], object]) -> ClitoolError | None:
    """Return the error that ended `action`, None if none did."""
    try:
        action()
    except ClitoolError as error:
        return error
    return None


# Spelling


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        pytest.param("a", ("a",), id="name"),
        pytest.param("a/b/c.txt", ("a", "b", "c.txt"), id="names"),
        pytest.param("./a/./b//c/", ("a", "b", "c"), id="dots and slashes"),
        pytest.param(".", (), id="dot"),
        pytest.param("./", (), id="dot slash"),
        pytest.param("/srv/jail/a", ("a",), id="absolute"),
        pytest.param("//srv/./jail//a", ("a",), id="absolute with dots and slashes"),
        pytest.param("/srv/jail", (), id="the root"),
        pytest.param("/private/srv/jail/a", ("a",), id="resolved root"),
        pytest.param("...", ("...",), id="three dots"),
        pytest.param(".hidden", (".hidden",), id="hidden"),
        pytest.param("-rf", ("-rf",), id="like an option"),
        pytest.param("~", ("~",), id="home"),
        pytest.param("a b\u00a0c\u202fd", ("a b\u00a0c\u202fd",), id="blanks"),
        pytest.param("12:30 report.txt", ("12:30 report.txt",), id="colon"),
        pytest.param("\u06a9\u200c\u0647", ("\u06a9\u200c\u0647",), id="Persian joiner"),
        pytest.param("👨\u200d👩\u200d👧", ("👨\u200d👩\u200d👧",), id="emoji joiner"),
        pytest.param("console.txt", ("console.txt",), id="begins like a reserved name"),
        pytest.param("com10", ("com10",), id="longer than a reserved name"),
        pytest.param("x" * 255, ("x" * 255,), id="longest name"),
        pytest.param("é" * 127, ("é" * 127,), id="longest name in two-byte letters"),
    ],
)
def test_a_path_is_taken_apart_literally(path: str, parts: tuple[str, ...]) -> None:
    location = locate(path, ("/srv/jail", "/private/srv/jail"))

    assert location.parts == parts
    assert str(location) == ("/".join(parts) or ".")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        pytest.param("/srv/jail", "is_directory", id="the root"),
        pytest.param(".", "is_directory", id="dot"),
        pytest.param("a/", "bad_path", id="slash"),
        pytest.param("a/.", "bad_path", id="slash dot"),
        pytest.param("/srv/jailling/a", "outside_root", id="longer name than the root"),
        pytest.param("/srv", "outside_root", id="above the root"),
        pytest.param("/", "outside_root", id="slash alone"),
        pytest.param("/srv/jail/../jail/a", "outside_root", id="leaves and returns"),
        pytest.param("/srv/x/../jail/a", "outside_root", id="reaches the root by dots"),
        pytest.param("a/../b", "outside_root", id="dot dot"),
        pytest.param("a/b/" + "../" * 2 + "c", "outside_root", id="dots that stay inside"),
        pytest.param("a\0/../b", "bad_path", id="the spelling is looked at first"),
    ],
)
def test_a_path_that_means_no_file_here_is_refused(path: str, reason: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        locate_file(path, ("/srv/jail",))

    assert caught.value.reason == reason


def test_without_a_spelling_of_the_root_no_absolute_path_is_accepted() -> None:
    for roots in ((), ("/",), ("",)):
        with pytest.raises(InvalidParams, match="outside"):
            locate("/etc/passwd", roots)


PIECES = st.sampled_from(
    [
        "..",
        ".",
        "",
        "a.txt",
        "sub",
        "dir",
        "up",
        "all",
        "in",
        "link.txt",
        "deep",
        "b.txt",
        "c.txt",
        "outside",
        "root",
        "etc",
        "passwd",
        "...",
        ".. ",
        "\uff0e\uff0e",
        "%2e%2e",
        "..\\",
        "..\0",
        "~",
        "nul",
    ]
)
PATHS = st.one_of(
    st.lists(PIECES, max_size=7).map("/".join),
    st.lists(PIECES, max_size=7).map(lambda pieces: "/" + "/".join(pieces)),
    st.lists(PIECES, max_size=5).map(lambda pieces: "{root}/" + "/".join(pieces)),
    st.text(max_size=12),
    st.text("./\\~a\u2024\uff0f", max_size=12),
)


@QUIETLY
@given(PATHS)
@example("up/outside/a.txt")
@example("{root}/../outside/a.txt")
def test_whatever_the_path_what_is_opened_lies_inside(path: str) -> None:
    """Compared by identity: the file that was opened is one of those below the root."""
    with tempfile.TemporaryDirectory() as base:
        root = plant(Path(base))
        path = path.replace("{root}", str(root))
        inside = {status.st_ino for status in map(os.lstat, [root, *root.rglob("*")]) if not S_ISLNK(status.st_mode)}
        opened = []
        with closing(Jail(str(root))) as jail:

            def folder() -> None:
                with jail.folder(locate(path, (str(root),))) as folder:
                    opened.append(os.fstat(folder.fd).st_ino)

            def file() -> None:
                location = locate_file(path, (str(root),))
                with jail.parent(location) as folder, folder.open(location.name) as file:
                    opened.append(os.fstat(file.fileno()).st_ino)

            errors = [error for error in map(refused, (folder, file)) if error]

        assert set(opened) <= inside
        assert len(opened) + len(errors) == 2
        assert not [error for error in errors if str(root) in str(error).replace(show(path), "")]


@QUIETLY
@given(PATHS)
def test_whatever_the_path_what_is_made_lies_inside(path: str) -> None:
    """Also with the folders on the way made."""
    with tempfile.TemporaryDirectory() as base:
        root = plant(Path(base))
        before = sorted(os.walk(Path(base) / "outside"))
        with closing(Jail(str(root))) as jail:

            def make() -> None:
                location = locate_file(path.replace("{root}", str(root)), (str(root),))
                with jail.entry(location, make_parents=True) as entry:
                    entry.create(b"new")
                assert root.joinpath(*location.parts).read_bytes() == b"new"

            refused(make)
        assert sorted(os.walk(Path(base) / "outside")) == before
        assert sorted(os.listdir(base)) == ["outside", "root"]
        assert (Path(base) / "outside" / "a.txt").read_text() == SECRET


@QUIETLY
@given(st.text(max_size=40))
def test_whatever_the_path_a_refusal_is_one_printable_line(path: str) -> None:
    error = refused(lambda: locate_file(path))

    assert error is None or str(error).isprintable()
    assert error is None or error.reason in {"bad_path", "outside_root", "is_directory"}


@QUIETLY
@given(st.binary(min_size=1, max_size=20).filter(lambda name: b"/" not in name and b"\0" not in name))
def test_a_name_is_shown_as_it_is_or_with_a_backslash(raw: bytes) -> None:
    """And two names are never shown alike."""
    name = raw.decode("utf-8", "surrogateescape")
    shown = visible(name)

    assert shown.encode()
    assert ("\\" in shown) == (shown != name)
    if shown != name:
        back = shown.encode("ascii", "backslashreplace")
        assert b"\n" not in back
        with pytest.raises(InvalidParams):
            locate(shown)


def test_a_long_path_is_shown_cut() -> None:
    assert len(show("x" * 10_000)) < 250


# Walking


def test_a_file_is_read_below_the_root(root: Path) -> None:
    with closing(Jail(str(root))) as jail:
        assert content(jail, "a.txt") == "inside"
        assert content(jail, "sub/deep/c.txt") == "inside"


@pytest.mark.parametrize(
    "path", ["dir/a.txt", "up/outside/a.txt", "all/etc/passwd", "link.txt", "in/b.txt", "sub/dir/a.txt"]
)
def test_no_link_is_followed(root: Path, path: str) -> None:
    """Not even one that stays inside: what it leads to can change."""
    with closing(Jail(str(root))) as jail, pytest.raises(InvalidParams) as caught:
        content(jail, path)

    assert caught.value.reason == "symlink"


def test_the_root_itself_may_be_a_link_and_is_resolved_once(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to("root")
    with closing(Jail(str(link))) as jail:
        link.unlink()
        link.symlink_to("outside")

        assert content(jail, "a.txt") == "inside"


def test_the_root_stays_the_same_folder_when_it_is_moved(root: Path) -> None:
    with closing(Jail(str(root))) as jail:
        root.rename(root.parent / "moved")
        (root.parent / "outside").rename(root)

        assert content(jail, "a.txt") == "inside"


@pytest.mark.parametrize(
    ("path", "word"),
    [
        pytest.param("/", "whole file system", id="slash"),
        pytest.param("/..", "whole file system", id="above the top"),
        pytest.param("{base}/root/all", "whole file system", id="link to the top"),
        pytest.param("{base}/none", "does not exist", id="missing"),
        pytest.param("{base}/root/a.txt", "is not a folder", id="file"),
        pytest.param("{base}/root\0", "cannot be opened", id="NUL"),
    ],
)
def test_a_root_that_is_no_folder_of_its_own_is_refused(root: Path, path: str, word: str) -> None:
    with pytest.raises(ExecutionError, match=word) as caught:
        Jail(path.format(base=root.parent))

    assert caught.value.reason == "settings"
    assert "root_path" in str(caught.value)


def test_closing_is_harmless_when_repeated(root: Path) -> None:
    jail = Jail(str(root))
    jail.close()
    reader, writer = os.pipe()
    jail.close()

    os.write(writer, b"x")  # a descriptor that got the number meanwhile is still open
    assert os.read(reader, 1) == b"x"
    os.close(reader)
    os.close(writer)


def test_a_deep_path_is_walked(root: Path) -> None:
    """Deeper than a path that the system would take at once."""
    path = "/".join(["folder-with-a-long-name"] * 170)
    with closing(Jail(str(root))) as jail:
        with jail.entry(locate_file(f"{path}/x"), make_parents=True) as entry:
            entry.create(b"deep")

        assert content(jail, f"{path}/x") == "deep"


def test_a_root_that_is_deleted_is_missing_for_every_path(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with closing(Jail(str(tmp_path / "root"))) as jail:
        (tmp_path / "root").rmdir()

        with pytest.raises(ExecutionError) as caught, jail.entry(locate_file("a")) as entry:
            entry.create(b"x")

    assert caught.value.reason == "not_found"


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOENT, "not_found"),
        (errno.EEXIST, "exists"),
        (errno.EACCES, "permission"),
        (errno.EPERM, "permission"),
        (errno.EROFS, "permission"),
        (errno.ENOSPC, "no_space"),
        (errno.EDQUOT, "no_space"),
        (errno.EFBIG, "no_space"),
        (errno.ELOOP, "symlink"),
        (errno.ENOTDIR, "not_directory"),
        (errno.EISDIR, "is_directory"),
        (errno.ENXIO, "not_regular"),
        (errno.ENAMETOOLONG, "bad_path"),
        (errno.EILSEQ, "bad_path"),
        (errno.EIO, "io"),
        (errno.EMFILE, "io"),
        (errno.ESTALE, "io"),
        (99999, "io"),
    ],
)
def test_every_fault_of_the_system_has_a_reason_and_no_path(number: int, reason: str) -> None:
    """The system's own sentence may name the root; ours never does."""
    error = refusal(OSError(number, "at /srv/jail", "/srv/jail/a"), "'a'")

    assert error.reason == reason
    assert code_of(reason) == error.code
    assert str(error).startswith("'a': ")
    assert "/srv" not in str(error)


def test_a_fault_inside_the_with_becomes_the_error_for_the_caller(root: Path) -> None:
    with closing(Jail(str(root))) as jail:
        with pytest.raises(ExecutionError, match=r"'a\.txt'"), jail.parent(locate_file("a.txt")):
            raise OSError(errno.EIO, "broken", str(root))
        with pytest.raises(KeyError), jail.parent(locate_file("a.txt")):
            raise KeyError


# Changing


def test_an_entry_is_created_replaced_extended_and_removed(root: Path) -> None:
    """What the file tools and the attachments of mails are made with."""
    with closing(Jail(str(root))) as jail, jail.entry(locate_file("sub/new.txt")) as entry:
        entry.lock(Deadline(5))
        assert entry.file() is None
        entry.create(b"one")
        old = entry.file()
        assert old is not None
        entry.replace(b"two", old, unchanged=True)
        assert entry.append(b"three", ensure_newline=True, most=100) == 9
        assert (root / "sub" / "new.txt").read_text() == "two\nthree"
        now = entry.file()
        assert now is not None
        entry.remove(now)
        assert entry.file() is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: path.write_text("longer than before"), id="size"),
        pytest.param(lambda path: os.utime(path, ns=(1, 1)), id="time"),
        pytest.param(lambda path: path.chmod(0o600), id="mode"),
        pytest.param(lambda path: (path.unlink(), path.write_text("inside")), id="another file"),
        pytest.param(lambda path: path.unlink(), id="gone"),
        pytest.param(lambda path: (path.unlink(), path.symlink_to("sub/b.txt")), id="link"),
    ],
)
def test_a_file_that_is_no_longer_what_was_seen_is_not_replaced(root: Path, change: Callable[[Path], object]) -> None:
    with closing(Jail(str(root))) as jail:
        with jail.entry(locate_file("a.txt")) as entry:
            old = entry.file()
        assert old is not None
        change(root / "a.txt")

        with pytest.raises(ClitoolError) as replaced, jail.entry(locate_file("a.txt")) as entry:
            entry.replace(b"new", old, unchanged=True)
        with pytest.raises(ClitoolError) as removed, jail.entry(locate_file("a.txt")) as entry:
            entry.remove(old)

    assert replaced.value.reason in {"changed", "symlink"}
    assert removed.value.reason == "changed"
    assert not [name for name in os.listdir(root) if name.startswith(".clitool")]


def test_a_file_with_a_second_name_is_not_opened(root: Path) -> None:
    """It may be one of outside, put there by a link that the system permits."""
    os.link(root.parent / "outside" / "a.txt", root / "hard.txt")
    with closing(Jail(str(root))) as jail, pytest.raises(InvalidParams) as caught:
        content(jail, "hard.txt")

    assert caught.value.reason == "hardlink"
