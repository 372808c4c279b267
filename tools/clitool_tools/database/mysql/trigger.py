"""Which tables a trigger may reach, told from its words without understanding them: closed where it is not sure.

Every name counts as one of a table unless it surely is something else: a word of SQL, a built-in function with its
parenthesis, a column behind NEW, OLD or a table, a column of a table that the text names, an alias, a variable or a
label. So a trigger that calls a procedure, or a function of the owner's, is refused by its name; `allow_side_effects`
permits that as it permits a table.
"""

from __future__ import annotations

from clitool_tools.database.mysql.functions import ALLOWED
from clitool_tools.database.mysql.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clitool_tools.database.mysql.catalogue import Catalogue
    from clitool_tools.database.mysql.words import Word

_ACTIONS = {"INSERT": ("INSERT",), "UPDATE": ("UPDATE",), "DELETE": ("DELETE",), "REPLACE": ("INSERT", "DELETE")}

# Words of SQL in triggers. One that is missing here is taken for a table and refused.
_KEYWORDS = frozenset(
    """
    after all and as asc before begin between binary boolean by call case char character charset close collate
    condition continue cross cursor declare default delete desc distinct div do duplicate each else elseif end escape
    except exists exit false fetch first following follows for found from group handler having if ignore in inner
    insert intersect interval into is iterate join key last leave left like limit loop message_text mod mysql_errno
    natural new next not null of offset old on open or order outer over partition precedes preceding range recursive
    regexp repeat replace resignal return returning right rlike row rows select set signal sqlexception sqlstate
    sqlwarning straight_join then true unbounded undo union unknown until update using value values when where while
    window with xor
    bigint bit blob bool date datetime dec decimal double enum fixed float int integer json longblob longtext mediumint
    mediumtext numeric real signed smallint text time timestamp tinyint tinytext unsigned varbinary varchar year
    day day_hour day_microsecond day_minute day_second hour hour_microsecond hour_minute hour_second microsecond minute
    minute_microsecond minute_second month quarter second second_microsecond week year_month
    ascii latin1 utf8 utf8mb3 utf8mb4
    current_date current_time current_timestamp current_user localtime localtimestamp utc_date utc_time utc_timestamp
    """.upper().split()
)
_HARMLESS = ALLOWED.union(
    """
    connection_id current_role current_user database last_insert_id row_count schema session_user system_user user
    uuid_short value values version
    """.upper().split()
)
_SETTING = ("SET", "INTO", ",")  # what stands before a column that is set, and before others too
_INTRODUCERS = ("N", "X", "B", "DATE", "TIME", "TIMESTAMP")


class _Chain:
    """Names divided by dots, with what stands before and after them."""

    __slots__ = ("after", "before", "parts")

    def __init__(self, parts: Sequence[Word], before: str, after: str) -> None:
        self.parts = parts
        self.before = before
        self.after = after

    @property
    def first(self) -> str:
        return self.parts[0].text

    @property
    def key(self) -> str:
        """What spellings of a name that is no table have in common."""
        return self.first.lower()


class Trigger:
    """What the text of a trigger names.

    Args:
        body: its statement.
        catalogue: the tables of its database.
        table: the one that it belongs to.
        ansi_quotes: whether it was made in a mode where names may stand in double quotes.

    Attributes:
        tables: tables and views of this database.
        others: what else may be a table, a procedure or a function; a table of another database with that before it.
        actions: what it may do to any of them: ``INSERT``, ``UPDATE``, ``DELETE``.
        sets: columns of its own row that it may set, in small letters.
    """

    __slots__ = ("_catalogue", "actions", "others", "sets", "tables")

    def __init__(self, body: str, catalogue: Catalogue, table: str, *, ansi_quotes: bool) -> None:
        tokens = list(words(body, ansi_quotes=ansi_quotes))
        self._catalogue = catalogue
        self.actions = sorted({action for token in tokens for action in _ACTIONS.get(token.keyword, ())})
        self.tables: dict[str, None] = {}
        self.others: dict[str, None] = {}
        self.sets: set[str] = set()
        chains = list(_chains(tokens))
        local = {*_declared(tokens), *self._aliases(chains)} | {chain.key for chain in chains if chain.after == ":"}
        for chain in chains:
            self._take(chain, local)
        known = catalogue.columns([table, *self.tables])
        called = {chain.first: None for chain in chains if self._is_call(chain)}
        self.others = {name: None for name in self.others if name.lower() not in known} | called

    def _take(self, chain: _Chain, local: set[str]) -> None:
        """Sort a chain of names into `tables`, `others`, or neither."""
        if len(chain.parts) > 1:
            self._take_long(chain, local)
            return
        live = self._catalogue.spelt(chain.first)
        if live is not None:
            self.tables[live] = None
        elif chain.key not in local and not _is_sql(chain):
            self.others[chain.first] = None

    def _take_long(self, chain: _Chain, local: set[str]) -> None:
        first, second = chain.parts[0], chain.parts[1].text
        live = self._catalogue.spelt(first.text)
        if first.text.upper() in ("NEW", "OLD"):
            self.sets |= {second.lower()} if chain.before.upper() in _SETTING else set()
        elif self._catalogue.is_here(first.text):
            self.tables[self._catalogue.spelt(second) or second] = None
        elif live is not None and second.lower() in self._catalogue.columns([live]):
            self.tables[live] = None
        elif chain.key not in local:
            self.others[f"{first.text}.{second}"] = None

    def _is_call(self, chain: _Chain) -> bool:
        """Return whether a single name is that of a routine, whatever else it may be the name of."""
        if len(chain.parts) > 1 or self._catalogue.spelt(chain.first) is not None:
            return False
        return chain.before.upper() == "CALL" or (chain.after == "(" and not _is_sql(chain))

    def _aliases(self, chains: Sequence[_Chain]) -> Iterator[str]:
        """Yield the names that stand right behind a table or a bracket."""
        for chain in chains:
            if chain.before == ")" or self._catalogue.spelt(chain.before) is not None:
                yield chain.key


def _is_sql(chain: _Chain) -> bool:
    """Return whether a single name is one of SQL's own."""
    word = chain.parts[0]
    if word.text[0] == "@" or chain.before.upper() == "COLLATE":
        return True
    if chain.after in ("'", '"') and (word.text[0] == "_" or word.keyword in _INTRODUCERS):
        return True
    return word.keyword in _KEYWORDS or (chain.after == "(" and word.keyword in _HARMLESS)


def _chains(tokens: Sequence[Word]) -> Iterator[_Chain]:
    position = 0
    while position < len(tokens):
        end = position + 1
        if tokens[position].is_name:
            while end + 1 < len(tokens) and tokens[end].text == "." and tokens[end + 1].is_name:
                end += 2
            yield _Chain(tokens[position:end:2], _before(tokens, position), _text(tokens, end))
        position = end


def _before(tokens: Sequence[Word], position: int) -> str:
    """Return the word before, or the one before AS."""
    text = _text(tokens, position - 1)
    return _text(tokens, position - 2) if text.upper() == "AS" else text


def _declared(tokens: Sequence[Word]) -> Iterator[str]:
    """Yield the names of variables, conditions and cursors."""
    for position, token in enumerate(tokens):
        if token.keyword == "DECLARE":
            at = position + 1
            yield _text(tokens, at).lower()
            while _text(tokens, at + 1) == ",":
                at += 2
                yield _text(tokens, at).lower()


def _text(tokens: Sequence[Word], position: int) -> str:
    return tokens[position].text if 0 <= position < len(tokens) else ""
