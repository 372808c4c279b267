"""`list`: every enabled tool, the same for everyone."""

from __future__ import annotations

from clitool import answer
from clitool.access import disable, explain, find_clients
from clitool.catalog import Catalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool.arguments import Request
    from clitool.channel import Channel
    from clitool.declarations import Declaration
    from clitool.tool import Tool


def work(request: Request, environment: Mapping[str, str], channel: Channel) -> tuple[Sequence[bytes], int]:
    """Return the array of tools; needs no clients file, no token, no network."""
    catalog = Catalog()
    try:
        clients = find_clients(request, environment)
        if clients is not None:
            disable(catalog, clients)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it
        # The list is public and static: a broken clients file neither stops nor shortens it (host.md L1).
        catalog.disable(())
        explain(channel, error, verbose=request.verbose)
    document = [describe(tool) for tool in catalog.declarations()]
    for warning in catalog.warnings:
        channel.note(warning)
    return [answer.encode(document, pretty=request.pretty)], 0


def describe(tool: Declaration | type[Tool]) -> dict[str, object]:
    """Return what `list` says about one tool; the first four keys are the convention's."""
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "requiredScope": tool.required_scope,
        "annotations": {
            "readOnlyHint": tool.effect == "read",
            "destructiveHint": tool.effect in ("write", "delete"),
            "idempotentHint": tool.idempotent,
        },
    }
