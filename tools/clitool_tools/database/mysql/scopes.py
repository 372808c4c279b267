"""Which tables a statement reads: every name of a table in its tree but those of common table expressions in scope.

The same names must be found by `relations`, which does not know the tree.

What a name means is decided here, by the scopes of the standard, and not left to the servers: common table expressions
get names that no table has before the statement runs. MariaDB 10.11 takes the last name for a table, and would show its
rows, in ``WITH c AS (…) SELECT … FROM (WITH d AS (SELECT … FROM c) …)`` if `d` is not used or is called `c` too, and in
``WITH c AS (…), d AS (… UNION … ORDER BY (SELECT … FROM c)) SELECT … FROM d, d e``; it can crash where two common table
expressions have one name, or refer to each other.
"""

from __future__ import annotations

from sqlglot import exp

from clitool.errors import InvalidParams
from clitool_tools.database.mysql.lexer import name_of
from clitool_tools.database.mysql.literal import quoted
from clitool_tools.database.mysql.relations import relations
from clitool_tools.database.mysql.syntax import start_of
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clitool_tools.database.mysql.lexer import Source, Token

    Scope = Mapping[str, str]  # names of common table expressions, and their new names; case counts

_MOST = 100  # common table expressions; for each it is noted which others are in scope


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


class Reading:
    """What a statement reads.

    Attributes:
        tables: of databases, in the order of their places.
        names: what to write in place of the names of common table expressions, by their positions.
    """

    __slots__ = ("names", "tables")

    def __init__(self, tables: list[Reference], names: Mapping[int, str]) -> None:
        self.tables = tables
        self.names = names


def reading(tree: exp.Expr, source: Source) -> Reading:
    """Return which tables a statement reads.

    Raises:
        InvalidParams: it is not clear which they are (bad_statement), a name has too many parts (table_not_allowed), or
            the statement has too many (statement_not_allowed).
    """
    if sum(1 for _ in tree.find_all(exp.CTE)) > _MOST:
        raise InvalidParams(f"the statement has more than {_MOST} common table expressions", "statement_not_allowed")
    walk = _Walk(tree, source)
    tables = sorted(walk.tables(), key=lambda table: table.start)
    if walk.places != relations(source):
        raise InvalidParams("it is not clear which tables the statement reads; write it more plainly", "bad_statement")
    return Reading(tables, walk.names)


def aliases(tree: exp.Expr) -> set[int]:
    """Return where the names of derived tables and common table expressions stand."""
    found = (start_of(each.this) for each in tree.find_all(exp.TableAlias) if isinstance(each.this, exp.Identifier))
    return {start for start in found if start is not None}


class _Walk:
    """One pass over a tree.

    Attributes:
        names: as in `Reading`.
        places: where names stand for tables or common table expressions.
    """

    __slots__ = ("_source", "_tokens", "_tree", "names", "places")

    def __init__(self, tree: exp.Expr, source: Source) -> None:
        self._tree = tree
        self._source = source
        self._tokens = {token.start: token for token in source.tokens}
        self.names: dict[int, str] = {}
        self.places: set[int] = set()

    def tables(self) -> Iterator[Reference]:
        """Yield every table that lies in a database."""
        for table, scope in self._scoped():
            if isinstance(table.this, exp.JSONTable):
                continue
            token = self._name(table.this)
            name = name_of(token)
            self.places.add(token.start)
            if table.args.get("catalog"):
                raise InvalidParams(f"a table has at most one name before it ({self._at(token)})", "table_not_allowed")
            if table.args.get("db"):
                yield Reference(name_of(self._name(table.args["db"])), name, token.start)
            elif name in scope:
                self.names[token.start] = scope[name] if table.alias else f"{scope[name]} AS {quoted(name)}"
            elif token.keyword != "DUAL":
                yield Reference("", name, token.start)

    def _scoped(self) -> Iterator[tuple[exp.Table, Scope]]:
        """Yield every table of the tree with the common table expressions that are in scope there."""
        waiting: list[tuple[exp.Expr, Scope]] = [(self._tree, {})]
        while waiting:
            node, scope = waiting.pop()
            with_ = node.args.get("with_")
            if with_ is not None:
                scope = self._behind(with_, scope, waiting)
            if isinstance(node, exp.Table):
                yield node, scope
            waiting.extend((child, scope) for child in node.iter_expressions() if child is not with_)

    def _behind(self, with_: exp.With, scope: Scope, waiting: list[tuple[exp.Expr, Scope]]) -> Scope:
        """Return the scope of the query behind a WITH; what is in the WITH itself is to wait with the scope it has."""
        own: dict[str, str] = {}
        for each in with_.expressions:
            token = self._name(each.args["alias"].this)
            name = name_of(token)
            if name in own:
                raise InvalidParams(f"{shown(name)} is defined twice ({self._at(token)})", "bad_statement")
            inside = {**scope, **own}
            self.names[token.start] = own[name] = quoted(f"common table expression at {token.start}")
            if with_.args.get("recursive"):
                self._check_recursive(each, token)
                inside[name] = own[name]
            waiting.append((each.this, inside))
        return {**scope, **own}

    def _check_recursive(self, expression: exp.CTE, token: Token) -> None:
        """Refuse a WITH in a common table expression that may be recursive: MariaDB 10.11 can crash over it."""
        if expression.this.find(exp.With) is not None:
            where = self._at(token)
            raise InvalidParams(f"a recursive common table expression cannot hold a WITH ({where})", "bad_statement")

    def _name(self, identifier: exp.Expr) -> Token:
        """Return the token of a name; raises `InvalidParams` (bad_statement) if it is none."""
        start = start_of(identifier) if isinstance(identifier, exp.Identifier) else None
        token = self._tokens.get(-1 if start is None else start)
        if token is None or token.kind not in ("word", "name"):
            raise InvalidParams("what stands in place of a table must be its name", "bad_statement")
        return token

    def _at(self, token: Token) -> str:
        return self._source.place(token.start)
