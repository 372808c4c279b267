"""`verify`: who a token belongs to, for a host that asks at each of its own requests."""

from __future__ import annotations

from clitool import answer
from clitool.access import clients_file, disable, read_token
from clitool.errors import AuthFailed
from clitool.pipeline import authenticate
from clitool.scopes import expand, wildcard_families

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool.arguments import Request
    from clitool.channel import Channel
    from clitool.clients import Clients
    from clitool.pipeline import Caller


def work(request: Request, environment: Mapping[str, str], channel: Channel) -> tuple[Sequence[bytes], int]:
    """Return who the token belongs to; whatever is wrong with the token is `false` and status 0."""
    return [answer.encode(_document(request, environment, channel), pretty=request.pretty)], 0


def _document(request: Request, environment: Mapping[str, str], channel: Channel) -> dict[str, object]:
    clients = clients_file(request, environment, channel.remaining())
    try:
        caller = _authenticate(clients, read_token(request).token, environment)
    except AuthFailed as error:
        if error.reason == "token_missing":  # a terminal, a token file that cannot be read: a person needs a hint
            channel.note(str(error))
        return {"authenticated": False}
    return {"authenticated": True, "name": caller.client.name, "scopes": _concrete(caller.scopes, clients, channel)}


def _authenticate(clients: Clients, token: bytes, environment: Mapping[str, str]) -> Caller:
    try:
        return authenticate(clients, token, "verify")
    except AuthFailed:
        from clitool.journal import Journal

        journal = Journal("verify", environment)
        journal.open(clients)
        journal.rejected(clients, token)
        raise


def _concrete(scopes: tuple[str, ...], clients: Clients, channel: Channel) -> list[str]:
    """Return the scopes without roles and wildcards: hosts compare them as text (host.md 1.4, V8)."""
    families = wildcard_families(scopes)
    if families == set() and not clients.disabled:
        return expand(scopes, ())
    from clitool.catalog import Catalog

    catalog = Catalog()
    disable(catalog, clients)  # a name there that means nothing is a fault of the file, also for literal scopes
    known = catalog.scopes(families)
    for warning in catalog.warnings:
        channel.note(warning)
    return expand(scopes, known)
