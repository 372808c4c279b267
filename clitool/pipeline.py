"""The steps of a call in their fixed order: authenticate, find the tool, scope, parameters, schema, policy, execute.

Each step is a function of its own, so that `clitool explain` can walk the same way without effect.
"""

from __future__ import annotations

from time import gmtime, strftime

from clitool import tokens
from clitool.errors import AuthFailed, ExecutionError, ScopeDenied
from clitool.places import state_directory
from clitool.scopes import grants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from clitool.catalog import Catalog
    from clitool.clients import Client, Clients
    from clitool.family import Connection, Family
    from clitool.journal import Journal
    from clitool.settings import Settings
    from clitool.state import State
    from clitool.tool import Context, Deadline, Tool

    Ways = tuple[Callable[[Any, str, Deadline], Connection] | None, Callable[[Connection], object]]
    Connections = Callable[[str, Family, Settings], Ways]


class Caller:
    """Who calls: a client, the scopes of this door (a subset of the client's), and the door's name."""

    __slots__ = ("client", "door", "scopes")

    def __init__(self, client: Client, scopes: tuple[str, ...], door: str) -> None:
        self.client = client
        self.scopes = scopes
        self.door = door


def closed_with_the_call(_client: str, family: Family, _settings: Settings) -> Ways:
    """Return how a call opens its connections and lets them go where none outlives its call."""
    from clitool.tool import close

    return family.connect, close


class Surroundings:
    """What a door brings along for a call.

    Attributes:
        clients, catalog: who may call, and what.
        environment: where references in settings are looked up.
        deadline: when the call must be over.
        journal: what the call leaves behind.
        connections: says how the call opens the connections of a client and a family, and lets them go.
    """

    __slots__ = ("catalog", "clients", "connections", "deadline", "environment", "journal")

    def __init__(
        self,
        clients: Clients,
        catalog: Catalog,
        environment: Mapping[str, str],
        deadline: Deadline,
        journal: Journal,
        connections: Connections = closed_with_the_call,
    ) -> None:
        self.clients = clients
        self.catalog = catalog
        self.environment = environment
        self.deadline = deadline
        self.journal = journal
        self.connections = connections


def call(caller: Caller, name: str, read_params: Callable[[], Mapping[str, Any]], around: Surroundings) -> Any:  # noqa: ANN401
    """Take an authenticated caller through the remaining steps; return the tool's result, any JSON value.

    Args:
        caller: from `authenticate`.
        name: the tool's.
        read_params: asked only once the caller holds the scope, so that nobody else can make us open a file.
        around: everything that is not the caller's.

    Raises:
        ClitoolError: the first refusal; any other exception is the tool's own fault.
    """
    family, tool = around.catalog.find(name)
    require_scope(caller, tool)
    params = check_params(tool, read_params())
    context = make_context(caller, family, around)
    try:
        ready = tool(context)
        context.touched(**decide(ready, params))
        around.journal.attempt(context)
        return ready.execute(**params)
    finally:
        context.close()


def authenticate(clients: Clients, token: bytes, door: str) -> Caller:
    """Return who `token` belongs to.

    Raises:
        AuthFailed: unknown, expired, not yet valid, disabled, empty or too long; never says which.
    """
    found = None if not token or len(token) > tokens.MAX_BYTES else clients.find(tokens.digest(token))
    if found is not None:
        client, entry = found
        if tokens.matches(token, entry.sha256) and not client.disabled and entry.is_valid(today()):
            return Caller(client, client.scopes, door)
    raise AuthFailed("the token is not valid")


def empty_token_caller(clients: Clients, name: str, door: str) -> Caller:
    """Return the client that stands for every caller of a host that sends no tokens; only where it says so itself."""
    client = clients.client(name)
    if client is None or not client.empty_token or client.disabled:
        message = "the client named with --empty-token-client is disabled or does not say 'empty_token: true'"
        raise AuthFailed(message, "token_missing")
    return Caller(client, client.scopes, door)


def require_scope(caller: Caller, tool: type[Tool]) -> None:
    """Raise `ScopeDenied` unless the caller holds the scope that the tool requires."""
    if not grants(caller.scopes, tool.required_scope):
        raise ScopeDenied(f"the scope '{tool.required_scope}' is missing", scope=tool.required_scope)


def check_params(tool: type[Tool], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that fit the tool's schema, with defaults; raise `InvalidParams` otherwise."""
    from clitool.schema import check

    return check(params, tool.input_schema)


def decide(tool: Tool, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Ask the tool what it would touch, without effect; raises what `execute` would raise for policy's sake."""
    ask: Callable[..., Mapping[str, Any]] | None = getattr(tool, "decide", None)
    return {} if ask is None else ask(**params)


def make_context(caller: Caller, family: Family, around: Surroundings) -> Context:
    """Return what the family's tools may know and use in this call.

    Raises:
        ScopeDenied: the family is not configured for the client.
        SettingsUnusable: its settings are wrong.
    """
    from clitool.settings import load  # not at the top, for `verify` authenticates only
    from clitool.tool import Context

    client = caller.client
    state_folder = state_directory(around.clients, around.environment)
    protected = [folder for folder in (around.journal.log.directory, state_folder) if folder]
    settings = load(around.clients, client, family, around.environment, protected)
    connect, let_go = around.connections(client.name, family, settings)
    return Context(
        client=client.name,
        settings=settings.value,
        reference=around.journal.reference,
        logger=around.journal.logger(family.name),
        deadline=around.deadline,
        open_state=lambda: _open_state(state_folder, client.name, family.name),
        connect=connect,
        let_go=let_go,
    )


def _open_state(folder: str | None, client: str, family: str) -> State:
    from clitool.state import State

    if folder is None:
        raise ExecutionError("this needs a folder for state: set state.directory in the clients file", "state")
    return State(folder, client, family)


def today() -> str:
    """Return the current UTC date as `YYYY-MM-DD`."""
    return strftime("%Y-%m-%d", gmtime())
