"""The triggers of a table, and what each of them reaches."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.definition import reads_of
from clitool_tools.database.mysql.grants import grants
from clitool_tools.database.mysql.literal import literal
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.database.mysql.catalogue import Catalogue
    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.mysql.foreign_keys import Event
    from clitool_tools.database.mysql.session import Session
    from clitool_tools.database.mysql.trigger import Trigger


def on(database: Database, event: Event) -> Iterator[tuple[str, str, bool]]:
    """Yield name and text of the triggers that an event fires, and whether names may stand in double quotes there.

    Raises:
        ExecutionError: the account may not see them, or what one does (permission).
    """
    rows = database.session.run(
        "SELECT TRIGGER_NAME, ACTION_STATEMENT, SQL_MODE FROM information_schema.TRIGGERS"  # noqa: S608 - literals
        " WHERE EVENT_OBJECT_SCHEMA = DATABASE()"
        f" AND EVENT_OBJECT_TABLE = {literal(event.table)} AND EVENT_MANIPULATION = {literal(event.action)}"
    ).all()
    if not rows and database.session.server.kind == "mysql":
        _require_sight(database, event.table)
    for name, body, mode in rows:
        if body is None:
            raise _hidden(f"what the trigger {shown(schema.text(name))} on {shown(event.table)} does", event.table)
        yield schema.text(name), schema.text(body), "ANSI_QUOTES" in schema.text(mode).split(",")


def reached(session: Session, catalogue: Catalogue, trigger: Trigger) -> Iterator[str]:
    """Yield the tables that a trigger names, and those behind a view if it may change something through it."""
    for name in trigger.tables:
        yield name
        if trigger.actions and catalogue.views.get(name):
            for table in reads_of(session, name) or (None,):
                if table is None:
                    raise _hidden(f"what stands behind the view {shown(name)}, which a trigger names", name)
                yield table


def _require_sight(database: Database, table: str) -> None:
    """Raise `ExecutionError` (permission) if MySQL would not show the triggers; MariaDB shows that there are some."""
    here = database.connection.address.database
    for grant in grants(database.session):
        if grant.covers(here) and grant.table in ("*", table) and {"ALL", "TRIGGER"} & grant.rights:
            return
    raise _hidden(f"whether {shown(table)} has triggers, and what they do", table)


def _hidden(what: str, table: str) -> ExecutionError:
    return ExecutionError(
        f"the account may not see {what}; the owner must GRANT it TRIGGER and SHOW VIEW on {shown(table)}", "permission"
    )
