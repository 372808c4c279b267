"""The tools as a value: which families are declared, which of them can be trusted, which tools are enabled."""

from __future__ import annotations

from clitool.entry_points import declared
from clitool.errors import ExecutionError, ToolNotFound
from clitool.registration import problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clitool.entry_points import EntryPoint
    from clitool.family import Family
    from clitool.tool import Tool

# A plugin cannot take the place of a family that comes with the program.
OWN_DISTRIBUTION = "clitool-convention"


class Catalog:
    """Declared families, loaded when they are asked for.

    Attributes:
        warnings: one line for each family that was left out so far, naming its distribution.
        disabled: names of tools and families that are switched off.
    """

    def __init__(self, entries: Iterable[EntryPoint] | None = None) -> None:
        self.warnings: list[str] = []
        self.disabled: frozenset[str] = frozenset()
        self._families: dict[str, Family | None] = {}
        self._entries = self._choose(declared() if entries is None else entries)

    def names(self) -> list[str]:
        """Return the names of the declared families, sorted, without loading them."""
        return sorted(self._entries)

    def family(self, name: str) -> Family | None:
        """Return the family called `name`, or None if it is not declared or was left out (see `warnings`)."""
        if name not in self._families:
            entry = self._entries.get(name)
            self._families[name] = None if entry is None else self._load(entry)
        return self._families[name]

    def tools(self, families: Iterable[str] | None = None) -> list[tuple[Family, type[Tool]]]:
        """Return the enabled tools of `families` (default: all), sorted by name."""
        found = [pair for name in (self.names() if families is None else families) for pair in self._enabled(name)]
        return sorted(found, key=lambda pair: pair[1].name)

    def find(self, tool: str) -> tuple[Family, type[Tool]]:
        """Return the enabled tool called `tool` and its family.

        Raises:
            ToolNotFound: there is none; names the tool without a host's prefix if that exists.
            ExecutionError: its family is declared but was left out.
        """
        candidates = [] if tool in self.disabled else self._candidates(tool)
        for family, found in self.tools(candidates):
            if found.name == tool:
                return family, found
        for name in candidates:
            if name not in self.disabled and self.family(name) is None:
                raise ExecutionError(f"the tools of {name!r} cannot be loaded; run `clitool check`", "plugin")
        raise ToolNotFound("there is no tool of this name; `clitool list` shows them" + self._hint(tool))

    def disable(self, names: Iterable[str]) -> list[str]:
        """Switch tools and families off; return those names that are neither, which the caller must refuse."""
        self.disabled = frozenset(names)
        return sorted(name for name in self.disabled if not self._is_known(name))

    def _is_known(self, name: str) -> bool:
        if name in self._entries:
            return True
        families = [self.family(candidate) for candidate in self._candidates(name)]
        # What a family that cannot be loaded would offer is unknown; nothing of it is enabled anyway.
        return any(family is None or name in {tool.name for tool in family.tools} for family in families)

    def _candidates(self, tool: str) -> list[str]:
        return [name for name in self.names() if tool == name or tool.startswith(name + "_")]

    def _enabled(self, name: str) -> Iterator[tuple[Family, type[Tool]]]:
        family = None if name in self.disabled else self.family(name)
        if family is not None:
            yield from ((family, tool) for tool in family.tools if tool.name not in self.disabled)

    def _hint(self, tool: str) -> str:
        names = [found.name for _, found in self.tools() if tool.endswith("_" + found.name)]
        if names:
            return f"; did you mean {max(names, key=len)!r}, without the prefix?"
        if not self._is_enabled(tool):
            return ""  # it exists, switched off: to propose another one would be misleading
        from difflib import get_close_matches

        near = get_close_matches(tool, [found.name for _, found in self.tools()], 1)
        return f"; did you mean {near[0]!r}?" if near else ""

    def _is_enabled(self, tool: str) -> bool:
        return tool not in self.disabled and not self.disabled & set(self._candidates(tool))

    def _choose(self, entries: Iterable[EntryPoint]) -> dict[str, EntryPoint]:
        by_name: dict[str, list[EntryPoint]] = {}
        for entry in entries:
            by_name.setdefault(entry.name, []).append(entry)
        chosen = {}
        for name, rivals in by_name.items():
            own = [entry for entry in rivals if entry.distribution == OWN_DISTRIBUTION]
            if len(rivals) > 1:
                self._warn(
                    name,
                    rivals,
                    "is declared by more than one distribution"
                    + (f"; that of {OWN_DISTRIBUTION} counts" if own else "; none of them counts"),
                )
            if own or len(rivals) == 1:
                chosen[name] = (own or rivals)[0]
        return chosen

    def _load(self, entry: EntryPoint) -> Family | None:
        try:
            family = _import(entry.target)
            wrong = list(problems(family, entry.name)) or self._clashes(family)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit too
            wrong = [f"{type(error).__name__}: {error}"]
        if wrong:
            self._warn(entry.name, [entry], wrong[0])
            return None
        return family

    def _clashes(self, family: Family) -> list[str]:
        # `a` may declare `a_b_c` and `a_b` may, too: only so can two families meet in a name. It belongs to the shorter
        # one, whichever was loaded first, and also if that one is switched off.
        shorter = [self.family(name) for name in self.names() if family.name.startswith(name + "_")]
        taken = {tool.name: other.name for other in shorter if other for tool in other.tools}
        return [
            f"the tool {tool.name!r} is already declared by {taken[tool.name]!r}"
            for tool in family.tools
            if tool.name in taken
        ]

    def _warn(self, name: str, entries: Iterable[EntryPoint], what: str) -> None:
        from clitool.errors import one_line

        sources = ", ".join(sorted({entry.distribution for entry in entries}))
        self.warnings.append(one_line(f"family {name!r} of {sources} is left out: {what}"))


def _import(target: str) -> Family:
    from importlib import import_module

    module, _, attribute = target.partition(":")
    value = import_module(module)
    for part in attribute.split("."):
        value = getattr(value, part)
    return value  # type: ignore[return-value]  # `problems` checks what it is
