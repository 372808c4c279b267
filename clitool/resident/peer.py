"""Who is at the other end of a connection, and whether he sees the same world as this process does."""

from __future__ import annotations

import os
import socket
import sys

from clitool.stub import peer

_SO_PEERGROUPS = 59  # Linux; the socket module does not name it
_MAX_GROUPS = 256  # more than the socket module asks for; then the call is made elsewhere


def is_alike(connection: socket.socket) -> bool:
    """Say whether a call of the peer's would mean the same if this process made it.

    That takes the same user and groups; and on Linux the same root folder, mounts and network: a container or a sandbox
    that can reach the socket shall not reach through it what lies outside.
    """
    try:
        if peer(connection) != os.geteuid():
            return False
        return not sys.platform.startswith("linux") or (_has_same_groups(connection) and _has_same_world(connection))
    except OSError:  # what cannot be known is not so
        return False


def _has_same_groups(connection: socket.socket) -> bool:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    if int.from_bytes(credentials[8:], sys.byteorder) != os.getegid():
        return False
    groups = connection.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, 4 * _MAX_GROUPS)
    numbers = [int.from_bytes(groups[at : at + 4], sys.byteorder) for at in range(0, len(groups), 4)]
    return sorted(numbers) == sorted(os.getgroups())


def _has_same_world(connection: socket.socket) -> bool:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid = int.from_bytes(credentials[:4], sys.byteorder)
    return all(
        os.path.samestat(os.stat(f"/proc/{pid}/{place}"), os.stat(f"/proc/self/{place}"))
        for place in ("root", "ns/mnt", "ns/net")
    )
