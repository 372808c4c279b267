"""Scopes: what a client was granted, with roles and wildcards, against what a tool requires."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The host's own scopes are granted literally or not at all: `*` is about tools.
HOST_FAMILY = "logmcp"


def grants(granted: Iterable[str], required: str) -> bool:
    """Say whether one of the `granted` scopes (roles resolved) covers the scope `required`."""
    family = required.partition(":")[0]
    covering = {required, f"{family}:*"} | ({"*"} if family != HOST_FAMILY else set())
    return not covering.isdisjoint(granted)


def expand(granted: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the concrete scopes that `granted` amounts to, sorted: literal ones as written, wildcards over `known`."""
    granted = list(granted)
    literal = {scope for scope in granted if not scope.endswith("*")}
    return sorted(literal | {scope for scope in known if grants(granted, scope)})


def wildcard_families(granted: Iterable[str]) -> set[str] | None:
    """Return the families whose tools decide what `granted` amounts to; None stands for every family."""
    wild = [scope for scope in granted if scope.endswith("*")]
    return None if "*" in wild else {scope.partition(":")[0] for scope in wild}


def is_well_formed(scope: str) -> bool:
    """Say whether `scope` is `*`, `family:*`, `family:action` or `role:name`."""
    family, colon, action = scope.partition(":")
    any_action = action == "*" and family != "role"
    return scope == "*" or (bool(colon) and _is_word(family) and (any_action or _is_word(action)))


def _is_word(text: str) -> bool:
    return bool(text) and text.isascii() and all(c.isalnum() or c in "_-." for c in text)
