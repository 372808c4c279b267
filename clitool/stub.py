"""The command's side of the resident worker: hands a call over and waits for its answer.

A call is made by the resident worker or by this process, never by both. The process that shall make it accepts it as
soon as it has all of it, and does nothing of it before. So what has not been accepted, and cannot be any more, is made
by this process; whatever goes wrong until then means no more than that.
"""

from __future__ import annotations

import os
import sys
from stat import S_ISDIR
from time import monotonic

from clitool.errors import AuthFailed, ExecutionError
from clitool.lean import sha256, socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clitool.arguments import Request
    from clitool.listener import Ending
    from clitool.tokens import TokenLine
    from clitool.watch import Watch

MAGIC = b"clitool\1"  # its last byte is the number of the protocol
CALL, STATUS, STOP = b"C", b"S", b"E"
HEADER = len(MAGIC) + 1 + 32 + 32 + 8  # kind, fingerprint, key, end in nanoseconds of the monotonic clock
ACCEPTED = b"\6"
IS_LINUX = sys.platform.startswith("linux")
MAX_PAYLOAD = 16 * 1024 * 1024
_ACCEPT_SECONDS = 1.0  # a resident worker that has not even taken the call by then is stuck
_END_SECONDS = 0.2  # for the resident worker to end a call that is given up
_LOCATING = ("CLITOOL_CLIENTS", "HOME", "XDG_CONFIG_HOME")  # say where the clients file is
_LOADING = ("LD_LIBRARY_PATH", "LD_PRELOAD", "OPENSSL_CONF")  # act only when a process starts
_FLAGS = ("optimize", "dev_mode", "int_max_str_digits")  # the same code acts otherwise under them


def find(path: str) -> socket.socket | None:
    """Return a connection to the resident worker whose socket lies at `path`, or None if it is none to trust."""
    if not is_private_folder(os.path.dirname(path)):
        return None
    try:
        return connect(path)
    except OSError:
        return None


def hand_over(
    connection: socket.socket,
    request: Request,
    environment: Mapping[str, str],
    watch: Watch,
    note: Callable[[bytes], object],
) -> Ending | None:
    """Return how the resident worker ended a call, or None if this process has to make it.

    In that case `request.token_line` holds what was read of the token.

    Args:
        connection: from `find`; closed in the end.
        request: the call.
        environment: the caller's.
        watch: says when the call is over before its time.
        note: gets each line meant for standard error.

    Raises:
        ExecutionError: the call was interrupted or took too long before it was handed over.
    """
    try:
        line = request.token_line = _token_line(request, watch)
        if isinstance(line, AuthFailed) or not (line.token or request.empty_token_client):
            return None
        if "" in environment:  # a variable without a name, which nobody can set anew
            return None
        until = monotonic() + min(_ACCEPT_SECONDS, (watch.end - monotonic()) / 4)
        if not (_is_sent(connection, request, environment, line, watch, until) and _is_taken(connection, watch, until)):
            return None
        return _wait(connection, watch, note)
    finally:
        connection.close()


def is_private_folder(path: str) -> bool:
    """Say whether `path` is a folder of this user's own that nobody else may enter."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def connect(path: str) -> socket.socket:
    """Return a connection to the resident worker of this user, and of his world; raises OSError if there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        connection.connect(path)
        process, user = peer(connection)
        # The same user in a container or a sandbox can put a socket where this one looks for it: he gets no token.
        if user != os.geteuid() or (IS_LINUX and world(str(process)) != world("self")):
            raise PermissionError(path)
    except OSError:
        connection.close()
        raise
    return connection


def peer(connection: socket.socket) -> tuple[int, int]:
    """Return the process (only on Linux) and the user at the other end of a connection.

    Raises:
        OSError: the system does not tell.
    """
    if hasattr(socket, "SO_PEERCRED"):
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)  # pid, uid, gid
    else:  # macOS
        credentials = connection.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: version, uid, groups
    return int.from_bytes(credentials[:4], sys.byteorder), int.from_bytes(credentials[4:8], sys.byteorder)


def world(process: str) -> list[tuple[int, int]]:
    """Return what tells the root folder, mounts and network of a process from others; raises OSError."""
    found = [os.stat(f"/proc/{process}/{place}") for place in ("root", "ns/mnt", "ns/net")]
    return [(place.st_dev, place.st_ino) for place in found]


def header(kind: bytes, mark: bytes = bytes(32), key: bytes = bytes(32), end: float = 0.0) -> bytes:
    """Return what a connection begins with.

    Args:
        kind: what is wanted.
        mark: the `fingerprint` of who asks.
        key: calls with different ones never meet in one process.
        end: when the call must have been answered.
    """
    return MAGIC + kind + mark + key + round(end * 1e9).to_bytes(8, "big")


def fingerprint(environment: Mapping[str, str]) -> bytes:
    """Return what is the same for two processes only if the same code would act in them in the same way.

    It changes when a distribution is installed, upgraded or removed.
    """
    code = [_identity(path) for path in (*sys.path, os.path.dirname(__file__))]
    flags = [getattr(sys.flags, name) for name in _FLAGS]
    at_start = [environment.get(name) for name in _LOADING]
    whole = (sys.hexversion, sys.prefix, sys.getfilesystemencoding(), sys.warnoptions, flags, at_start, code)
    return sha256(repr(whole).encode()).digest()


def _identity(path: str) -> tuple[object, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return (path,)
    return path, found.st_dev, found.st_ino, found.st_mtime_ns


def _token_line(request: Request, watch: Watch) -> TokenLine | AuthFailed:
    from clitool.tokens import read

    try:
        return read(request, watch.wait)
    except AuthFailed as error:
        return error


def _is_sent(
    connection: socket.socket,
    request: Request,
    environment: Mapping[str, str],
    line: TokenLine,
    watch: Watch,
    until: float,
) -> bool:
    """Send the call; False if not all of it goes out in time."""
    payload = _payload(request, environment, line)
    if len(payload) > MAX_PAYLOAD:
        return False
    try:
        connection.send(header(CALL, fingerprint(environment), _key(request, environment, line.token), watch.end))
        return _send(connection, payload, watch, until)
    except OSError:
        return False


def _is_taken(connection: socket.socket, watch: Watch, until: float) -> bool:
    """Wait until the call is accepted; if it is not in time, see to it that it never will be."""
    import clitool.listener  # noqa: F401 - for the answer, while the other side is at work

    try:
        if not watch.wait(connection.fileno(), until - monotonic()):
            _withdraw(connection)
        return connection.recv(1) == ACCEPTED
    except OSError:
        return False
    except ExecutionError:
        _give_up(connection)
        raise


def _withdraw(connection: socket.socket) -> None:
    """See to it that the call is not accepted any more; whether it just was can still be read."""
    if not IS_LINUX:  # elsewhere that would be lost, and the call perhaps made twice
        raise ExecutionError("the resident worker does not answer; end it: clitool resident stop", "timeout")
    connection.shutdown(socket.SHUT_RDWR)


def _key(request: Request, environment: Mapping[str, str], token: bytes) -> bytes:
    places = [environment.get(name) for name in _LOCATING]
    clients = places if request.clients is None else os.path.abspath(request.clients)
    client = sha256(token).digest() if token else request.empty_token_client
    return sha256(repr((clients, request.trust_file, client)).encode()).digest()


def _payload(request: Request, environment: Mapping[str, str], line: TokenLine) -> bytes:
    """Return the call as this process would make it: a length, then five parts, each with its length."""
    mask = os.umask(0o077)
    os.umask(mask)
    words = b"\0".join(map(os.fsencode, request.words))
    variables = b"\0".join(os.fsencode(f"{name}={value}") for name, value in environment.items())
    parts = (words, variables, line.token, line.rest, b"%o" % mask)
    body = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return len(body).to_bytes(4, "big") + body


def _send(connection: socket.socket, payload: bytes, watch: Watch, until: float) -> bool:
    """Send the call, and with it standard input and the working folder; False if it is not taken off in time."""
    folder = os.open(".", getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptors = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, folder))
        sent = connection.sendmsg([payload], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
    finally:
        os.close(folder)
    rest = memoryview(payload)[sent:]
    while rest:
        if not watch.wait(connection.fileno(), until - monotonic(), to_write=True):
            return False
        rest = rest[connection.send(rest) :]
    return True


def _wait(connection: socket.socket, watch: Watch, note: Callable[[bytes], object]) -> Ending:
    from clitool.listener import Listener

    ending = Listener(connection.fileno(), watch.signals, note).wait(watch.end)
    if ending.error is not None:
        _give_up(connection)
    return ending


def _give_up(connection: socket.socket) -> None:
    """See to it that whatever does the call is gone when the caller hears that it is over."""
    from select import poll

    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        return
    waiting = poll()
    waiting.register(connection, 0)  # nothing but the end of the other side
    waiting.poll(_END_SECONDS * 1000)
