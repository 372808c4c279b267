"""What the account may do, as the server lists it."""

from __future__ import annotations

from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clitool_tools.database.mysql.session import Session
    from clitool_tools.database.mysql.words import Word


class Grant:
    """One line of SHOW GRANTS: rights on all databases, one of them, or one table or routine.

    Attributes:
        rights: in capitals, ``SHOW VIEW`` for example; ``ALL`` for all; also those on single columns only.
        database: a name, or for all its tables a pattern as LIKE has it; ``*`` for all.
        table: a name, or ``*`` for all; empty if the rights are on a routine.
        may_grant: whether the account may give these rights to others.
    """

    __slots__ = ("database", "may_grant", "rights", "table")

    def __init__(self, rights: frozenset[str], database: str, table: str, *, may_grant: bool = False) -> None:
        self.rights = rights
        self.database = database
        self.table = table
        self.may_grant = may_grant

    def covers(self, database: str) -> bool:
        """Return whether it is about this database, or about all."""
        if self.table != "*":
            return self.database == database  # a pattern only stands before ``.*``
        if self.database == "*" or self.database.replace("\\_", "_").replace("\\%", "%") == database:
            return True
        from fnmatch import fnmatchcase

        pattern = self.database.replace("[", "[[]").replace("\\_", "[_]").replace("\\%", "[%]")
        return fnmatchcase(database, pattern.replace("_", "?").replace("[?]", "_").replace("%", "*"))


def grants(session: Session) -> Iterator[Grant]:
    """Yield the account's rights on databases and tables, those of its active roles included where the server does."""
    for (row,) in session.run("SHOW GRANTS").all():
        found = _grant(list(words(schema.text(row))))
        if found is not None:
            yield found


def _grant(tokens: Sequence[Word]) -> Grant | None:
    keywords = [token.keyword for token in tokens]
    if "ON" not in keywords or keywords[0] != "GRANT":
        return None
    end = keywords.index("ON")
    is_routine = keywords[end + 1] in ("FUNCTION", "PROCEDURE")
    target = tokens[end + 1 + is_routine :]
    if len(target) < 3 or target[1].text != ".":
        return None
    table = "" if is_routine else target[2].text
    may_grant = "GRANT OPTION" in " ".join(keywords[end:])
    return Grant(frozenset(_rights(tokens[1:end])), target[0].text, table, may_grant=may_grant)


def _rights(tokens: Sequence[Word]) -> Iterator[str]:
    """Yield the names of rights; the columns that one is limited to stand in brackets behind it."""
    name: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text == ",":
            yield " ".join(name)
            name = []
        elif depth == 0 and token.text != ")":
            name.append(token.keyword)
    yield "ALL" if name == ["ALL", "PRIVILEGES"] else " ".join(name)
