"""Which tables a statement reads: every name of a table in its tree but those of common table expressions in scope.

The same names must be found by `relations`, which does not know the tree.
"""

from __future__ import annotations

from sqlglot import exp

from clitool.errors import InvalidParams
from clitool_tools.database.mysql.lexer import name_of
from clitool_tools.database.mysql.relations import relations
from clitool_tools.database.mysql.syntax import start_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.database.mysql.lexer import Source, Token

    Scope = frozenset[str]  # names of common table expressions


class Reference:
    """A table that a statement names.

    Attributes:
        database: the name before the dot, or empty.
        name: without quotes, as it is written.
        start: where.
    """

    __slots__ = ("database", "name", "start")

    def __init__(self, database: str, name: str, start: int) -> None:
        self.database = database
        self.name = name
        self.start = start


def references(tree: exp.Expr, source: Source) -> list[Reference]:
    """Return the tables of databases that a statement reads, in the order of their places.

    Raises:
        InvalidParams: it is not clear which they are (bad_statement), or a name has too many parts (table_not_allowed).
    """
    tables = _Tables(tree, source)
    found = list(tables.found())
    if tables.places != relations(source):
        raise InvalidParams("it is not clear which tables the statement reads; write it more plainly", "bad_statement")
    return sorted(found, key=lambda reference: reference.start)


def aliases(tree: exp.Expr) -> set[int]:
    """Return where the names of derived tables and common table expressions stand."""
    found = (start_of(each.this) for each in tree.find_all(exp.TableAlias) if isinstance(each.this, exp.Identifier))
    return {start for start in found if start is not None}


class _Tables:
    """One pass over a tree.

    Attributes:
        places: where names of tables begin, those of common table expressions included.
    """

    __slots__ = ("_source", "_tokens", "_tree", "places")

    def __init__(self, tree: exp.Expr, source: Source) -> None:
        self._tree = tree
        self._source = source
        self._tokens = {token.start: token for token in source.tokens}
        self.places: set[int] = set()

    def found(self) -> Iterator[Reference]:
        """Yield every table that lies in a database."""
        for table, scope in self._scoped():
            if isinstance(table.this, exp.JSONTable):
                continue
            name = self._name(table.this)
            self.places.add(name.start)
            if table.args.get("catalog"):
                where = self._source.place(name.start)
                raise InvalidParams(f"a table has at most one name before it ({where})", "table_not_allowed")
            database = name_of(self._name(table.args["db"])) if table.args.get("db") else ""
            if database or (name.keyword != "DUAL" and name_of(name) not in scope):
                yield Reference(database, name_of(name), name.start)

    def _scoped(self) -> Iterator[tuple[exp.Table, Scope]]:
        """Yield every table of the tree with the common table expressions that are in scope there.

        The servers ignore case where they compare the names of these. Here it counts: in another spelling, a name is
        taken for that of a table.
        """
        waiting: list[tuple[exp.Expr, Scope]] = [(self._tree, frozenset())]
        while waiting:
            node, scope = waiting.pop()
            with_ = node.args.get("with_")
            if with_ is not None:
                scope = self._named(with_, scope, waiting)
            if isinstance(node, exp.Table):
                yield node, scope
            waiting.extend((child, scope) for child in node.iter_expressions() if child is not with_)

    def _named(self, with_: exp.With, scope: Scope, waiting: list[tuple[exp.Expr, Scope]]) -> Scope:
        """Return the scope of the query behind a WITH; what is in the WITH itself is to wait with the scope it has."""
        for each in with_.expressions:
            named = scope | {name_of(self._name(each.args["alias"].this))}
            waiting.append((each.this, named if with_.args.get("recursive") else scope))
            scope = named
        return scope

    def _name(self, identifier: exp.Expr) -> Token:
        """Return the token of a name; raises `InvalidParams` (bad_statement) if it is none."""
        start = start_of(identifier) if isinstance(identifier, exp.Identifier) else None
        token = self._tokens.get(-1 if start is None else start)
        if token is None or token.kind not in ("word", "name"):
            raise InvalidParams("what stands in place of a table must be its name", "bad_statement")
        return token
