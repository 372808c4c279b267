"""What may stand where in clients.yaml: every problem at once, each with its path and one sentence."""

from __future__ import annotations

from clitool.scopes import is_well_formed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Path = tuple[str | int, ...]

TOP_KEYS = ("clients", "roles", "tools", "log", "state")
CLIENT_KEYS = ("tokens", "scopes", "tools", "empty_token", "disabled")
TOKEN_KEYS = ("id", "sha256", "expires", "not_before", "disabled")
_DIGEST_LENGTH = 64


def problems(value: Any) -> Iterable[tuple[Path, str]]:  # noqa: ANN401 - anything can stand in a file
    """Yield (path, sentence) for whatever is wrong with the parsed content of a clients file."""
    if not isinstance(value, dict):
        yield (), "the file must be a mapping with the key 'clients'"
        return
    yield from unknown_keys((), value, TOP_KEYS)
    clients, roles = value.get("clients"), value.get("roles", {})
    if not isinstance(clients, dict) or not clients:
        yield ("clients",), "must name at least one client"
        return
    yield from _roles(roles)
    seen: dict[str, Path] = {}
    for name, entry in clients.items():
        yield from _client(("clients", name), entry, roles if isinstance(roles, dict) else {}, seen)
    yield from _disabled(value.get("tools", {}))
    yield from _log(value.get("log", {}))
    yield from _directory(("state",), value.get("state", {}))


def _roles(roles: Any) -> Iterable[tuple[Path, str]]:  # noqa: ANN401 - as above
    if not isinstance(roles, dict):
        yield ("roles",), "must be a mapping of role names to lists of scopes"
        return
    for name, scopes in roles.items():
        yield from _scopes(("roles", name), scopes, None)


def _client(path: Path, entry: Any, roles: Mapping[str, Any], seen: dict[str, Path]) -> Iterable[tuple[Path, str]]:  # noqa: ANN401
    if not is_name(str(path[-1])):
        yield path, "a client's name is 1 to 64 letters, digits, '-', '_' or '.'"
    if not isinstance(entry, dict):
        yield path, "must be a mapping with the key 'scopes'"
        return
    yield from unknown_keys(path, entry, CLIENT_KEYS)
    yield from _scopes((*path, "scopes"), entry.get("scopes"), roles)
    yield from _booleans(path, entry, ("empty_token", "disabled"))
    yield from _tokens((*path, "tokens"), entry.get("tokens", []), seen)
    if entry.get("empty_token") is True and entry.get("tokens"):
        yield (*path, "empty_token"), "a client for empty tokens must have no tokens of its own"
    tools = entry.get("tools", {})
    if not isinstance(tools, dict):
        yield (*path, "tools"), "must be a mapping of family names to settings"


def _scopes(path: Path, scopes: Any, roles: Mapping[str, Any] | None) -> Iterable[tuple[Path, str]]:  # noqa: ANN401
    if not isinstance(scopes, list) or not scopes:
        yield path, "must be a list of at least one scope, for example [file:read]"
        return
    for index, scope in enumerate(scopes):
        if not isinstance(scope, str) or not is_well_formed(scope):
            yield (*path, index), "a scope is written 'family:action', 'family:*' or '*'"
        elif scope.startswith("role:") and roles is None:
            yield (*path, index), "a role cannot contain a role"
        elif roles is not None and scope.startswith("role:") and scope.removeprefix("role:") not in roles:
            yield (*path, index), f"there is no role {scope.removeprefix('role:')!r} under 'roles'"


def _tokens(path: Path, tokens: Any, seen: dict[str, Path]) -> Iterable[tuple[Path, str]]:  # noqa: ANN401
    if not isinstance(tokens, list):
        yield path, "must be a list; `clitool token issue` adds one"
        return
    names = set()
    for index, token in enumerate(tokens):
        where = (*path, index)
        if not isinstance(token, dict):
            yield where, "must be a mapping with the keys 'id' and 'sha256'"
            continue
        yield from _token(where, token)
        digest = str(token.get("sha256")).lower()
        if seen.setdefault(digest, where) != where:
            yield (*where, "sha256"), "the same digest stands at " + ".".join(map(str, seen[digest]))
        if str(token.get("id")) in names:
            yield (*where, "id"), "this client has another token with the same id"
        names.add(str(token.get("id")))


def _token(path: Path, token: Mapping[str, Any]) -> Iterable[tuple[Path, str]]:
    yield from unknown_keys(path, token, TOKEN_KEYS)
    yield from _booleans(path, token, ("disabled",))
    if not isinstance(token.get("id"), str) or not is_name(token["id"]):
        yield (*path, "id"), "a token's id is text of 1 to 64 letters, digits, '-', '_' or '.' (a number needs quotes)"
    if not _is_digest(token.get("sha256")):
        yield (*path, "sha256"), "must be the 64 hexadecimal digits of the token's SHA-256, in quotes"
    for key in ("expires", "not_before"):
        if key in token and not is_date(token[key]):
            yield (*path, key), "must be a date like 2027-06-30; leave the key out if there is no such day"


def _disabled(tools: Any) -> Iterable[tuple[Path, str]]:  # noqa: ANN401 - as above
    if not isinstance(tools, dict):
        yield ("tools",), "must be a mapping with the key 'disabled'"
        return
    yield from unknown_keys(("tools",), tools, ("disabled",))
    names = tools.get("disabled", [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        yield ("tools", "disabled"), "must be a list of tools or families"


def _log(log: Any) -> Iterable[tuple[Path, str]]:  # noqa: ANN401 - as above
    yield from _directory(("log",), log, ("keep_days", "audit"))
    if not isinstance(log, dict):
        return
    days = log.get("keep_days", 30)
    if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= 36500:
        yield ("log", "keep_days"), "must be a whole number of days, from 1 to 36500"
    if log.get("audit", "best_effort") not in ("best_effort", "required"):
        yield ("log", "audit"), "must be best_effort or required"


def _directory(path: Path, section: Any, more: tuple[str, ...] = ()) -> Iterable[tuple[Path, str]]:  # noqa: ANN401
    if not isinstance(section, dict):
        yield path, "must be a mapping with the key 'directory'"
        return
    yield from unknown_keys(path, section, ("directory", *more))
    directory = section.get("directory", "x")
    if not isinstance(directory, str) or not directory or "\0" in directory:
        yield (*path, "directory"), "must be the path of a folder"
    elif "$" in directory or directory.startswith("~"):
        yield (*path, "directory"), "must be written out: neither '$' nor '~' stands for anything here"


def _booleans(path: Path, entry: Mapping[str, Any], keys: tuple[str, ...]) -> Iterable[tuple[Path, str]]:
    for key in keys:
        if not isinstance(entry.get(key, False), bool):
            yield (*path, key), "must be true or false, without quotes"


def unknown_keys(path: Path, entry: Mapping[str, Any], known: tuple[str, ...]) -> Iterable[tuple[Path, str]]:
    """Yield a problem for each key of `entry` that is not `known`, with the nearest one that is."""
    for key in entry:
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else "known: " + ", ".join(known)
            yield (*path, key), f"unknown key; {hint}"


def is_name(text: str) -> bool:
    """Say whether `text` can name a client or a token."""
    return 0 < len(text) <= 64 and text.isascii() and all(c.isalnum() or c in "-_." for c in text)


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == _DIGEST_LENGTH and all(c in "0123456789abcdefABCDEF" for c in value)


def is_date(value: object) -> bool:
    """Say whether `value` is a date as in `2027-06-30`."""
    from datetime import date

    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
