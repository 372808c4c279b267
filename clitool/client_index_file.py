"""The index of a clients file written: as a whole or not at all, for the same readers, and never about a young file."""

from __future__ import annotations

import os
from contextlib import suppress
from errno import EEXIST, EPERM
from time import time, time_ns

from clitool.client_index import OTHERS_WRITE, Damaged, identity, open_index
from clitool.client_index_content import NoIndexPossible, content
from clitool.clients_file import index_path
from clitool.file_rights import take_over_rights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.clients_file import ClientsFile
    from clitool.clients_yaml import ParsedClients

# While the times of a file stand still, which they do for up to two seconds on some file systems, it can change without
# a trace; an index made meanwhile would go on saying what the file said before.
MIN_AGE = 2 * 10**9  # nanoseconds
_YOUNG = "it changed less than 2 seconds ago, or in the future"
_MODE = 0o644
_ABANDONED_SECONDS = 60  # writing takes a second or two, and renews the time


def keep(file: ClientsFile, clients: ParsedClients, status: os.stat_result, read_at: int) -> str:
    """See to it that the index of a clients file says what the file says.

    Args:
        file: still open.
        clients: what was read from it.
        status: of the file before that.
        read_at: the time before that, as `time_ns` has it.

    Returns:
        Why there is no such index, as a part of a sentence; nothing if there is. Nothing is raised: the index makes
        calls faster, and nothing else depends on it.
    """
    try:
        if identity(file.status()) != identity(status):
            return "it changed while it was read"
        if not is_settled(status, read_at):
            return _YOUNG
        if not _is_there(clients, status):
            _write(file, clients, status, read_at)
    except NoIndexPossible as error:
        return str(error)
    except OSError as error:
        return _why(error)
    except MemoryError:
        return "there is not enough memory to make one"
    return ""


def is_settled(status: os.stat_result, now: int) -> bool:
    """Say whether the file's last change lies far enough before `now`, so that the next one will show in its times."""
    return max(status.st_mtime_ns, status.st_ctime_ns) + MIN_AGE <= now


def _is_there(clients: ParsedClients, status: os.stat_result) -> bool:
    index = open_index(clients.path, status)
    try:
        return index is not None and index.content() == content(clients, identity(status))
    except Damaged:
        return False


def _write(file: ClientsFile, clients: ParsedClients, status: os.stat_result, read_at: int) -> None:
    path = index_path(clients.path)
    folder, name = os.path.split(path)
    if os.stat(folder).st_mode & OTHERS_WRITE:
        raise NoIndexPossible(f"others may write in {folder}, so an index there would not be believed")
    draft = os.path.join(folder, f".{name}.tmp")
    descriptor = _create(draft)
    try:
        with os.fdopen(descriptor, "wb") as output:
            _check_clock(descriptor, status, read_at)
            take_over_rights(file.descriptor, descriptor, _MODE)
            output.write(content(clients, identity(status)))
        os.replace(draft, path)  # not synced: after a crash its seals tell whether it is whole
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _check_clock(descriptor: int, status: os.stat_result, read_at: int) -> None:
    """Do not trust this machine's clock alone: the file system may be another's, which the new file's times show."""
    lag = time_ns() - os.fstat(descriptor).st_mtime_ns
    if not is_settled(status, read_at - lag):
        raise NoIndexPossible(_YOUNG)


def _create(draft: str) -> int:
    """Make the file under its one name, so that however many processes are killed, only one file lies around.

    A process may have been taken for dead that is only slow. Then a file is put in place before it is whole, which its
    seals tell.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(draft, flags, 0o600)
    except FileExistsError:
        if abs(time() - os.lstat(draft).st_mtime) < _ABANDONED_SECONDS:
            raise
        os.unlink(draft)
        return os.open(draft, flags, 0o600)


def _why(error: OSError) -> str:
    if error.errno == EEXIST:
        return "another process is writing the index, or was ended at it less than a minute ago"
    if error.errno == EPERM:
        return "this user cannot give an index the owner and the group of the file"
    return f"this user cannot write one: {error.strerror}"
