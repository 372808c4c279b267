"""Answers as bytes: strict JSON, and integers that a double cannot hold as strings, wherever they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.answer import SAFE_INTEGER, encode

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


def exact(value: Any) -> Any:
    """Return the value with its large integers as strings."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    is_large = isinstance(value, int) and not isinstance(value, bool) and abs(value) > SAFE_INTEGER
    return str(value) if is_large else value


@pytest.mark.parametrize("pretty", [False, True], ids=["one line", "pretty"])
@settings(deadline=None, derandomize=True, max_examples=300)
@given(value=VALUES)
def test_large_integers_become_strings_and_nothing_else_changes(pretty: bool, value: Any) -> None:
    assert json.loads(encode(value, pretty=pretty)) == exact(value)
