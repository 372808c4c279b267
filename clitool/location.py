"""A caller's path, taken apart without looking at the disk: what it may be spelt like, and how it is shown."""

from __future__ import annotations

from clitool.errors import InvalidParams, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_PATH = 4096  # bytes, as PATH_MAX of Linux
LONGEST_NAME = 255  # bytes, as NAME_MAX of Linux and macOS

_RESERVED = frozenset(("con", "prn", "aux", "nul", "conin$", "conout$", "clock$"))
_JOINERS = "\u200c\u200d"  # format characters that Persian, Indic scripts and emoji are spelt with


class Location:
    """Names below the root of a jail, none of them ``..``; made by `locate` and `locate_file`.

    Attributes:
        parts: the names; empty for the root itself.
        shown: the path as the caller gave it, quoted, escaped and bounded, for messages.
    """

    __slots__ = ("parts", "shown")

    def __init__(self, parts: Sequence[str], shown: str) -> None:
        self.parts = tuple(parts)
        self.shown = shown

    def __str__(self) -> str:
        return "/".join(self.parts) or "."

    @property
    def name(self) -> str:
        """The last name; there is one unless this is the root."""
        return self.parts[-1]


def locate(path: str, roots: Sequence[str] = ()) -> Location:
    """Take a caller's path to a file or folder apart, literally: nothing in it is decoded, expanded or normalised.

    Args:
        path: ``/``-separated, relative to the root; an absolute path is accepted if it begins with one of `roots`.
        roots: absolute spellings of the root.

    Raises:
        InvalidParams: `bad_path` if no file could have this path on every system, `outside_root` if it leaves.
    """
    shown = show(path)
    _check_spelling(path, shown)
    names = [name for name in path.split("/") if name not in ("", ".")]
    if path.startswith("/"):
        names = _strip_root(names, roots, shown)
    if ".." in names:
        raise InvalidParams(f"{shown} leaves the permitted folder: '..' is not accepted anywhere", "outside_root")
    for name in names:
        _check_name(name, shown)
    return Location(names, shown)


def locate_file(path: str, roots: Sequence[str] = ()) -> Location:
    """Like `locate`, for a path that must mean a file: neither the root nor spelt with a slash at its end."""
    location = locate(path, roots)
    if not location.parts:
        raise InvalidParams(f"{location.shown} is a folder; name a file in it", "is_directory")
    if path.endswith(("/", "/.")):
        raise InvalidParams(f"{location.shown} ends like a folder; a file's path has no slash at its end", "bad_path")
    return location


def show(path: str) -> str:
    """Return `path` for a message: quoted, on one line, at most 200 characters of it."""
    return f"'{one_line(path if len(path) <= 200 else path[:200] + '…')}'"


def visible(name: str) -> str:
    r"""Return a name found on disk so that it can be shown: what no path may contain becomes a ``\`` escape.

    No tool accepts a backslash, so an escaped name is never mistaken for a real one.
    """
    if name.isprintable() and "\\" not in name:
        return name
    return "".join(_escape(char) for char in name)


def _escape(char: str) -> str:
    if char == "\\":
        return r"\\"
    if "\udc80" <= char <= "\udcff":  # a byte that is not UTF-8, as surrogateescape brings it
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii") if _is_hidden(char) else char


def _check_spelling(path: str, shown: str) -> None:
    if not path:
        raise InvalidParams("the path is empty; '.' is the permitted folder itself", "bad_path")
    if len(path) > LONGEST_PATH:
        raise InvalidParams(f"the path is longer than {LONGEST_PATH} bytes: {shown}", "bad_path")
    if not path.isprintable() and any(_is_hidden(char) for char in path):
        raise InvalidParams(f"{shown} contains a control, invisible or invalid character", "bad_path")
    if len(path.encode()) > LONGEST_PATH:
        raise InvalidParams(f"the path is longer than {LONGEST_PATH} bytes: {shown}", "bad_path")
    if "\\" in path:
        raise InvalidParams(f"{shown} contains a backslash; separate folders with '/'", "bad_path")
    if path[1:2] == ":" and path[0].isascii() and path[0].isalpha():
        raise InvalidParams(f"{shown} begins with a drive letter; give a path relative to the folder", "bad_path")


def _is_hidden(char: str) -> bool:
    if char.isprintable() or char in _JOINERS:
        return False
    from unicodedata import category

    return category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _strip_root(names: list[str], roots: Sequence[str], shown: str) -> list[str]:
    for root in roots:
        prefix = [name for name in root.split("/") if name]
        if prefix and names[: len(prefix)] == prefix:
            return names[len(prefix) :]
    raise InvalidParams(f"{shown} is outside the permitted folder; give a path relative to it", "outside_root")


def _check_name(name: str, shown: str) -> None:
    if len(name.encode()) > LONGEST_NAME:
        raise InvalidParams(f"a name in the path is longer than {LONGEST_NAME} bytes: {shown}", "bad_path")
    # Windows opens a device for these, with any extension; a file that got such a name cannot be deleted there.
    base = name.partition(".")[0].partition(":")[0].rstrip(" ").casefold()
    port = len(base) == 4 and base[:3] in ("com", "lpt") and base[3] in "0123456789¹²³"
    if port or base in _RESERVED:
        raise InvalidParams(f"{shown} contains a name that is reserved on Windows", "bad_path")
