"""Packets are read as the connector reads them, however the network divides them."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from clitool_tools.database.mysql.clock import Clock
from clitool_tools.database.mysql.driver import DriverError
from clitool_tools.database.mysql.packets import Packets, values
from clitool_tools.database.mysql.stream import ClockedSocket
from hypothesis import given, settings
from hypothesis import strategies as st
from mysql.connector.utils import lc_int, read_lc_string_list

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL = 2**24 - 1


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Packets]]:
    """Return the server's end of a connection, and the packets that come through ours."""
    server, ours = socket.socketpair()
    with server, ours:
        yield server, Packets(ClockedSocket(ours, Clock(5)))


def packet(content: bytes, number: int = 0) -> bytes:
    return len(content).to_bytes(3, "little") + bytes([number]) + content


def test_packets_come_one_by_one_however_they_are_sent(ends: tuple[socket.socket, Packets]) -> None:
    server, packets = ends
    server.sendall(packet(b"", 1) + packet(b"ab", 2)[:5])
    assert packets.next() == (b"\0\0\0\1", b"")
    server.sendall(packet(b"ab", 2)[5:] + packet(b"x" * 100_000, 3))

    assert packets.next() == (b"\2\0\0\2", b"ab")
    assert packets.content() == b"x" * 100_000


def test_the_end_of_the_connection_is_told_also_within_a_packet(ends: tuple[socket.socket, Packets]) -> None:
    server, packets = ends
    server.sendall(packet(b"abc")[:-1])
    server.close()

    with pytest.raises(EOFError):
        packets.next()


class Endless:
    """A socket that gives zeros, and headers of full packets."""

    def __init__(self) -> None:
        self.taken = 0

    def take(self, size: int) -> bytes:
        self.taken += size
        return b"\xff\xff\xff\0" if size == 4 else bytes(size)


def test_a_row_without_end_is_given_up() -> None:
    """A server cannot fill the memory with a row that no answer can hold."""
    endless = Endless()

    with pytest.raises(DriverError) as caught:
        Packets(endless).content()  # type: ignore[arg-type]  # it can all that is used here

    assert caught.value.kind == "large"
    assert endless.taken <= 5 * (FULL + 4)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.none() | st.binary(max_size=300) | st.sampled_from([b"x" * 250, b"x" * 251, b"x" * 70_000])))
def test_the_values_of_a_row_come_back(row: list[bytes | None]) -> None:
    content = b"".join(b"\xfb" if value is None else bytes(lc_int(len(value))) + value for value in row)

    assert values(content) == tuple(row)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(st.binary(max_size=30) | st.lists(st.sampled_from([0, 1, 2, 250, 251, 252, 253, 255]), max_size=12).map(bytes))
def test_what_is_no_row_is_taken_as_the_connector_takes_it(content: bytes) -> None:
    """It fails; and a row that ends within a value, which the connector gives cut, is none."""
    try:
        expected = read_lc_string_list(content)
    except Exception:  # noqa: BLE001 - an end within a length; the connector has no words for that
        assert len(values(content) or ()) <= len(content)
        return

    assert values(content) in (expected, None)


@pytest.mark.parametrize(
    "content",
    [b"\x05ab", b"\x01a\x02b", b"\xfb\x01", b"\xfc\x05\x00ab", b"\xfd\x00\x00\x01a", b"\xfe" + b"\xff" * 8 + b"a"],
    ids=["its only value", "its last value", "nothing of it", "two bytes of length", "three bytes", "eight bytes"],
)
def test_a_row_that_ends_within_a_value_is_none(content: bytes) -> None:
    """What was lost on the way is never shown as if it were all."""
    assert values(content) is None
