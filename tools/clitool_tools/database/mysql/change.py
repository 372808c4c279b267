"""Changes: SQL that we build, in one transaction each, after a look at everything that it would reach."""

from __future__ import annotations

import os
import time

from clitool.errors import ClitoolError, ExecutionError
from clitool_tools.database.mysql import condition, effects
from clitool_tools.database.mysql.faults import is_transient
from clitool_tools.database.mysql.literal import literal, quoted
from clitool_tools.database.mysql.schema import text
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from clitool_tools.database.engine import Bounds
    from clitool_tools.database.mysql.database import Database
    from clitool_tools.database.mysql.table import MysqlTable
    from clitool_tools.database.table import Column
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node

    Done = TypeVar("Done")
    Row = Mapping[Column, Stored]

_LOCKED_OUT = 1205  # the server has waited for a lock as long as it may
_STATEMENTS_ONLY = 1665  # the server's log of changes cannot take what READ COMMITTED does
_LAST_CHANCE = 1.0  # seconds before the deadline after which nothing is tried again
_PAUSE = 0.01  # seconds, longer each time, so that transactions in each other's way part


def update(database: Database, table: MysqlTable, where: Node, values: Row, bounds: Bounds) -> int:
    """Update the rows that match; return how many do."""
    reached = effects.check(database, table, ["UPDATE"], values)
    require_transactions(database, reached, "update and delete")
    assigned = ", ".join([f"{quoted(column.name)} = {condition.written(value)}" for column, value in values.items()])
    sql = f"UPDATE {quoted(table.name)} SET {assigned} WHERE {condition.where(where)}"  # noqa: S608 - quoted names, literals
    return _bounded(database, sql, bounds)


def delete(database: Database, table: MysqlTable, where: Node, bounds: Bounds) -> int:
    """Delete the rows that match; return how many do."""
    reached = effects.check(database, table, ["DELETE"])
    require_transactions(database, reached, "update and delete")
    sql = f"DELETE FROM {quoted(table.name)} WHERE {condition.where(where)}"  # noqa: S608 - as above
    return _bounded(database, sql, bounds)


def _bounded(database: Database, sql: str, bounds: Bounds) -> int:
    """Run a statement that stops at one row more than it may touch; then nothing of it stays."""

    def run() -> int:
        affected = database.session.run(f"{sql} LIMIT {bounds.most + 1:d}").affected
        if affected > bounds.most:
            raise ExecutionError(
                f"more than {bounds.most} rows match, which is max_affected; nothing was changed", "too_many_affected"
            )
        return affected

    return transaction(database, run, dry_run=bounds.dry_run)


def transaction(database: Database, run: Callable[[], Done], *, dry_run: bool = False) -> Done:
    """Return what `run` returns, in a transaction; again from its beginning where the server asks for that."""
    attempt = 0
    while True:
        try:
            with database.session.change(dry_run=dry_run):
                return run()
        except ClitoolError as error:
            attempt += 1
            if not _may_try_again(database, error):
                raise
            time.sleep(_PAUSE * min(attempt, 10) * os.urandom(1)[0] / 255)


def _may_try_again(database: Database, error: ClitoolError) -> bool:
    code = error.details.get("vendor_code")
    left = database.deadline.remaining()
    if code == _STATEMENTS_ONLY:
        database.session.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return True
    if code == _LOCKED_OUT:
        return left > database.connection.timeout + _LAST_CHANCE
    return is_transient(error) and left > _LAST_CHANCE


def require_transactions(database: Database, tables: Iterable[str], what: str) -> None:
    """Raise `ExecutionError` (no_transactions) if the engine of one of the tables cannot take a change back."""
    rows = database.session.run(
        "SELECT t.TABLE_NAME, t.ENGINE FROM information_schema.TABLES t"  # noqa: S608 - literals
        " JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE"
        f" WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME IN ({', '.join(map(literal, tables))})"
        " AND COALESCE(e.TRANSACTIONS, 'NO') <> 'YES'"
    ).all()
    for name, engine in rows:
        raise ExecutionError(
            f"{what} need a transaction, which the engine {text(engine)} of {shown(text(name))} has not; that of"
            " InnoDB tables has",
            "no_transactions",
        )
