"""Answers as bytes: strict JSON, and integers that a double cannot hold as strings, wherever they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from answers import SAFE_INTEGER, answered
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool import answer
from clitool.answer import encode

INTEGERS = st.one_of(
    st.integers(), st.sampled_from([SAFE_INTEGER, SAFE_INTEGER + 1, -SAFE_INTEGER - 1, 10**15, 10**16])
)
FLOATS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([1 / 7, 1234567890123456.0, 1e16]))
TEXTS = st.one_of(st.text(max_size=4), st.sampled_from(["9" * 20, f",{10**16}", f": {10**16}", f"-{10**16}"]))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), INTEGERS, FLOATS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)


@pytest.mark.parametrize("pretty", [False, True], ids=["one line", "pretty"])
@settings(deadline=None, derandomize=True, max_examples=300)
@given(value=VALUES)
def test_large_integers_become_strings_and_nothing_else_changes(pretty: bool, value: Any) -> None:
    assert json.loads(encode(value, pretty=pretty)) == answered(value)


@settings(deadline=None, derandomize=True)
@given(before=st.integers(0, 60), part=st.integers(1, 40), value=INTEGERS)
def test_a_large_integer_is_found_wherever_the_text_is_divided(before: int, part: int, value: int) -> None:
    """The text is looked through in parts, so that a long one isn't in memory several times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answer, "_PART", part)
        document = ["x" * before, value, "y"]

        assert json.loads(encode(document)) == answered(document)
