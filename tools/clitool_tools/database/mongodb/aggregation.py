"""Pipelines that were admitted: run bounded in time and memory, their documents shown as they arrive."""

from __future__ import annotations

from clitool.errors import ClitoolError, ExecutionError, InvalidParams
from clitool_tools.database.mongodb.driver import pymongo
from clitool_tools.database.mongodb.format import CANONICAL, RELAXED
from clitool_tools.database.mongodb.operators import ACCUMULATORS, OPERATORS
from clitool_tools.database.mongodb.pipeline import admit
from clitool_tools.database.mongodb.rows import rows
from clitool_tools.database.mongodb.schema import collections
from clitool_tools.database.mongodb.stages import STAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence
    from typing import Any

    from clitool_tools.database.mongodb.rows import Row
    from clitool_tools.database.mongodb.session import Session
    from clitool_tools.database.table import Table

_BATCH = 1000  # documents; the server also ends a batch at 16 MB
_LONGEST = 200  # characters of the server's own sentence
_TOO_MUCH = "a stage needs more memory than the server grants one; filter or group before it, or ask for less"
_TOO_WIDE = "a document that $lookup makes would be too large; join fewer documents, or put $unwind right behind it"
_LIMITS = {146: _TOO_MUCH, 292: _TOO_MUCH, 4568: _TOO_WIDE}
_WIRE_VERSION = 13  # of MongoDB 5.0
_NOT_OF_THE_PIPELINE = (10058, 10107, 10334, 11000, 11600, 11601, 11602, 13388, 13435, 13436)
_FIRST_LOCATION = 10_000  # from here on numbers stand for places in the server's source: nearly all judge a pipeline
_OF_THE_PIPELINE = (2, 4, 9, 14, 15, 27, 28, 40, 51, 52, 56, 72, 115, 165, 166, 167, 168, 224, 238, 241, 267, 338)


def aggregate(
    session: Session, table: Table, pipeline: Sequence[Any], limit: int, *, is_canonical: bool
) -> Generator[Row, None, None]:
    """Yield at most ``limit + 1`` documents as JSON, as they came, and their shapes.

    What a stage cannot hold in the server's memory for it (100 MB) is an error: no query fills the server's disk.
    """
    stages, tables = admit(session.connection, pipeline)
    if table.is_view or _has_view(session, tables):
        stages, _ = admit(session.connection, pipeline, reads_view=True)
    with session.faults():
        try:
            cursor = session.database[table.name].aggregate_raw_batches(
                [*stages, {"$limit": limit + 1}], allowDiskUse=False, batchSize=min(limit + 1, _BATCH)
            )
            with cursor:
                yield from rows(iter(cursor), CANONICAL if is_canonical else RELAXED)
        except pymongo.errors.OperationFailure as error:
            refused = refused_as(error, may_repeat=_marks_running(session))
            if refused is None:
                raise
            raise refused from error


def _has_view(session: Session, tables: Collection[str]) -> bool:
    """Return whether one of the collections is a view, or is not known."""
    types = collections(session) if tables else {}
    return any(types.get(name, "view") == "view" for name in tables)


def _marks_running(session: Session) -> bool:
    """Return whether the server's sentence tells a pipeline that it does not take from one that fails on a document.

    The router of a cluster does not say it of what it runs itself, and older servers than 5.0 say it in other words.
    """
    return session.server.get("msg") != "isdbgrid" and session.server["maxWireVersion"] >= _WIRE_VERSION


def refused_as(error: pymongo.errors.OperationFailure, *, may_repeat: bool) -> ClitoolError | None:
    """Return what to raise if the server has something against the pipeline itself, or None.

    Args:
        error: of the server.
        may_repeat: whether its sentence can be told to be about the pipeline, or about a document.
    """
    code = error.code or 0
    if code in _LIMITS:
        return ExecutionError(_LIMITS[code], "database", vendor_code=code)
    is_location = code >= _FIRST_LOCATION and code not in _NOT_OF_THE_PIPELINE
    if code not in _OF_THE_PIPELINE and not is_location:
        return None
    message = str((error.details or {}).get("errmsg", ""))
    if may_repeat and "xecutor error" not in message:
        sentence = f"the server refuses the pipeline: {_said(message)}"
        return InvalidParams(sentence, "pipeline_not_allowed", vendor_code=code)
    names = _names(message)  # the rest may be what a document holds
    what = "the pipeline fails on a document" if may_repeat else "the pipeline cannot run, or fails on a document"
    sentence = f"{what}{f' (in {names})' if names else ''}; test its type before, as $convert does with onError"
    return ExecutionError(sentence, "database", vendor_code=code)


def _names(message: str) -> str:
    """Return the operators that the server's sentence speaks of."""
    import re

    known = OPERATORS | ACCUMULATORS | STAGES.keys()
    return ", ".join(dict.fromkeys(word for word in re.findall(r"\$[A-Za-z]+", message) if word in known))


def _said(message: str) -> str:
    """Return the server's own sentence without the values that are quoted in it."""
    import re

    last = message.rpartition(" :: caused by :: ")[2]
    bare = re.sub(r"'(?!\$\w+')[^']*'|\"[^\"]*\"|\{.*\}|\[.*\]", "…", last, flags=re.DOTALL)
    return bare[:_LONGEST]
