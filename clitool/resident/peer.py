"""Who is at the other end of a connection, and whether he sees the same world as this process does."""

from __future__ import annotations

import os
import socket
import sys

from clitool.stub import IS_LINUX, peer, world

_SO_PEERGROUPS = 59  # Linux; the socket module does not name it
_MAX_GROUPS = 256  # more than the socket module asks for; then the call is made elsewhere


class World:
    """The user, and on Linux the groups, root folder, mounts and network that this process has.

    A call of a peer that differs in any of them would mean something else, if this process made it. Above all, a
    container or a sandbox that can reach the socket shall not reach through it what lies outside.
    """

    def __init__(self) -> None:
        self._user = os.geteuid()
        self._group = os.getegid()
        self._groups = sorted(os.getgroups())
        self._places = world("self") if IS_LINUX else []

    def is_that_of(self, connection: socket.socket) -> bool:
        """Say whether the peer has the same; what cannot be known is not so."""
        try:
            if not IS_LINUX:
                return peer(connection)[1] == self._user
            pid, user, group = _numbers(connection, socket.SO_PEERCRED, 3)
            return (
                (user, group) == (self._user, self._group)
                and sorted(_numbers(connection, _SO_PEERGROUPS, _MAX_GROUPS)) == self._groups
                and world(str(pid)) == self._places
            )
        except (OSError, ValueError):
            return False


def _numbers(connection: socket.socket, option: int, count: int) -> list[int]:
    data = connection.getsockopt(socket.SOL_SOCKET, option, 4 * count)
    return [int.from_bytes(data[at : at + 4], sys.byteorder) for at in range(0, len(data), 4)]
