"""Paths that try to leave the root, or to reach in it what is no plain file: each against every tool."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from file_world import PARAMS, SECRET, World

if TYPE_CHECKING:
    from collections.abc import Mapping

EVERY = tuple(PARAMS)
FOR_FILES = ("file_read", "file_write", "file_append", "file_edit", "file_delete")
CHANGING = ("file_write", "file_append", "file_edit", "file_delete")

# id -> (path, reason for every tool). `{root}` is the absolute path of the root.
SPELT: dict[str, tuple[str, str]] = {
    "parent": ("../outside/secret.txt", "outside_root"),
    "parent by a folder": ("sub/../../outside/secret.txt", "outside_root"),
    "dot dot": ("..", "outside_root"),
    "dot dot slash": ("../", "outside_root"),
    "dot dot slash dot": ("../.", "outside_root"),
    "sibling with the same beginning": ("../root-evil/x.txt", "outside_root"),
    "leaves and returns": ("../root/a.txt", "outside_root"),
    "dot dot that stays inside": ("sub/../a.txt", "outside_root"),
    "dot dot after a file": ("a.txt/..", "outside_root"),
    "dot dot after a missing name": ("missing/../a.txt", "outside_root"),
    "dot dot after many slashes": ("sub//..//..//outside/secret.txt", "outside_root"),
    "absolute": ("/etc/passwd", "outside_root"),
    "two slashes": ("//etc/passwd", "outside_root"),
    "the root of all": ("/", "outside_root"),
    "absolute sibling": ("{root}-evil/x.txt", "outside_root"),
    "absolute, then dot dot": ("{root}/../outside/secret.txt", "outside_root"),
    "absolute, returning": ("{root}/../root/a.txt", "outside_root"),
    "absolute in the wrong case": ("{ROOT}/a.txt", "outside_root"),
    "a part of the root": ("{root}x/../a.txt", "outside_root"),
    "descriptor": ("/dev/fd/0", "outside_root"),
    "process root": ("/proc/self/root/etc/passwd", "outside_root"),
    "empty": ("", "bad_path"),
    "NUL": ("a.txt\0", "bad_path"),
    "NUL before another extension": ("a.txt\0.png", "bad_path"),
    "NUL alone": ("\0", "bad_path"),
    "lone high surrogate": ("x\ud800.txt", "bad_path"),
    "escaped byte": ("bad\udcff.txt", "bad_path"),
    "newline": ("nl\nx.txt", "bad_path"),
    "carriage return": ("a.txt\r", "bad_path"),
    "tab": ("a\t.txt", "bad_path"),
    "terminal escape": ("\x1b[2J.txt", "bad_path"),
    "DEL": ("a\x7f.txt", "bad_path"),
    "C1": ("a\x85.txt", "bad_path"),
    "line separator": ("a\u2028.txt", "bad_path"),
    "paragraph separator": ("a\u2029.txt", "bad_path"),
    "right-to-left override": ("rtl\u202etxt.exe", "bad_path"),
    "isolate": ("a\u2066.txt", "bad_path"),
    "zero width space": ("a\u200b.txt", "bad_path"),
    "word joiner": ("a\u2060.txt", "bad_path"),
    "byte order mark": ("\ufeffa.txt", "bad_path"),
    "soft hyphen": ("a\u00ad.txt", "bad_path"),
    "tag character": ("a\U000e0041.txt", "bad_path"),
    "backslash": ("..\\outside\\secret.txt", "bad_path"),
    "backslash in a name": ("a\\b.txt", "bad_path"),
    "drive": ("C:\\x", "bad_path"),
    "drive with a slash": ("C:/x", "bad_path"),
    "drive alone": ("c:", "bad_path"),
    "drive-relative": ("z:x.txt", "bad_path"),
    "share": ("\\\\host\\share\\x", "bad_path"),
    "device namespace": ("\\\\?\\C:\\x", "bad_path"),
    "reserved name": ("nul", "bad_path"),
    "reserved name with an extension": ("nul.txt", "bad_path"),
    "reserved name in capitals": ("sub/CON", "bad_path"),
    "reserved name as a folder": ("aux/a.txt", "bad_path"),
    "reserved name with two extensions": ("com1.tar.gz", "bad_path"),
    "reserved name with a superscript": ("LPT¹.txt", "bad_path"),
    "reserved name with a blank": ("prn .txt", "bad_path"),
    "reserved name with a stream": ("nul:x", "bad_path"),
    "console": ("CONOUT$", "bad_path"),
    "name of 256 bytes": ("x" * 256, "bad_path"),
    "name of 256 bytes in 128 characters": ("é" * 128, "bad_path"),
    "path of 4098 bytes": ("a/" * 2049, "bad_path"),
    "path of a million bytes": ("a" * 1_000_000, "bad_path"),
    "path of 4098 bytes in fewer characters": ("é/" * 1366, "bad_path"),
}

# id -> (path, reason): nothing is decoded, expanded or normalised, so these are names that do not exist.
LITERAL: dict[str, str] = {
    "percent-encoded dots": "%2e%2e/outside/secret.txt",
    "percent-encoded slash": "..%2foutside%2fsecret.txt",
    "double percent": "%252e%252e/outside/secret.txt",
    "overlong UTF-8, percent-encoded": "%c0%ae%c0%ae/outside/secret.txt",
    "home": "~/x.txt",
    "home of root": "~root/x.txt",
    "variable": "$HOME/x.txt",
    "variable in braces": "${HOME}/x.txt",
    "full-width dots": "\uff0e\uff0e/outside/secret.txt",
    "one dot leader": ".\u2024/outside/secret.txt",
    "full-width slash": "..\uff0foutside\uff0fsecret.txt",
    "fraction slash": "..\u2044outside\u2044secret.txt",
    "file URL": "file:///etc/passwd",
    "http URL": "http://127.0.0.1/x.txt",
    "three dots": ".../outside/secret.txt",
    "blank before the dots": " ../outside/secret.txt",
    "command substitution": "$(id)/x.txt",
    "glob": "*/secret.txt",
    "alternate stream": "missing.txt:secret",
}

_LINK = dict.fromkeys(EVERY, "symlink")
_LINK_AT_THE_END = {**_LINK, "file_delete": ""}  # the link itself is removed
_NO_FILE = dict.fromkeys(EVERY, "not_regular") | {"file_list": "not_directory"}

# id -> (path, tool -> reason; "" where the tool does its work, on nothing but what is inside).
FOUND: dict[str, tuple[str, Mapping[str, str]]] = {
    "link to a file inside": ("ok.txt", _LINK_AT_THE_END),
    "absolute link to outside": ("abs.txt", _LINK_AT_THE_END),
    "relative link to outside": ("rel.txt", _LINK_AT_THE_END),
    "link that dangles outside": ("dangout.txt", _LINK_AT_THE_END),
    "link that dangles inside": ("dangling.txt", _LINK_AT_THE_END),
    "loop": ("loop1", _LINK_AT_THE_END),
    "link to standard input": ("stdin.txt", _LINK_AT_THE_END),
    "link to the parent": ("up.txt", _LINK_AT_THE_END),
    "link to a process's root": ("self.txt", _LINK_AT_THE_END),
    "file behind a linked folder": ("dir/secret.txt", _LINK),
    "new file behind a linked folder": ("dir/new.txt", _LINK),
    "file behind a linked folder inside": ("inner/b.txt", _LINK),
    "file behind a link to the working folder": ("cwd/pyproject.toml", _LINK),
    "file behind a link to the parent": ("up.txt/outside/secret.txt", _LINK),
    "file behind a link to the root of all": ("slash/etc/passwd", _LINK),
    "file behind a link to the folder itself": ("dot/a.txt", _LINK),
    "file behind a loop": ("loop1/a.txt", _LINK),
    "linked folder, with a slash": ("dir/", dict.fromkeys(EVERY, "bad_path") | {"file_list": "symlink"}),
    "linked file, with a slash": ("ok.txt/", dict.fromkeys(EVERY, "bad_path") | {"file_list": "symlink"}),
    "file with a slash": ("a.txt/", dict.fromkeys(EVERY, "bad_path") | {"file_list": "not_directory"}),
    "file with a slash and a dot": ("a.txt/.", dict.fromkeys(EVERY, "bad_path") | {"file_list": "not_directory"}),
    "below a file": ("a.txt/b", dict.fromkeys(EVERY, "not_directory")),
    "pipe": ("pipe.txt", _NO_FILE),
    "below a pipe": ("pipe.txt/x", dict.fromkeys(EVERY, "not_directory")),
    "device": ("zero.txt", _NO_FILE),
    "socket": ("sock.txt", _NO_FILE),
    "folder": ("d.txt", dict.fromkeys(EVERY, "is_directory") | {"file_list": "", "file_search": ""}),
    "the root": (".", dict.fromkeys(EVERY, "is_directory") | {"file_list": "", "file_search": ""}),
    "the root, absolute": ("{root}", dict.fromkeys(EVERY, "is_directory") | {"file_list": "", "file_search": ""}),
    "the root, with a slash": ("./", dict.fromkeys(EVERY, "is_directory") | {"file_list": "", "file_search": ""}),
    "second name of a file outside": (
        "hard.txt",
        dict.fromkeys(EVERY, "hardlink") | {"file_list": "not_directory", "file_write": "", "file_delete": ""},
    ),
}


def for_every_tool(rows: Mapping[str, Any]) -> list[Any]:
    return [pytest.param(tool, name, id=f"{tool}: {name}") for name in rows for tool in EVERY]


def place(world: World, path: str) -> str:
    return path.replace("{root}", str(world.root)).replace("{ROOT}", str(world.root).upper())


def assert_says_nothing(document: Mapping[str, Any], world: World, path: str) -> None:
    """An error shows the path as it was given, on one line, and neither the root nor a secret."""
    text = document["error"]
    assert text.isprintable()
    assert len(text) < 800
    assert str(world.base) not in text.replace(path, "")
    assert SECRET not in str(document)


@pytest.mark.parametrize(("tool", "name"), for_every_tool(SPELT))
def test_a_path_that_no_file_could_have_here_is_refused_by_its_spelling(trapped: World, tool: str, name: str) -> None:
    """Decided without a look at the disk, by one function for all tools."""
    path, reason = SPELT[name]
    path = place(trapped, path)
    before = trapped.beyond()

    document = trapped.refusal(tool, path=path, **PARAMS[tool])

    assert document["details"] == {"reason": reason}
    assert document["code"] == "invalid_params"
    assert_says_nothing(document, trapped, path)
    assert trapped.beyond() == before


@pytest.mark.parametrize(("tool", "name"), for_every_tool(LITERAL))
def test_nothing_in_a_path_is_decoded_expanded_or_normalised(trapped: World, tool: str, name: str) -> None:
    """The path is a literal name: missing, or made inside the root."""
    before = trapped.beyond()
    path = LITERAL[name]

    if tool in ("file_write", "file_append") and "/" not in path:
        trapped.call(tool, path=path, **PARAMS[tool])
        assert path in os.listdir(trapped.root)
    else:
        document = trapped.refusal(tool, path=path, **PARAMS[tool])
        assert document["details"]["reason"] == "not_found"
        assert_says_nothing(document, trapped, path)

    assert trapped.beyond() == before


@pytest.mark.parametrize(("tool", "name"), for_every_tool(FOUND))
def test_what_is_no_plain_file_of_the_root_is_refused(trapped: World, tool: str, name: str) -> None:
    """No link is followed, nothing blocks, and what lies outside stays as it is and is not shown."""
    path, reasons = FOUND[name]
    path = place(trapped, path)
    before = trapped.beyond()

    if reasons[tool]:
        document = trapped.refusal(tool, path=path, **PARAMS[tool])
        assert document["details"] == {"reason": reasons[tool]}
        assert_says_nothing(document, trapped, path)
    else:
        assert SECRET not in str(trapped.call(tool, path=path, **PARAMS[tool]))

    assert trapped.beyond() == before


@pytest.mark.parametrize("tool", FOR_FILES)
@pytest.mark.parametrize(
    ("path", "plain"),
    [
        pytest.param("a.txt", "a.txt", id="plain"),
        pytest.param(".//./a.txt", "a.txt", id="dots and slashes"),
        pytest.param("sub//b.txt", "sub/b.txt", id="two slashes"),
        pytest.param("{root}/a.txt", "a.txt", id="absolute"),
        pytest.param("/{root}/./sub/b.txt", "sub/b.txt", id="absolute with dots and slashes"),
        pytest.param("-rf.txt", "-rf.txt", id="like an option"),
    ],
)
def test_unusual_spellings_of_a_file_inside_are_accepted(trapped: World, tool: str, path: str, plain: str) -> None:
    """Models send absolute paths; a path that begins with the root is one relative to it."""
    answer = trapped.call(tool, path=place(trapped, path), **PARAMS[tool])

    assert answer["path"] == plain


@pytest.mark.parametrize("spelling", ["as configured", "resolved"])
def test_an_absolute_path_may_be_spelt_like_the_setting_or_like_what_it_leads_to(trapped: World, spelling: str) -> None:
    """A root behind a link does not refuse itself."""
    link = trapped.base / "link-to-root"
    link.symlink_to("root")
    start = link if spelling == "as configured" else trapped.root.resolve()

    answer = trapped.call("file_read", {"root_path": str(link)}, path=f"{start}/a.txt")

    assert answer["content"] == "inside\n"


@pytest.mark.parametrize("tool", CHANGING)
def test_a_client_without_allow_write_changes_nothing(trapped: World, tool: str) -> None:
    """The right is missing as a whole, so that is said before anything about the path."""
    before = trapped.root.joinpath("a.txt").read_text()

    document = trapped.refusal(tool, {"allow_write": False}, path="../a.txt", **PARAMS[tool])

    assert (document["code"], document["details"]["reason"]) == ("scope_denied", "read_only")
    assert trapped.reason(tool, {"allow_write": False}, path="a.txt", **PARAMS[tool]) == "read_only"
    assert trapped.root.joinpath("a.txt").read_text() == before


# id -> (allowed_extensions, name, whether it may be used)
EXTENSIONS: dict[str, tuple[list[str], str, bool]] = {
    "the extension": ([".txt"], "x.txt", True),
    "capitals in the name": ([".txt"], "A.TXT", True),
    "capitals in the setting": ([".TXT"], "x.txt", True),
    "without the dot": (["txt"], "x.txt", True),
    "another last extension": ([".txt"], "x.txt.exe", False),
    "another extension before": ([".txt"], "x.exe.txt", True),
    "version numbers": ([".txt"], "ver1.0.11.txt", True),
    "longer": ([".txt"], "x.txtx", False),
    "without a dot in the name": ([".txt"], "xtxt", False),
    "dot file that is not listed": ([".md"], ".txt", False),
    "dot file by its whole name": ([".env"], ".env", True),
    "dot file, others listed": ([".txt"], ".env", False),
    "dot file with an extension": ([".txt"], ".env.txt", True),
    "name listed without a dot is no dot file": (["txt"], ".txt", False),
    "no extension": ([".txt"], "Makefile", False),
    "no extension, permitted": ([""], "Makefile", True),
    "no extension permitted is no dot": ([""], "x.txt", False),
    "dot file has no extension": ([""], ".env", True),
    "by its whole name": (["Makefile"], "Makefile", True),
    "by its whole name in other case": (["makefile"], "MAKEFILE", True),
    "compound by its last part": ([".gz"], "a.tar.gz", True),
    "compound as a whole": ([".tar.gz"], "a.tar.gz", True),
    "compound, only the end there": ([".tar.gz"], "a.gz", False),
    "compound, across names": ([".tar.gz"], "star.gz", False),
    "two dots in the middle": ([".txt"], "a..txt", True),
    "dot at the end": ([".txt"], "x.txt.", False),
    "blank at the end": ([".txt"], "x.txt ", False),
    "blank before the extension's letters": ([".txt"], "x. txt", False),
    "full-width letters": ([".txt"], "x.\uff54\uff58\uff54", False),
    "letter with a dot above": ([".txt"], "x.t\u1e8bt", False),
    "long s": ([".tsv"], "x.t\u017fv", False),
    "Kelvin sign": ([".mkv"], "x.m\u212av", False),
    "ligature": ([".fi"], "x.\ufb01", False),
    "dotted capital I": ([".ini"], "x.\u0130NI", False),
    "capital I": ([".ini"], "x.INI", True),
    "other letters in other case": ([".ÄÖ"], "x.äö", True),
    "two forms of one letter": ([".\u03c2"], "x.\u03c3", True),
    "stream": ([".txt"], "x.exe:.txt", True),
    "nothing is allowed": ([], "x.txt", False),
}


@pytest.mark.parametrize("tool", FOR_FILES)
@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in EXTENSIONS.items()])
def test_only_allowed_extensions_can_be_used(world: World, tool: str, row: tuple[list[str], str, bool]) -> None:
    """The whole tail of the name decides, letter case aside, for every tool."""
    allowed, name, good = row
    (world.root / name).write_text("inside\n")
    settings = {"allowed_extensions": allowed}

    if good:
        assert world.call(tool, settings, path=name, **PARAMS[tool])["path"] == name
    else:
        assert world.reason(tool, settings, path=name, **PARAMS[tool]) == "extension"
        assert (world.root / name).read_text() == "inside\n"


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in EXTENSIONS.items()])
def test_search_looks_into_allowed_extensions_only(world: World, row: tuple[list[str], str, bool]) -> None:
    allowed, name, good = row
    (world.root / name).write_text("inside\n")
    settings = {"allowed_extensions": allowed}

    assert bool(world.call("file_search", settings, text="inside")["matches"]) is good
    if not good:
        assert world.reason("file_search", settings, text="inside", path=name) == "extension"


def test_without_the_setting_every_name_can_be_used(world: World) -> None:
    for name in ("x.exe", "Makefile", ".env", "x."):
        world.call("file_write", path=name, content="x")

    assert sorted(os.listdir(world.root)) == sorted(["x.exe", "Makefile", ".env", "x."])


def test_a_link_with_an_allowed_name_does_not_lend_it_to_its_target(world: World) -> None:
    """`notes.txt` that leads to `id.key` would defeat the extensions if links were followed."""
    (world.root / "id.key").write_text(SECRET)
    (world.root / "notes.txt").symlink_to("id.key")

    assert world.reason("file_read", {"allowed_extensions": [".txt"]}, path="notes.txt") == "symlink"
    assert world.call("file_search", {"allowed_extensions": [".txt"]}, text="SECRET")["matches"] == []
