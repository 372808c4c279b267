"""The tools as a value: which families are declared, which of them can be trusted, which tools are enabled."""

from __future__ import annotations

from clitool.declarations import compiled, compiled_entries, entry_of
from clitool.errors import ExecutionError, ToolNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
        self._chosen = None if entries is None else self._choose(entries)
        self._compiled = {name: family for name, family in compiled().items() if self._is_own(name)}

    @property
    def _entries(self) -> dict[str, EntryPoint]:
        # Looked up when needed: what calls a tool that comes with the program does not ask what else is installed.
        if self._chosen is None:
            from clitool.entry_points import declared

            self._chosen = self._choose(declared())
        return self._chosen

    def _is_own(self, name: str) -> bool:
        return self._chosen is None or (name in self._chosen and self._chosen[name].distribution == OWN_DISTRIBUTION)

    def names(self) -> list[str]:
        """Return the names of the declared families, sorted, without loading them."""
        return sorted(self._entries)

    def family(self, name: str) -> Family | None:
        """Return the family called `name`, or None if it is not declared or was left out (see `warnings`)."""
        if name not in self._families:
            self._families[name] = self._load(name)
        return self._families[name]

    def tools(self, families: Iterable[str] | None = None) -> list[tuple[Family, type[Tool]]]:
        """Return the enabled tools of `families` (default: all), sorted by name."""
        loaded = [family for name in self._enabled(families) if (family := self.family(name)) is not None]
        found = [(family, tool) for family in loaded for tool in family.tools if tool.name not in self.disabled]
        return sorted(found, key=lambda pair: pair[1].name)

    def entries(self) -> list[str]:
        """Return what `list` says of each enabled tool, one line of JSON, sorted by name; imports none of our own."""
        found: dict[str, str] = {}
        own = compiled_entries()
        for name in self._enabled(None):
            if name in self._compiled:
                found |= {tool: own[tool] for tool in self._compiled[name].scopes}
            elif (family := self.family(name)) is not None:
                found |= {tool.name: entry_of(tool) for tool in family.tools}
        return [found[tool] for tool in sorted(found) if tool not in self.disabled]

    def scopes(self, families: Iterable[str] | None = None) -> set[str]:
        """Return the scopes that the enabled tools of `families` (default: all) require; imports none of our own."""
        return {
            scope
            for name in self._enabled(families)
            for tool, scope in self._scopes(name).items()
            if tool not in self.disabled
        }

    def find(self, tool: str) -> tuple[Family, type[Tool]]:
        """Return the enabled tool called `tool` and its family.

        Raises:
            ToolNotFound: there is none; names the tool without a host's prefix if that exists.
            ExecutionError: its family is declared but was left out.
        """
        homes = [name for name, family in self._compiled.items() if tool in family.scopes] or self._candidates(tool)
        candidates = [] if tool in self.disabled else self._enabled(homes)
        for name in candidates:
            if tool in self._scopes(name) and (family := self.family(name)) is not None:
                return family, family.tool(tool)
        for name in candidates:
            if self.family(name) is None:
                raise ExecutionError(f"the tools of {name!r} cannot be loaded; run `clitool check`", "plugin")
        raise ToolNotFound("there is no tool of this name; `clitool list` shows them" + self._hint(tool))

    def disable(self, names: Iterable[str]) -> list[str]:
        """Switch tools and families off; return those names that are neither, which the caller must refuse."""
        self.disabled = frozenset(names)
        return sorted(name for name in self.disabled if not self._is_known(name))

    def _is_known(self, name: str) -> bool:
        if name in self._entries:
            return True
        # What a family that cannot be loaded would offer is unknown; nothing of it is enabled anyway.
        return any(name in self._scopes(one) or self.family(one) is None for one in self._candidates(name))

    def _candidates(self, tool: str) -> list[str]:
        return [name for name in self.names() if tool == name or tool.startswith(name + "_")]

    def _enabled(self, families: Iterable[str] | None) -> list[str]:
        return [name for name in (self.names() if families is None else families) if name not in self.disabled]

    def _scopes(self, name: str) -> dict[str, str]:
        """Return the scope of each tool of a family by the tool's name."""
        if name in self._compiled:
            return self._compiled[name].scopes
        family = self.family(name)
        return {} if family is None else {tool.name: tool.required_scope for tool in family.tools}

    def _hint(self, tool: str) -> str:
        every = [tool for name in self._enabled(None) for tool in self._scopes(name) if tool not in self.disabled]
        names = [name for name in every if tool.endswith("_" + name)]
        if names:
            return f"; did you mean {max(names, key=len)!r}, without the prefix?"
        if not self._is_enabled(tool):
            return ""  # it exists, switched off: to propose another one would be misleading
        from difflib import get_close_matches

        near = get_close_matches(tool, every, 1)
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
                counts = f"that of {OWN_DISTRIBUTION} counts" if own else "none of them counts"
                what = f"is declared by more than one distribution; {counts}"
                self._warn(name, {entry.distribution for entry in rivals}, what)
            if own or len(rivals) == 1:
                chosen[name] = (own or rivals)[0]
        return chosen

    def _load(self, name: str) -> Family | None:
        from clitool.family import load_target  # not needed for a list

        own = self._compiled.get(name)
        declared = own or self._entries.get(name)
        if declared is None:
            return None
        try:
            family: Family = load_target(declared.target)
            wrong = [] if own else self._problems(family, name)  # what is compiled was checked when it was
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit too
            wrong = [f"{type(error).__name__}: {error}"]
        if wrong:
            self._warn(name, {OWN_DISTRIBUTION if own else self._entries[name].distribution}, wrong[0])
            return None
        return family

    def _problems(self, family: Family, name: str) -> list[str]:
        from clitool.registration import problems

        return list(problems(family, name)) or self._clashes(family)

    def _clashes(self, family: Family) -> list[str]:
        # `a` may declare `a_b_c` and `a_b` may, too: only so can two families meet in a name. It belongs to the shorter
        # one, whichever was loaded first, and also if that one is switched off.
        shorter = [name for name in self.names() if family.name.startswith(name + "_")]
        taken = {tool: name for name in shorter for tool in self._scopes(name)}
        return [
            f"the tool {tool!r} is already declared by {taken[tool]!r}" for tool in family.tool_names if tool in taken
        ]

    def _warn(self, name: str, distributions: set[str], what: str) -> None:
        from clitool.errors import one_line

        sources = ", ".join(sorted(distributions))
        self.warnings.append(one_line(f"family {name!r} of {sources} is left out: {what}"))
