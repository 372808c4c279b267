"""What `clitool check` says about the folders for logs and state."""

from __future__ import annotations

import os
import stat

from clitool.places import log_settings, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from clitool.admin.remarks import Remarks
    from clitool.clients_yaml import ParsedClients


def check_folders(clients: ParsedClients, environment: Mapping[str, str], remarks: Remarks) -> None:
    """Look whether logs and state can be written where they belong; nothing is made."""
    log = log_settings(clients, environment)
    if log.directory is None and log.audit == "required":
        remarks.error(
            ("log", "audit"),
            "audit is required but there is no folder for it: set log.directory; every call is refused",
        )
    _check_folder(
        _place(clients, "log"),
        log.directory,
        remarks,
        "every call is refused" if log.audit == "required" else "logs and audit lines are lost",
        fatal=log.audit == "required",
    )
    _check_folder(
        _place(clients, "state"), state_directory(clients, environment), remarks, "tools that need it fail", fatal=False
    )


def usable(path: str) -> bool:
    """Say whether this user can write in the folder, or make it."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)


def _place(clients: ParsedClients, section: str) -> str | tuple[str, str]:
    named = "directory" in clients.document.value.get(section, {})
    return (section, "directory") if named else ""


def _check_folder(
    place: str | tuple[str, str], path: str | None, remarks: Remarks, otherwise: str, *, fatal: bool
) -> None:
    if path is None:
        return
    if not usable(path):
        remarks.add(
            "error" if fatal else "warning", place, f"this user can neither write in {path} nor make it; {otherwise}"
        )
    elif os.path.isdir(path) and os.stat(path).st_mode & (stat.S_IROTH | stat.S_IXOTH | stat.S_IWOTH):
        remarks.warning(place, f"everyone may look into {path}; run: chmod o-rwx '{path}'")
