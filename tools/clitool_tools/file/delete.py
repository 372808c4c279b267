"""Delete a file."""

from __future__ import annotations

import stat

from clitool.errors import ExecutionError, InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from clitool.jail import Entry, Jail
    from clitool.tool import Context


class FileDelete:
    """The tool `file_delete`."""

    name: ClassVar = "file_delete"
    description: ClassVar = (
        "Delete one file for good; never a folder. A symbolic link is removed itself, its target stays. `if_sha256` "
        "makes sure that the file still is the version that was read."
    )
    required_scope: ClassVar = "file:delete"
    effect: ClassVar = "delete"
    idempotent: ClassVar = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the permitted folder."},
            "if_sha256": {
                "type": "string",
                "minLength": 64,
                "maxLength": 64,
                "description": "Delete only if the file has this SHA-256, as file_read reports it.",
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(self, *, path: str, **_others: object) -> dict[str, Any]:
        """Return what would be deleted, without effect."""
        return {"path": str(self.context.settings.file_to_change(path)), "access": "delete"}

    def execute(self, *, path: str, if_sha256: str | None = None) -> dict[str, Any]:
        """Return what has been deleted."""
        from clitool_tools.file.near_miss import NearMiss

        self.context.touched(**self.decide(path=path))
        location = self.context.settings.file(path)
        jail: Jail = self.context.connection()
        with NearMiss(self.context, location), jail.entry(location) as entry:
            entry.lock(self.context.deadline)
            entry.remove(self._meant(entry, if_sha256))
        return {"path": str(location), "deleted": True}

    def _meant(self, entry: Entry, if_sha256: str | None) -> os.stat_result:
        """Return the status of what is to be removed, once it is known to be what the caller means."""
        from clitool.jail import require_file

        if if_sha256 is not None:
            from clitool_tools.file.digest import require

            return require(entry, if_sha256, self.context.deadline)
        status = entry.status(entry.name)
        if status is None:
            raise ExecutionError(f"{entry.shown}: no such file", "not_found")
        if stat.S_ISDIR(status.st_mode):
            raise InvalidParams(f"{entry.shown} is a folder; only files are deleted", "is_directory")
        if not stat.S_ISLNK(status.st_mode):
            require_file(status, entry.shown)
        return status
