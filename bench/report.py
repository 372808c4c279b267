"""Figures as tables for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from figures import Figures, Spread


@dataclass(frozen=True)
class Goal:
    """What is to be reached, and what was.

    Attributes:
        what: the command.
        unit: what the figure is a ratio to, or its unit.
        limit: the greatest figure that is good.
        found: the figure.
        note: how the limit comes about, if it is not the same everywhere.
    """

    what: str
    unit: str
    limit: float
    found: Spread | float
    note: str = ""

    @property
    def figure(self) -> float:
        """The figure that counts."""
        return self.found if isinstance(self.found, float) else self.found.median

    @property
    def is_reached(self) -> bool:
        """Whether it is as good as it was to be."""
        return self.figure <= self.limit


def goals_table(goals: Sequence[Goal]) -> str:
    """Say of each goal whether it is reached."""
    rows = [
        (
            goal.what,
            goal.unit,
            f"≤ {goal.limit:.3g}" + (f" ({goal.note})" if goal.note else ""),
            f"{goal.figure:.2f}",
            "" if isinstance(goal.found, float) else _between(goal.found),
            "yes" if goal.is_reached else "**no**",
        )
        for goal in goals
    ]
    return table(("what", "measured in", "goal", "measured", "p10-p90", "reached"), rows)


def figures_table(figures: Figures, references: Mapping[str, Callable[[str], str]]) -> str:
    """Show all that was measured in one run.

    Args:
        figures: of that run.
        references: by the title of a column, what each command is compared with; nothing where that was not measured.
    """
    rows = []
    for name in figures.samples:
        ratios = [_ratio(figures, name, reference(name)) for reference in references.values()]
        rows.append((name, f"{figures.milliseconds(name):.1f}", *ratios, f"{figures.memory[name]:.1f}"))
    return table(("command", "ms", *references, "peak MB"), rows)


def _ratio(figures: Figures, name: str, to: str) -> str:
    if to not in figures.samples:
        return ""
    found = figures.ratio(name, to)
    return f"{found.median:.2f} ({_between(found)})"


def _between(found: Spread) -> str:
    return f"{found.low:.2f}-{found.high:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
