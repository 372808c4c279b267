"""The tables and views of a database by name, for texts of the owner's that may name them."""

from __future__ import annotations

from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.literal import literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from clitool_tools.database.mysql.session import Session


class Catalogue:
    """The tables and views of the database by name, for texts that may name them.

    Attributes:
        here: the name of the database.
        views: whether each name is that of a view.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.views = dict(schema.names(session))
        ((here,),) = session.run("SELECT DATABASE()").all()
        self.here = schema.text(here)

    def spelt(self, name: str) -> str | None:
        """Return how the server spells a table or view, if there is one."""
        return next((live for live in self.views if schema.is_named(self._session, live, name)), None)

    def is_here(self, database: str) -> bool:
        """Return whether this is the name of the database."""
        return schema.is_named(self._session, self.here, database)

    def columns(self, tables: Iterable[str]) -> set[str]:
        """Return the names of the columns of these tables, as far as they exist, in small letters."""
        sought = [literal(table) for table in tables if table in self.views]
        if not sought:
            return set()
        rows = self._session.run(
            "SELECT LOWER(COLUMN_NAME) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"  # noqa: S608 - what varies is a literal
            f" AND TABLE_NAME IN ({', '.join(sought)})"
        ).all()
        return {schema.text(name) for (name,) in rows}
