"""Files that go with a message: read through the jail of the account's folder, and nowhere else."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool.jail import locate_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clitool.jail import Jail, Location
    from clitool_tools.mail.account import Account

_ANY = "application/octet-stream"
_COMPRESSED = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}


class Attachment:
    """A file with what its receiver is told about it.

    Attributes:
        name: its last name.
        type: ``maintype/subtype``, guessed from the name.
        data: its bytes.
    """

    __slots__ = ("data", "name", "type")

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.type = _guess(name)
        self.data = data


def locate_attachments(account: Account, paths: Sequence[str] | None) -> list[Location]:
    """Return where the paths lead, without looking there.

    Raises:
        ScopeDenied: `not_configured` if the account has no folder for attachments.
        InvalidParams: a path that leaves the folder, or that no file could have.
    """
    if not paths:
        return []
    roots = account.require_attachments()
    return [locate_file(path, roots) for path in paths]


def read_attachments(jail: Jail, locations: Iterable[Location], most: int) -> list[Attachment]:
    """Return the files.

    Args:
        jail: the account's folder.
        locations: from `locate_attachments`.
        most: bytes of all together.

    Raises:
        InvalidParams: what the jail refuses, or `too_large`.
        ExecutionError: a file is missing or cannot be read.
    """
    found = []
    for location in locations:
        with jail.parent(location) as folder, folder.open(location.name) as file:
            data = _read(file.fileno(), most)
        if data is None:
            message = f"{location.shown}: with it, the attachments are larger than max_message_bytes permits"
            raise InvalidParams(message, "too_large")
        most -= len(data)
        found.append(Attachment(location.name, data))
    return found


def _read(descriptor: int, most: int) -> bytes | None:
    """Return the whole file, or None if it has more than `most` bytes, however it grows meanwhile."""
    import os

    data = bytearray()
    while chunk := os.read(descriptor, 1 << 20):
        data += chunk
        if len(data) > most:
            return None
    return bytes(data)


def _guess(name: str) -> str:
    from mimetypes import MimeTypes

    # Not the system's tables: the same file has the same type everywhere.
    guessed, encoding = MimeTypes().guess_type(name.rpartition("/")[2].replace(":", "_"))
    if encoding:
        return _COMPRESSED.get(encoding, _ANY)
    if guessed is None or guessed.startswith(("message/", "multipart/")):  # these may not be in base64 (RFC 2045, 6.4)
        return _ANY
    return guessed
