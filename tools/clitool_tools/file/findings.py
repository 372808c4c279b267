"""What `clitool check` says about a client's folder."""

from __future__ import annotations

import os
import stat

from clitool.errors import ExecutionError
from clitool.family import Finding
from clitool.jail import Jail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.file.policy import Policy


def findings(policy: Policy) -> Iterator[Finding]:
    """Yield the faults and oddities of the folder; the last one says what the client can do there."""
    try:
        Jail(policy.root).close()
    except ExecutionError as error:
        yield Finding("error", "root_path", f"{str(error).partition(';')[0]}: {policy.root}")
        return
    yield from _rights(policy)
    if policy.extensions.empty:
        yield Finding("warning", "allowed_extensions", "the list is empty, so this client may use no file")
    what = "read and change" if policy.allow_write else "read"
    yield Finding("ok", "root_path", f"this client may {what} below {policy.root}: {policy.extensions}")


def _rights(policy: Policy) -> Iterator[Finding]:
    if not os.access(policy.root, os.R_OK | os.X_OK):
        yield Finding("error", "root_path", "this user may not list and enter the folder")
    if policy.allow_write and not os.access(policy.root, os.W_OK):
        yield Finding("warning", "allow_write", "this user may not make files in the folder itself")
    mode = os.stat(policy.root).st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        yield Finding("warning", "root_path", "every user of this machine may change the folder")
