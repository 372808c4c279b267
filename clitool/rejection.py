"""Why a token opens nothing: for the owner's log and for `explain`, never for the caller."""

from __future__ import annotations

from clitool import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.clients import Client, Clients, Token


def why_rejected(clients: Clients, token: bytes, today: str) -> str:
    """Return one sentence on why `token` was not valid on the UTC date `today`; it names the token's id."""
    if not token:
        return "the token is empty"
    found = None if len(token) > tokens.MAX_BYTES else clients.find(tokens.digest(token))
    if found is not None:
        client, entry = found
        return f"the token {entry.id!r} of client {client.name!r}: {status(client, entry, today)}"
    if token.strip() != token:
        return "no client has this token; there are blanks around it"
    if not tokens.is_intact(token):
        return "no client has this token; it ends with a wrong checksum, so it was not copied whole"
    return "no client has this token"


def status(client: Client, token: Token, today: str) -> str:
    """Return whether a token opens anything on the UTC date `today`, or why not, in one or two words."""
    if client.disabled:
        return "client disabled"
    if token.disabled:
        return "disabled"
    if token.is_valid(today):
        return "valid"
    return "expired" if token.expires and token.expires < today else "not yet valid"
