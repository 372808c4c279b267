"""SQL for filters, orders and cursors: identifiers quoted in one place, every value bound.

Each condition is true or false and never null, so that NOT is a plain negation. `typeof` keeps a comparison to values
of one family: SQLite would say that every text is greater than every number.
"""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.database.kinds import looks_numeric
from clitool_tools.database.sqlite.schema import quoted
from clitool_tools.database.values import RawText
from clitool_tools.database.where import Comparison, Group, Like, Membership, Negation, Null, family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection as Handle

    from clitool_tools.database.sqlite.schema import SqliteTable
    from clitool_tools.database.table import Column, Sort
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node

_FAMILIES = {"number": "IN ('integer', 'real')", "text": "= 'text'", "bytes": "= 'blob'"}


class Condition:
    """SQL text that grows together with the values bound in it.

    Args:
        handle: where the collation of a column is asked, for `$like` only.
        table: what the columns belong to.
    """

    def __init__(self, handle: Handle, table: SqliteTable) -> None:
        self._handle = handle
        self._table = table
        self.values: list[Stored] = []

    def column(self, column: Column) -> str:
        """Return the column's name with its table: a bare unknown name in quotes would be a string to SQLite."""
        return f"{quoted(self._table.name)}.{quoted(column.name)}"

    def bind(self, value: Stored) -> str:
        """Note a value to bind and return what stands for it."""
        if isinstance(value, RawText):
            if not self._table.is_utf8:  # CAST would take the bytes for UTF-16
                raise InvalidParams("this database keeps text as UTF-16, so '$rawText' cannot be stored", "bad_value")
            self.values.append(bytes(value))
            return "CAST(? AS TEXT)"
        self.values.append(value)
        return "?"

    def where(self, node: Node) -> str:
        """Return the SQL of a filter."""
        if isinstance(node, Group):
            return "(" + f" {node.word} ".join([self.where(part) for part in node.parts]) + ")"
        if isinstance(node, Negation):
            return f"NOT {self.where(node.part)}"
        if isinstance(node, Null):
            return f"({self.column(node.column)} IS NULL)"
        if isinstance(node, Comparison):
            return self._comparison(node)
        return self._membership(node) if isinstance(node, Membership) else self._like(node)

    def _comparison(self, node: Comparison) -> str:
        left = self._operand(node.column, [node.value])
        return self._of_family(node.column, node.value, f"{left} {node.operator} {self.bind(node.value)}")

    def _membership(self, node: Membership) -> str:
        if not node.values:
            return "(0)"
        left = self._operand(node.column, node.values)
        return self._of_family(node.column, node.values[0], f"{left} IN ({', '.join(map(self.bind, node.values))})")

    def _operand(self, column: Column, values: Sequence[Stored]) -> str:
        """Return the column; ``+`` takes its affinity away where that would make a number of a text to compare with."""
        changes = column.numeric and any(isinstance(value, str) and looks_numeric(value) for value in values)
        return ("+" if changes else "") + self.column(column)

    def _of_family(self, column: Column, value: Stored, test: str) -> str:
        return f"(typeof({self.column(column)}) {_FAMILIES[family(value)]} AND {test})"

    def _like(self, node: Like) -> str:
        text = self.column(node.column)
        collation = collation_of(self._handle, self._table, node.column)
        if collation == "NOCASE":
            test = f"{text} LIKE {self.bind(_like_pattern(node.pattern))} ESCAPE '\\'"
        elif collation == "RTRIM":
            test = f"rtrim({text}, ' ') GLOB {self.bind(_glob_pattern(node.pattern).rstrip(' '))}"
        elif collation == "BINARY":
            test = f"{text} GLOB {self.bind(_glob_pattern(node.pattern))}"
        else:
            raise ExecutionError(
                "$like does not work here: the column's collation belongs to another program", "database"
            )
        return f"(typeof({text}) = 'text' AND {test})"

    def after(self, sorts: Sequence[Sort], values: Sequence[Stored]) -> str:
        """Return the SQL for rows that come after the row with these sort values; null comes first."""
        ways = [self._one_way(sorts[: position + 1], values) for position in range(len(sorts))]
        return "(" + " OR ".join(ways) + ")"

    def _one_way(self, sorts: Sequence[Sort], values: Sequence[Stored]) -> str:
        """Return the SQL for rows that are equal but for the last of `sorts` and come later by that."""
        equal = [f"{self.sorted(sort)} IS {self.bind(value)}" for sort, value in zip(sorts[:-1], values, strict=False)]
        return "(" + " AND ".join([*equal, self._later(sorts[-1], values[len(sorts) - 1])]) + ")"

    def _later(self, sort: Sort, value: Stored) -> str:
        name = self.sorted(sort)
        if value is None:
            return "0" if sort.descending else f"{name} IS NOT NULL"
        if not sort.descending:
            return f"{name} > {self.bind(value)}"
        return (
            f"({name} < {self.bind(value)} OR {name} IS NULL)"
            if sort.column.nullable
            else (f"{name} < {self.bind(value)}")
        )

    def sorted(self, sort: Sort) -> str:
        """Return the column of a sort, with its collation if it names one."""
        collate = f" COLLATE {quoted(sort.collation)}" if sort.collation else ""
        return self.column(sort.column) + collate

    def order(self, sorts: Sequence[Sort]) -> str:
        """Return the terms of ORDER BY."""
        return ", ".join(self.sorted(sort) + (" DESC" if sort.descending else "") for sort in sorts)


def _like_pattern(pattern: Sequence[str | bool]) -> str:
    return "".join(("%" if token else "_") if isinstance(token, bool) else _escaped(token) for token in pattern)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _glob_pattern(pattern: Sequence[str | bool]) -> str:
    """Return the pattern for GLOB, which tells cases apart: wildcards in brackets are literal."""
    return "".join(("*" if token else "?") if isinstance(token, bool) else _bracketed(token) for token in pattern)


def _bracketed(text: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


def collation_of(handle: Handle, table: SqliteTable, column: Column) -> str:
    """Return the collation that comparisons with a column follow: BINARY, NOCASE, RTRIM, or another's name.

    SQLite tells it nowhere, for a view least of all. So it is asked whether ``a`` equals ``A``, and ``a`` with a blank:
    the column of a compound takes its collation from the first part, which has no rows here.
    """
    from clitool.lean import sqlite3

    name = f"{quoted(table.name)}.{quoted(column.name)}"
    sql = (
        f"WITH probe (text) AS (SELECT {name} FROM main.{quoted(table.name)} WHERE 0 UNION ALL SELECT 'a')"  # noqa: S608 - quoted names
        " SELECT text = 'A', text = 'a ' FROM probe"
    )
    try:
        ignores_case, ignores_blanks = handle.execute(sql).fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR_MISSING_COLLSEQ:
            raise
        return str(error).rpartition(": ")[2]
    return "NOCASE" if ignores_case else "RTRIM" if ignores_blanks else "BINARY"
