"""SQL for filters, orders and cursors: identifiers quoted and values written by `literal`, nowhere else.

A filter has two truth values, SQL has three. Here every comparison that is null counts as false: above it there are
only AND and OR and then WHERE, since NOT is carried down to the comparisons, where it becomes IS NOT TRUE. That leaves
the comparisons bare, so that indexes serve them. IS NULL is never used: for a date that must not be null, the server
takes it for "is 0000-00-00".
"""

from __future__ import annotations

from clitool_tools.database.mysql.gap import Gap, Stranger
from clitool_tools.database.mysql.literal import literal, quoted
from clitool_tools.database.mysql.table import MysqlColumn
from clitool_tools.database.values import RawText
from clitool_tools.database.where import Comparison, Group, Like, Membership, Negation, Null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from clitool_tools.database.table import Column, Sort
    from clitool_tools.database.values import Stored
    from clitool_tools.database.where import Node

_NEVER = "FALSE"


def where(node: Node, *, negated: bool = False) -> str:
    """Return the SQL of a filter, or of its negation."""
    if isinstance(node, Negation):
        return where(node.part, negated=not negated)
    if isinstance(node, Group):
        word = node.word if not negated else _OPPOSITES[node.word]
        return "(" + f" {word} ".join([where(part, negated=negated) for part in node.parts]) + ")"
    if isinstance(node, Null):
        return f"({quoted(node.column.name)} {'IS NOT NULL' if negated else '<=> NULL'})"
    test = _test(node)
    return f"(({test}) IS NOT TRUE)" if negated else f"({test})"


_OPPOSITES = {"AND": "OR", "OR": "AND"}


def written(stored: Stored) -> str:
    """Return the SQL of a value that a domain has made."""
    if isinstance(stored, RawText):
        return f"_utf8mb4 X'{stored.hex()}'"
    return literal(stored)


def _test(node: Comparison | Membership | Like) -> str:
    if isinstance(node, Comparison):
        return _comparison(node)
    return _membership(node) if isinstance(node, Membership) else _like(node)


def _comparison(node: Comparison) -> str:
    name = quoted(node.column.name)
    if isinstance(node.value, Stranger):
        return _NEVER
    if isinstance(node.value, Gap):
        return _beside(node, node.value.floor)
    return f"{name} {node.operator} {written(node.value)}"


def _beside(node: Comparison, floor: Stored) -> str:
    """Return the test for a value that lies just above `floor`, or below everything."""
    name = quoted(node.column.name)
    if node.operator == "=":
        return _NEVER
    is_upwards = node.operator[0] == ">"
    if floor is None:
        return f"{name} IS NOT NULL" if is_upwards else _NEVER
    return f"{name} {'>' if is_upwards else '<='} {written(floor)}"


def _membership(node: Membership) -> str:
    values = [written(each) for each in node.values if not isinstance(each, (Gap, Stranger))]
    return f"{quoted(node.column.name)} IN ({', '.join(values)})" if values else _NEVER


def _like(node: Like) -> str:
    """Return the test for a pattern, under the column's collation.

    LIKE compares letter by letter and with all blanks; where the collation ignores those at the end, so does this.
    """
    column, pattern = node.column, node.pattern
    if not isinstance(column, MysqlColumn) or any(
        isinstance(part, str) and _is_strange(column, part) for part in pattern
    ):
        return _NEVER
    if not any(isinstance(part, bool) for part in pattern):
        return f"{quoted(column.name)} = {literal(''.join(map(str, pattern)))}"
    from clitool_tools.database.mysql.collation import pads

    text = _pattern(pattern)
    if not pads(column.collation):
        return f"{quoted(column.name)} LIKE {literal(text)} ESCAPE '|'"
    test = f"RTRIM({quoted(column.name)}) LIKE {literal(text.rstrip(' '))} ESCAPE '|'"
    first = pattern[0]
    if isinstance(first, bool):
        return test
    return f"{quoted(column.name)} LIKE {literal(_pattern([first, True]))} ESCAPE '|' AND {test}"  # an index finds it


def _is_strange(column: MysqlColumn, text: str) -> bool:
    return column.domain is not None and isinstance(column.domain.compare(text), Stranger)


def _pattern(pattern: Sequence[str | bool]) -> str:
    return "".join(("%" if part else "_") if isinstance(part, bool) else _escaped(part) for part in pattern)


def _escaped(text: str) -> str:
    return text.replace("|", "||").replace("%", "|%").replace("_", "|_")


def sorted_by(column: Column) -> str:
    """Return what a column is sorted by: as a filter compares it. An ENUM would be sorted by its members' numbers."""
    name = quoted(column.name)
    if isinstance(column, MysqlColumn) and column.base in ("enum", "set"):
        return f"CONCAT({name})"
    if isinstance(column, MysqlColumn) and column.base == "json":
        return f"CAST(CAST({name} AS CHAR) AS BINARY)"
    return name


def order(sorts: Sequence[Sort]) -> str:
    """Return the terms of ORDER BY; null is the least."""
    return ", ".join([sorted_by(sort.column) + (" DESC" if sort.descending else "") for sort in sorts])


def after(sorts: Sequence[Sort], values: Sequence[Stored]) -> str:
    """Return the SQL for rows that come after the row with these sort values."""
    ways = [_one_way(sorts[: position + 1], values) for position in range(len(sorts))]
    return "(" + " OR ".join(ways) + ")"


def _one_way(sorts: Sequence[Sort], values: Sequence[Stored]) -> str:
    """Return the SQL for rows that are equal but for the last of `sorts` and come later by that."""
    equal = [
        f"{sorted_by(sort.column)} <=> {written(stored)}" for sort, stored in zip(sorts[:-1], values, strict=False)
    ]
    return "(" + " AND ".join([*equal, _later(sorts[-1], values[len(sorts) - 1])]) + ")"


def _later(sort: Sort, stored: Stored) -> str:
    name = sorted_by(sort.column)
    if stored is None:
        return _NEVER if sort.descending else f"{name} IS NOT NULL"
    if not sort.descending:
        return f"{name} > {written(stored)}"
    earlier = f"{name} < {written(stored)}"
    return f"({earlier} OR {name} <=> NULL)" if sort.column.nullable else earlier
