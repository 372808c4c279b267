"""Issued tokens."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool import tokens

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize("at_once", [True, False], ids=["what is there", "always asked"])
def test_bytes_are_read_alike_whether_they_are_there_or_must_be_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    if not at_once:
        monkeypatch.delattr(os, "RWF_NOWAIT", raising=False)
    file = tmp_path / "file"
    file.write_bytes(b"ab" * 3000)
    (silent, _), (ended, end), (there, other) = pipes = os.pipe(), os.pipe(), os.pipe()
    os.close(end)
    os.write(other, b"token\nrest")

    found = [
        _all_of(os.open(file, os.O_RDONLY)),
        *map(_all_of, (silent, ended, there)),
        _all_of(os.open(tmp_path, os.O_RDONLY)),
        _all_of(os.open(file, os.O_WRONLY)),
        _all_of(os.open(os.devnull, os.O_RDONLY)),
    ]
    os.close(pipes[0][1])
    os.close(other)

    assert found[:4] == [(b"ab" * 3000, b""), (b"", None), (b"", b""), (b"token\nrest", None)]
    assert found[4:] == [(b"", b"")] * 3


def _all_of(descriptor: int) -> tuple[bytes, bytes | None]:
    """What is read until nothing comes, and whether that is the end; closes the descriptor."""
    read = b""
    while chunk := tokens.read_chunk(descriptor, 0.01):
        read += chunk
    os.close(descriptor)
    return read, chunk
