"""Replace one piece of text in a file."""

from __future__ import annotations

import os

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from clitool.jail import Entry, Jail
    from clitool.tool import Context


class FileEdit:
    """The tool `file_edit`."""

    name: ClassVar = "file_edit"
    description: ClassVar = (
        "Replace one piece of text in a file. `old_text` must occur exactly once, character for character as file_read "
        "shows it, line ends included; give more of its surroundings if it occurs more often. Everything else in the "
        "file stays as it is, also line ends, byte order mark and mode. `if_sha256` makes sure that the file still is "
        "the version that was read."
    )
    required_scope: ClassVar = "file:write"
    effect: ClassVar = "write"
    idempotent: ClassVar = False
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the permitted folder."},
            "old_text": {"type": "string", "minLength": 1, "description": "The text to replace; occurs exactly once."},
            "new_text": {"type": "string", "description": "What stands there afterwards; may be empty."},
            "if_sha256": {
                "type": "string",
                "minLength": 64,
                "maxLength": 64,
                "description": "Edit only if the file has this SHA-256, as file_read reports it.",
            },
        },
        "required": ["path", "old_text", "new_text"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(self, *, path: str, old_text: str, new_text: str, **_others: object) -> dict[str, Any]:
        """Return what would be edited, without effect."""
        from clitool_tools.file.content import encode

        location = self.context.settings.file_to_change(path)
        encode(old_text)
        encode(new_text)
        return {"path": str(location), "access": "edit"}

    def execute(self, *, path: str, old_text: str, new_text: str, if_sha256: str | None = None) -> dict[str, Any]:
        """Return size and digest of the file afterwards."""
        from clitool_tools.file import digest
        from clitool_tools.file.content import encode
        from clitool_tools.file.near_miss import NearMiss

        self.context.touched(**self.decide(path=path, old_text=old_text, new_text=new_text))
        location = self.context.settings.file(path)
        jail: Jail = self.context.connection()
        with NearMiss(self.context, location), jail.entry(location) as entry:
            entry.lock(self.context.deadline)
            data, old = self._read(entry)
            if if_sha256 is not None:
                digest.compare(if_sha256, digest.of_bytes(data), entry.shown)
            data = _replaced(data, encode(old_text), encode(new_text), entry.shown)
            self.context.settings.require_size(len(data), entry.shown)
            entry.replace(data, old, unchanged=True)
        return {"path": str(location), "size": len(data), "sha256": digest.of_bytes(data)}

    def _read(self, entry: Entry) -> tuple[bytes, os.stat_result]:
        with entry.open(entry.name) as file:
            old = os.fstat(file.fileno())
            self.context.settings.require_size(old.st_size, entry.shown)
            return file.read(old.st_size), old


def _replaced(data: bytes, old: bytes, new: bytes, shown: str) -> bytes:
    at = data.find(old)
    if at < 0:
        raise InvalidParams(f"{shown}: old_text does not occur{_hint(data, old)}", "no_match")
    if data.find(old, at + 1) >= 0:
        count = max(2, data.count(old))  # pieces that overlap are two as well
        message = f"{shown}: old_text occurs {count} times; give more of what stands around the one that is meant"
        raise InvalidParams(message, "not_unique", count=count)
    return data[:at] + new + data[at + len(old) :]


def _hint(data: bytes, old: bytes) -> str:
    """Say so if only the line ends differ."""
    plain = old.replace(b"\r\n", b"\n")
    for end, spelt in ((b"\r\n", r"\r\n"), (b"\n", r"\n"), (b"\r", r"\r")):
        if plain.replace(b"\n", end) in data:
            return f", but it does with {spelt} as line end: write it so in old_text and new_text"
    return "; read the file again and copy the text exactly"
