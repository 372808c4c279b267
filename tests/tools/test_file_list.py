"""Listing: complete, in a stable order, in parts of bounded size, and without following anything."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.file import family, walk
from clitool_tools.file.list import FileList
from contexts import make_context
from file_world import PARAMS, World
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import give_to_nobody, run_as_nobody

if TYPE_CHECKING:
    from collections.abc import Iterator

TREE = ["a.txt", "b/", "b/c.txt", "b/d/", "b/d/e.txt", "b/d/f/", "b/d/f/g.txt", "h/", ".hidden", ".git/", ".git/config"]


def plant(world: World, names: list[str]) -> None:
    for name in names:
        path = world.root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")


def paths(answer: dict[str, Any]) -> list[str]:
    return [entry["path"] for entry in answer["entries"]]


def all_pages(world: World, **params: Any) -> list[str]:
    answer = world.call("file_list", **params)
    found = paths(answer)
    while answer["truncated"]:
        answer = world.call("file_list", **params, cursor=answer["next_cursor"])
        found += paths(answer)
    assert answer["next_cursor"] is None
    return found


def test_each_entry_says_what_it_is(trapped: World) -> None:
    os.utime(trapped.root / "a.txt", (0, 86400.5))

    entries = {entry["path"]: entry for entry in trapped.call("file_list")["entries"]}

    assert entries["a.txt"] == {"path": "a.txt", "type": "file", "size": 7, "modified": "1970-01-02T00:00:00Z"}
    assert (entries["sub"]["type"], entries["sub"]["size"]) == ("directory", None)
    assert {entries[name]["type"] for name in ("pipe.txt", "zero.txt", "sock.txt")} == {"other"}


def test_links_are_named_and_not_followed(trapped: World) -> None:
    """Neither what they lead to nor its size is told."""
    answer = trapped.call("file_list", depth=10)

    links = {entry["path"] for entry in answer["entries"] if entry["type"] == "symlink"}
    assert {"abs.txt", "dir", "loop1", "dangling.txt", "up.txt", "slash"} <= links
    assert all(entry["size"] is None for entry in answer["entries"] if entry["type"] == "symlink")
    assert not [path for path in paths(answer) if path.startswith(("dir/", "up.txt/", "slash/", "inner/"))]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param(b"bad\xff.txt", r"bad\xff.txt", id="no UTF-8"),
        pytest.param(b"nl\nx.txt", r"nl\nx.txt", id="newline"),
        pytest.param(b"\x1b[2J.txt", r"\x1b[2J.txt", id="terminal escape"),
        pytest.param("rtl\u202etxt.exe".encode(), r"rtl\u202etxt.exe", id="right-to-left override"),
        pytest.param(b"back\\slash", r"back\\slash", id="backslash"),
        pytest.param(b"\\xff", r"\\xff", id="looks escaped"),
        pytest.param("tag\U000e0041".encode(), r"tag\U000e0041", id="tag character"),
        pytest.param("größe 北京 🙂".encode(), "größe 北京 🙂", id="ordinary letters"),
        pytest.param("a\u00a0b\u202fc".encode(), "a\u00a0b\u202fc", id="blanks"),
        pytest.param("\u06a9\u200c\u0647".encode(), "\u06a9\u200c\u0647", id="Persian"),
        pytest.param(b"nul", "nul", id="reserved name"),
    ],
)
def test_a_name_that_no_tool_accepts_is_shown_escaped(world: World, name: bytes, shown: str) -> None:
    """A listing is safe for terminals and JSON; a shown name is either usable or has a backslash."""
    with open(os.path.join(os.fsencode(world.root), name), "w"):
        pass

    assert paths(world.call("file_list")) == [shown]
    if "\\" in shown:
        assert world.reason("file_read", path=shown) == "bad_path"
    elif shown != "nul":
        assert world.call("file_read", path=shown)["content"] == ""


def test_entries_come_level_by_level_and_by_name(world: World) -> None:
    plant(world, TREE)

    assert paths(world.call("file_list", depth=64)) == [
        ".git",
        ".hidden",
        "a.txt",
        "b",
        "h",
        ".git/config",
        "b/c.txt",
        "b/d",
        "b/d/e.txt",
        "b/d/f",
        "b/d/f/g.txt",
    ]
    assert paths(world.call("file_list")) == [".git", ".hidden", "a.txt", "b", "h"]
    assert paths(world.call("file_list", path="b", depth=2)) == ["b/c.txt", "b/d", "b/d/e.txt", "b/d/f"]


# id -> (parameters, what is found in TREE)
PATTERNS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a name, in the folder alone": ({"pattern": "*.txt"}, ["a.txt"]),
    "a name, as deep as depth says": ({"pattern": "*.txt", "depth": 3}, ["a.txt", "b/c.txt", "b/d/e.txt"]),
    "a path of two names": ({"pattern": "b/*.txt"}, ["b/c.txt"]),
    "a path of three names": ({"pattern": "b/*/*.txt"}, ["b/d/e.txt"]),
    "a path of names that are patterns": ({"pattern": "*/*"}, [".git/config", "b/c.txt", "b/d"]),
    "a path, with a smaller depth": ({"pattern": "b/d/f/g.txt", "depth": 2}, ["b/d/f/g.txt"]),
    "a path, with a larger depth": ({"pattern": "*/*.txt", "depth": 9}, ["b/c.txt"]),
    "a path below the path": ({"path": "b", "pattern": "d/*"}, ["b/d/e.txt", "b/d/f"]),
    "a path spelt from the start": ({"pattern": "./b/*.txt"}, ["b/c.txt"]),
    "a folder with a slash": ({"pattern": "b/"}, ["b"]),
    "any depth": ({"pattern": "**/*.txt"}, ["a.txt", "b/c.txt", "b/d/e.txt", "b/d/f/g.txt"]),
    "any depth in a folder": ({"pattern": "b/**"}, ["b", "b/c.txt", "b/d", "b/d/e.txt", "b/d/f", "b/d/f/g.txt"]),
    "any depth in the middle": ({"pattern": "b/**/g.txt"}, ["b/d/f/g.txt"]),
    "any depth below the path": ({"path": "b/d", "pattern": "**/*.txt"}, ["b/d/e.txt", "b/d/f/g.txt"]),
    "everything": (
        {"pattern": "**"},
        [".git", ".hidden", "a.txt", "b", "h", ".git/config", "b/c.txt", "b/d", "b/d/e.txt", "b/d/f", "b/d/f/g.txt"],
    ),
    "two stars in a name": ({"pattern": "a**"}, ["a.txt"]),
    "a folder that is not there": ({"pattern": "nosuch/*.txt"}, []),
    "a file as a folder": ({"pattern": "a.txt/*"}, []),
}


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in PATTERNS.items()])
def test_a_pattern_looks_as_deep_as_it_says(world: World, row: tuple[dict[str, Any], list[str]]) -> None:
    plant(world, TREE)
    params, expected = row

    assert paths(world.call("file_list", **params)) == expected
    assert all_pages(world, **params, limit=1) == expected


def test_a_pattern_does_not_look_where_nothing_can_fit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names looked at are bounded, so they must not be those of other folders."""
    plant(world, ["b/c.txt", *(f"x/{number}" for number in range(50))])
    monkeypatch.setattr(walk, "MOST_SCANNED", 10)

    assert paths(world.call("file_list", pattern="b/*.txt")) == ["b/c.txt"]
    assert world.reason("file_list", pattern="**/*.txt") == "too_large"


def test_a_pattern_follows_no_link(trapped: World) -> None:
    """Neither one that it names nor one that it finds."""
    for pattern in ("dir/*", "inner/*", "**/secret.txt", "up.txt/**/secret.txt"):
        assert [path for path in paths(trapped.call("file_list", pattern=pattern)) if "/" in path] == []


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 11, 12, 1000])
@pytest.mark.parametrize("pattern", [None, "*.txt", "**/d/**"], ids=str)
def test_pages_join_to_the_whole(world: World, limit: int, pattern: str | None) -> None:
    plant(world, TREE)
    whole = paths(world.call("file_list", depth=9, pattern=pattern))

    assert all_pages(world, depth=9, pattern=pattern, limit=limit) == whole
    assert len(paths(world.call("file_list", depth=9, pattern=pattern, limit=limit))) == min(limit, len(whole))


def test_pages_go_on_after_names_that_cannot_be_shown(trapped: World) -> None:
    assert all_pages(trapped, depth=3, limit=1) == paths(trapped.call("file_list", depth=3))


def test_the_setting_bounds_an_answer(world: World) -> None:
    plant(world, [f"{number}.txt" for number in range(20)])

    answer = world.call("file_list", {"max_entries": 5}, limit=1_000_000)

    assert len(answer["entries"]) == 5
    assert answer["truncated"] is True


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda cursor: cursor[:-2], id="shortened"),
        pytest.param(lambda cursor: cursor + "61", id="lengthened"),
        pytest.param(lambda cursor: cursor.upper(), id="other spelling"),
        pytest.param(lambda cursor: " " + cursor, id="blank"),
        pytest.param(lambda cursor: ("0" if cursor[0] != "0" else "1") + cursor[1:], id="other check"),
        pytest.param(lambda cursor: cursor[:-1] + ("0" if cursor[-1] != "0" else "1"), id="other place"),
        pytest.param(lambda _: "0" * 16, id="no place"),
        pytest.param(lambda _: "not hex", id="no cursor"),
        pytest.param(lambda _: "é", id="no ASCII"),
        pytest.param(lambda _: "ab" * 20_000, id="long"),
    ],
)
def test_a_cursor_that_is_not_ours_is_refused(world: World, spoil: Any) -> None:
    plant(world, TREE)
    cursor = world.call("file_list", limit=2)["next_cursor"]

    assert world.reason("file_list", limit=2, cursor=spoil(cursor)) == "bad_cursor"


@pytest.mark.parametrize(
    "other", [{"path": "b"}, {"depth": 2}, {"pattern": "*"}, {"path": "b", "pattern": "*"}], ids=" ".join
)
def test_a_cursor_belongs_to_its_question(world: World, other: dict[str, Any]) -> None:
    plant(world, TREE)
    cursor = world.call("file_list", limit=2)["next_cursor"]

    assert world.reason("file_list", limit=2, cursor=cursor, **other) == "bad_cursor"
    assert world.call("file_list", limit=3, cursor=cursor)["entries"]


def test_a_cursor_goes_on_after_an_entry_that_is_gone(world: World) -> None:
    plant(world, ["a", "b", "c", "d"])
    cursor = world.call("file_list", limit=2)["next_cursor"]
    (world.root / "b").unlink()
    (world.root / "a2").write_text("x")

    assert paths(world.call("file_list", cursor=cursor)) == ["c", "d"]


@pytest.mark.parametrize("tool", ["file_list", "file_search"])
@pytest.mark.parametrize(
    ("path", "said", "suggestion"),
    [
        pytest.param("nosuch", "'nosuch' does not exist", None, id="missing"),
        pytest.param("nosuch/", "'nosuch/' does not exist", None, id="missing, with a slash"),
        pytest.param("b/nosuch", "'b/nosuch' does not exist", None, id="missing below"),
        pytest.param("no/such", "'no/such': a folder of this path does not exist", None, id="missing on the way"),
        pytest.param("B", "'B' does not exist; did you mean 'b'?", "b", id="a folder in other letter case"),
        pytest.param("b/D", "'b/D' does not exist; did you mean 'b/d'?", "b/d", id="a folder below"),
        pytest.param("A.txt", "'A.txt' does not exist; did you mean 'a.txt'?", "a.txt", id="a file"),
        pytest.param(".GIT", "'.GIT' does not exist; did you mean '.git'?", ".git", id="a hidden folder"),
        pytest.param(".Hidden", "'.Hidden' does not exist", None, id="a file that is not for this client"),
    ],
)
def test_a_missing_path_is_said_to_be_missing(
    world: World, tool: str, path: str, said: str, suggestion: str | None
) -> None:
    plant(world, TREE)
    params = {"path": path, **PARAMS[tool]}

    document = world.refusal(tool, {"allowed_extensions": ["txt"]}, **params)

    assert document["error"] == said
    assert document["details"] == {"reason": "not_found"} | ({"suggestion": suggestion} if suggestion else {})


@pytest.fixture
def roomy_world() -> Iterator[World]:
    """A world in memory where there is such a disk: it makes and removes many files quickly."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield World(Path(folder) / "world")


def test_200_thousand_entries_are_listed_in_bounded_parts(roomy_world: World) -> None:
    """Neither the answer nor the memory grows with the folder without limit."""
    world = roomy_world
    here = os.open(world.root, os.O_RDONLY)
    for number in range(200_000):
        os.close(os.open(f"{number:06}.txt", os.O_CREAT, dir_fd=here))
    os.close(here)

    first = world.call("file_list")
    second = world.call("file_list", cursor=first["next_cursor"], limit=2)

    assert len(first["entries"]) == 1000
    assert first["truncated"] is True
    assert paths(second) == ["001000.txt", "001001.txt"]


def test_a_folder_with_too_many_entries_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum over all folders of one call is bounded."""
    plant(world, [f"{folder}/{number}" for folder in "abc" for number in range(5)])
    monkeypatch.setattr(walk, "MOST_SCANNED", 10)

    assert world.reason("file_list", depth=2) == "too_large"
    assert len(world.call("file_list", path="a")["entries"]) == 5


def test_a_listing_ends_at_the_deadline(world: World) -> None:
    from clitool.errors import ExecutionError

    plant(world, TREE)
    context = make_context(family, {"root_path": str(world.root)}, seconds=0)

    with pytest.raises(ExecutionError, match="too long"):
        FileList(context).execute()
    context.close()


def test_folders_that_may_not_be_read_are_named_and_passed_over(shared_world: World) -> None:
    """One closed folder does not hide the others."""
    world = shared_world
    plant(world, ["open/a.txt", "shut/b.txt", "names/c.txt"])
    (world.root / "shut").chmod(0o700)
    (world.root / "names").chmod(0o744)

    def look() -> tuple[list[str], str, str]:
        (world.root / "shut").exists()
        return (
            paths(world.call("file_list", depth=2)),
            world.reason("file_list", path="shut"),
            world.reason("file_list", path="names"),
        )

    world.call("file_list", depth=2)
    give_to_nobody(str(world.root / "open"))
    assert run_as_nobody(look) == (["names", "open", "shut", "open/a.txt"], "permission", "permission")


def test_dates_that_no_calendar_has_are_left_out(world: World) -> None:
    plant(world, ["a.txt"])
    os.utime(world.root / "a.txt", (0, -(2**31)))

    assert world.call("file_list")["entries"][0]["modified"] == "1901-12-13T20:45:52Z"


def test_names_are_utf8_whatever_the_locale(world: World) -> None:
    """Nothing depends on the locale of the host."""
    plant(world, ["größe/北京.txt"])
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from contexts import make_context\n"
        "from clitool_tools.file import family\n"
        "from clitool_tools.file.list import FileList\n"
        "from clitool_tools.file.read import FileRead\n"
        "context = make_context(family, {'root_path': sys.argv[1]})\n"
        "assert sys.getfilesystemencoding() != 'utf-8'\n"
        "entries = FileList(context).execute(depth=2)['entries']\n"
        "assert [e['path'] for e in entries] == ['gr\\xf6\\xdfe', 'gr\\xf6\\xdfe/\\u5317\\u4eac.txt'], ascii(entries)\n"
        "assert FileRead(context).execute(path=entries[1]['path'])['content'] == 'x'\n"
    )
    environment = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    done = subprocess.run(
        [sys.executable, "-c", program, str(world.root), *sys.path], env=environment, capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr.decode()


def test_no_descriptor_is_left_open(trapped: World) -> None:
    before = len(os.listdir("/dev/fd"))

    for _ in range(3):
        trapped.call("file_list", depth=5, limit=1)
        trapped.call("file_search", text="inside", limit=1)
        trapped.call("file_read", path="a.txt")
        trapped.reason("file_read", path="rel.txt")
        trapped.reason("file_read", path="d.txt")
        trapped.reason("file_read", path="hard.txt")
        trapped.reason("file_write", path="a.txt", content="x")
        trapped.reason("file_list", path="dir")
        trapped.call("file_write", path="b.txt", content="in", overwrite=True)
        trapped.call("file_write", path="b.txt", content="in", overwrite=True)
        trapped.call("file_append", path="b.txt", content="more")
        trapped.call("file_edit", path="b.txt", old_text="in", new_text="out")
        trapped.reason("file_edit", path="b.txt", old_text="in", new_text="out")
        trapped.call("file_delete", path="b.txt")

    assert len(os.listdir("/dev/fd")) == before


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "B", "é", "z z"]), min_size=1, max_size=4).map("/".join), max_size=12),
    st.integers(1, 5),
    st.integers(1, 4),
)
def test_the_pages_of_any_tree_join_to_what_is_there(folders: list[str], limit: int, depth: int) -> None:
    with tempfile.TemporaryDirectory() as base:
        world = World(Path(base) / "world")
        plant(world, [f"{folder}/" for folder in folders])
        there = {str(path.relative_to(world.root)) for path in world.root.rglob("*")}
        expected = sorted((path.count("/"), path.split("/")) for path in there if path.count("/") < depth)

        assert all_pages(world, depth=depth, limit=limit) == ["/".join(names) for _, names in expected]
