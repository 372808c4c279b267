"""Write a whole file."""

from __future__ import annotations

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from clitool.jail import Entry, Jail, Location
    from clitool.tool import Context


class FileWrite:
    """The tool `file_write`."""

    name: ClassVar = "file_write"
    description: ClassVar = (
        "Write a whole file. An existing file is only replaced with `overwrite`, or with `if_sha256` if it still is "
        "the version that file_read reported. The bytes are exactly those of `content`: no line end is changed, no "
        "byte order mark added or kept. The file is replaced at once or not at all and keeps its mode. To add to a "
        "file use file_append, to change a part of it file_edit."
    )
    required_scope: ClassVar = "file:write"
    effect: ClassVar = "write"
    idempotent: ClassVar = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the permitted folder."},
            "content": {"type": "string", "description": "The whole new content."},
            "encoding": {
                "type": "string",
                "enum": ["text", "base64"],
                "default": "text",
                "description": "What content is: text, stored as UTF-8, or bytes in base64.",
            },
            "overwrite": {"type": "boolean", "default": False, "description": "Whether an existing file is replaced."},
            "create_parents": {"type": "boolean", "default": False, "description": "Whether missing folders are made."},
            "if_sha256": {
                "type": "string",
                "minLength": 64,
                "maxLength": 64,
                "description": "Replace the file only if it has this SHA-256, as file_read reports it.",
            },
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(self, *, path: str, content: str, encoding: str = "text", **_others: object) -> dict[str, Any]:
        """Return what would be written, without effect."""
        from clitool_tools.file.content import encode

        location = self.context.settings.file_to_change(path)
        size = len(encode(content, encoding))
        self.context.settings.require_size(size, location.shown)
        return {"path": str(location), "access": "write", "size": size}

    def execute(
        self,
        *,
        path: str,
        content: str,
        encoding: str = "text",
        overwrite: bool = False,
        create_parents: bool = False,
        if_sha256: str | None = None,
    ) -> dict[str, Any]:
        """Return size and digest of the new file, and whether there was none before."""
        from clitool_tools.file import digest
        from clitool_tools.file.content import encode

        self.context.touched(**self.decide(path=path, content=content, encoding=encoding))
        location = self.context.settings.file(path)
        data = encode(content, encoding)
        with self._entry(location, create_parents=create_parents) as entry:
            entry.lock(self.context.deadline)
            old = entry.file()
            if if_sha256 is not None:
                old = self._required(entry, old, if_sha256)
            elif old is not None and not overwrite:
                message = f"{location.shown} exists already; overwrite: true replaces it, if_sha256 one version of it"
                raise ExecutionError(message, "exists")
            if old is None:
                entry.create(data)
            else:
                entry.replace(data, old, unchanged=if_sha256 is not None)
        return {"path": str(location), "size": len(data), "sha256": digest.of_bytes(data), "created": old is None}

    def _entry(self, location: Location, *, create_parents: bool) -> Entry:
        jail: Jail = self.context.connection()
        try:
            return jail.entry(location, make_parents=create_parents)
        except ExecutionError as error:
            if error.reason != "not_found":
                raise
            message = f"{location.shown}: the folder for it does not exist; create_parents: true makes it"
            raise ExecutionError(message, "not_found") from error

    def _required(self, entry: Entry, old: os.stat_result | None, if_sha256: str) -> os.stat_result:
        if old is None:
            raise ExecutionError(f"{entry.shown} does not exist any more, so it is not this version", "changed")
        from clitool_tools.file import digest

        return digest.require(entry, if_sha256, self.context.deadline)
