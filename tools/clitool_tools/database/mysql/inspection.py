"""What `clitool check` says about a MySQL or MariaDB database: server, account, tables, an account just for these."""

from __future__ import annotations

import os

from clitool.errors import ClitoolError
from clitool.family import Finding
from clitool.tool import Deadline
from clitool_tools.database.installed import missing
from clitool_tools.database.names import listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clitool_tools.database.mysql.address import Address
    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.mysql.grants import Grant
    from clitool_tools.database.mysql.privileges import Whitelist
    from clitool_tools.database.mysql.table import MysqlTable
    from clitool_tools.database.settings import Connection

_EXTRA = "clitool-convention[mysql]"
_SECONDS = 8.0
_OTHERS_READ = 0o004
_TESTED = {"mariadb": (10, 11), "mysql": (8, 0)}  # the oldest that this is written for
_NAMES = {"mariadb": "MariaDB", "mysql": "MySQL"}


def inspect(connection: Connection, prefix: str, *, probe: bool) -> Iterator[Finding]:
    """Yield the findings; the server is asked only if `probe` is true."""
    yield from _encryption(connection.address, prefix)
    yield from missing("sqlglot", "sqlglot", _EXTRA, prefix + "type", "warning")  # only database_sql needs it
    if driver := list(missing("mysql.connector", "mysql-connector-python", _EXTRA, prefix + "type")):
        yield from driver
        return
    if not probe:
        return
    from clitool_tools.database.mysql.database import Database

    database = Database(connection, Deadline(_SECONDS))
    try:
        yield from _server(database, prefix)
        yield from _Content(database, prefix).findings()
    except ClitoolError as error:
        yield Finding("error", prefix + "connection_string", str(error))
    finally:
        database.close()


def _encryption(address: Address, prefix: str) -> Iterator[Finding]:
    if not address.is_local and address.ssl_mode not in ("VERIFY_CA", "VERIFY_IDENTITY"):
        what = "is not encrypted" if address.ssl_mode == "DISABLED" else "may be with anyone: no certificate is checked"
        yield Finding("warning", prefix + "ssl_mode", f"the connection {what}; set 'ssl_mode' to VERIFY_IDENTITY")
    for key in ("ssl_ca", "ssl_cert", "ssl_key"):
        path = getattr(address, key)
        if path and not os.access(path, os.R_OK):
            yield Finding("error", prefix + key, "the file does not exist or cannot be read by this user")
    if address.ssl_key and os.path.exists(address.ssl_key) and os.stat(address.ssl_key).st_mode & _OTHERS_READ:
        yield Finding("warning", prefix + "ssl_key", "every user of this machine can read the key; run: chmod o-r")


def _server(database: Database, prefix: str) -> Iterator[Finding]:
    database.session.read()
    server, key = database.session.server, prefix + "connection_string"
    how = f"encrypted with {server.tls}" if server.tls else "not encrypted"
    yield Finding("ok", key, f"{_NAMES[server.kind]} {server.text} answers; the connection is {how}")
    if server.version < _TESTED[server.kind]:
        oldest = ".".join(map(str, _TESTED[server.kind]))
        yield Finding("warning", key, f"the server is older than {oldest}, with which this program is tested")


class _Content:
    """The tables and the account's rights on them."""

    def __init__(self, database: Database, prefix: str) -> None:
        self._database = database
        self._connection = database.connection
        self._key = prefix + "allowed_tables"
        self._effects = prefix + "allow_side_effects"

    def findings(self) -> Iterator[Finding]:
        """Yield them."""
        from clitool_tools.database.mysql.grants import grants

        tables = {table.name: table.is_view for table in self._database.tables()}
        rights = list(grants(self._database.session))
        missing = [name for name in self._connection.listed_tables if not any(self._same(name, has) for has in tables)]
        for name in missing:
            yield self._error(f"the database has no table {shown(name)}, or the account may not use it")
        for name in tables:
            try:
                yield from self._table(self._database.table(name), rights)
            except ClitoolError as error:
                yield self._error(f"{shown(name)} cannot be used: {error}")
        yield from self._rights(tables, rights, is_short=bool(missing))

    def _table(self, table: MysqlTable, rights: Sequence[Grant]) -> Iterator[Finding]:
        from clitool_tools.database.mysql.literal import quoted

        self._database.session.run(f"SELECT 1 FROM {quoted(table.name)} LIMIT 0").all()  # noqa: S608 - quoted
        if table.is_view:
            yield self._view(table)
            return
        actions = [each for each in _CHANGES if not self._lacks(rights, table, each)]
        if actions:
            yield from self._engine(table)
        for action in actions:
            yield from self._change(table, action)

    def _view(self, table: MysqlTable) -> Finding:
        from clitool_tools.database.mysql.definition import reads_of

        found = reads_of(self._database.session, table.name)
        if found is None:
            sentence = "reads what this account may not look up; GRANT SHOW VIEW on it to see"
        else:
            named = sorted(name or "a table of another database" for name in found)
            hidden = sorted(name for name in found if name and not self._database.allows(name))
            tail = f", though {listed(hidden)} is not in allowed_tables" if hidden else ""
            who = " with its definer's rights" if self._is_definers(table.name) else ""
            sentence = f"reads {listed(named) or 'no table'}{who}{tail}"
        return Finding("ok", self._key, f"the view {shown(table.name)} {sentence}")

    def _is_definers(self, view: str) -> bool:
        from clitool_tools.database.mysql.literal import literal

        rows = self._database.session.run(
            "SELECT 1 FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() AND SECURITY_TYPE = 'DEFINER'"  # noqa: S608 - a literal
            f" AND TABLE_NAME = {literal(view)}"
        )
        return bool(rows.all())

    def _engine(self, table: MysqlTable) -> Iterator[Finding]:
        from clitool_tools.database.mysql.change import require_transactions

        try:
            require_transactions(self._database, [table.name], "changes")
        except ClitoolError as error:
            yield Finding("warning", self._key, f"most changes of {shown(table.name)} are refused: {error}")

    def _change(self, table: MysqlTable, action: str) -> Iterator[Finding]:
        from clitool_tools.database.mysql.effects import check

        try:
            check(self._database, table, [action], table.columns if action == "UPDATE" else ())
        except ClitoolError as error:
            yield Finding("warning", self._effects, f"{_CHANGES[action]} {shown(table.name)} is refused: {error}")

    def _rights(self, tables: dict[str, bool], rights: Sequence[Grant], *, is_short: bool) -> Iterator[Finding]:
        from clitool_tools.database.mysql.privileges import Whitelist, excess

        whitelist = Whitelist(self._connection.address.database, tables, is_all=self._connection.tables is None)
        sentences = list(excess(rights, whitelist, self._same))
        for sentence in sentences:
            yield Finding("warning", self._key, sentence)
        if sentences or is_short:
            yield from self._statements(whitelist)
        else:
            yield Finding("ok", self._key, "the account may do what the tools need and nothing else, says the server")

    def _statements(self, whitelist: Whitelist) -> Iterator[Finding]:
        from clitool_tools.database.mysql.privileges import recipe

        ((account,),) = self._database.session.run("SELECT CURRENT_USER()").all()
        host = (account or b"").decode("utf-8", "replace").rpartition("@")[2]
        yield Finding(
            "ok",
            self._key,
            "with the next statements the server itself keeps an account to these tables; put a password in, and leave"
            " out INSERT, UPDATE and DELETE where the client's scopes do not allow them",
        )
        for statement in recipe(whitelist, host):
            yield Finding("ok", self._key, f"{statement};")

    def _lacks(self, rights: Sequence[Grant], table: MysqlTable, right: str) -> bool:
        from clitool_tools.database.mysql.privileges import lacks

        return lacks(rights, self._connection.address.database, table.name, right)

    def _same(self, one: str, other: str) -> bool:
        from clitool_tools.database.mysql.schema import is_named

        return is_named(self._database.session, one, other)

    def _error(self, sentence: str) -> Finding:
        return Finding("error", self._key, sentence)


_CHANGES = {"INSERT": "inserting into", "UPDATE": "updating", "DELETE": "deleting from"}
