"""What a tool knows about a table of any engine: its columns, their kinds, and what makes a row unique."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.names import fold, hint, listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
    from typing import Any, Protocol, TypeAlias

    from clitool_tools.database.where import Node

    Fields: TypeAlias = dict[str, dict[Any, None]]  # names of fields with their types, in the order of appearance

    class OpenTable(Protocol):
        """What only a table has whose rows are documents.

        `select` yields for each of them the document as JSON, its place, and its shape: the names of its
        fields, and as many types.
        """

        def packed(self, place: Any) -> str | None:  # noqa: ANN401 - the engine's own
            """Return what a cursor holds to go on behind a row, or None if the order cannot be continued there."""

        def seen(self, fields: Fields) -> Sequence[dict[str, str]]:
            """Return name and type of the fields that documents were seen to have, with the types of their shapes."""


class Domain:
    """What an engine's own type of column takes from JSON, where the kinds common to all engines do not say it.

    Attributes:
        expected: what it takes, for the sentence "column 'x' takes …".
        write: a caller's JSON value, not null -> what to store, or None if it does not fit.
        compare: the same for a filter.
        forms: keys of the objects with one key that stand for a value here, not for a condition.
    """

    __slots__ = ("compare", "expected", "forms", "write")

    def __init__(
        self,
        expected: str,
        write: Callable[[Any], Any],
        compare: Callable[[Any], Any] | None = None,
        forms: Collection[str] = (),
    ) -> None:
        self.expected = expected
        self.write = write
        self.compare = compare or write
        self.forms = forms


class Column:
    """One column of a table or view.

    Attributes:
        name: as the schema spells it.
        type: as the schema declares it; may be empty.
        kind: ``integer``, ``real``, ``decimal``, ``text``, ``binary``, ``json`` or ``any``: what values it takes and
            what a filter compares with.
        nullable: whether it may hold null.
        default: the default's expression, or None.
        key: position in the primary key from 1, or 0.
        generated: whether the database computes it.
        numeric: whether the engine would turn text that looks like a number into one.
    """

    __slots__ = ("_domain", "default", "generated", "key", "kind", "name", "nullable", "numeric", "type")

    def __init__(  # noqa: PLR0913 - a column is what its attributes are
        self,
        name: str,
        type_: str,
        kind: str,
        *,
        nullable: bool = True,
        default: str | None = None,
        key: int = 0,
        generated: bool = False,
        numeric: bool = False,
        domain: Domain | None = None,
    ) -> None:
        self.name = name
        self.type = type_
        self.kind = kind
        self.nullable = nullable
        self.default = default
        self.key = key
        self.generated = generated
        self.numeric = numeric
        self._domain = domain

    @property
    def domain(self) -> Domain | None:
        """The engine's own rule for values, or None for the one of the kind."""
        return self._domain


class Sort:
    """One step of an order: a column, its direction, and its collation if that is not the column's own."""

    __slots__ = ("collation", "column", "descending")

    def __init__(self, column: Column, *, descending: bool = False, collation: str = "") -> None:
        self.column = column
        self.descending = descending
        self.collation = collation


class Unique:
    """A unique index over whole rows and plain columns (never a partial one): these identify a row.

    Attributes:
        sorts: its columns with the collation that makes them unique.
    """

    __slots__ = ("sorts",)

    def __init__(self, sorts: Sequence[Sort]) -> None:
        self.sorts = tuple(sorts)

    @property
    def columns(self) -> list[Column]:
        """The columns in the order of the index."""
        return [sort.column for sort in self.sorts]


class Table:
    """A table or view that exists and is allowed.

    Attributes:
        name: as the schema spells it.
        is_view: whether it is one.
        is_open: whether its rows are documents, which may have any fields; then `columns` is empty.
        columns: those that a caller sees.
    """

    __slots__ = ("_by_name", "columns", "is_view", "name")
    is_open = False

    def __init__(self, name: str, columns: Iterable[Column], *, is_view: bool = False) -> None:
        self.name = name
        self.is_view = is_view
        self.columns = list(columns)
        self._by_name = {self.fold(column.name): column for column in self.columns}

    def fold(self, name: str) -> Hashable:
        """Return what the spellings of one column's name have in common."""
        return fold(name)

    def has(self, name: str) -> bool:
        """Return whether a column is called so."""
        return self.fold(name) in self._by_name

    def advice(self, where: Node) -> str | None:  # noqa: ARG002 - for engines whose values are easily mistaken
        """Return what a filter that matches nothing perhaps got wrong, or None."""
        return None

    def column(self, name: str) -> Column:
        """Return the column called `name`; raises `InvalidParams` (column_unknown) with the nearest name."""
        found = self._by_name.get(self.fold(name))
        if found is None:
            names = [column.name for column in self.columns]
            offer = hint(name, names) or f"; its columns are {listed(names)}"
            raise InvalidParams(f"the table {shown(self.name)} has no column {shown(name)}{offer}", "column_unknown")
        return found
