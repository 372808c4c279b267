"""SHA-256 of a file: how a caller says which version of it is meant."""

from __future__ import annotations

import os

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.jail import Entry
    from clitool.tool import Deadline


def of_bytes(data: bytes) -> str:
    """Return the digest of `data`."""
    from hashlib import sha256

    return sha256(data).hexdigest()


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
    from hashlib import sha256

    from clitool_tools.file.lines import blocks

    digest = sha256()
    with entry.open(entry.name) as file:
        status = os.fstat(file.fileno())
        for block in blocks(file, status.st_size, deadline):
            digest.update(block)
    compare(expected, digest.hexdigest(), entry.shown)
    return status
