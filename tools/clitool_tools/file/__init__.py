"""The file family: read, list, search, write, append, edit and delete below one folder."""

from __future__ import annotations

from clitool.family import Family
from clitool_tools.file.policy import SETTINGS_SCHEMA, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool.family import Finding
    from clitool.jail import Jail
    from clitool.tool import Deadline
    from clitool_tools.file.policy import Policy


def connect(settings: Policy, _name: str, _deadline: Deadline) -> Jail:
    """Open the client's folder; raises `ExecutionError` (settings) if it cannot be used."""
    from clitool.jail import Jail

    return Jail(settings.root)


def check(settings: Policy, _probe: bool) -> Iterator[Finding]:
    """Yield what `clitool check` should say about the folder; looking at it needs no probe."""
    from clitool_tools.file.findings import findings

    return findings(settings)


family = Family(
    name="file",
    tools={
        "file_read": "clitool_tools.file.read:FileRead",
        "file_list": "clitool_tools.file.list:FileList",
        "file_search": "clitool_tools.file.search:FileSearch",
        "file_write": "clitool_tools.file.write:FileWrite",
        "file_append": "clitool_tools.file.append:FileAppend",
        "file_edit": "clitool_tools.file.edit:FileEdit",
        "file_delete": "clitool_tools.file.delete:FileDelete",
    },
    settings_schema=SETTINGS_SCHEMA,
    settings_required=True,
    parse=parse,
    connect=connect,
    check=check,
)
