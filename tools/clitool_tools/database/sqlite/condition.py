"""SQL for filters, orders and cursors: identifiers quoted in one place, every value bound.

Each condition is true or false and never null, so that NOT is a plain negation. `typeof` keeps a comparison to values
of one family: SQLite would say that every text is greater than every number.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
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
        from clitool_tools.database.sqlite.collation import collation_of, like

        text = self.column(node.column)
        test, pattern = like(text, collation_of(self._handle, self._table, node.column), node.pattern)
        self.values.append(pattern)
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
