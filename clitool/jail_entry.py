"""A name in an open folder of a jail: files are put there whole or not at all."""

from __future__ import annotations

import errno
import os

from clitool.errors import ExecutionError, InvalidParams
from clitool.jail import SAFELY, Folder, raw, require_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, Self

    from clitool.jail import Jail, Location
    from clitool.tool import Deadline

# How file systems say that they have no such thing: FAT, many that are mounted by FUSE, shared folders.
_UNSUPPORTED = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)

_TAIL_BYTES = 64 * 1024  # of a file, in which the kind of its line ends is looked for


class Entry(Folder):
    """Where one file is, or will be; for ``with``, from `Jail.entry`.

    Processes of this program take turns per folder with `lock`, so that none loses another's change. Against others
    remains the moment between the last check and the renaming.
    """

    __slots__ = ("_jail", "_location", "name")

    def __init__(self, jail: Jail, location: Location, folder: int) -> None:
        super().__init__(folder, location.shown)
        self._jail = jail
        self._location = location
        self.name = location.name

    def lock(self, deadline: Deadline) -> None:
        """Wait for the turn of this process; it ends with the ``with``.

        Raises:
            ExecutionError: `locked` when nine tenths of the remaining time have passed.
        """
        from fcntl import LOCK_EX, LOCK_NB, flock
        from time import sleep

        give_up = deadline.remaining() / 10
        while True:
            try:
                return flock(self.fd, LOCK_EX | LOCK_NB)
            except BlockingIOError as error:
                if deadline.remaining() <= give_up:
                    message = f"{self.shown}: another process holds the lock of the folder; try again"
                    raise ExecutionError(message, "locked") from error
            except OSError:
                return None  # NFS cannot lock a folder; the checks before the renaming remain
            sleep(0.003)

    def file(self) -> os.stat_result | None:
        """Return the status of the regular file that is here, None if nothing is; a link or folder is refused."""
        status = self.status(self.name)
        if status is not None:
            require_file(status, self.shown)
        return status

    def create(self, data: bytes) -> None:
        """Put a new file here with the mode that the umask gives; raises `exists` if anything has the name."""
        with _Draft(self.fd, 0o666) as draft:
            draft.fill(data)
            self._check_folder()
            draft.claim(raw(self.name))
        self._sync_folder()

    def replace(self, data: bytes, old: os.stat_result, *, unchanged: bool) -> None:
        """Put `data` in the place of the file `old`; mode, group and owner stay as far as the system lets us.

        Args:
            data: the new bytes.
            old: what `file` returned.
            unchanged: refuse (`changed`) if the file is no longer `old`.
        """
        self._check_writable()
        with _Draft(self.fd, 0o600) as draft:
            draft.inherit(old)
            draft.fill(data)
            self._check_folder()
            if unchanged:
                self._check_unchanged(old)
            draft.take_over(raw(self.name))
        self._sync_folder()

    def append(self, data: bytes, *, ensure_newline: bool, most: int) -> int:
        """Write `data` at the end of the file in one piece and return the file's size after it.

        Args:
            data: the bytes to add.
            ensure_newline: if the file does not end with a line end, write one first, of the kind that it has.
            most: bytes that the file may have afterwards; more is `too_large`.
        """
        with self.open(self.name, os.O_RDWR | os.O_APPEND) as file:
            size = file.seek(0, os.SEEK_END)
            if ensure_newline:
                data = _missing_line_end(file.fileno(), size) + data
            if size + len(data) > most:
                message = f"{self.shown} would grow to {size + len(data)} bytes; max_file_bytes is {most}"
                raise InvalidParams(message, "too_large")
            self._check_folder()
            _write_once(file.fileno(), data, size)
            _sync(file.fileno())
        return size + len(data)

    def remove(self, old: os.stat_result) -> None:
        """Remove the name, which must still be `old`: a file, or a symbolic link itself."""
        self._check_folder()
        self._check_unchanged(old)
        os.unlink(raw(self.name), dir_fd=self.fd)
        self._sync_folder()

    def _check_writable(self) -> None:
        # Renaming needs no right on the file itself; a read-only file stays as it is nevertheless.
        try:
            os.close(os.open(raw(self.name), os.O_WRONLY | SAFELY, dir_fd=self.fd))
        except FileNotFoundError:
            self._refuse_change()

    def _check_folder(self) -> None:
        if not self._jail.holds(self._location, self.fd):
            message = f"{self.shown}: its folder was moved or replaced during the call; nothing was changed, try again"
            raise ExecutionError(message, "changed")

    def _check_unchanged(self, old: os.stat_result) -> None:
        now = self.status(self.name)
        if now is None or _identity(now) != _identity(old):
            self._refuse_change()

    def _refuse_change(self) -> NoReturn:
        raise ExecutionError(f"{self.shown} was changed by somebody else during the call; read it again", "changed")

    def _sync_folder(self) -> None:
        try:
            os.fsync(self.fd)
        except OSError:
            return  # the change is made, and reporting it as failed would be wrong


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _sync(fd: int) -> None:
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise


def _missing_line_end(fd: int, size: int) -> bytes:
    r"""Return what ends the last line: nothing if it is ended, else what the line before it ends with, or ``\n``."""
    start = max(0, size - _TAIL_BYTES)
    tail = os.pread(fd, size - start, start)
    if not tail or tail.endswith((b"\n", b"\r")):
        return b""
    at = max(tail.rfind(b"\n"), tail.rfind(b"\r"))
    if at < 0:
        return b"\n"
    return b"\r\n" if tail[at - 1 : at + 1] == b"\r\n" else tail[at : at + 1]


def _write_once(fd: int, data: bytes, size: int) -> None:
    written = os.write(fd, data)
    if written < len(data):
        if os.fstat(fd).st_size == size + written:  # nobody else has added to it
            os.ftruncate(fd, size)
        raise OSError(errno.ENOSPC, "short write")


class _Draft:
    """A file under a temporary name beside the place where it belongs; for ``with``, which leaves no trace of it.

    Args:
        folder: descriptor of the folder.
        mode: of the new file, before the umask.
    """

    __slots__ = ("_fd", "_folder", "_name")

    def __init__(self, folder: int, mode: int) -> None:
        self._folder = folder
        self._name = b".clitool-%s.tmp" % os.urandom(6).hex().encode()  # not made from the real name: it may be long
        self._fd = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_EXCL | SAFELY, mode, dir_fd=folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        os.close(self._fd)
        if self._name:
            try:
                os.unlink(self._name, dir_fd=self._folder)
            except OSError:
                return  # what happened to the file itself counts

    def inherit(self, old: os.stat_result) -> None:
        """Take over mode, owner and group; without the group, its rights become those of everybody else."""
        mode = old.st_mode & 0o777  # never setuid or setgid
        if not self._give_to(old.st_uid, old.st_gid) and not self._give_to(-1, old.st_gid):
            mode = mode & 0o707 | (mode & 0o007) << 3
        try:
            os.fchmod(self._fd, mode)
        except OSError as error:  # then nobody but the owner has rights, or the file system decides
            if error.errno not in _UNSUPPORTED:
                raise

    def fill(self, data: bytes) -> None:
        """Write all of `data` to the disk."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd, rest) :]
        _sync(self._fd)

    def take_over(self, name: bytes) -> None:
        """Become `name`, whatever file has it now."""
        try:
            os.rename(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError:
            if not self._is_at(name):  # network file systems report failure for what was done, when an answer got lost
                raise
        self._name = b""

    def claim(self, name: bytes) -> None:
        """Become `name`, which nothing may have yet."""
        try:
            os.link(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False)
        except OSError as error:
            if self._is_at(name):
                return
            if error.errno not in _UNSUPPORTED:
                raise
            self._claim_without_link(name)

    def _claim_without_link(self, name: bytes) -> None:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFELY, 0o600, dir_fd=self._folder))
        try:
            self.take_over(name)
        except BaseException:
            os.unlink(name, dir_fd=self._folder)
            raise

    def _give_to(self, owner: int, group: int) -> bool:
        own = os.fstat(self._fd)
        if (own.st_uid if owner < 0 else owner, group) == (own.st_uid, own.st_gid):
            return True
        try:
            os.fchown(self._fd, owner, group)
        except OSError:
            return False
        return True

    def _is_at(self, name: bytes) -> bool:
        try:
            return os.path.samestat(os.stat(name, dir_fd=self._folder, follow_symlinks=False), os.fstat(self._fd))
        except OSError:
            return False
