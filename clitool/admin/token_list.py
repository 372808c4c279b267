"""The tokens of a clients file: issued, listed, revoked."""

from __future__ import annotations

from clitool import tokens
from clitool.admin import clients_text
from clitool.admin.clients_store import change
from clitool.clients_rules import is_date, is_name
from clitool.errors import InvalidParams
from clitool.pipeline import today
from clitool.rejection import status
from clitool.scopes import is_well_formed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypedDict

    from clitool.clients import Token
    from clitool.clients_yaml import ParsedClient, ParsedClients

    class Entry(TypedDict):
        """One token, as it is listed; dates are `YYYY-MM-DD`."""

        client: str
        id: str
        not_before: str | None
        expires: str | None
        status: str


class Wish:
    """What a new token shall be.

    Attributes:
        client: whose.
        token_id: empty for one that is made from today's date.
        expires: `YYYY-MM-DD`, the last day on which it is valid (UTC), or empty.
        scopes: those of a new client; empty if the client must exist.
    """

    __slots__ = ("client", "expires", "scopes", "token_id")

    def __init__(self, client: str, token_id: str = "", expires: str = "", scopes: Sequence[str] = ()) -> None:
        self.client = client
        self.token_id = token_id
        self.expires = expires
        self.scopes = tuple(scopes)


def issue(path: str, wish: Wish, *, trust: bool = False) -> tuple[str, str]:
    """Add a new token to the clients file at the absolute `path`; return the token and its id.

    Only the token's digest is written; nobody can read the token back.

    Raises:
        InvalidParams: (usage) the wish cannot be met.
        ClientsFileError, ExecutionError: the file cannot be read, or not be rewritten.
    """
    _check(wish)
    token = tokens.issue()
    ids: list[str] = []

    def edit(data: bytes, clients: ParsedClients) -> bytes:
        taken = _taken_ids(clients, wish)
        ids.append(_free_id(wish, taken))
        entry = {"id": ids[0], "sha256": tokens.digest(token.encode())}
        if wish.expires:
            entry["expires"] = wish.expires
        if wish.scopes:
            return clients_text.add_client(data, wish.client, entry, wish.scopes)
        return clients_text.add_token(data, wish.client, entry)

    change(path, edit, trust=trust)
    return token, ids[0]


def revoke(path: str, client: str, token_id: str, *, trust: bool = False) -> int:
    """Remove a token from the clients file at the absolute `path`; return how many the client has left.

    Raises: as `issue`; an unknown id names those there are.
    """

    def edit(data: bytes, clients: ParsedClients) -> bytes:
        ids = [token.id for token in find_client(clients, client).tokens]
        if token_id not in ids:
            there = f"it has: {', '.join(ids)}" if ids else "it has none"
            raise _usage(f"the client {client!r} has no token {token_id!r}; {there}")
        return clients_text.remove_token(data, client, token_id)

    return len(change(path, edit, trust=trust).by_name[client].tokens)


def listing(clients: ParsedClients, client: str = "") -> list[Entry]:
    """Return one entry for each token, of all clients or of one: client, id, not_before, expires, status."""
    chosen = [find_client(clients, client)] if client else clients.by_name.values()
    return [_describe(each, token) for each in chosen for token in each.tokens]


def find_client(clients: ParsedClients, name: str) -> ParsedClient:
    """Return the client called `name`, or raise `InvalidParams` that says which there are."""
    if name not in clients.by_name:
        raise _usage(f"there is no client {name!r}; there are: {', '.join(clients.by_name)}")
    return clients.by_name[name]


def _describe(client: ParsedClient, token: Token) -> Entry:
    return {
        "client": client.name,
        "id": token.id,
        "not_before": token.not_before or None,
        "expires": token.expires or None,
        "status": status(client, token, today()),
    }


def _check(wish: Wish) -> None:
    for what, name in (("client's name", wish.client), ("token's id", wish.token_id or "-")):
        if not is_name(name):
            raise _usage(f"a {what} is 1 to 64 letters, digits, '-', '_' or '.'")
    for scope in wish.scopes:
        if not is_well_formed(scope):
            raise _usage(f"{scope!r} is no scope; write 'family:action', 'family:*', '*' or 'role:NAME'")
    if wish.expires and not is_date(wish.expires):
        raise _usage("the last day of a token is written like 2027-06-30")
    if wish.expires and wish.expires < today():
        raise _usage(f"{wish.expires} is in the past; the token would never be valid")


def _taken_ids(clients: ParsedClients, wish: Wish) -> set[str]:
    if not wish.scopes:
        client = find_client(clients, wish.client)
        if client.empty_token:
            raise _usage(f"the client {client.name!r} stands for empty tokens and can have none of its own")
        return {token.id for token in client.tokens}
    if wish.client in clients.by_name:
        raise _usage(f"there is a client {wish.client!r} already; leave --create and --scope out")
    _check_roles(clients, wish.scopes)
    return set()


def _check_roles(clients: ParsedClients, scopes: Iterable[str]) -> None:
    roles = clients.document.value.get("roles", {})
    for scope in scopes:
        if scope.startswith("role:") and scope.removeprefix("role:") not in roles:
            raise _usage(f"there is no role {scope.removeprefix('role:')!r}; there are: {', '.join(roles) or 'none'}")


def _free_id(wish: Wish, taken: set[str]) -> str:
    if wish.token_id:
        if wish.token_id in taken:
            raise _usage(f"the client {wish.client!r} has a token {wish.token_id!r} already; choose another id")
        return wish.token_id
    day = today()
    return next(name for name in (day, *(f"{day}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)


def _usage(message: str) -> InvalidParams:
    return InvalidParams(message, "usage")
