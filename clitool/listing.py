"""`list`: every enabled tool, the same for everyone."""

from __future__ import annotations

from clitool import answer
from clitool.access import disable, explain, find_clients
from clitool.catalog import Catalog
from clitool.lean import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool.arguments import Request
    from clitool.channel import Channel


def work(request: Request, environment: Mapping[str, str], channel: Channel) -> tuple[Sequence[bytes], int]:
    """Return the array of tools; needs no clients file, no token, no network."""
    catalog = Catalog()
    try:
        clients = find_clients(request, environment, channel.remaining())
        if clients is not None:
            disable(catalog, clients)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it
        # The list is public and static: a broken clients file neither stops nor shortens it (host.md L1).
        catalog.disable(())
        explain(channel, error, verbose=request.verbose)
    entries = catalog.entries()
    for warning in catalog.warnings:
        channel.note(warning)
    return [_array(entries, pretty=request.pretty)], 0


def _array(entries: list[str], *, pretty: bool) -> bytes:
    if pretty:
        return answer.encode([loads(entry) for entry in entries], pretty=True)
    return f"[{','.join(entries)}]\n".encode()
