"""Add to the end of a file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from clitool.jail import Entry, Jail
    from clitool.tool import Context


class FileAppend:
    """The tool `file_append`."""

    name: ClassVar = "file_append"
    description: ClassVar = (
        "Add text to the end of a file in one piece; what is there stays untouched. If the file does not end with a "
        "line end, one is written first (`ensure_newline`), of the kind that the line before has; end `content` with "
        "one yourself. A missing file is made unless `create` is false."
    )
    required_scope: ClassVar = "file:write"
    effect: ClassVar = "write"
    idempotent: ClassVar = False
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the permitted folder."},
            "content": {"type": "string", "minLength": 1, "description": "The text to add; stored as UTF-8 as it is."},
            "ensure_newline": {
                "type": "boolean",
                "default": True,
                "description": "Whether the text begins on a line of its own.",
            },
            "create": {"type": "boolean", "default": True, "description": "Whether a missing file is made."},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(self, *, path: str, content: str, **_others: object) -> dict[str, Any]:
        """Return what would be appended to, without effect."""
        from clitool_tools.file.content import encode

        location = self.context.settings.file_to_change(path)
        size = len(encode(content))
        self.context.settings.require_size(size, location.shown)
        return {"path": str(location), "access": "append", "size": size}

    def execute(self, *, path: str, content: str, ensure_newline: bool = True, create: bool = True) -> dict[str, Any]:
        """Return the size of the file afterwards, and whether there was none before."""
        from clitool_tools.file.content import encode
        from clitool_tools.file.near_miss import NearMiss

        self.context.touched(**self.decide(path=path, content=content))
        location = self.context.settings.file(path)
        data = encode(content)
        jail: Jail = self.context.connection()
        with NearMiss(self.context, location), jail.entry(location) as entry:
            entry.lock(self.context.deadline)
            if create and entry.file() is None:
                entry.create(data)
                return {"path": str(location), "size": len(data), "created": True}
            ensure_newline &= not _is_bare_mark(entry)
            size = entry.append(data, ensure_newline=ensure_newline, most=self.context.settings.max_file_bytes)
            return {"path": str(location), "size": size, "created": False}


def _is_bare_mark(entry: Entry) -> bool:
    """Return whether the file is a byte order mark and nothing else, so that the text begins its first line."""
    with entry.open(entry.name) as file:
        return file.read(4) == b"\xef\xbb\xbf"
