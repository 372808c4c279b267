"""The file family: read, list, search, write, append, edit and delete below one folder."""

from __future__ import annotations

from clitool.family import Family
from clitool_tools.file.append import FileAppend
from clitool_tools.file.delete import FileDelete
from clitool_tools.file.edit import FileEdit
from clitool_tools.file.list import FileList
from clitool_tools.file.policy import SETTINGS_SCHEMA, parse
from clitool_tools.file.read import FileRead
from clitool_tools.file.search import FileSearch
from clitool_tools.file.write import FileWrite

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
    tools=(FileRead, FileList, FileSearch, FileWrite, FileAppend, FileEdit, FileDelete),
    settings_schema=SETTINGS_SCHEMA,
    settings_required=True,
    parse=parse,
    connect=connect,
    check=check,
)
