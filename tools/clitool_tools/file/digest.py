"""SHA-256 of a file: how a caller says which version of it is meant."""

from __future__ import annotations

import os

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import _Hash as Hash

    from clitool.jail import Entry
    from clitool.tool import Deadline

_SMALL = 512 * 1024  # bytes that are hashed by the time that OpenSSL, which hashes faster, is loaded


def begin(size: int) -> Hash:
    """Return a SHA-256 that is about to be fed `size` bytes."""
    if size <= _SMALL:
        from clitool.lean import sha256
    else:
        from hashlib import sha256
    return sha256()


def of_bytes(data: bytes) -> str:
    """Return the digest of `data`."""
    digest = begin(len(data))
    digest.update(data)
    return digest.hexdigest()


def compare(expected: str, found: str, shown: str) -> None:
    """Raise `ExecutionError` (changed) unless the file has the digest that the caller expects."""
    if expected.lower() != found:
        raise ExecutionError(f"{shown} is not the version with this if_sha256; read it again", "changed", sha256=found)


def require(entry: Entry, expected: str, deadline: Deadline) -> os.stat_result:
    """Return the status of the file at `entry` if it has the digest `expected`; the file is read for it.

    Raises:
        ExecutionError: `changed`.
        InvalidParams: it may not be read (hardlink).
    """
    from clitool_tools.file.lines import blocks

    with entry.open(entry.name) as file:
        status = os.fstat(file.fileno())
        digest = begin(status.st_size)
        for block in blocks(file, status.st_size, deadline):
            digest.update(block)
    compare(expected, digest.hexdigest(), entry.shown)
    return status
