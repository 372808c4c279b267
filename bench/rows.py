"""How long 100 000 rows take, as a ratio to a minimal script with the same driver and the standard json module.

    make bench            # or: .venv/bin/python bench/rows.py [ROUNDS] [ENGINE ...]

The scripts are in `bench/minimal`; they convert as we do. Real servers are started as the tests start them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from calls import many_rows, resident, same
from figures import Figures, measure
from measuring import Command
from orders import TCP
from report import Goal, figures_table, goals_table
from resident import made_by, running
from world import ENGINES, MANY, made

if TYPE_CHECKING:
    from client_files import Clitool
    from world import World

ROUNDS = 7
MINIMAL = "minimal script"
GOAL = 1.5
MEGABYTES_GOAL = 60.0
_SCRIPTS = Path(__file__).parent / "minimal"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with made(tuple(sys.argv[2:]) or ENGINES) as world, running(world.clitool, world.folder / "run") as warm:
        figures = measure(commands(world, warm), rounds, world)
        print(goals_table(goals(world, figures)))
        print(figures_table(figures, {"ratio (p10-p90)": lambda name: same(name, MINIMAL)}))


def commands(world: World, warm: Clitool) -> dict[str, Command]:
    """Return the minimal scripts and the calls, cold and through the resident worker."""
    scripts = {many_rows(shop.engine, MINIMAL): script(world, engine) for engine, shop in world.shops.items()}
    through = {resident(name): command for name, command in calls(world, warm).items()}
    return {**scripts, **calls(world, world.clitool), **other_ways(world), **made_by(warm, through)}


def calls(world: World, clitool: Clitool) -> dict[str, Command]:
    """Return the calls."""
    patient = clitool.variant("--timeout", "60")
    return {many_rows(shop.engine): world.many(patient, engine) for engine, shop in world.shops.items()}


def other_ways(world: World) -> dict[str, Command]:
    """Return the calls that get at the same in other ways."""
    patient = world.clitool.variant("--timeout", "60")
    return {
        many_rows(f"{shop.engine} {way}"): world.many(patient, engine, way)
        for engine, shop in world.shops.items()
        for way in shop.ways
    }


def script(world: World, engine: str) -> Command:
    """Run the minimal script of an engine."""
    shop = world.shops[engine]
    settings = shop.ways.get(TCP, shop.settings)
    if engine == "sqlite":
        words = [settings["connection_string"].removeprefix("sqlite:///")]
    elif engine == "mysql":
        words = [str(settings["port"]), settings["database"]]
    else:
        words = [settings["connection_string"], "bench"]
    return Command([str(world.python), str(_SCRIPTS / f"rows_{engine}.py"), *words, str(MANY)], rows=MANY)


def goals(world: World, figures: Figures) -> list[Goal]:
    """Compare with the minimal scripts, and count memory."""
    found = []
    for shop in world.shops.values():
        name = many_rows(shop.engine)
        found.append(
            Goal(name, "the minimal script's time", GOAL, figures.ratio(name, many_rows(shop.engine, MINIMAL)))
        )
        found.append(Goal(name, "MB", MEGABYTES_GOAL, figures.memory[name]))
    return found


if __name__ == "__main__":
    main()
