"""Nobody but its user gets at a resident worker, and nobody can plant one."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from command import CLITOOL, TOKEN
from processes import NOBODY, run_as_nobody, run_at_once
from resident_world import World, until

from clitool.resident.peer import World as Peers
from clitool.stub import CALL, STATUS, header

if TYPE_CHECKING:
    from collections.abc import Callable

    Plant = Callable[[World], None]


def _somebody_elses_folder(world: World) -> None:
    world.socket.parent.mkdir(mode=0o700)
    os.chown(world.socket.parent, NOBODY, NOBODY)


def _open_folder(world: World) -> None:
    world.socket.parent.mkdir()
    world.socket.parent.chmod(0o750)


def _link(world: World) -> None:
    (world.folder / "elsewhere").mkdir(mode=0o700)
    world.socket.parent.symlink_to(world.folder / "elsewhere")


def _file(world: World) -> None:
    world.socket.parent.write_text("")


PLANTED = [
    pytest.param(_somebody_elses_folder, id="another user's folder"),
    pytest.param(_open_folder, id="a folder that others may enter"),
    pytest.param(_link, id="a link to a folder of one's own"),
    pytest.param(_file, id="a file"),
]


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_folder_is_neither_used_nor_listened_in(cold_world: World, plant: Plant) -> None:
    """A stub sends a token only to a socket in a folder that is its user's and closed to others."""
    plant(cold_world)
    taken: list[bytes] = []
    if cold_world.socket.parent.is_dir():
        _listen(cold_world, taken)

    started = cold_world.command("start")
    status = cold_world.command("status")

    assert (started.status, status.status) == (1, 1)
    assert started.stderr.decode().startswith(f"clitool: {cold_world.socket.parent} ")
    assert started.stderr.count(b"\n") == 1
    assert cold_world.call().status == 0
    assert taken == []


@pytest.mark.usefixtures("as_root")
def test_a_socket_of_another_user_gets_nothing(cold_world: World) -> None:
    """Whoever listens must be the same user, whatever the folder looks like."""
    cold_world.socket.parent.mkdir(mode=0o700)
    taken: list[bytes] = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(cold_world.socket))

    # The credentials that a stub sees are those of whoever called `listen`.
    _forked(lambda: _as_nobody(listener.listen))
    thread = threading.Thread(target=_take, args=(listener, taken), daemon=True)
    thread.start()
    call, status = cold_world.call(), cold_world.command("status")
    listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)

    assert (call.status, status.status) == (0, 1)
    assert b"".join(taken) == b""
    assert len(taken) == 2


_LISTENER = """
import socket, sys
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    print("ready", flush=True)
    connection, _ = listener.accept()
    print(connection.recv(9), flush=True)
"""


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("spaces", [("--mount",), ("--net",)])
def test_a_socket_of_the_same_user_in_another_world_gets_nothing(cold_world: World, spaces: tuple[str, ...]) -> None:
    """Who is shut into a container cannot have the tokens of calls outside handed in."""
    cold_world.socket.parent.mkdir(mode=0o700)
    words = ["unshare", *spaces, sys.executable, "-c", _LISTENER, str(cold_world.socket)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as listener:
        assert listener.stdout is not None
        assert listener.stdout.readline() == "ready\n"

        assert cold_world.call().status == 0
        assert listener.stdout.readline() == "b''\n"


def test_the_socket_is_its_users_alone(world: World) -> None:
    folder, place = os.lstat(world.socket.parent), os.lstat(world.socket)

    assert stat.S_IMODE(folder.st_mode) == 0o700
    assert stat.S_IMODE(place.st_mode) == 0o600
    assert {stat.S_IMODE(os.lstat(file).st_mode) for file in world.socket.parent.iterdir()} == {0o600}
    assert folder.st_uid == place.st_uid == os.geteuid()


@pytest.mark.parametrize("mask", ["000", "777"])
def test_the_umask_of_whoever_starts_it_does_not_matter(cold_world: World, mask: str) -> None:
    script = f'umask {mask}; exec "$0" resident start'

    started = subprocess.run(["/bin/sh", "-c", script, CLITOOL], env=cold_world.env, capture_output=True, check=False)

    assert started.returncode == 0, started
    test_the_socket_is_its_users_alone(cold_world)
    assert cold_world.call().status == 0
    assert cold_world.status()["calls"] == 1


@pytest.mark.usefixtures("as_root")
def test_another_user_is_turned_away_even_if_he_gets_to_the_socket(world: World) -> None:
    """The peer's user and groups are asked of the kernel."""
    for path in (world.folder, world.runtime, world.socket.parent):
        path.chmod(0o711)
    world.socket.chmod(0o666)
    path, message = str(world.socket), header(STATUS)

    def ask() -> bytes:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            try:
                connection.sendall(message)
                return connection.recv(1000)
            except ConnectionError:
                return b""

    def ask_as_another_group() -> bytes:
        os.setgid(NOBODY)
        return ask()

    def ask_with_another_group() -> bytes:
        os.setgroups([12345])
        return ask()

    assert ask() != b""
    assert run_as_nobody(ask) == b""
    assert _forked(ask_as_another_group) == b""
    assert _forked(ask_with_another_group) == b""
    assert world.status()["declined"]["from another world"] == 3
    world.socket.parent.chmod(0o700)


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("spaces", [("--mount",), ("--net",)])
def test_a_call_from_another_world_is_made_there(world: World, spaces: tuple[str, ...]) -> None:
    """What a container or a sandbox cannot reach, it cannot reach through the socket either."""
    words = ["unshare", *spaces, CLITOOL, *world.words("habits", "--token-stdin")]
    if subprocess.run(["unshare", *spaces, "true"], capture_output=True, check=False).returncode:
        pytest.fail("this system does not let root make namespaces")

    done = subprocess.run(words, input=TOKEN.encode(), env=world.env, capture_output=True, check=False)

    assert done.returncode == 0, done
    status = world.status()
    assert (status["calls"], status["declined"]["from another world"]) == (0, 1)


@pytest.mark.usefixtures("as_root")
def test_a_call_from_another_root_folder_is_not_taken(world: World) -> None:
    path, message = str(world.socket), header(STATUS)

    def ask_from_below() -> bytes:
        os.chdir(os.path.dirname(path))
        os.chroot("/usr")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.path.basename(path))
            try:
                connection.sendall(message)
                return connection.recv(1000)
            except ConnectionError:
                return b""

    assert _forked(ask_from_below) == b""


NOISE = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"x", id="one byte"),
    pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="another protocol"),
    pytest.param(b"clitool\2" + bytes(200), id="another version of it"),
    pytest.param(header(b"?"), id="an unknown wish"),
    pytest.param(header(CALL)[:40], id="half a header"),
    pytest.param(header(CALL), id="another installation"),
    pytest.param(os.urandom(100_000), id="noise"),
]


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("stays", [False, True], ids=["leaves", "stays"])
def test_whatever_is_sent_there_it_goes_on(shared_world: World, noise: bytes, stays: bool) -> None:
    pid = shared_world.pid
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(shared_world.socket))
    with contextlib.suppress(ConnectionError):
        connection.sendall(noise)
    if not stays:
        connection.close()

    assert shared_world.call().status == 0
    assert shared_world.pid == pid
    if stays:
        connection.settimeout(10)
        assert _ended(connection)
        connection.close()


PAYLOADS = [
    pytest.param(b"", id="nothing"),
    pytest.param((1 << 31).to_bytes(4, "big"), id="too much"),
    pytest.param((4).to_bytes(4, "big") + b"abcd", id="no parts"),
    pytest.param((20).to_bytes(4, "big") + bytes(20), id="empty parts"),
    pytest.param((25).to_bytes(4, "big") + (b"\0\0\0\1x" * 5), id="parts that mean nothing"),
    pytest.param((8).to_bytes(4, "big") + b"\xff" * 8, id="parts longer than the whole"),
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_call_that_makes_no_sense_ends_its_connection(shared_world: World, payload: bytes) -> None:
    with shared_world.announced() as connection:
        connection.sendall(payload)
        connection.shutdown(socket.SHUT_WR)
        assert _ended(connection)

    assert shared_world.call().status == 0
    assert until(lambda: shared_world.status()["under_way"] == 0)


def test_descriptors_that_nobody_wants_are_closed(world: World) -> None:
    """A connection cannot fill the table of descriptors of the processes behind it."""
    for _ in range(5):
        with world.announced() as connection:
            socket.send_fds(connection, [b"\0"], [0] * 200)
            connection.shutdown(socket.SHUT_WR)
            assert _ended(connection)
    result = world.call().document["result"]

    assert len(result["descriptors"]) <= 8


def test_a_crowd_of_silent_connections_holds_no_call_up(world: World) -> None:
    crowd = [socket.socket(socket.AF_UNIX) for _ in range(300)]
    for connection in crowd:
        connection.setblocking(False)
        try:
            connection.connect(str(world.socket))
        except OSError:
            break

    assert world.call().status == 0
    for connection in crowd:
        connection.close()
    assert world.call().status == 0
    assert world.status()["calls"] >= 1


def test_a_peer_whose_user_cannot_be_known_is_not_alike() -> None:
    with socket.socket(socket.AF_INET) as connection:
        assert not Peers().is_that_of(connection)


def _ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def _listen(world: World, taken: list[bytes]) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(world.socket))
    listener.listen()
    listener.settimeout(30)
    threading.Thread(target=_take, args=(listener, taken), daemon=True).start()


def _take(listener: socket.socket, taken: list[bytes]) -> None:
    with listener:
        try:
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(5)
                    taken.append(connection.recv(1000))
        except OSError:
            return


def _as_nobody(action: Callable[[], object]) -> bytes:
    os.setuid(NOBODY)
    action()
    return b""


def _forked(action: Callable[[], bytes]) -> bytes:
    answer: bytes = run_at_once(lambda _: action(), 1)[0]
    return answer
