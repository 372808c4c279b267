"""Measures everything and writes docs/performance.md.

    make performance      # or: .venv/bin/python bench/performance.py [ROUNDS [ROUNDS_OF_MANY_ROWS [CALLS]]]

That takes about a quarter of an hour on a machine that does nothing else. The words are in `performance.template.md`.
"""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import compare
import growth
import instructions
import latency
import mail
import peers
import pytest
import rows
import start_up
from ahead import ahead
from callgrind import can_count
from calls import many_rows, one_row, same
from figures import measure
from installation import ROOT
from measuring import BASE
from peers.toolbox import NAME as TOOLBOX
from report import figures_table, goals_table
from resident import running
from setting import setting_table
from world import made

if TYPE_CHECKING:
    from client_files import Clitool
    from figures import Figures
    from report import Goal
    from world import World

DOCUMENT = ROOT / "docs" / "performance.md"
TEMPLATE = Path(__file__).parent / "performance.template.md"
BY_BASE = f"ratio to {BASE} (p10-p90)"
DEFAULTS = (start_up.ROUNDS, rows.ROUNDS, latency.CALLS)


def main() -> None:
    given = tuple(int(word) for word in sys.argv[1:])
    with ExitStack() as stack:
        world = stack.enter_context(made())
        warm = stack.enter_context(running(world.clitool, world.folder / "run"))
        document = Document(world, warm, *given, *DEFAULTS[len(given) :])
        DOCUMENT.write_text(document.text(), encoding="utf-8")
    print(f"written: {DOCUMENT}")


class Document:
    """The document as it grows, section by section.

    Args:
        world: where everything is measured.
        warm: the command with the resident worker.
        rounds: of each short command.
        many_rounds: of those that give many rows.
        calls: through the resident worker, one after the other.
    """

    def __init__(self, world: World, warm: Clitool, rounds: int, many_rounds: int, calls: int) -> None:
        self._world = world
        self._warm = warm
        self._rounds = rounds
        self._many_rounds = many_rounds
        self._calls = calls
        self._goals: list[Goal] = []
        self._peers, missing = peers.find(world)
        self._missing = world.missing | missing

    def text(self) -> str:
        """Measure everything and return the document."""
        parts = {
            **self._compared(),
            "growth": self._growth(),
            "mail": self._mail(),
            "latency": latency.latency_report(self._world, self._calls),
            "instructions": self._instructions(),
            "setting": setting_table(self._world, self._peers),
            "missing": "\n".join(f"- not measured: {name}: {reason}" for name, reason in self._missing.items()),
            "calls": f"{self._calls:,}".replace(",", " "),
        }
        reached = sum(goal.is_reached for goal in self._goals)
        goals = {"reached": reached, "all": len(self._goals), "goals": goals_table(self._goals)}
        text = TEMPLATE.read_text(encoding="utf-8").format(**parts, **goals)
        return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"  # what is empty leaves no gap

    def _compared(self) -> dict[str, str]:
        world, others = self._world, self._peers
        one = measure(start_up.commands(world, self._warm) | compare.one_row_by(others, world), self._rounds, world)
        many = measure(rows.commands(world, self._warm) | compare.many_rows_by(others, world), self._many_rounds, world)
        self._goals += start_up.goals(world, one) + compare.goals(one) + compare.goals(many) + rows.goals(world, many)
        by_toolbox = {"ratio to `toolbox invoke` (p10-p90)": lambda name: same(name, TOOLBOX)}
        return {
            "one": figures_table(one, {BY_BASE: lambda _: BASE, **by_toolbox}),
            "many": figures_table(many, by_toolbox),
            "ahead": self._ahead(one, many),
        }

    def _ahead(self, one: Figures, many: Figures) -> str:
        engines = [shop.engine for shop in self._world.shops.values()]
        others = self._peers.values()
        return "\n".join(ahead(one, one_row, engines, others) + ahead(many, many_rows, engines, others))

    def _growth(self) -> str:
        figures = growth.measured(self._world, self._rounds * growth.ROUNDS // start_up.ROUNDS)
        self._goals += growth.goals(figures)
        return figures_table(figures, {f"ratio to {growth.FEW} clients (p10-p90)": growth.few})

    def _mail(self) -> str:
        try:
            goals, figures = mail.measured(self._world, self._rounds)
        except pytest.skip.Exception as missing:
            return f"Not measured: {missing}\n"
        self._goals += goals
        return figures_table(figures, {BY_BASE: lambda _: BASE, "ratio to the script (p10-p90)": lambda _: mail.SCRIPT})

    def _instructions(self) -> str:
        if not can_count():
            return "Not measured: valgrind is not installed.\n"
        return instructions.counts_table(instructions.counted(self._world))


if __name__ == "__main__":
    main()
