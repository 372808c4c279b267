"""Patterns: what they match, and that no pattern is slow."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache

import pytest
from clitool_tools.file.glob import Glob
from hypothesis import given, settings
from hypothesis import strategies as st

QUIETLY = settings(deadline=None, derandomize=True, max_examples=400)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        pytest.param("*.txt", "a.txt", True, id="star"),
        pytest.param("*.txt", "b/c/a.txt", True, id="a name at any depth"),
        pytest.param("*.txt", ".txt", True, id="nothing before, hidden"),
        pytest.param("*", ".hidden", True, id="hidden files are like others"),
        pytest.param("*.txt", "a.TXT", False, id="letter case counts"),
        pytest.param("a?c", "abc", True, id="one"),
        pytest.param("a?c", "ac", False, id="one, not none"),
        pytest.param("?", "é", True, id="one character, not byte"),
        pytest.param("[ab].txt", "b.txt", True, id="class"),
        pytest.param("[a-c].txt", "b.txt", True, id="range"),
        pytest.param("[!a-c].txt", "b.txt", False, id="inverted"),
        pytest.param("[!a-c].txt", "d.txt", True, id="inverted, other"),
        pytest.param("[]]", "]", True, id="bracket in a class"),
        pytest.param("[!]]", "]", False, id="bracket in an inverted class"),
        pytest.param("[a-]", "-", True, id="hyphen at the end"),
        pytest.param("[z-a]", "m", False, id="empty range"),
        pytest.param("[abc", "[abc", True, id="unclosed is literal"),
        pytest.param("[", "[", True, id="bracket alone"),
        pytest.param("[*]", "*", True, id="star in a class"),
        pytest.param("b/*.txt", "b/a.txt", True, id="path"),
        pytest.param("b/*.txt", "b/c/a.txt", False, id="star stays in its folder"),
        pytest.param("b/*.txt", "a.txt", False, id="path, not name"),
        pytest.param("b?a.txt", "b/a.txt", False, id="question mark is no slash"),
        pytest.param("b[/]a.txt", "b/a.txt", False, id="class is no slash"),
        pytest.param("**/*.txt", "a.txt", True, id="no folder"),
        pytest.param("**/*.txt", "b/c/a.txt", True, id="any folders"),
        pytest.param("b/**/a.txt", "b/a.txt", True, id="none between"),
        pytest.param("b/**/a.txt", "b/c/d/a.txt", True, id="some between"),
        pytest.param("b/**/a.txt", "x/b/a.txt", False, id="from the start"),
        pytest.param("b/**", "b/c/d", True, id="all below"),
        pytest.param("b/**", "c", False, id="all below another"),
        pytest.param("**/c/**", "a/b/c/d/e", True, id="somewhere in the middle"),
        pytest.param("**", "a/b", True, id="everything"),
        pytest.param("**", "a", True, id="everything, one name"),
        pytest.param("a**b", "axxb", True, id="two stars in a name are one"),
        pytest.param("./b/a.txt", "b/a.txt", True, id="dot in front"),
        pytest.param("/b/a.txt", "b/a.txt", True, id="slash in front"),
        pytest.param("b/", "b", True, id="slash at the end"),
        pytest.param("../*", "a", False, id="dot dot is a name that nothing has"),
        pytest.param("\\*", "*", False, id="backslash is literal"),
        pytest.param("", "a", False, id="empty"),
        pytest.param("/", "a", False, id="slash alone"),
    ],
)
def test_a_pattern_fits_exactly_what_is_documented(pattern: str, path: str, fits: bool) -> None:
    assert Glob(pattern).matches(path.split("/")) is fits


NAMES = st.text("ab[]!-*?.é", max_size=8)


@QUIETLY
@given(NAMES, st.text("ab[]!-*?.é", min_size=1, max_size=8))
def test_a_name_is_matched_like_fnmatch_does(pattern: str, name: str) -> None:
    """The reference is the standard library's translation to a regular expression."""
    if pattern.strip("."):
        assert Glob(pattern).matches([name]) == bool(re.match(translate(pattern), name, re.DOTALL))


def matches_reference(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(matches_reference(pattern[1:], path[start:]) for start in range(len(path) + 1))
    return bool(path) and bool(compiled(pattern[0]).match(path[0])) and matches_reference(pattern[1:], path[1:])


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


@QUIETLY
@given(
    st.lists(st.sampled_from(["**", "*", "a", "b*", "?"]), min_size=2, max_size=6),
    st.lists(st.sampled_from(["a", "b", "ab", "ba"]), min_size=1, max_size=6),
)
def test_a_path_is_matched_like_a_simple_reference_does(pattern: list[str], path: list[str]) -> None:
    assert Glob("/".join(pattern)).matches(path) == matches_reference(tuple(pattern), tuple(path))


@QUIETLY
@given(
    st.lists(st.sampled_from(["**", "*", "a", "b*", "?"]), min_size=1, max_size=5).map("/".join),
    st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=4),
    st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=4),
)
def test_nothing_that_fits_lies_below_a_folder_that_is_passed_over(
    pattern: str, folder: list[str], below: list[str]
) -> None:
    glob = Glob(pattern)

    assert glob.leads_below(folder) or not glob.matches([*folder, *below])


@pytest.mark.parametrize(
    ("pattern", "folder", "leads"),
    [
        pytest.param("*.txt", "a", True, id="a name may be anywhere"),
        pytest.param("a/*.txt", "a", True, id="the folder of the pattern"),
        pytest.param("a/*.txt", "b", False, id="another folder"),
        pytest.param("a/*.txt", "a/b.txt", False, id="the pattern is used up"),
        pytest.param("**/*.txt", "a/b/c", True, id="any folder"),
        pytest.param("a/**", "a/b", True, id="any folder below"),
        pytest.param("a/**", "b/a", False, id="any folder below another"),
        pytest.param("**", "a/b", True, id="everything"),
    ],
)
def test_only_folders_below_which_something_can_fit_are_worth_a_look(pattern: str, folder: str, leads: bool) -> None:
    assert Glob(pattern).leads_below(folder.split("/")) is leads


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("*a" * 120 + "b", id="stars and letters"),
        pytest.param("*" * 1000 + "b", id="stars"),
        pytest.param("*?" * 120 + "b", id="stars and questions"),
        pytest.param("[a-a]*" * 120 + "b", id="classes"),
        pytest.param("**/" * 300 + "b", id="deep"),
        pytest.param("**/a*a*a*/" * 90 + "b", id="deep stars"),
        pytest.param("*a" * 490 + "/**/" + "b", id="both"),
    ],
)
def test_no_pattern_makes_matching_slow(pattern: str) -> None:
    """With backtracking each of these would take longer than the universe has."""
    glob = Glob(pattern)

    assert not glob.matches(["a" * 255] * 60)
