"""What a change of one table reaches beyond it: foreign keys that cascade, triggers, and what these reach in turn.

The server checks no rights for either, and tells nobody. So all of it is looked up before, and refused by name where
it leads to a table that the client may not reach. What the account may not see is refused, too.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.catalogue import Catalogue
from clitool_tools.database.mysql.foreign_keys import Event
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.mysql.foreign_keys import ForeignKey
    from clitool_tools.database.mysql.table import MysqlTable
    from clitool_tools.database.mysql.trigger import Trigger
    from clitool_tools.database.table import Column


def check(
    database: Database, table: MysqlTable, actions: Iterable[str], columns: Iterable[Column] = ()
) -> Collection[str]:
    """Look at everything that a change would reach; return the tables of this database that it may change.

    Args:
        database: the session reads in it.
        table: what is to change.
        actions: ``INSERT``, ``UPDATE``, ``DELETE``.
        columns: those that an update sets.

    Raises:
        InvalidParams: it reaches a table that the client may not reach (side_effects).
        ExecutionError: the account may not see what it reaches (permission).
    """
    set_ = {column.name for column in columns} | {column.name for column in table.all if column.generated}
    search = _Search(database, table)
    search.run([Event(table.name, action, frozenset(set_)) for action in actions])
    return search.changed


class _Search:
    """The events that a change causes, each looked at once."""

    def __init__(self, database: Database, table: MysqlTable) -> None:
        self.database = database
        self.session = database.session
        self.table = table
        self._catalogue: Catalogue | None = None
        self.keys: list[ForeignKey] | None = None
        self.changed: set[str] = set()

    @property
    def catalogue(self) -> Catalogue:
        """The tables of the database; most changes need not ask for them."""
        if self._catalogue is None:
            self._catalogue = Catalogue(self.session)
        return self._catalogue

    def run(self, events: list[Event]) -> None:
        seen: set[Event] = set()
        waiting = events
        while waiting:
            event = waiting.pop()
            if event not in seen:
                seen.add(event)
                self.changed.add(event.table)
                waiting += self.cascades(event)
                waiting += self.triggered(event)

    def cascades(self, event: Event) -> Iterator[Event]:
        from clitool_tools.database.mysql import foreign_keys

        if event.action == "INSERT" or not self.may_be_referenced(event):
            return
        if self.keys is None:
            foreign_keys.require_sight(self.database)
            self.keys = list(foreign_keys.cascading(self.session))
        for key in self.keys:
            found = key.caused_by(event)
            if found is not None:
                self.require(found.table, f"a foreign key makes a change of {shown(event.table)} reach")
                yield found

    def may_be_referenced(self, event: Event) -> bool:
        """Return whether a foreign key may refer to what changes: only to columns that are in an index."""
        if event.action == "DELETE" or event.table != self.table.name or event.columns is None:
            return True
        return any(part in event.columns for index in self.table.indexes for part in index.parts)

    def triggered(self, event: Event) -> Iterator[Event]:
        if event.is_cascade and self.session.server.kind == "mariadb":
            return  # cascades fire no triggers there: https://mariadb.com/kb/en/trigger-limitations/
        from clitool_tools.database.mysql import triggers

        for name, body, ansi_quotes in triggers.on(self.database, event):
            from clitool_tools.database.mysql.trigger import Trigger as Text

            trigger = Text(body, self.catalogue, event.table, ansi_quotes=ansi_quotes)
            sentence = f"the trigger {shown(name)} on {shown(event.table)} names"
            yield from self.also_set(event, trigger)
            for other in trigger.others:
                self.require(other, sentence)
            for table in triggers.reached(self.session, self.catalogue, trigger):
                self.require(table, sentence)
                yield from (Event(table, action) for action in trigger.actions)

    def also_set(self, event: Event, trigger: Trigger) -> Iterator[Event]:
        """Yield the update of a row of the table by its own trigger, which other tables may follow."""
        names = [column.name for column in self.table.all if column.name.lower() in trigger.sets]
        if names and event.action == "UPDATE" and event.table == self.table.name and event.columns is not None:
            yield Event(event.table, "UPDATE", event.columns.union(names))

    def require(self, name: str, sentence: str) -> None:
        """Raise `InvalidParams` (side_effects) unless a table, or what may be one, is permitted."""
        connection, is_live = self.database.connection, self.catalogue.spelt(name) == name
        if is_live and self.database.allows(name):
            return
        if not any(schema.is_named(self.session, name, each) for each in connection.listed_effects):
            raise InvalidParams(
                f"{sentence} {shown(name)}, which is neither in allowed_tables nor in allow_side_effects",
                "side_effects",
            )
