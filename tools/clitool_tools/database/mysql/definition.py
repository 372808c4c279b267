"""Which tables a view reads, from its definition as the server keeps it.

The server writes a view down again in a form of its own: every table with its database and in backticks, behind FROM,
JOIN or a bracket that follows these, and never behind a comma.
"""

from __future__ import annotations

from clitool_tools.database.mysql import schema
from clitool_tools.database.mysql.literal import literal
from clitool_tools.database.mysql.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clitool_tools.database.mysql.session import Session
    from clitool_tools.database.mysql.words import Word


def reads_of(session: Session, view: str) -> set[str | None] | None:
    """Return what a view reads itself, None for a table of another database; or None if its making is not shown."""
    rows = session.run(
        "SELECT DATABASE(), VIEW_DEFINITION FROM information_schema.VIEWS"  # noqa: S608 - a literal
        f" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {literal(view)}"
    ).all()
    if not rows or not rows[0][1]:
        return None
    here, definition = map(schema.text, rows[0])
    return tables_of(definition, here)


def tables_of(definition: str, here: str) -> set[str | None]:
    """Return the tables and views of the database `here` that a view's definition names, None for those of another."""
    sources = [(chain, alias) for chain, alias in _sources(list(words(definition))) if len(chain) == 2]
    aliases = {alias for _, alias in sources}
    found: set[str | None] = set()
    for (database, name), _ in sources:
        if database == here:
            found.add(name)
        elif database not in aliases:  # else a column, as in EXTRACT(YEAR FROM `o`.`placed`)
            found.add(None)
    return found


def _sources(tokens: Sequence[Word]) -> Iterator[tuple[list[str], str]]:
    """Yield the names, divided by dots, that stand where a table may, with the alias behind each or nothing."""
    position, is_source = 0, False
    while position < len(tokens):
        token = tokens[position]
        if token.is_quoted:
            chain, position = _chain(tokens, position)
            follower = tokens[position] if position < len(tokens) else None
            if is_source:
                yield chain, follower.text if follower is not None and follower.is_quoted else ""
            is_source = False
        else:
            is_source = token.keyword in ("FROM", "JOIN", "STRAIGHT_JOIN") or (is_source and token.text == "(")
            position += 1


def _chain(tokens: Sequence[Word], position: int) -> tuple[list[str], int]:
    chain = [tokens[position].text]
    position += 1
    while position + 1 < len(tokens) and tokens[position].text == "." and tokens[position + 1].is_quoted:
        chain.append(tokens[position + 1].text)
        position += 2
    return chain, position
