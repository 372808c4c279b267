"""The triggers of a table, and what each of them reaches."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.definition import reads_of
from clitool_tools.database.mysql.grants import grants
from clitool_tools.database.mysql.literal import literal
from clitool_tools.database.mysql.trigger import Trigger
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.database.mysql.catalogue import Catalogue
    from clitool_tools.database.mysql.foreign_keys import Event
    from clitool_tools.database.mysql.session import Session


def on(session: Session, catalogue: Catalogue, event: Event) -> Iterator[tuple[str, Trigger]]:
    """Yield the triggers that an event fires, by name.

    Raises:
        ExecutionError: the account may not see them, or what one does (permission).
    """
    rows = session.run(
        "SELECT TRIGGER_NAME, ACTION_STATEMENT, SQL_MODE FROM information_schema.TRIGGERS"  # noqa: S608 - literals
        " WHERE EVENT_OBJECT_SCHEMA = DATABASE()"
        f" AND EVENT_OBJECT_TABLE = {literal(event.table)} AND EVENT_MANIPULATION = {literal(event.action)}"
    ).all()
    if not rows and session.server.kind == "mysql":
        _require_sight(session, catalogue, event.table)
    for name, body, mode in rows:
        if body is None:
            raise _hidden(f"what the trigger {shown(schema.text(name))} on {shown(event.table)} does", event.table)
        ansi_quotes = "ANSI_QUOTES" in schema.text(mode).split(",")
        yield schema.text(name), Trigger(schema.text(body), catalogue, event.table, ansi_quotes=ansi_quotes)


def reached(session: Session, catalogue: Catalogue, trigger: Trigger) -> Iterator[str]:
    """Yield the tables that a trigger names, and those behind a view if it may change something through it."""
    for name in trigger.tables:
        yield name
        if trigger.actions and catalogue.views.get(name):
            for table in reads_of(session, name) or (None,):
                if table is None:
                    raise _hidden(f"what stands behind the view {shown(name)}, which a trigger names", name)
                yield table


def _require_sight(session: Session, catalogue: Catalogue, table: str) -> None:
    """Raise `ExecutionError` (permission) if MySQL would not show the triggers; MariaDB shows that there are some."""
    for grant in grants(session):
        if grant.covers(catalogue.here) and grant.table in ("*", table) and {"ALL", "TRIGGER"} & grant.rights:
            return
    raise _hidden(f"whether {shown(table)} has triggers, and what they do", table)


def _hidden(what: str, table: str) -> ExecutionError:
    return ExecutionError(
        f"the account may not see {what}; the owner must GRANT it TRIGGER and SHOW VIEW on {shown(table)}", "permission"
    )
