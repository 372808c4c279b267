"""What the account may do, as the server lists it."""

from __future__ import annotations

from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.database.mysql.session import Session


class Grant:
    """One line of SHOW GRANTS: rights on all databases, one of them, or one table.

    Attributes:
        rights: keywords in capitals; of a right of two words, like SHOW VIEW, both.
        database: a name, or a pattern as LIKE has it; ``*`` for all.
        table: a name, or ``*`` for all.
    """

    __slots__ = ("database", "rights", "table")

    def __init__(self, rights: frozenset[str], database: str, table: str) -> None:
        self.rights = rights
        self.database = database
        self.table = table

    def covers(self, database: str) -> bool:
        """Return whether it is about this database, or about all."""
        if self.database == "*" or self.database.replace("\\_", "_").replace("\\%", "%") == database:
            return True
        from fnmatch import fnmatchcase

        pattern = self.database.replace("[", "[[]").replace("\\_", "[_]").replace("\\%", "[%]")
        return fnmatchcase(database, pattern.replace("_", "?").replace("[?]", "_").replace("%", "*"))


def grants(session: Session) -> Iterator[Grant]:
    """Yield the account's rights on databases and tables, those of its active roles included where the server does."""
    for (row,) in session.run("SHOW GRANTS").all():
        tokens = list(words(schema.text(row)))
        position = next((at for at, token in enumerate(tokens) if token.keyword == "ON"), len(tokens))
        target = [token.text for token in tokens[position + 1 : position + 4]]
        if len(target) == 3 and target[1] == ".":
            yield Grant(frozenset(token.keyword for token in tokens[1:position]), target[0], target[2])
