"""The index of the clients file kept fresh by the commands that change or check that file."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from time import sleep, time_ns

from clitool.client_index_file import MIN_AGE, is_settled, keep
from clitool.clients_file import ClientsFile, ClientsFileError, index_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.admin.remarks import Remarks
    from clitool.clients_yaml import ParsedClients

LARGE = 256 * 1024  # bytes: a call reads less than that in about a tenth of a second, and leaves an index behind
_MARGIN = 3 * 10**8  # nanoseconds: a file system's clock goes a little behind, and a busy machine looks at it late
_PATIENCE = (MIN_AGE + _MARGIN) // 10**8 + 1  # tenths of a second


def settle(path: str) -> None:
    """Wait until a large clients file is old enough for an index; for a small one the next call makes it."""
    for _ in range(_PATIENCE):
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return
        if status.st_size <= LARGE or is_settled(status, time_ns() - _MARGIN) or _is_interrupted():
            return
        sleep(0.1)


def refresh(path: str, text: bytes, clients: ParsedClients, *, trust: bool) -> None:
    """Write the index of a large clients file that was just changed to `text`, which says what `clients` says."""
    if len(text) <= LARGE:
        return
    settle(path)
    read_at = time_ns()
    with suppress(ClientsFileError), ClientsFile(path, trust=trust) as file:
        status = file.status()
        if file.read() == text:
            keep(file, clients, status, read_at)


def check_index(clients: ParsedClients, remarks: Remarks) -> None:
    """Note whether the clients file has an index now."""
    path = index_path(clients.path)
    if not clients.not_indexed:
        remarks.good(path, "the index of the clients file is up to date")
        return
    is_large = os.path.getsize(clients.path) > LARGE
    remarks.add(
        "warning" if is_large else "ok",
        path,
        f"there is none, so calls read the whole clients file: {clients.not_indexed}",
    )


def _is_interrupted() -> bool:
    # Signals are kept back until a new token is printed.
    return bool(signal.sigpending() & {signal.SIGINT, signal.SIGTERM})
