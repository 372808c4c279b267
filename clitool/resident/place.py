"""Where the resident worker is found: a socket in a folder that only its user may enter, and a lock beside it."""

from __future__ import annotations

import fcntl
import os
import socket

from clitool.errors import ExecutionError
from clitool.machine import resident_socket
from clitool.stub import is_private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_BACKLOG = 512  # commands that start at the same moment; more of them go cold


def prepare(environment: Mapping[str, str]) -> str:
    """Return the path of the socket, in a folder that is there and private.

    Raises:
        ExecutionError: the folder cannot be made, or belongs to or is open to somebody else.
    """
    path = resident_socket(environment)
    folder = os.path.dirname(path)
    try:
        os.mkdir(folder, 0o700)
        os.chmod(folder, 0o700)  # a umask may have taken the owner's bits
    except FileExistsError:
        pass
    except OSError as error:
        hint = "; set XDG_RUNTIME_DIR to a folder of your own" if "XDG_RUNTIME_DIR" in environment else ""
        raise ExecutionError(f"the folder {folder} cannot be made: {error.strerror}{hint}", "io") from None
    if not is_private_folder(folder):
        message = f"{folder} must be a folder of your own that nobody else may enter; remove it, or run: chmod 700"
        raise ExecutionError(f"{message} '{folder}'", "permission")
    return path


def lock(path: str) -> int | None:
    """Return a descriptor that holds the lock beside the socket at `path`, or None if another process holds it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(os.path.join(os.path.dirname(path), "resident.lock"), flags, 0o600)
    except OSError as error:
        raise ExecutionError(f"the lock beside {path} cannot be opened: {error.strerror}", "io") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def is_taken(path: str) -> bool:
    """Say whether a process holds the lock beside the socket at `path`."""
    descriptor = lock(path)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is None


def listen(path: str) -> socket.socket:
    """Return a socket that listens at `path`, in place of one that a killed process left; the lock must be held."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        _remove(path)
        listener.bind(path)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        why = error.strerror or "the path is too long for a socket; set XDG_RUNTIME_DIR to a shorter one"
        raise ExecutionError(f"no socket can be made at {path}: {why}", "io") from None
    finally:
        os.umask(mask)
    listener.setblocking(False)
    return listener


class Place:
    """The socket in the file system, as it is now."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._identity = _identity(path)

    def is_mine(self) -> bool:
        """Say whether stubs still find this socket there."""
        return _identity(self._path) == self._identity

    def leave(self) -> None:
        """Remove it, unless another one is there by now."""
        if self.is_mine():
            _remove(self._path)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
