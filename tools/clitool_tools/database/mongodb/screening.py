"""One look at a caller's pipeline: how large it is, which collections it names, and what in it is plain data.

The look takes the pipeline apart and puts it together again, so that what runs is what was seen. It fails closed: a
stage, an operator, an option or a variable that is not listed is refused, also one that a newer server brings.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.operators import REFUSED
from clitool_tools.database.names import hint, listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any, TypeAlias

    from clitool_tools.database.settings import Connection

    Rule: TypeAlias = Callable[["Screening", str, Any], Any]  # (the look, where, what is there) -> what to send instead

MAX_STAGES = 100  # with those of all pipelines inside
MAX_PIPELINES = 5  # one in another
MAX_DEPTH = 60  # objects and arrays in one another
MAX_SIZE = 1_000_000  # characters and values
_BARRIER = {"$limit": 2**63 - 1}
_LONGEST = 200  # characters of a place in one sentence


class Screening:
    """What the look knows so far.

    Args:
        connection: whose collections may be named.
        rules: for each stage that may run, the rule for what it takes.
        reads_view: whether one of the collections is a view. The server tries a `$match` as early as it can, also on
            documents that the view leaves out, and an expression that fails on one of them would tell what it holds.
            So before each filter with an expression there is a stage that the server moves nothing across.

    Attributes:
        tables: the collections that are named.
        depth: how many pipelines lie around the stage that is looked at.
        expressions: how many filters with an expression there were so far.
    """

    __slots__ = ("_rules", "_stages", "connection", "depth", "expressions", "reads_view", "tables")

    def __init__(self, connection: Connection, rules: Mapping[str, Rule], *, reads_view: bool = False) -> None:
        self.connection = connection
        self.reads_view = reads_view
        self.tables: dict[str, None] = {}
        self.depth = -1
        self.expressions = 0
        self._rules = rules
        self._stages = 0

    def pipeline(self, at: str, given: object) -> Any:  # noqa: ANN401 - what the rules make of JSON
        """Return a pipeline as the server shall get it, every pipeline inside of it included."""
        if not isinstance(given, list):
            raise refusal(at, "a list of stages is needed here")
        self._stages += len(given)
        if self._stages > MAX_STAGES:
            raise refusal(at, f"the pipeline has more than {MAX_STAGES} stages")
        if self.depth == MAX_PIPELINES:
            raise refusal(at, f"more than {MAX_PIPELINES} pipelines in one another")
        self.depth += 1
        stages: list[Any] = []
        for index, each in enumerate(given):
            before = self.expressions
            stage = self.stage(element(at, index), each)
            if self.reads_view and "$match" in stage and self.expressions > before:
                stages.append(_BARRIER)
            stages.append(stage)
        self.depth -= 1
        return stages

    def stage(self, at: str, given: object) -> Any:  # noqa: ANN401 - as above
        """Return one stage; raises `InvalidParams` unless it is one that is listed, alone in its object."""
        if not isinstance(given, dict) or not given:
            raise refusal(at, 'a stage is an object like {"$match": {…}}')
        for word in given:
            if word not in self._rules:
                raise unknown(at, "stage", word, self._rules)
        if len(given) != 1:
            raise refusal(at, "a stage has exactly one key; write one object for each stage")
        ((word, argument),) = given.items()
        return {word: self._rules[word](self, below(at, word), argument)}

    def name(self, at: str, table: object) -> str:
        """Return the collection that a stage reads; raises `InvalidParams` unless it is allowed."""
        if not isinstance(table, str) or not table or "\0" in table:
            raise refusal(at, "the name of a collection is needed here")
        try:
            self.connection.require(table)
        except InvalidParams as error:
            raise InvalidParams(f"{at}: {error}", error.reason) from None
        self.tables[table] = None
        return table


def refusal(at: str, message: str) -> InvalidParams:
    """Return what to raise for something at a place of the pipeline."""
    return InvalidParams(f"{at}: {message}", "pipeline_not_allowed")


def unknown(at: str, what: str, word: str, known: Collection[str]) -> InvalidParams:
    """Return what to raise for a word that is not listed, with the nearest one that is."""
    if word in REFUSED:
        return refusal(at, f"{word} is not allowed: {REFUSED[word]}")
    offer = hint(word, known) or (f"; known here: {listed(sorted(known))}" if known else "")
    return refusal(at, f"the {what} {shown(word)} is not allowed{offer}")


def below(at: str, key: str) -> str:
    """Return the place of a key, short however long the keys are."""
    return f"{at}.{key}"[:_LONGEST]


def element(at: str, index: int) -> str:
    """Return the place of an element of a list."""
    return f"{at}[{index}]"[:_LONGEST]


def require_size(pipeline: object) -> None:
    """Raise `InvalidParams` for a pipeline that is too large or too deep to look at."""
    size = _size(pipeline, 0)
    if size > MAX_SIZE:
        raise InvalidParams(f"the pipeline is larger than {MAX_SIZE} characters and values", "too_large")


def _size(value: object, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise InvalidParams(f"the pipeline is nested more than {MAX_DEPTH} levels deep", "pipeline_not_allowed")
    if isinstance(value, dict):
        return 1 + sum(len(key) + _size(each, depth + 1) for key, each in value.items())
    if isinstance(value, list):
        return 1 + sum(_size(each, depth + 1) for each in value)
    return 1 + (len(value) if isinstance(value, str) else 0)
