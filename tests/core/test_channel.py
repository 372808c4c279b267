"""Frames arrive as they were sent, however the pipe cuts them; what is no frame is refused at its header."""

from __future__ import annotations

import os
from contextlib import closing
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from clitool.answer import MAX_BYTES
from clitool.channel import ABOUT, ANSWER, NOTE, Channel
from clitool.frames import Frames

if TYPE_CHECKING:
    from collections.abc import Iterator


class Pipe:
    """A pipe between a channel and its frames."""

    def __init__(self) -> None:
        self.read, self.write = os.pipe()
        self.channel = Channel(self.write, monotonic())
        self.frames = Frames(self.read)

    def take(self) -> tuple[bytes, bytes] | None:
        frame = self.frames.take()
        return None if frame is None else (frame[0], bytes(frame[1]))

    def close(self) -> None:
        os.close(self.read)
        if self.write >= 0:
            os.close(self.write)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    with closing(Pipe()) as made:
        yield made


def test_frames_come_one_by_one_and_an_answer_in_pieces_as_one(pipe: Pipe) -> None:
    pipe.channel.note("a line")
    pipe.channel.note("")
    pipe.channel.about(b"facts")
    pipe.channel.answer([b'{"a":', b"", b"1}\n"], 3)

    assert pipe.take() == (NOTE, b"a line")
    assert pipe.take() == (NOTE, b"")
    assert pipe.take() == (ABOUT, b"facts")
    assert pipe.take() == (ANSWER, b'\x03{"a":1}\n')
    assert pipe.take() is None


def test_a_frame_is_complete_with_its_last_byte(pipe: Pipe) -> None:
    sent = ANSWER + (4).to_bytes(8, "big") + b"\x00abc"
    for octet in sent[:-1]:
        os.write(pipe.write, bytes([octet]))
        assert pipe.take() is None
    os.write(pipe.write, sent[-1:])

    assert pipe.take() == (ANSWER, b"\x00abc")


def test_the_end_is_told_also_within_a_frame(pipe: Pipe) -> None:
    os.write(pipe.write, ANSWER + (4).to_bytes(8, "big") + b"\x00a")
    assert pipe.take() is None
    os.close(pipe.write)
    pipe.write = -1

    with pytest.raises(EOFError):
        pipe.take()


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"X" + (1).to_bytes(8, "big"), id="unknown kind"),
        pytest.param(ANSWER + bytes(8), id="an answer without a status"),
        pytest.param(ANSWER + (MAX_BYTES + 2).to_bytes(8, "big"), id="too long"),
        pytest.param(NOTE + b"\xff" * 8, id="2^64 bytes"),
    ],
)
def test_what_is_no_frame_is_refused_before_anything_is_made_for_it(pipe: Pipe, header: bytes) -> None:
    """A tool can write into every descriptor of its process, also into this pipe."""
    os.write(pipe.write, header)

    with pytest.raises(ValueError, match=repr(header[:1])):
        pipe.take()
