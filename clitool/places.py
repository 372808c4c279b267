"""The folders for logs and state: from clients.yaml, from systemd, or the user's own."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from clitool.clients import Clients


class LogSettings:
    """Where logs go and for how long.

    Attributes:
        directory: absolute folder, made when needed; None means no log at all.
        keep_days: folders of days that lie further back are removed; 0 keeps today only.
        audit: ``required`` means that a call without its audit line must not run; its lines are synced to the disk.
    """

    __slots__ = ("audit", "directory", "keep_days")

    def __init__(
        self,
        directory: str | None = None,
        keep_days: int = 30,
        audit: Literal["best_effort", "required"] = "best_effort",
    ) -> None:
        self.directory = directory
        self.keep_days = keep_days
        self.audit = audit


def log_settings(clients: Clients | None, environment: Mapping[str, str]) -> LogSettings:
    """Return where to log; no folder anywhere means no log."""
    log = clients.log if clients else LogSettings(None, 30, "best_effort")
    directory = log.directory or _systemd("LOGS_DIRECTORY", environment) or _user("log", environment)
    return LogSettings(directory, log.keep_days, log.audit)


def state_directory(clients: Clients, environment: Mapping[str, str]) -> str | None:
    """Return the folder for durable state, or None: then whatever needs state says so."""
    return clients.state_directory or _systemd("STATE_DIRECTORY", environment) or _user("state", environment)


def _systemd(variable: str, environment: Mapping[str, str]) -> str | None:
    # systemd joins several directories with colons; the first is the service's own.
    first = environment.get(variable, "").partition(":")[0]
    return first if os.path.isabs(first) else None


def _user(kind: str, environment: Mapping[str, str]) -> str | None:
    home = environment.get("HOME", "")
    if not os.path.isabs(home):
        return None
    base = environment.get("XDG_STATE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.join(home, ".local", "state"), "clitool", kind)
