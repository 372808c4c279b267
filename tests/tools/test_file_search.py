"""Searching: literal, bounded, and only in what could be read as well."""

from __future__ import annotations

import os
from typing import Any

import pytest
from clitool_tools.file import family, search, walk
from clitool_tools.file.search import FileSearch
from contexts import make_context
from file_world import SECRET, World
from processes import run_as_nobody

from clitool.errors import ExecutionError


def put(world: World, **files: str | bytes) -> None:
    for name, content in files.items():
        path = world.root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def found(answer: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(match["path"], match["line_number"], match["line"]) for match in answer["matches"]]


def test_matches_come_with_path_line_number_and_line(world: World) -> None:
    put(world, b_txt="one\nneedle two\r\nthree needle", a_txt="needle\n", sub__c_txt="x\nneedle")

    answer = world.call("file_search", text="needle")

    assert found(answer) == [
        ("a.txt", 1, "needle"),
        ("b.txt", 2, "needle two"),
        ("b.txt", 3, "three needle"),
        ("sub/c.txt", 2, "needle"),
    ]
    assert answer["truncated"] is False


@pytest.mark.parametrize(
    ("text", "line", "ignore_case", "matches"),
    [
        pytest.param("a.c", "abc", False, False, id="a dot is a dot"),
        pytest.param("a.c", "xa.cx", False, True, id="literally"),
        pytest.param("(", "f(x)", False, True, id="no expression"),
        pytest.param("*", "a", False, False, id="no pattern"),
        pytest.param("Needle", "needle", False, False, id="letter case counts"),
        pytest.param("Needle", "nEEDLE", True, True, id="letter case ignored"),
        pytest.param("straße", "STRASSE", True, True, id="folded"),
        pytest.param("strasse", "Straße", True, True, id="folded the other way"),
        pytest.param("ÄRGER", "ärger", True, True, id="other letters"),
        pytest.param("é", "e\u0301", False, False, id="not normalised"),
        pytest.param(" ", "a b", False, True, id="blank"),
    ],
)
def test_the_text_is_taken_literally(world: World, text: str, line: str, ignore_case: bool, matches: bool) -> None:
    put(world, a_txt=f"before\n{line}\nafter\n")

    answer = world.call("file_search", text=text, ignore_case=ignore_case)

    assert found(answer) == ([("a.txt", 2, line)] if matches else [])


def test_line_numbers_are_those_that_file_read_skips(world: World) -> None:
    put(world, a_txt="1\r\n2\r3\n\n5 needle\n")

    number = world.call("file_search", text="needle")["matches"][0]["line_number"]

    assert number == 5
    assert world.call("file_read", path="a.txt", offset=number - 1)["content"] == "5 needle\n"


def test_what_cannot_be_read_is_not_searched_either(trapped: World) -> None:
    """No link, no second name, no device, no other extension, nothing binary."""
    (trapped.root / "image.txt").write_bytes(b"inside\0inside")
    (trapped.root / "key.pem").write_text("inside")

    answer = trapped.call("file_search", {"allowed_extensions": [".txt"]}, text="inside")
    secret = trapped.call("file_search", text="SECRET")

    assert {path for path, _, _ in found(answer)} == {
        "-rf.txt",
        "a.txt",
        "sub/b.txt",
        r"bad\xff.txt",
        r"nl\nx.txt",
        r"\x1b[2J.txt",
    }
    assert secret == {"matches": [], "truncated": False}


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        pytest.param("missing", "not_found", id="missing"),
        pytest.param("a.txt/b", "not_directory", id="below a file"),
        pytest.param("hard.txt", "hardlink", id="second name"),
        pytest.param("key.pem", "extension", id="extension"),
    ],
)
def test_a_file_that_is_named_is_refused_like_by_file_read(trapped: World, path: str, reason: str) -> None:
    (trapped.root / "key.pem").write_text(SECRET)

    assert trapped.reason("file_search", {"allowed_extensions": [".txt"]}, text="e", path=path) == reason


def test_one_file_can_be_searched(world: World) -> None:
    put(world, a_txt="needle", b_txt="needle")

    assert found(world.call("file_search", text="needle", path="b.txt")) == [("b.txt", 1, "needle")]


@pytest.mark.parametrize(
    ("path", "pattern", "files"),
    [
        pytest.param(".", "*.py", ["a.py", "src/b.py"], id="name"),
        pytest.param(".", "src/*", ["src/b.py", "src/c.txt"], id="path"),
        pytest.param("src", "*", ["src/b.py", "src/c.txt"], id="folder"),
        pytest.param("src", "src/*", [], id="relative to the folder"),
    ],
)
def test_a_pattern_chooses_files(world: World, path: str, pattern: str, files: list[str]) -> None:
    put(world, a_py="needle", a_txt="needle", src__b_py="needle", src__c_txt="needle")

    assert [path for path, _, _ in found(world.call("file_search", text="needle", path=path, pattern=pattern))] == files


@pytest.mark.parametrize(("limit", "setting", "count"), [(3, 1000, 3), (10, 1000, 10), (11, 1000, 10), (1000, 4, 4)])
def test_the_number_of_matches_is_bounded(world: World, limit: int, setting: int, count: int) -> None:
    put(world, a_txt="needle\n" * 10)

    answer = world.call("file_search", {"max_entries": setting}, text="needle", limit=limit)

    assert len(answer["matches"]) == count
    assert answer["truncated"] is (count < 10)


@pytest.mark.parametrize("at", [0, 300, 5000, 9990])
@pytest.mark.parametrize("ignore_case", [True, False], ids=["ignore case", "exact"])
@pytest.mark.parametrize("char", ["x", "é", "ß", "\ufb03"], ids=["ASCII", "letter", "folded to two", "folded to three"])
def test_a_long_line_is_cut_around_the_match(world: World, char: str, at: int, ignore_case: bool) -> None:
    put(world, a_txt=char * at + "needle" + char * (10_000 - at))

    [match] = world.call("file_search", text="needle", ignore_case=ignore_case)["matches"]

    assert len(match["line"]) <= 400
    assert "needle" in match["line"]
    assert match["cut"] is True


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        pytest.param("needle", False, id="short"),
        pytest.param("needle" + "é" * 394, False, id="just fits"),
        pytest.param("needle" + "é" * 394 + "\r\n", False, id="just fits, and ends"),
        pytest.param("needle" + "é" * 395, True, id="one character longer"),
    ],
)
def test_a_match_says_whether_its_line_is_whole(world: World, line: str, cut: bool) -> None:
    put(world, a_txt=line)

    [match] = world.call("file_search", text="needle")["matches"]

    assert (match["line"], match["cut"]) == (line.rstrip()[:400], cut)


def test_a_line_of_gigabytes_is_searched_at_its_beginning_only(world: World) -> None:
    """Bounded memory, whatever the file; and the answer says that there may be more."""
    with open(world.root / "line.txt", "wb") as file:
        file.write(b"needle" + b"x" * 10_000)
        file.seek(5 * 1024 * 1024)
        file.write(b"\nneedle")

    answer = world.call("file_search", text="needle")

    assert [number for _, number, _ in found(answer)] == [1, 2]
    assert answer["truncated"] is True


@pytest.mark.parametrize(
    ("size", "truncated"),
    [
        pytest.param(search.LONGEST_LINE - 1, False, id="whole"),
        pytest.param(2 * search.LONGEST_LINE, True, id="longer than what is searched"),
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\r\nlast\n"], ids=["no end", "end", "more lines"])
def test_what_was_not_searched_is_told(world: World, size: int, truncated: bool, end: str) -> None:
    """Nothing found is no proof then."""
    put(world, a_txt="x" * size + end)

    assert world.call("file_search", text="needle") == {"matches": [], "truncated": truncated}


def test_bytes_that_are_no_utf8_are_shown_replaced(world: World) -> None:
    put(world, a_txt=b"\xff needle \xfe\n", b_txt="größe".encode("latin-1"))

    assert found(world.call("file_search", text="needle")) == [("a.txt", 1, "\ufffd needle \ufffd")]
    assert found(world.call("file_search", text="NEEDLE", ignore_case=True)) == [("a.txt", 1, "\ufffd needle \ufffd")]


def test_a_byte_order_mark_is_not_shown(world: World) -> None:
    put(world, a_txt=b"\xef\xbb\xbfneedle")

    assert found(world.call("file_search", text="needle")) == [("a.txt", 1, "needle")]


def test_the_bytes_of_one_search_are_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been found so far is returned, with the word that there may be more."""
    put(world, a_txt="needle\n" + "x" * 1000, b_txt="needle\n" + "x" * 1000 + "\nneedle", c_txt="needle")
    monkeypatch.setattr(search, "SEARCHED_BYTES", 1500)

    answer = world.call("file_search", text="needle")

    assert [path for path, _, _ in found(answer)] == ["a.txt", "b.txt"]
    assert answer["truncated"] is True


def test_the_names_of_one_search_are_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been found so far is not lost."""
    put(world, a_txt="needle", sub__b_txt="x", sub__c_txt="needle", sub__d_txt="x")
    monkeypatch.setattr(walk, "MOST_SCANNED", 4)

    answer = world.call("file_search", text="needle")

    assert [path for path, _, _ in found(answer)] == ["a.txt"]
    assert answer["truncated"] is True


def test_a_file_of_nothing_but_line_ends_is_searched_quickly(world: World) -> None:
    """Lines are looked at one by one only where a match is near."""
    with open(world.root / "a.txt", "wb") as file:
        file.write(b"\n" * 50_000_000 + b"needle")

    assert world.call("file_search", text="needle")["matches"][0]["line_number"] == 50_000_001


@pytest.mark.parametrize(
    ("depth", "truncated"), [pytest.param(64, False, id="all"), pytest.param(65, True, id="one more")]
)
def test_folders_too_deep_down_to_be_searched_are_told(world: World, depth: int, truncated: bool) -> None:
    folder = world.root.joinpath(*["f"] * (depth - 1))
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("needle")

    answer = world.call("file_search", text="needle")

    assert (len(answer["matches"]), answer["truncated"]) == (0 if truncated else 1, truncated)


def test_a_search_ends_at_the_deadline(world: World) -> None:
    put(world, a_txt="x")
    context = make_context(family, {"root_path": str(world.root)}, seconds=0)

    with pytest.raises(ExecutionError, match="too long"):
        FileSearch(context).execute(text="x")
    context.close()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("a\nb", "schema", id="newline"),
        pytest.param("a\r", "schema", id="carriage return"),
        pytest.param("\ud800", "bad_encoding", id="surrogate"),
    ],
)
def test_a_text_that_no_line_contains_is_refused(world: World, text: str, reason: str) -> None:
    assert world.reason("file_search", text=text) == reason


def test_files_that_may_not_be_read_are_passed_over(shared_world: World) -> None:
    world = shared_world
    put(world, a_txt="needle", b_txt="needle")
    os.chmod(world.root / "a.txt", 0o600)
    world.call("file_search", text="needle")  # imports what the child may not find

    assert run_as_nobody(lambda: found(world.call("file_search", text="needle"))) == [("b.txt", 1, "needle")]
    assert run_as_nobody(lambda: world.reason("file_search", text="needle", path="a.txt")) == "permission"
