"""One client's settings for one family: references resolved, schema checked, secrets wrapped, parsed by the family."""

from __future__ import annotations

import os

from clitool.clients_file import ClientsFileError
from clitool.errors import ClitoolError, ScopeDenied, SettingsError
from clitool.family import Origin, Secret
from clitool.lean import dumps, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from clitool.clients import Client, Clients
    from clitool.family import Family


class SettingsUnusable(ClientsFileError):
    """A fault in one client's settings for one family: stops that family for that client, nothing else."""

    default_reason = "settings"

    def __init__(self, family: str, problems: list[str]) -> None:
        super().__init__(problems)
        self.args = (f"this client's settings for {family!r} cannot be used; run `clitool check`",)


class Settings:
    """One client's settings for one family.

    Attributes:
        value: what the family's tools see as `context.settings`.
    """

    __slots__ = ("_resolved", "value")

    def __init__(self, value: Any, resolved: tuple[str, Any]) -> None:  # noqa: ANN401 - each family has a type of its own
        self.value = value
        self._resolved = resolved

    def digest(self) -> bytes:
        """Return what is the same only for settings that are the same after every reference was resolved."""
        return sha256(dumps(self._resolved).encode()).digest()


def load(
    clients: Clients, client: Client, family: Family, environment: Mapping[str, str], protected: Iterable[str]
) -> Settings:
    """Return the settings that `client` has for `family`.

    Args:
        clients: the whole file; names the lines of problems.
        client: whose settings.
        family: whose schema and parser.
        environment: where `${NAME}` is looked up.
        protected: absolute paths that no tool may reach, besides the clients file and its index.

    Raises:
        ScopeDenied: the family needs settings and the client has none (not_configured).
        SettingsUnusable: with every problem found.
    """
    if family.name not in client.settings:
        if family.settings_required:
            raise ScopeDenied(f"{family.name!r} is not configured for this client", "not_configured")
        raw: Any = {}
    else:
        raw = client.settings[family.name]
    path = ("clients", client.name, "tools", family.name)
    files = dict.fromkeys((*clients.files(), *protected))
    origin = Origin(os.path.dirname(clients.path), list(files))
    try:
        return _parse(raw, family, environment, origin)
    except _Problems as found:
        problems = [clients.where((*path, *where), message) for where, message in found.problems]
        raise SettingsUnusable(family.name, problems) from None


class _Problems(Exception):
    def __init__(self, problems: list[tuple[tuple[str | int, ...], str]]) -> None:
        super().__init__()
        self.problems = problems


def _parse(raw: Any, family: Family, environment: Mapping[str, str], origin: Origin) -> Settings:  # noqa: ANN401
    try:
        value = _resolve(raw, environment, origin.folder)
        _check(value, family.settings_schema)
        secret = _hide(value, family.settings_schema)
        return Settings(secret if family.parse is None else family.parse(secret, origin), (origin.folder, value))
    except SettingsError as error:
        raise _Problems([(_path(error.key), str(error))]) from None
    except (ClitoolError, _Problems):
        raise
    except Exception as error:
        raise _Problems([((), f"the family cannot read them: {type(error).__name__}")]) from error


def _resolve(raw: Any, environment: Mapping[str, str], folder: str) -> Any:  # noqa: ANN401 - as above
    if "$" not in repr(raw):
        return raw
    from clitool.references import resolve

    return resolve(raw, environment, folder)


def _check(value: Any, schema: Mapping[str, Any]) -> None:  # noqa: ANN401 - as above
    from clitool.schema import problems

    wrong = problems(value, schema, word="setting")
    if wrong:
        raise _Problems([(problem.path, problem.message) for problem in wrong])


def _path(key: str) -> tuple[str | int, ...]:
    return tuple(int(step) if step.isdecimal() else step for step in key.split(".") if step)


def _hide(value: Any, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as above
    """Return `value` with every text that the schema marks `writeOnly` wrapped in `Secret`."""
    if isinstance(value, str):
        return Secret(value) if schema.get("writeOnly") else value
    if isinstance(value, dict):
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        others = others if isinstance(others, dict) else {}
        return {key: _hide(item, properties.get(key, others)) for key, item in value.items()}
    if isinstance(value, list):
        return [_hide(item, schema.get("items", {})) for item in value]
    return value
