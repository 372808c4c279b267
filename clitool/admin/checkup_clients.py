"""What `clitool check` says about clients: their tokens, their scopes, their settings for each family."""

from __future__ import annotations

from datetime import date, timedelta
from difflib import get_close_matches

from clitool.errors import ClitoolError
from clitool.pipeline import today
from clitool.places import log_settings, state_directory
from clitool.rejection import status
from clitool.scopes import HOST_FAMILY, grants
from clitool.settings import SettingsUnusable, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from clitool.admin.remarks import Remarks
    from clitool.catalog import Catalog
    from clitool.clients import Token
    from clitool.clients_yaml import ParsedClient, ParsedClients
    from clitool.family import Family, Finding

    Path = tuple[str | int, ...]

SOON_DAYS = 14


def check_clients(
    clients: ParsedClients, catalog: Catalog, environment: Mapping[str, str], remarks: Remarks, *, connect: bool
) -> None:
    """Look at every client and role, and at what is switched off.

    Args:
        clients: the whole file.
        catalog: with every family loaded; what the file switches off is switched off in it.
        environment: where `${NAME}` in settings is looked up.
        remarks: takes what is found.
        connect: whether families may reach their servers.
    """
    every = {tool.required_scope for _, tool in catalog.tools()}
    _check_disabled(clients, catalog, remarks)
    enabled = {tool.required_scope for _, tool in catalog.tools()}
    scopes = _Scopes(catalog.names(), every, enabled, remarks)
    for name, role in clients.document.value.get("roles", {}).items():
        scopes.check(("roles", name), role)
    _check_unused_roles(clients, remarks)
    required = _required_scopes(catalog)
    for client in clients.by_name.values():
        path = ("clients", client.name)
        scopes.check((*path, "scopes"), clients.document.value["clients"][client.name]["scopes"])
        _check_tokens(client, remarks)
        settings = _Settings(clients, client, catalog, environment, remarks)
        settings.check(connect=connect)
        _sum_up(client, settings, required, remarks)


def _check_disabled(clients: ParsedClients, catalog: Catalog, remarks: Remarks) -> None:
    unknown = set(catalog.disable(clients.disabled))
    for index, name in enumerate(clients.document.value.get("tools", {}).get("disabled", [])):
        if name in unknown:
            hint = _hint(name, [*catalog.names(), *(tool.name for _, tool in catalog.tools())])
            remarks.error(
                ("tools", "disabled", index),
                f"{name!r} is neither a tool nor a family{hint}; until this is mended, every call is refused",
            )


def _check_unused_roles(clients: ParsedClients, remarks: Remarks) -> None:
    used = {scope for entry in clients.document.value["clients"].values() for scope in entry["scopes"]}
    for name in clients.document.value.get("roles", {}):
        if f"role:{name}" not in used:
            remarks.warning(("roles", name), f"no client has the role {name!r}")


def _check_tokens(client: ParsedClient, remarks: Remarks) -> None:
    day = today()
    soon = (date.fromisoformat(day) + timedelta(days=SOON_DAYS)).isoformat()
    for index, token in enumerate(client.tokens):
        place = ("clients", client.name, "tokens", index)
        found = status(client, token, day)
        if found == "expired":
            remarks.warning(place, f"the token {token.id!r} of client {client.name!r} expired on {token.expires}")
        elif found == "valid" and token.expires and token.expires <= soon:
            remarks.warning(place, f"the token {token.id!r} of client {client.name!r} expires on {token.expires}")
    if not client.disabled and not client.empty_token and not any(_is_of_use(token, day) for token in client.tokens):
        remarks.warning(
            ("clients", client.name),
            f"nobody can be client {client.name!r}: it has no valid token (clitool token issue {client.name})",
        )


def _is_of_use(token: Token, day: str) -> bool:
    return token.is_valid(max(day, token.not_before))


class _Scopes:
    """What each scope stands for."""

    def __init__(self, families: Iterable[str], every: set[str], enabled: set[str], remarks: Remarks) -> None:
        self._families = set(families)
        self._every = every
        self._enabled = enabled
        self._remarks = remarks

    def check(self, path: Path, scopes: Iterable[str]) -> None:
        """Note the scopes at `path` that open nothing."""
        for index, scope in enumerate(scopes):
            family = scope.partition(":")[0]
            if family in ("*", HOST_FAMILY, "role") or self._opens(scope, self._enabled):
                continue
            if self._opens(scope, self._every):
                self._remarks.warning((*path, index), f"the scope {scope!r} is only for tools that are switched off")
            elif family not in self._families or self._opens(f"{family}:*", self._every):  # else the family is left out
                hint = _hint(scope, self._every)
                self._remarks.warning((*path, index), f"no tool requires the scope {scope!r}{hint}")

    @staticmethod
    def _opens(scope: str, required: Iterable[str]) -> bool:
        return any(grants([scope], each) for each in required)


class _Settings:
    """One client's settings for each family.

    Attributes:
        usable: names of the families whose tools this client's calls can reach.
    """

    def __init__(
        self,
        clients: ParsedClients,
        client: ParsedClient,
        catalog: Catalog,
        environment: Mapping[str, str],
        remarks: Remarks,
    ) -> None:
        self.usable: set[str] = set()
        self._clients = clients
        self._client = client
        self._catalog = catalog
        self._environment = environment
        self._remarks = remarks
        folders = (log_settings(clients, environment).directory, state_directory(clients, environment))
        self._protected = [folder for folder in folders if folder]

    def check(self, *, connect: bool) -> None:
        """Read them all as a call would; with `connect` the families may reach their servers."""
        for name in sorted(set(self._client.settings) - set(self._catalog.names())):
            hint = _hint(name, self._catalog.names())
            self._remarks.error(self._path(name), f"client {self._client.name!r}: there is no family {name!r}{hint}")
        for name in self._catalog.names():
            family = self._catalog.family(name)
            if family is not None and (name in self._client.settings or not family.settings_required):
                self._check_family(family, connect=connect)

    def _check_family(self, family: Family, *, connect: bool) -> None:
        refused = f"client {self._client.name!r}: {family.name} is not usable: "
        try:
            settings = load(self._clients, self._client, family, self._environment, self._protected).value
        except SettingsUnusable as error:
            for problem in error.problems:
                self._remarks.problem(problem, refused)
            return
        except ClitoolError as error:
            self._remarks.error(self._path(family.name), refused + str(error))
            return
        self.usable.add(family.name)
        for level, key, message in [] if family.check is None else _ask(family.check, settings, connect=connect):
            if level == "error":
                self.usable.discard(family.name)
            steps = (int(step) if step.isdecimal() else step for step in key.split(".") if step)
            self._remarks.add(
                level, (*self._path(family.name), *steps), f"client {self._client.name!r}: {family.name}: {message}"
            )

    def _path(self, family: str) -> Path:
        return ("clients", self._client.name, "tools", family)


def _ask(
    check: Callable[[Any, bool], Iterable[Finding]], settings: object, *, connect: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield level, key and message of what a family finds; if it fails on the way, that too is a finding."""
    try:
        for finding in check(settings, connect):
            yield finding.level, finding.key, finding.message
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        yield (
            "error",
            "",
            str(error) if isinstance(error, ClitoolError) else (f"its own check failed: {type(error).__name__}"),
        )


def _sum_up(
    client: ParsedClient, settings: _Settings, required_scopes: Iterable[tuple[Family, set[str]]], remarks: Remarks
) -> None:
    """Say where scopes and settings do not go together, and what the client can do in the end."""
    place = ("clients", client.name)
    usable = []
    for family, required in required_scopes:
        granted = [scope for scope in sorted(required) if grants(client.scopes, scope)]
        named = any(grants([scope], each) for scope in client.scopes if scope != "*" for each in granted)
        if granted and family.name in settings.usable:
            usable.append(family.name)
        elif named and family.name not in client.settings:
            remarks.warning(
                (*place, "scopes"),
                f"client {client.name!r} has scopes for {family.name} but no settings for it; its calls are refused",
            )
        elif not granted and family.name in client.settings:
            remarks.warning(
                (*place, "tools", family.name),
                f"client {client.name!r} has settings for {family.name} but no scope for it; its calls are refused",
            )
    what = f"can use {', '.join(usable)}" if usable else "can use no tool"
    remarks.good(place, f"client {client.name!r} {'is disabled' if client.disabled else what}")


def _required_scopes(catalog: Catalog) -> list[tuple[Family, set[str]]]:
    found: dict[str, tuple[Family, set[str]]] = {}
    for family, tool in catalog.tools():
        found.setdefault(family.name, (family, set()))[1].add(tool.required_scope)
    return list(found.values())


def _hint(name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""
