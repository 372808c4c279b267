"""The authorizer of changes: their one table, and the side effects that the client's settings permit."""

from __future__ import annotations

from clitool.errors import ClitoolError, InvalidParams
from clitool.lean import sqlite3
from clitool_tools.database.names import fold, shown
from clitool_tools.database.sqlite.guard import (
    FUNCTION_TABLES,
    HARMLESS,
    Guard,
    function_of_schema,
    is_version_check,
    open_virtual_tables,
)
from clitool_tools.database.sqlite.objects import names, owners

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from sqlite3 import Connection as Handle

    from clitool_tools.database.settings import Connection
    from clitool_tools.database.table import Table

_CHANGES = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)


class ChangeGuard(Guard):
    """For a change that we built: its table, and what triggers and cascades reach if the client's settings allow that.

    Reads of a trigger count, too: it could copy what it reads into a table that the client sees. The checks of foreign
    keys are no reads in this sense; SQLite reports them without a source.

    Args:
        target: the table to change.
        connection: the settings.
        owners: folded names of all tables and views with the virtual table whose content they hold, or themselves; a
            name that is none of them is a common table expression.
    """

    __slots__ = ("connection", "owners", "target")

    def __init__(self, target: Table, connection: Connection, owners: Mapping[bytes, bytes]) -> None:
        super().__init__()
        self.target = target.name
        self.connection = connection
        self.owners = owners

    def _judge(self, action: int, first: str, second: str, source: str | None) -> ClitoolError | None:
        if action in HARMLESS or is_version_check(action, first, second):
            return None
        if action == sqlite3.SQLITE_FUNCTION:
            return function_of_schema(second)
        if action == sqlite3.SQLITE_READ:
            reached = source is not None and (second != "" or fold(first) in self.owners)
            return self.reach(first) if reached else None
        if action in _CHANGES:
            return self.reach(first)
        return InvalidParams(f"the change would do more than change rows of {shown(self.target)}", "side_effects")

    def reach(self, name: str) -> ClitoolError | None:
        """Return why a trigger or cascade may not reach a table, or None."""
        owner = self.owners.get(fold(name), fold(name))
        if owner == fold(self.target) or self.connection.may_reach(owner.decode("utf-8", "surrogatepass")):
            return None
        if owner not in self.owners and name in FUNCTION_TABLES:
            return None
        return InvalidParams(
            f"a trigger or cascade of {shown(self.target)} reaches {shown(name)}, which is not in allowed_tables; "
            "the owner of the clients file can permit that under allow_side_effects",
            "side_effects",
            table=name,
        )


def change_guard(handle: Handle, target: Table, connection: Connection) -> ChangeGuard:
    """Return the guard for a change of `target`, with the schema as it is and its virtual tables ready."""
    objects = names(handle)
    open_virtual_tables(handle, [name for name, type_, _ in objects if type_ == "virtual"])
    open_virtual_tables(handle, FUNCTION_TABLES)
    return ChangeGuard(target, connection, owners(objects))
