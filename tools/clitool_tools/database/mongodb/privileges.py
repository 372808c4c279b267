"""What an account may do on the server, held against the whitelist; and the role that is the whitelist.

https://www.mongodb.com/docs/manual/reference/resource-document/ and
https://www.mongodb.com/docs/manual/reference/privilege-actions/
"""

from __future__ import annotations

from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from clitool_tools.database.settings import Connection

READING = ("find",)
CHANGING = ("find", "insert", "listIndexes", "remove", "update")
_HARMLESS = frozenset(("collStats", "dbStats", "listCollections", "listIndexes", "killCursors", "planCacheRead"))
_MOST = 6  # names in one sentence


def excess(privileges: Sequence[Mapping[str, Any]], connection: Connection, views: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each kind of thing that the account may do and no tool of this client needs.

    Args:
        privileges: as ``connectionStatus`` with `showPrivileges` tells them.
        connection: whose whitelist it is.
        views: names of those collections that are views.
    """
    found: dict[str, dict[str, None]] = {}
    for privilege in privileges:
        resource = privilege["resource"]
        actions = set(privilege["actions"]) - _needed(resource, connection, views)
        if actions:
            found.setdefault(_about(resource, connection), {}).update(dict.fromkeys(sorted(actions)))
    for about, words in found.items():
        names = list(words)
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        yield f"the account may do more than the tools need {about}: {', '.join(names[:_MOST])}{more}"


def role(connection: Connection, types: Mapping[str, str]) -> dict[str, Any]:
    """Return the document for `createRole` that allows what the tools need and nothing else.

    Args:
        connection: whose whitelist it is.
        types: of the collections that exist, by name: ``collection``, ``view``, ``timeseries``.
    """
    database = connection.address.database
    names = [""] if connection.tables is None else list(connection.tables.values())
    privileges = [
        {
            "resource": {"db": database, "collection": name},
            "actions": list(READING if types.get(name) == "view" else CHANGING),
        }
        for name in names
    ]
    return {"role": account(connection), "privileges": privileges, "roles": []}


def account(connection: Connection) -> str:
    """Return a name for the role and the account that have the rights of this connection."""
    return "-".join(filter(None, ("clitool", connection.address.database, connection.name)))


def _needed(resource: Mapping[str, Any], connection: Connection, views: Collection[str]) -> set[str] | frozenset[str]:
    """Return the actions on a resource that tools need, or that tell about nothing but what they reach anyway."""
    if resource.get("db") != connection.address.database or not isinstance(resource.get("collection"), str):
        return set()
    name = resource["collection"]
    is_covered = connection.tables is None if not name else connection.allows(name)
    if is_covered:
        return _HARMLESS | set(READING if name in views else CHANGING)
    return frozenset(("listCollections",)) if not name else set()


def _about(resource: Mapping[str, Any], connection: Connection) -> str:
    """Return where a privilege counts, for a sentence."""
    if resource.get("anyResource") or resource.get("cluster"):
        return "on the whole server"
    database, name = resource.get("db"), resource.get("collection")
    if database != connection.address.database:
        return f"in the database {shown(str(database))}" if database else "in every database"
    if name == "":
        return "on every collection of its database"
    if name is None or not connection.allows(str(name)):
        return "on collections that are not in allowed_tables"
    return f"on {shown(str(name))}"
