"""How long one call takes, as a ratio to `python -c pass` of the same environment, measured in the same run.

    make bench            # or: .venv/bin/python bench/start_up.py [ROUNDS]

The wheel is installed into an environment of its own, as a user has it: an editable install or a missing `.pyc` would
change the figures. Commands run interleaved, medians count; single figures of a busy machine do not.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from calls import CALCULATOR, LIST, LIST_CLIENTS, VERIFY, calls, one_row, other_ways, others, resident, through
from figures import Figures, measure
from measuring import BASE
from report import Goal, figures_table, goals_table
from resident import running
from server_time import server_seconds
from world import made

if TYPE_CHECKING:
    from client_files import Clitool
    from measuring import Command
    from world import World

ROUNDS = 41
GOALS = {VERIFY: 1.5, LIST: 1.5, LIST_CLIENTS: 1.5, CALCULATOR: 1.6, one_row("SQLite"): 1.8}
RESIDENT_GOAL = 1.3  # and the server's own time
MEGABYTES_GOAL = 16.0


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with made() as world, running(world.clitool, world.folder / "run") as warm:
        figures = measure(commands(world, warm), rounds, world)
        print(goals_table(goals(world, figures)))
        print(figures_table(figures, {"ratio (p10-p90)": lambda _: BASE}))


def commands(world: World, warm: Clitool) -> dict[str, Command]:
    """Return whose start counts: everything cold, and calls through the resident worker."""
    return {**cold_commands(world), **through(warm, world)}


def cold_commands(world: World) -> dict[str, Command]:
    """Return everything cold."""
    cold = world.clitool
    return {**others(cold), **calls(world, cold), **other_ways(world, cold)}


def goals(world: World, figures: Figures) -> list[Goal]:
    """Compare with the bare interpreter, and count memory."""
    cold = [Goal(name, BASE, limit, figures.ratio(name)) for name, limit in GOALS.items() if name in figures.samples]
    return [*cold, *resident_goals(world, figures), *memory_goals(world, figures)]


def resident_goals(world: World, figures: Figures) -> list[Goal]:
    """Compare calls through the resident worker: they may take what their server takes."""
    own = {CALCULATOR: 0.0} | {one_row(shop.engine): server_seconds(shop) for shop in world.shops.values()}
    return [resident_goal(figures, name, seconds) for name, seconds in own.items() if resident(name) in figures.samples]


def resident_goal(figures: Figures, name: str, server: float) -> Goal:
    """Compare one of them, whose server takes so many seconds itself."""
    limit = RESIDENT_GOAL + server * 1000 / figures.milliseconds(BASE)
    note = f"{RESIDENT_GOAL} and {server * 1000:.2f} ms of the server" if server else ""
    return Goal(resident(name), BASE, limit, figures.ratio(resident(name)), note)


def memory_goals(world: World, figures: Figures) -> list[Goal]:
    """Count the memory of each cold call."""
    return [Goal(name, "MB", MEGABYTES_GOAL, figures.memory[name]) for name in cold_commands(world)]


if __name__ == "__main__":
    main()
