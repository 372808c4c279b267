"""A SELECT of the caller's own: judged by its text, tokens, tree and tables, then run as the caller wrote it.

Only values, and the names of common table expressions, are put into that text, token by token (see `scopes` for why).
Behind that stand a session that can change nothing, and what the server grants its account.
"""

from __future__ import annotations

from clitool.errors import ClitoolError, DriverMissing, ExecutionError, InvalidParams
from clitool_tools.database.engine import Statement
from clitool_tools.database.mysql import fold, functions, schema
from clitool_tools.database.mysql.faults import UnknownColumn
from clitool_tools.database.mysql.parameters import bind
from clitool_tools.database.mysql.screening import screen
from clitool_tools.database.mysql.values import readers
from clitool_tools.database.names import column_hint, hint, listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping, Sequence
    from typing import Any

    from clitool_tools.database.mysql.lexer import Source
    from clitool_tools.database.mysql.scopes import Reading, Reference
    from clitool_tools.database.mysql.session import Result, Session
    from clitool_tools.database.settings import Connection
    from clitool_tools.database.values import Stored

    Params = Sequence[Stored] | Mapping[str, Stored]

_NO_TABLE = (1142, 1146)  # the second one only to accounts that may know


def admit(session: Session, connection: Connection, sql: str, params: Params) -> Statement:
    """Return a caller's SELECT that may run; it starts when its names or rows are asked for."""
    source = screen(sql)
    found = judge(source)
    for reference in found.tables:
        _check_name(connection, source, reference)
    text = bind(source, params, found.names)
    session.read()
    functions.check_shadowed(session, source)
    reached = _reached(session, connection, source, found.tables)
    return Statement(reached, _rows(session, text, reached, has_names=bool(found.names)))


def judge(source: Source) -> Reading:
    """Return what a statement reads, without a server.

    Raises:
        InvalidParams: it is not one SELECT of which all is known to be harmless but its tables.
        DriverMissing: sqlglot is not installed.
    """
    try:
        from clitool_tools.database.mysql import scopes, syntax
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "sqlglot":
            raise
        raise DriverMissing("sqlglot", "clitool-convention[mysql]") from None
    tree = syntax.parse(source)
    functions.check(source, scopes.aliases(tree))
    syntax.check_parts(tree, source)
    return scopes.reading(tree, source)


def _check_name(connection: Connection, source: Source, reference: Reference) -> None:
    """Refuse, before a server is asked, what is not allowed by any rule of names."""
    if reference.database and fold(reference.database) != fold(connection.address.database):
        raise _elsewhere(source, reference)
    if not connection.allows(reference.name):
        raise _forbidden(connection, source, reference)


def _reached(session: Session, connection: Connection, source: Source, found: Sequence[Reference]) -> set[str]:
    """Return the tables by the names that the server has for them; by its rule of names each must be allowed."""
    live = [name for name, _ in schema.names(session)] if found else []
    reached = set()
    for reference in found:
        if reference.database and not schema.is_named(session, connection.address.database, reference.database):
            raise _elsewhere(source, reference)
        if not schema.allows(session, connection, reference.name):
            raise _forbidden(connection, source, reference)
        names = [name for name in live if schema.is_named(session, name, reference.name)]
        if not names:
            raise ExecutionError(
                f"the database has no table {shown(reference.name)}{hint(reference.name, [])}", "not_found"
            )
        reached.update(names)
    return reached


def _rows(
    session: Session, text: str, tables: Collection[str], *, has_names: bool
) -> Generator[Sequence[Any], None, None]:
    """Yield the list of column names, then the rows."""
    session.read()  # again, if the connection was lost meanwhile
    try:
        result = _run(session, text, has_names=has_names)
    except UnknownColumn as error:
        raise _with_nearest(session, tables, error) from error
    try:
        yield [field.name for field in result.fields]
        reads = readers(result.fields)
        for row in result.rows():
            yield [None if raw is None else read(raw) for read, raw in zip(reads, row, strict=True)]
    finally:
        result.close()


def _run(session: Session, text: str, *, has_names: bool) -> Result:
    """Run the statement; where the server looks for a table by the name of an expression, say what that may mean."""
    try:
        return session.run(text)
    except ClitoolError as error:
        if not has_names or error.details.get("vendor_code") not in _NO_TABLE:
            raise
        raise type(error)(
            "the server does not follow the common table expressions, or its account may not read a table: write"
            " subqueries in FROM instead",
            error.reason,
            **error.details,
        ) from error


def _with_nearest(session: Session, tables: Collection[str], error: UnknownColumn) -> InvalidParams:
    """Return the error with the nearest column of the tables that the statement reads, which are all allowed."""
    known = schema.columns(session, tables) if tables else []
    return InvalidParams(f"{error}{column_hint(error.name, known)}", error.reason, **error.details)


def _forbidden(connection: Connection, source: Source, reference: Reference) -> ClitoolError:
    """Return the refusal of a table; the same whether it exists or not."""
    allowed = "" if connection.tables is None else f": {listed(connection.listed_tables)}"
    return InvalidParams(
        f"the statement reads {shown(reference.name)} ({source.place(reference.start)}), which is not in allowed_tables"
        f"{allowed}",
        "table_not_allowed",
    )


def _elsewhere(source: Source, reference: Reference) -> ClitoolError:
    name = shown(f"{reference.database}.{reference.name}")
    return InvalidParams(
        f"the statement reads {name} ({source.place(reference.start)}), which is not in this client's database;"
        " database_tables and database_describe tell about its tables",
        "table_not_allowed",
    )
