"""What `clitool check` says about a MongoDB database: the server, the account, the collections, and a role for them."""

from __future__ import annotations

import os

from clitool.errors import ClitoolError
from clitool.family import Finding
from clitool.tool import Deadline
from clitool_tools.database.installed import missing
from clitool_tools.database.names import listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clitool_tools.database.mongodb.address import Address
    from clitool_tools.database.mongodb.session import Session
    from clitool_tools.database.settings import Connection

_SECONDS = 8.0
_OTHERS_READ = 0o004
_LOCAL = ("localhost", "127.", "[::1]", "/")
_LOGIN = ("authSource", "authMechanism", "authMechanismProperties")


def inspect(connection: Connection, prefix: str, *, probe: bool) -> Iterator[Finding]:
    """Yield the findings; the server is asked only if `probe` is true."""
    key = prefix + "connection_string"
    yield from _encryption(connection.address, key)
    yield from _files(connection.address, key)
    if driver := list(missing("pymongo", "pymongo", "clitool-convention[mongodb]", prefix + "type")):
        yield from driver
        return
    if not probe:
        return
    from clitool_tools.database.mongodb.session import Session

    session = Session(connection, Deadline(_SECONDS))
    try:
        yield _server(session, key)
        yield from _login(session, key)
        yield from _content(session, prefix + "allowed_tables")
    except ClitoolError as error:
        yield Finding("error", key, str(error))
    finally:
        session.close()


def _encryption(address: Address, key: str) -> Iterator[Finding]:
    if not address.is_encrypted and not all(host.startswith(_LOCAL) for host in address.hosts):
        yield Finding("warning", key, "passwords and rows cross the network unencrypted; add tls=true")


def _files(address: Address, key: str) -> Iterator[Finding]:
    paths = {name: path for name, path in address.options.items() if name.endswith("File")}
    for name, path in paths.items():
        if not os.access(path, os.R_OK):
            yield Finding("error", key, f"the file of {name} does not exist or cannot be read by this user")
    own = paths.get("tlsCertificateKeyFile")
    if own and os.path.exists(own) and os.stat(own).st_mode & _OTHERS_READ:
        yield Finding("warning", key, "every user of this machine can read the tlsCertificateKeyFile; run: chmod o-r")


def _server(session: Session, key: str) -> Finding:
    with session.faults():
        version = session.database.command("buildInfo")["version"]
    hello = session.server
    kind = "a replica set" if "setName" in hello else "a standalone server, without transactions"
    if hello.get("msg") == "isdbgrid":
        kind = "a sharded cluster"
    encrypted = "encrypted" if session.connection.address.is_encrypted else "not encrypted"
    return Finding("ok", key, f"MongoDB {version} answers: {kind}; the connection is {encrypted}")


def _login(session: Session, key: str) -> Iterator[Finding]:
    if not _asks_for_password(session):
        yield Finding(
            "warning",
            key,
            "the server asks for no password: whoever reaches it may do everything; switch its authorization on",
        )


def _asks_for_password(session: Session) -> bool:
    """Return whether the server refuses strangers a look around."""
    stranger = _stranger(session.connection)
    try:
        with stranger.faults():
            stranger.client.admin.command("listDatabases", nameOnly=True)
    except ClitoolError:
        return True
    finally:
        stranger.close()
    return False


def _stranger(connection: Connection) -> Session:
    """Return a connection to the same server without an account."""
    from copy import copy

    from clitool_tools.database.mongodb.address import Address
    from clitool_tools.database.mongodb.session import Session

    known = connection.address
    address = Address(known.scheme, known.hosts, known.database, ("", ""))
    address.options = {name: value for name, value in known.options.items() if name not in _LOGIN}
    unnamed = copy(connection)
    unnamed.address = address
    return Session(unnamed, Deadline(_SECONDS))


def _content(session: Session, key: str) -> Iterator[Finding]:
    from clitool_tools.database.mongodb.schema import collections

    connection = session.connection
    found: Mapping[str, str] = {}
    try:
        found = collections(session)
    except ClitoolError as error:
        yield Finding("error", key, str(error))
    missing = [name for name in (connection.tables or {}).values() if name not in found]
    for name in missing:
        yield Finding("error", key, f"the database has no collection {shown(name)}, or the account may not use it")
    for name, type_ in found.items():
        if type_ == "view" and connection.allows(name):
            yield _view(session, name, key)
    yield from _rights(session, found, key, is_short=bool(missing))


def _view(session: Session, name: str, key: str) -> Finding:
    from clitool_tools.database.mongodb.description import sources
    from clitool_tools.database.mongodb.schema import options
    from clitool_tools.database.mongodb.table import MongoTable

    given = options(session, MongoTable(name, "view"))
    if given is None:
        return Finding("ok", key, f"the view {shown(name)} reads what this account may not look up")
    named = sources(given)
    hidden = [source for source in named if not session.connection.allows(source)]
    tail = f", though {listed(hidden)} is not in allowed_tables" if hidden else ""
    return Finding("ok", key, f"the view {shown(name)} reads {listed(named)}{tail}")


def _rights(session: Session, types: Mapping[str, str], key: str, *, is_short: bool) -> Iterator[Finding]:
    """Yield what the account may do beyond the whitelist, and how to make one that may do just that."""
    from clitool_tools.database.mongodb.privileges import excess

    with session.faults():
        status = session.database.command({"connectionStatus": 1, "showPrivileges": True})["authInfo"]
    views = [name for name, type_ in types.items() if type_ == "view"]
    sentences = list(excess(status["authenticatedUserPrivileges"], session.connection, views))
    for sentence in sentences:
        yield Finding("warning", key, sentence)
    if status["authenticatedUsers"] and not sentences and not is_short:
        yield Finding("ok", key, "the account may do what the tools need and nothing else: the server enforces it, too")
    else:
        yield from _statements(session.connection, types, key)


def _statements(connection: Connection, types: Mapping[str, str], key: str) -> Iterator[Finding]:
    import json

    from clitool_tools.database.mongodb.privileges import account, role

    database = connection.address.database
    yield Finding(
        "ok",
        key,
        "two commands of mongosh make a role and an account for which the server enforces the same list; leave out"
        " insert, update and remove where the client's scopes do not allow them",
    )
    document = json.dumps(role(connection, types), ensure_ascii=True)
    yield Finding("ok", key, f"db.getSiblingDB({json.dumps(database)}).createRole({document})")
    name = json.dumps(account(connection))
    granted = json.dumps([{"role": account(connection), "db": database}])
    user = f'{{"user": {name}, "pwd": passwordPrompt(), "roles": {granted}}}'
    yield Finding("ok", key, f"db.getSiblingDB({json.dumps(database)}).createUser({user})")
