"""The clients file as bytes: where it is, and whether its permissions let us trust it."""

from __future__ import annotations

import os
import stat

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self

VARIABLE = "CLITOOL_CLIENTS"
INDEX = ".index"  # what the name of the index has more than that of the file
SYSTEM_PATH = "/etc/clitool/clients.yaml"
_MAX_LINKS = 40  # as the kernel has it


class ClientsFileError(ExecutionError):
    """The clients file cannot be used; callers are told only that, its owner gets `problems`.

    Args:
        problems: one line each, with file and line number; for stderr and the log.
    """

    default_reason = "clients_file"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("the clients file cannot be used; run `clitool check`")
        self.problems = list(problems)


def locate(option: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the absolute path of the clients file, or None if there is none; never looks in the working folder.

    Args:
        option: what `--clients` says; wins, whether the file exists or not.
        environment: `CLITOOL_CLIENTS` comes next, then the user's folder (only if HOME is set), then /etc.
    """
    if option == "":
        raise ClientsFileError(["--clients is empty; give it a path"])
    if option is not None:
        return _absolute(option)
    if VARIABLE in environment:
        # A relative one would mean another file in each working folder, also one that a cloned repository brings.
        if not os.path.isabs(environment[VARIABLE]):
            raise ClientsFileError([f"{VARIABLE} is set but is no absolute path; unset it or give it one"])
        return os.path.normpath(environment[VARIABLE])
    for path in (user_path(environment), SYSTEM_PATH):
        if path and os.path.lexists(path):
            return path
    return None


def index_path(path: str) -> str:
    """Return where the index of the clients file at the absolute `path` lies: beside the file behind all links."""
    return os.path.realpath(path) + INDEX


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path)
    except OSError as error:
        raise ClientsFileError([f"{path}: the working folder is gone; give an absolute path"]) from error


def user_path(environment: Mapping[str, str]) -> str | None:
    """Return where a user's clients file lies, or None without HOME."""
    home = environment.get("HOME", "")
    if not os.path.isabs(home):
        return None
    config = environment.get("XDG_CONFIG_HOME", "")
    return os.path.join(config if os.path.isabs(config) else os.path.join(home, ".config"), "clitool", "clients.yaml")


class ClientsFile:
    """A clients file that is open, after checking on the open descriptors who could have changed or read it.

    Args:
        path: absolute.
        trust: lift the rules about owner and readers (`--trust-file`, for containers); never those about writers.

    Attributes:
        descriptor: of the open file.

    Raises:
        ClientsFileError: missing, unreadable, or permissions that let others in; names the command that mends it.
    """

    __slots__ = ("_path", "descriptor")

    def __init__(self, path: str, *, trust: bool = False) -> None:
        self._path = path
        try:
            self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        except (OSError, ValueError) as error:
            raise self._error(error) from None
        try:
            for folder in _folders(path):
                _check_folder(folder, trust=trust)
            _check_file(path, os.fstat(self.descriptor), trust=trust)
        except BaseException as error:
            self.__exit__()
            if isinstance(error, OSError):
                raise self._error(error) from None
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def status(self) -> os.stat_result:
        """Return what the system says about it now."""
        return os.fstat(self.descriptor)

    def read(self) -> bytes:
        """Return its content."""
        try:
            with os.fdopen(os.dup(self.descriptor), "rb") as file:
                return file.read()
        except OSError as error:
            raise self._error(error) from None

    def _error(self, error: OSError | ValueError) -> ClientsFileError:
        return ClientsFileError([f"{self._path}: {_reason(error)}"])


def read(path: str, *, trust: bool = False) -> bytes:
    """Return the content of the clients file at the absolute `path`; raises as `ClientsFile`."""
    with ClientsFile(path, trust=trust) as file:
        return file.read()


def _check_file(path: str, found: os.stat_result, *, trust: bool) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ClientsFileError([f"{path}: not a regular file"])
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ClientsFileError([f"{path}: others may write it; run: chmod go-w '{path}'"])
    if trust:
        return
    if found.st_mode & stat.S_IROTH:
        raise ClientsFileError([f"{path}: everyone may read it; run: chmod o-r '{path}' (or use --trust-file)"])
    if found.st_uid not in (0, os.geteuid()):
        mend = f"run: chown {os.geteuid()} '{path}' (or use --trust-file)"
        raise ClientsFileError([f"{path}: it belongs to another user; {mend}"])


def _folders(path: str) -> Iterator[str]:
    """Yield the folder of each name that leads to the file: whoever writes there decides which file it is."""
    yield os.path.dirname(path)
    for _ in range(_MAX_LINKS):
        if not os.path.islink(path):
            return
        path = os.path.join(os.path.dirname(path), os.readlink(path))
        yield os.path.dirname(path)


def _check_folder(folder: str, *, trust: bool) -> None:
    found = os.stat(folder)
    # A sticky folder (/tmp, a Kubernetes mount) lets nobody replace our file.
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX:
        raise ClientsFileError([f"{folder}: others may write in this folder; run: chmod go-w '{folder}'"])
    if not trust and found.st_uid not in (0, os.geteuid()):
        mend = f"run: chown {os.geteuid()} '{folder}' (or use --trust-file)"
        raise ClientsFileError([f"{folder}: this folder belongs to another user; {mend}"])


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "does not exist; `clitool init DIR` writes one to begin with"
    return (error.strerror or "cannot be read") if isinstance(error, OSError) else "not a possible path"
