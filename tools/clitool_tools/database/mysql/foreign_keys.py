"""Foreign keys by which a change of one table changes others."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.grants import grants
from clitool_tools.database.mysql.literal import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.mysql.session import Session

_CHANGING = ("CASCADE", "SET NULL", "SET DEFAULT")

# Rights on all tables of a database that let an account see which of these refer to which; SELECT does not, measured
# on MariaDB.
_SIGHT = frozenset(
    (
        *("ALL", "ALTER", "CREATE", "CREATE VIEW", "DELETE", "DROP", "INDEX", "INSERT"),
        *("REFERENCES", "SHOW VIEW", "TRIGGER", "UPDATE"),
    )
)


class Event:
    """A change of a table.

    Attributes:
        table: its name; in another database, that and a dot before it.
        action: ``INSERT``, ``UPDATE`` or ``DELETE``.
        columns: which an update may set; None for any.
        is_cascade: whether a foreign key causes it.
    """

    __slots__ = ("action", "columns", "is_cascade", "table")

    def __init__(
        self, table: str, action: str, columns: frozenset[str] | None = None, *, is_cascade: bool = False
    ) -> None:
        self.table = table
        self.action = action
        self.columns = columns
        self.is_cascade = is_cascade

    def _all(self) -> tuple[object, ...]:
        return self.table, self.action, self.columns, self.is_cascade

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())


class ForeignKey:
    """A foreign key that changes its table when the table that it refers to changes.

    Attributes:
        child, parent: the tables; one of another database with that before it.
        on_update, on_delete: the rules.
        columns, references: its columns, and those of the parent.
    """

    __slots__ = ("child", "columns", "on_delete", "on_update", "parent", "references")

    def __init__(self, child: str, parent: str, on_update: str, on_delete: str) -> None:
        self.child = child
        self.parent = parent
        self.on_update = on_update
        self.on_delete = on_delete
        self.columns: list[str] = []
        self.references: list[str] = []

    def caused_by(self, event: Event) -> Event | None:
        """Return what an event of the parent makes of the child, if anything."""
        if event.table != self.parent:
            return None
        if event.action == "DELETE" and self.on_delete == "CASCADE":
            return Event(self.child, "DELETE", is_cascade=True)
        rule = self.on_delete if event.action == "DELETE" else self.on_update
        touches = event.action == "DELETE" or event.columns is None or not event.columns.isdisjoint(self.references)
        if event.action == "INSERT" or rule not in _CHANGING or not touches:
            return None
        return Event(self.child, "UPDATE", frozenset(self.columns), is_cascade=True)


def cascading(session: Session) -> Iterator[ForeignKey]:
    """Yield the foreign keys that change their table, of this database and of others that the account sees."""
    rows = session.run(
        "SELECT r.CONSTRAINT_SCHEMA, r.CONSTRAINT_NAME, r.TABLE_NAME, r.UNIQUE_CONSTRAINT_SCHEMA,"  # noqa: S608 - what varies are two rules
        " r.REFERENCED_TABLE_NAME, r.UPDATE_RULE, r.DELETE_RULE, k.COLUMN_NAME, k.REFERENCED_COLUMN_NAME, DATABASE()"
        " FROM information_schema.REFERENTIAL_CONSTRAINTS r JOIN information_schema.KEY_COLUMN_USAGE k"
        " ON k.CONSTRAINT_SCHEMA = r.CONSTRAINT_SCHEMA AND k.CONSTRAINT_NAME = r.CONSTRAINT_NAME"
        " AND k.TABLE_NAME = r.TABLE_NAME AND k.REFERENCED_TABLE_NAME IS NOT NULL"
        f" WHERE r.UPDATE_RULE IN {_CHANGING} OR r.DELETE_RULE IN {_CHANGING}"
    ).all()
    found: dict[tuple[str, ...], ForeignKey] = {}
    for row in rows:
        database, name, child, its_database, parent, on_update, on_delete, column, its_column, here = map(
            schema.text, row
        )
        key = found.setdefault(
            (database, child, name),
            ForeignKey(_located(database, child, here), _located(its_database, parent, here), on_update, on_delete),
        )
        key.columns.append(column)
        key.references.append(its_column)
    yield from found.values()


def require_sight(database: Database) -> None:
    """Raise `ExecutionError` (permission) if the account may not see which tables refer to which.

    Its rights on single tables show only the foreign keys of these. If every table is allowed, it need not see.
    """
    if database.connection.tables is None:
        return
    here = database.connection.address.database
    rights = [grant.rights for grant in grants(database.session) if grant.table == "*" and grant.covers(here)]
    if all(_SIGHT.isdisjoint(some) for some in rights):
        raise ExecutionError(
            "the account may not see which tables refer to this one, and so what the change would reach; the owner"
            f" must GRANT REFERENCES ON {quoted(here)}.* to it",
            "permission",
        )


def _located(database: str, table: str, here: str) -> str:
    return table if database == here else f"{database}.{table}"
