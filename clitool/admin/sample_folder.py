"""A folder to begin with: everything that `clitool init` writes is there in the end, or nothing of it."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from shutil import rmtree

from clitool import tokens
from clitool.admin import sample
from clitool.clients_yaml import load_all
from clitool.errors import ExecutionError
from clitool.private_folder import make_private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTS = (sample.FILES_FOLDER, sample.DATABASE_FILE, sample.CLIENTS_FILE)


def make(folder: str) -> tuple[str, str]:
    """Write the sample into `folder`, which is made if it is missing; return the clients file's path and the token.

    Raises:
        ExecutionError: (exists) something of it is there already; or the folder cannot be written.
        ClientsFileError: others may write in the folder.
    """
    folder = os.path.abspath(folder)
    path = os.path.join(folder, sample.CLIENTS_FILE)
    token = tokens.issue()
    try:
        _refuse_existing(folder)
        with _folder(folder), _workshop(folder) as workshop:
            _build(workshop, sample.clients_yaml(tokens.digest(token.encode())))
            _publish(workshop, folder)
    except OSError as error:
        raise ExecutionError(f"the folder cannot be set up: {error.strerror}", "io") from None
    return path, token


def _refuse_existing(folder: str) -> None:
    for name in _PARTS:
        if os.path.lexists(os.path.join(folder, name)):
            raise ExecutionError(f"there is a {name!r} in that folder already; name another folder", "exists")


@contextmanager
def _folder(path: str) -> Iterator[None]:
    missing = _missing(path)
    try:
        make_private_folder(path)
        yield
    except BaseException:
        for made in missing:
            with suppress(OSError):  # not made, or someone else has put something there
                os.rmdir(made)
        raise


def _missing(path: str) -> list[str]:
    """Return what must be made for the folder to be there, the innermost first."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


@contextmanager
def _workshop(folder: str) -> Iterator[str]:
    """Give a private folder within `folder`, on the same file system, that is gone afterwards."""
    path = os.path.join(folder, f".clitool-init-{os.urandom(6).hex()}")
    make_private_folder(path)
    try:
        yield path
    finally:
        rmtree(path, ignore_errors=True)


def _build(workshop: str, clients_yaml: str) -> None:
    for name, text in sample.FILES.items():
        path = os.path.join(workshop, sample.FILES_FOLDER, name)
        make_private_folder(os.path.dirname(path))
        _write(path, text)
    database = os.path.join(workshop, sample.DATABASE_FILE)
    _write(database, "")  # SQLite would make it readable for others
    sample.build_database(database)
    _write(os.path.join(workshop, sample.CLIENTS_FILE), clients_yaml)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, 0o600)  # a umask may have taken the owner's bits
        file.write(text.encode())


def _publish(workshop: str, folder: str) -> None:
    """Move everything to its place, the clients file last; take it back if one place turns out to be taken."""
    placed: list[str] = []
    try:
        for name in _PARTS:
            target = os.path.join(folder, name)
            _move(os.path.join(workshop, name), target)
            placed.append(target)
        load_all(placed[-1])  # if others may write in the folder, it would never be accepted: then nothing stays
    except BaseException:
        for target in placed:
            _remove(target)
        raise


def _move(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.rename(source, target)  # refused unless the target is missing or empty
    else:
        os.link(source, target)  # unlike a rename, refused if the target exists


def _remove(path: str) -> None:
    if os.path.isdir(path):
        rmtree(path, ignore_errors=True)
    else:
        os.unlink(path)
