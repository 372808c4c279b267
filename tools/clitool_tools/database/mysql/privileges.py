"""What the account may do on the server, held against the whitelist; and the statements that make it the whitelist.

https://mariadb.com/kb/en/grant/ and https://dev.mysql.com/doc/refman/8.4/en/privileges-provided.html
"""

from __future__ import annotations

from clitool_tools.database.names import listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from clitool_tools.database.mysql.grants import Grant

# What tools use of a table. TRIGGER shows what triggers would do, REFERENCES on all tables which of them refer to one.
OF_TABLE = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRIGGER")
OF_VIEW = ("SELECT", "SHOW VIEW")
TO_SEE = "REFERENCES"
CHANGES = ("INSERT", "UPDATE", "DELETE")

_HARMLESS = frozenset(("USAGE", *OF_TABLE, *OF_VIEW, TO_SEE))
_MOST = 8  # rights in one sentence
_LONGEST_NAME = 32  # characters of an account's name on MySQL


class Whitelist:
    """What the account is for.

    Attributes:
        database: the one.
        tables: exact names of the allowed tables and views that there are, and whether each is a view.
        is_all: whether every table of the database is allowed, also those that are still to come.
    """

    __slots__ = ("database", "is_all", "tables")

    def __init__(self, database: str, tables: Mapping[str, bool], *, is_all: bool) -> None:
        self.database = database
        self.tables = tables
        self.is_all = is_all


def excess(grants: Iterable[Grant], whitelist: Whitelist, same: Callable[[str, str], bool]) -> Iterator[str]:
    """Yield a sentence for each place where the account may do what no tool needs.

    Args:
        grants: what it may do.
        whitelist: what it needs to.
        same: whether two names mean the same table on this server.
    """
    for grant in grants:
        rights = sorted(grant.rights - _needed(grant, whitelist, same))
        if rights:
            more = f" and {len(rights) - _MOST} more" if len(rights) > _MOST else ""
            where = _where(grant, whitelist)
            yield f"the account may do more than the tools need {where}: {', '.join(rights[:_MOST])}{more}"
        if grant.may_grant:
            yield f"the account may give its rights {_where(grant, whitelist)} to others (GRANT OPTION)"


def lacks(grants: Sequence[Grant], database: str, table: str, right: str) -> bool:
    """Return whether none of the grants gives this right on a table, or a part of it."""
    return not any(
        {"ALL", right} & grant.rights and grant.table in ("*", table) and grant.covers(database) for grant in grants
    )


def recipe(whitelist: Whitelist, host: str) -> Iterator[str]:
    """Yield the statements that make an account for which the server enforces the whitelist.

    They end without a semicolon each. ``<password>`` stands where the owner must put one; as it is, no server takes it.

    Args:
        whitelist: what it is to be able to do.
        host: from where it may log in, as in an account's name.
    """
    account = f"{_quoted(f'clitool_{whitelist.database}'[:_LONGEST_NAME])}@{_quoted(host)}"
    yield f"CREATE USER {account} IDENTIFIED BY <password>"
    # Behind the name of a database alone, the server takes % and _ for any text and any character.
    every = f"{_quoted(whitelist.database.replace('_', chr(92) + '_').replace('%', chr(92) + '%'))}.*"
    if whitelist.is_all:
        yield f"GRANT {', '.join((*OF_TABLE, OF_VIEW[1]))} ON {every} TO {account}"
        return
    for name, is_view in whitelist.tables.items():
        rights = ", ".join(OF_VIEW if is_view else OF_TABLE)
        yield f"GRANT {rights} ON {_quoted(whitelist.database)}.{_quoted(name)} TO {account}"
    if not all(whitelist.tables.values()):
        yield f"GRANT {TO_SEE} ON {every} TO {account}"


def _needed(grant: Grant, whitelist: Whitelist, same: Callable[[str, str], bool]) -> frozenset[str]:
    """Return which of a grant's rights the tools use, or tell nothing but what they reach anyway."""
    if not _is_here(grant, whitelist) or not grant.table:
        return frozenset(("USAGE",))
    if whitelist.is_all or any(same(grant.table, name) for name in whitelist.tables):
        return _HARMLESS
    return frozenset(("USAGE", TO_SEE)) if grant.table == "*" else frozenset(("USAGE",))


def _is_here(grant: Grant, whitelist: Whitelist) -> bool:
    """Return whether it is about the database and no other, which ``%`` in a name would let in."""
    is_wide = grant.table == "*" and "%" in grant.database.replace("\\%", "")
    return grant.database != "*" and grant.covers(whitelist.database) and not is_wide


def _where(grant: Grant, whitelist: Whitelist) -> str:
    if grant.database == "*":
        return "on the whole server"
    if not grant.table:
        return f"with routines of the database {shown(grant.database)}"
    if not _is_here(grant, whitelist):
        return f"in the database {shown(grant.database)}"
    if grant.table != "*":
        return f"on the table {shown(grant.table)}"
    beyond = "" if whitelist.is_all else f", beyond {listed(whitelist.tables)}"
    return f"on all tables of the database{beyond}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
