"""A family: tools that share settings and a connection. With tool.py, errors.py, jail.py and lean.py the plugin API."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from clitool.tool import Deadline, Tool

    class Connection(Protocol):
        """What `connect` returns; the core owns its life.

        It may have two more methods. With both of them, a process that makes one call of a client after the other can
        keep the connection in between; without them, or where a process makes one call, it is closed at the end of its
        call.

        `park() -> bool`, once a call is answered, also one that failed: roll back, release locks, forget whatever the
        call left, so that no later call finds it; False if that is not sure, and then the connection is closed.

        `resume(deadline) -> bool`, at the beginning of a later call: it is alive, and under this deadline from now on;
        False if not, and then a new one is opened.
        """

        def close(self) -> None:
            """Release it; called once, also after errors."""


class Origin:
    """Where a client's settings come from.

    Attributes:
        folder: absolute folder of the clients file; relative paths in settings are relative to it.
        protected: absolute paths (clients file, its index, logs, state) that no tool may reach.
    """

    __slots__ = ("folder", "protected")

    def __init__(self, folder: str, protected: Sequence[str] = ()) -> None:
        self.folder = folder
        self.protected = tuple(protected)


class Secret:
    """A text that hides itself in `repr`, logs and errors; `reveal` is the one way to it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def reveal(self) -> str:
        """Return the text itself."""
        return self._text


class Finding:
    """One line of `clitool check` about a family's settings.

    Attributes:
        level: ``ok``, ``warning`` or ``error``; an error makes `check` fail.
        key: the setting it is about, dotted; may be empty.
        message: one sentence without secrets.
    """

    __slots__ = ("key", "level", "message")

    def __init__(self, level: str, key: str, message: str) -> None:
        self.level = level
        self.key = key
        self.message = message


NO_SETTINGS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def load_target(target: str) -> Any:  # noqa: ANN401 - whatever stands there
    """Import and return what `target` names (`module:attribute`, perhaps dotted); raises whatever that raises."""
    module, _, attribute = target.partition(":")
    __import__(module)  # importlib.import_module does the same, but importing importlib costs more than some tools
    value: Any = sys.modules[module]
    for part in attribute.split("."):
        value = getattr(value, part)
    return value


class Family:
    """Tools with one name before them, one shape of settings and, if they need it, one kind of connection.

    Args:
        name: `[a-z][a-z0-9_]*`; equal to the entry point's name. Its tools are called `name` or `name_…`, their
            scopes `name:…`, so that no plugin can take over another one's names or grants.
        tools: the tool classes (see `clitool.tool.Tool`), or a dict of each tool's name to ``module:Class``: then a
            call imports its own tool only.
        settings_schema: closed JSON Schema of one client's settings. A property with ``writeOnly: true`` is a
            secret: `parse` gets it as `Secret`.
        settings_required: whether a client without settings for this family is refused (`not_configured`).
        parse: settings that fit the schema, with ``${…}`` resolved -> the value that tools see as
            `context.settings`; raises `SettingsError`. Without effect: no file is created, no server asked.
        connect: (settings, name, deadline) -> a new connection; `name` is what a tool gave to
            `context.connection(name)`.
        check: (settings, probe) -> findings for `clitool check`; may reach servers only if `probe` is true.
    """

    __slots__ = ("_tools", "check", "connect", "name", "parse", "settings_required", "settings_schema")

    def __init__(
        self,
        *,
        name: str,
        tools: Sequence[type[Tool]] | dict[str, str],
        settings_schema: Mapping[str, Any] = NO_SETTINGS,
        settings_required: bool = False,
        parse: Callable[[Mapping[str, Any], Origin], Any] | None = None,
        connect: Callable[[Any, str, Deadline], Connection] | None = None,
        check: Callable[[Any, bool], Iterable[Finding]] | None = None,
    ) -> None:
        self.name = name
        self._tools = tools
        self.settings_schema = settings_schema
        self.settings_required = settings_required
        self.parse = parse
        self.connect = connect
        self.check = check

    @property
    def tools(self) -> tuple[type[Tool], ...]:
        """Every tool class, imported."""
        return tuple(map(load_target, self._tools.values()) if isinstance(self._tools, dict) else self._tools)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of the tools, in the order of `tools`; imports nothing."""
        return tuple(
            self._tools if isinstance(self._tools, dict) else [getattr(tool, "name", "") for tool in self._tools]
        )

    def tool(self, name: str) -> type[Tool]:
        """Return the tool class called `name`, importing no other one; raises `KeyError`."""
        if isinstance(self._tools, dict):
            tool: type[Tool] = load_target(self._tools[name])
            return tool
        return {tool.name: tool for tool in self._tools}[name]
