"""The clients file rewritten: one writer at a time, the old text or the new one, nothing in between."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from time import monotonic, sleep

from clitool.admin.index_upkeep import refresh
from clitool.clients_file import read
from clitool.clients_yaml import ParsedClients, parse
from clitool.errors import ExecutionError
from clitool.file_rights import take_over_rights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOCK_SECONDS = 10.0


def change(path: str, edit: Callable[[bytes, ParsedClients], bytes], *, trust: bool = False) -> ParsedClients:
    """Replace the content of the clients file at the absolute `path`; return what it says now.

    Where the path is a symbolic link, its target is replaced and the link stays. Owner, group, mode and access list
    are kept. Who reads meanwhile sees the old file or the new one.

    Args:
        path: of a file that our own parser accepts.
        edit: (content, what it says) -> new content; must raise rather than return something else.
        trust: as for `clients_file.read`.

    Raises:
        ClientsFileError: the file is not valid or not safe, before the change or after it; then nothing is written.
        ExecutionError: it is locked for too long, or cannot be replaced.
    """
    read(path, trust=trust)  # a missing or unsafe file is told as such, before anything is locked
    target = os.path.realpath(path)
    try:
        with _locked(os.path.dirname(target)):
            old = read(path, trust=trust)
            new = edit(old, parse(old, path))
            clients = parse(new, path)
            _replace(target, new)
        refresh(path, new, clients, trust=trust)
    except OSError as error:
        raise ExecutionError(f"the clients file cannot be replaced: {error.strerror}", "clients_file") from None
    return clients


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    # The folder itself is locked: a file for the lock would lie around, and the clients file is another one after
    # each change.
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        end = monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if signal.sigpending() & {signal.SIGINT, signal.SIGTERM}:
                    raise KeyboardInterrupt from None  # whoever keeps them back cannot mean this wait
                if monotonic() >= end:
                    raise ExecutionError("another process is changing the clients file; try again", "locked") from None
                sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def _replace(target: str, data: bytes) -> None:
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{os.urandom(6).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            take_over_rights(target, descriptor)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with suppress(OSError):  # not every file system can, and the change is made
        os.fsync(descriptor)
    os.close(descriptor)
