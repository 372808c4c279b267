"""A folder that nothing leaves: paths are walked name by name below one open descriptor, and no link is followed."""

from __future__ import annotations

import errno
import os
import stat

from clitool.errors import ExecutionError, InvalidParams
from clitool.location import Location, locate, locate_file, show, visible
from clitool.root import root_spellings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import FileIO
    from typing import Self

    from clitool.errors import ClitoolError
    from clitool.jail_entry import Entry as Entry  # noqa: PLC0414 - exported for annotations

__all__ = [
    "Folder",
    "Jail",
    "Location",
    "locate",
    "locate_file",
    "refusal",
    "require_file",
    "root_spellings",
    "show",
    "visible",
]

# Opening never waits for the other end of a pipe and never makes a terminal ours.
SAFELY = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | SAFELY


class Jail:
    """One open root folder; whatever is reached through it lies below it, also while others move things about.

    Each name is opened relative to the descriptor before it with ``O_NOFOLLOW`` (POSIX ``openat``), so a symbolic link
    is refused at the moment of use, not in a check before it. Bind mounts, which only administrators make, are
    followed.

    Args:
        root_path: absolute; may itself be a symbolic link, which is resolved here, once.
        setting: what the path is called in the settings, for messages.

    Raises:
        ExecutionError: `settings` if the root is missing, no folder, not readable, or ``/``.
    """

    __slots__ = ("_root",)

    def __init__(self, root_path: str, setting: str = "root_path") -> None:
        self._root = _open_root(root_path, setting)

    def close(self) -> None:
        """Release the root; harmless when repeated."""
        root, self._root = self._root, -1
        if root >= 0:
            os.close(root)

    def folder(self, location: Location) -> Folder:
        """Open the folder at `location`, for ``with``."""
        return Folder(self._walk(location, location.parts), location.shown)

    def parent(self, location: Location) -> Folder:
        """Open the folder that holds the file at `location` (from `locate_file`), for ``with``."""
        return Folder(self._walk(location, location.parts[:-1]), location.shown)

    def entry(self, location: Location, *, make_parents: bool = False) -> Entry:
        """Open the place of the file at `location` (from `locate_file`) for changes, for ``with``.

        With `make_parents`, folders that are missing on the way are made.
        """
        from clitool.jail_entry import Entry

        folder = self._walk(location, location.parts[:-1], make=make_parents)
        return Entry(self, location, folder)

    def holds(self, location: Location, folder: int) -> bool:
        """Return whether `folder` is still the open folder that holds the last name of `location`."""
        try:
            again = self._walk(location, location.parts[:-1])
        except (ExecutionError, InvalidParams):
            return False
        try:
            return os.path.samestat(os.fstat(again), os.fstat(folder))
        finally:
            os.close(again)

    def _walk(self, location: Location, parts: Sequence[str], *, make: bool = False) -> int:
        shown = location.shown
        # "." opens a descriptor of its own: a duplicate would share its reading position and its lock with the root.
        folder = _enter(self._root, ".", shown, last=not location.parts)
        for depth, part in enumerate(parts, 1):
            try:
                below = _enter(folder, part, shown, last=depth == len(location.parts), make=make)
            finally:
                os.close(folder)
            folder = below
        return folder


def _open_root(root_path: str, setting: str) -> int:
    try:
        root = os.open(root_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        known = {errno.ENOENT: "does not exist", errno.ENOTDIR: "is not a folder", errno.EACCES: "cannot be read"}
        what = known.get(getattr(error, "errno", 0), "cannot be opened")
        message = f"the folder that {setting} names {what}; run `clitool check` and mend the clients file"
        raise ExecutionError(message, "settings") from error
    if os.path.samestat(os.fstat(root), os.stat("/")):
        os.close(root)
        raise ExecutionError(f"{setting} is the whole file system; name a folder of its own", "settings")
    return root


def _enter(folder: int, name: str, shown: str, *, last: bool, make: bool = False) -> int:
    try:
        return _open_folder(folder, raw(name), make=make)
    except FileNotFoundError as error:
        what = " does" if last else ": a folder of this path does"
        raise ExecutionError(f"{shown}{what} not exist", "not_found") from error
    except NotADirectoryError as error:
        raise _no_folder(folder, name, shown) from error
    except OSError as error:
        raise refusal(error, shown) from error


def _open_folder(folder: int, name: bytes, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    _make_folder(folder, name)
    return os.open(name, _FOLDER, dir_fd=folder)


def _make_folder(folder: int, name: bytes) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return  # somebody else was faster; whether it is a folder, opening it will tell


def raw(name: str) -> bytes:
    """Return `name` as the operating system has it: UTF-8 in every locale, other bytes as listings have them."""
    return name.encode("utf-8", "surrogateescape")


def _no_folder(folder: int, name: str, shown: str) -> ClitoolError:
    """Say why `name` could not be opened as a folder: Linux reports a link like a file."""
    try:
        mode = os.stat(raw(name), dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        mode = stat.S_IFDIR
    if stat.S_ISDIR(mode):
        return ExecutionError(f"{shown}: a folder of this path was replaced during the call; try again", "changed")
    return refusal(OSError(errno.ELOOP if stat.S_ISLNK(mode) else errno.ENOTDIR, ""), shown)


class Folder:
    """An open folder of a jail; leaving the ``with`` closes it and turns an OSError into the error for the caller.

    Attributes:
        fd: its descriptor.
        shown: the caller's path, for messages.
    """

    __slots__ = ("fd", "shown")

    def __init__(self, fd: int, shown: str) -> None:
        self.fd = fd
        self.shown = shown

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()
        if isinstance(error, OSError):
            raise refusal(error, self.shown) from error

    def close(self) -> None:
        """Close the folder, where no ``with`` does."""
        os.close(self.fd)

    def status(self, name: str) -> os.stat_result | None:
        """Return what `name` is, a link itself and not its target; None if nothing has this name."""
        try:
            return os.stat(raw(name), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refusal(error, self.shown) from error

    def open(self, name: str, flags: int = os.O_RDONLY) -> FileIO:
        """Open the regular file `name`, which must have no other name; `flags` as for `os.open`.

        Raises:
            InvalidParams: `symlink`, `is_directory`, `not_regular` or `hardlink`.
            OSError: whatever else goes wrong.
        """
        # The first look spares devices an opening, which can have effects; the second one decides.
        require_file(os.stat(raw(name), dir_fd=self.fd, follow_symlinks=False), self.shown)
        fd = os.open(raw(name), flags | SAFELY, dir_fd=self.fd)
        try:
            require_file(_settled(fd), self.shown, sole=True)
        except BaseException:
            os.close(fd)
            raise
        from io import FileIO

        return FileIO(fd, "r+b" if flags & os.O_RDWR else "rb")


def _settled(fd: int) -> os.stat_result:
    from time import sleep

    # A file that `Entry.create` is just putting in place has two names for a moment.
    for _ in range(5):
        if os.fstat(fd).st_nlink < 2:
            break
        sleep(0.002)
    return os.fstat(fd)


def require_file(status: os.stat_result, shown: str, *, sole: bool = False) -> None:
    """Raise `InvalidParams` unless `status` is that of a regular file and, if `sole`, of one without another name."""
    if stat.S_ISLNK(status.st_mode):
        raise InvalidParams(f"{shown} is a symbolic link; links are not followed", "symlink")
    if stat.S_ISDIR(status.st_mode):
        raise InvalidParams(f"{shown} is a folder; a file is needed", "is_directory")
    if not stat.S_ISREG(status.st_mode):
        raise InvalidParams(f"{shown} is a device, pipe or socket, not a regular file", "not_regular")
    if sole and status.st_nlink > 1:
        message = f"{shown} has a second name (hard link), which may lie outside the folder; use a copy of it"
        raise InvalidParams(message, "hardlink")


_INVALID = {
    errno.ELOOP: ("symlink", "the path leads through a symbolic link; links are not followed"),
    errno.ENOTDIR: ("not_directory", "a name on the path is a file, not a folder"),
    errno.EISDIR: ("is_directory", "this is a folder; a file is needed"),
    errno.ENXIO: ("not_regular", "this is a device, pipe or socket"),
    errno.ENODEV: ("not_regular", "this is a device, pipe or socket"),
    errno.EOPNOTSUPP: ("not_regular", "this is a device, pipe or socket"),
    errno.ENAMETOOLONG: ("bad_path", "the name is too long for this file system"),
    errno.EILSEQ: ("bad_path", "this file system cannot store the name"),
    errno.EINVAL: ("bad_path", "this file system cannot store the name"),
}
_FAULTS = {
    errno.ENOENT: ("not_found", "no such file or folder"),
    errno.EEXIST: ("exists", "this exists already"),
    errno.EACCES: ("permission", "the operating system refuses access"),
    errno.EPERM: ("permission", "the operating system refuses access"),
    errno.EROFS: ("permission", "the file system is read-only"),
    errno.ENOSPC: ("no_space", "the disk is full"),
    errno.EDQUOT: ("no_space", "the quota is used up"),
    errno.EFBIG: ("no_space", "the file would be larger than the system permits"),
}


def refusal(error: OSError, shown: str) -> ClitoolError:
    """Return the error for the caller that `error` means; it names the path as the caller gave it, and no other."""
    number = error.errno or 0
    if number in _INVALID:
        reason, text = _INVALID[number]
        return InvalidParams(f"{shown}: {text}", reason)
    reason, text = _FAULTS.get(number, ("io", f"the operating system reports {errno.errorcode.get(number, 'a fault')}"))
    return ExecutionError(f"{shown}: {text}", reason)
