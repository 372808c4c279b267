"""What one client may do with files: its settings, parsed once."""

from __future__ import annotations

from clitool.errors import InvalidParams, ScopeDenied

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool.family import Origin
    from clitool.jail import Location

MAX_READ_BYTES = 1024 * 1024
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_ENTRIES = 1000

SETTINGS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "root_path": {
            "type": "string",
            "minLength": 1,
            "description": "The folder this client works in and never leaves; relative to the clients file's folder.",
        },
        "allow_write": {
            "type": "boolean",
            "default": False,
            "description": "Whether files may be written, appended to, edited and deleted.",
        },
        "allowed_extensions": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Files that may be used. An entry is an ending, with or without its dot (.txt, tar.gz), and "
            "also a whole name (Makefile, .env). '' stands for names without an ending, hidden ones such as .env "
            "included. Left out: every file; []: none.",
        },
        "max_read_bytes": {
            "type": "integer",
            "minimum": 1,
            "maximum": 10 * 1024 * 1024,
            "default": MAX_READ_BYTES,
            "description": "Bytes of a file that one answer of file_read holds at most.",
        },
        "max_file_bytes": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1024 * 1024 * 1024,
            "default": MAX_FILE_BYTES,
            "description": "Bytes that a file may have after file_write, file_append or file_edit.",
        },
        "max_entries": {
            "type": "integer",
            "minimum": 1,
            "maximum": 10_000,
            "default": MAX_ENTRIES,
            "description": "Entries of file_list and matches of file_search that one answer holds at most.",
        },
    },
    "required": ["root_path"],
    "additionalProperties": False,
}


class Policy:
    """The settings of one client.

    Attributes:
        root: absolute path of the folder, as configured.
        roots: the spellings of it that absolute paths may begin with: as configured, and with links resolved.
        allow_write: whether anything may be changed.
        extensions: which file names may be used.
        max_read_bytes, max_file_bytes, max_entries: see `SETTINGS_SCHEMA`.
    """

    __slots__ = ("allow_write", "extensions", "max_entries", "max_file_bytes", "max_read_bytes", "root", "roots")

    def __init__(self, roots: tuple[str, str], settings: Mapping[str, Any]) -> None:
        from clitool_tools.file.extensions import Extensions

        self.root = roots[0]
        self.roots = roots
        self.allow_write: bool = settings.get("allow_write", False)
        self.extensions = Extensions(settings.get("allowed_extensions"))
        self.max_read_bytes = int(settings.get("max_read_bytes", MAX_READ_BYTES))
        self.max_file_bytes = int(settings.get("max_file_bytes", MAX_FILE_BYTES))
        self.max_entries = int(settings.get("max_entries", MAX_ENTRIES))

    def folder(self, path: str) -> Location:
        """Return where the caller's `path` to a file or folder leads; raises `InvalidParams`."""
        from clitool.jail import locate

        return locate(path, self.roots)

    def file(self, path: str) -> Location:
        """Return where the caller's `path` to a file leads; raises `InvalidParams`, also for its extension."""
        from clitool.jail import locate_file

        location = locate_file(path, self.roots)
        if not self.extensions.permit(location.name):
            raise InvalidParams(f"{location.shown}: this client may only use {self.extensions}", "extension")
        return location

    def file_to_change(self, path: str) -> Location:
        """Like `file`, if this client may change files at all; raises `ScopeDenied` (read_only) if not."""
        if not self.allow_write:
            raise ScopeDenied("this client may only read files: its settings do not say allow_write: true", "read_only")
        return self.file(path)

    def require_size(self, size: int, shown: str) -> None:
        """Raise `InvalidParams` (too_large) if no file may have `size` bytes."""
        if size > self.max_file_bytes:
            message = f"{shown}: {size} bytes are more than max_file_bytes permits ({self.max_file_bytes})"
            raise InvalidParams(message, "too_large")


def parse(settings: Mapping[str, Any], origin: Origin) -> Policy:
    """Return the policy of a client, without a look into the folder.

    Raises:
        SettingsError: the folder is ``/`` or reaches a protected path, or an extension is none.
    """
    from clitool.jail import root_spellings

    return Policy(root_spellings("root_path", settings["root_path"], origin), settings)
