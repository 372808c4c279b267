"""Issued tokens."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from clitool import tokens


def test_an_issued_token_has_its_form_and_checksum() -> None:
    token = tokens.issue()

    assert re.fullmatch(r"clt_[0-9A-Za-z]{43}[0-9A-Za-z]{6}", token)
    body, check = token[4:47], token[47:]
    assert tokens.checksum(body) == check


def test_no_two_tokens_are_alike() -> None:
    assert len({tokens.issue() for _ in range(1000)}) == 1000


@settings(deadline=None, derandomize=True)
@given(st.binary(), st.binary())
def test_only_the_same_bytes_match(one: bytes, two: bytes) -> None:
    """T14: A token is opaque bytes: nothing is decoded, folded or trimmed."""
    assert tokens.matches(one, tokens.digest(one))
    assert tokens.matches(one, tokens.digest(two)) == (one == two)
