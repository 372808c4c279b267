"""What may run of a caller's pipeline: judged without the server, before anything is asked.

The rules are those of the reference of MongoDB 8 (https://www.mongodb.com/docs/manual/reference/operator/); a stage,
operator or option that is not in them is refused.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mongodb.screening import Screening, require_size
from clitool_tools.database.mongodb.stages import STAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from clitool_tools.database.settings import Connection


def screen(connection: Connection, pipeline: Sequence[Any]) -> Collection[str]:
    """Return the collections that the pipeline names beside its own.

    Raises:
        InvalidParams: it names a collection that is not allowed (table_not_allowed), has a value that does not fit
            (bad_value), is too large (too_large), or has anything else that is not permitted (pipeline_not_allowed).
    """
    return admit(connection, pipeline)[1]


def admit(
    connection: Connection, pipeline: Sequence[Any], *, reads_view: bool = False
) -> tuple[list[dict[str, Any]], Collection[str]]:
    """Return the pipeline for the server, its Extended JSON read, and what `screen` returns; raises as that does."""
    look = Screening(connection, STAGES, reads_view=reads_view)
    require_size(pipeline)
    try:
        return look.pipeline("pipeline", pipeline), look.tables
    except RecursionError:
        raise InvalidParams("the pipeline is nested too deep", "pipeline_not_allowed") from None
