"""A part of a message that can be saved: how it is listed, and found again."""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.mail.imap.structure import TEXT
from clitool_tools.mail.parameters import parameter
from clitool_tools.mail.reading.choice import Choice
from clitool_tools.mail.reading.file_name import safe_name
from clitool_tools.mail.transfer import decoded_size, undo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from clitool_tools.mail.imap.structure import Part
    from clitool_tools.mail.invisible import Removed
    from clitool_tools.mail.reading.source import Source
    from clitool_tools.mail.transfer import Undone

_TYPE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-/")
_LONGEST_TYPE = 127
_DEEPEST = 10  # messages within messages
_MOST_NAMED = 20  # parts in an error


def listed(part: Part, hint: str = "", removed: Removed | None = None) -> dict[str, Any]:
    """Return what a list of attachments says of a part.

    Args:
        part: with content, so no multipart.
        hint: the charset of the message's text, for a name in raw bytes.
        removed: counts invisible characters.
    """
    return {
        "part": part.section,
        "name": file_name(part, hint, removed),
        "type": kind_of(part),
        "size": decoded_size(part.size, part.encoding),
        "inline": not part.is_attachment,
    }


def file_name(part: Part, hint: str = "", removed: Removed | None = None) -> str:
    """Return the name under which a part may be saved."""
    given = parameter(part.disposition_parameters, "filename", hint) or parameter(part.parameters, "name", hint)
    return safe_name(given, part.section, kind_of(part), removed)


def kind_of(part: Part) -> str:
    """Return the type of a part, if it is spelt like one."""
    is_type = part.kind.count("/") == 1 and len(part.kind) <= _LONGEST_TYPE and _TYPE.issuperset(part.kind)
    return part.kind if is_type else "application/octet-stream"


def require_number(section: str) -> None:
    """Raise `InvalidParams` (schema) unless `section` is spelt like the number of a part."""
    steps = section.split(".")
    if not all(step.isascii() and step.isdigit() and len(step) < 6 and step[0] != "0" for step in steps):
        raise InvalidParams("part is a number like 2 or 2.1, as mail_read_message lists it", "schema")


def find(root: Part, section: str) -> Part:
    """Return the attachment with this number; those of attached messages count, too.

    Raises:
        ExecutionError: no attachment has it (not_found).
    """
    found = {part.section: part for part in _attachments(root, 0)}
    if section in found:
        return found[section]
    known = ", ".join([*found][:_MOST_NAMED]) + (" and more" if len(found) > _MOST_NAMED else "")
    has = f"mail_read_message lists {known}" if found else "it has none"
    raise ExecutionError(f"part {section} is no attachment of this message: {has}", "not_found")


def content(source: Source, part: Part, most: int) -> Undone:
    """Return the bytes of an attachment, decoded.

    Raises:
        InvalidParams: they are more than `most` as they are stored (too_large).
        ExecutionError: the server does not send them (mail).
    """
    data = b"" if part.size > most else source.fetch({part.section: most + 1}).get(part.section)
    if data is None:
        raise ExecutionError(f"the server lists part {part.section} and does not send it", "mail")
    if part.size > most or len(data) > most:
        raise InvalidParams(f"part {part.section} is larger than max_message_bytes permits ({most})", "too_large")
    return undo(data, part.encoding)


def _attachments(root: Part, depth: int) -> Iterator[Part]:
    choice = Choice(root, TEXT)
    yield from choice.attachments
    for message in choice.messages if depth < _DEEPEST else ():
        for inner in message.parts:
            yield from _attachments(inner, depth + 1)
