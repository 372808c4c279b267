"""How much longer calls take when the clients file grows: 10 000 and 100 000 clients, as a ratio to the same with 10.

make bench            # or: .venv/bin/python bench/growth.py [ROUNDS]
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from client_files import Clitool, settle, write_clients
from figures import Figures, measure
from report import Goal, figures_table, goals_table
from world import made

if TYPE_CHECKING:
    from measuring import Command
    from world import World

ROUNDS = 101  # the differences are small
FEW, MANY, MOST = 10, 10_000, 100_000
GOAL = 1.05
STRANGER = "nobody"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with made(()) as world:
        figures = measured(world, rounds)
        print(goals_table(goals(figures)))
        print(figures_table(figures, {f"ratio to {FEW} clients (p10-p90)": few}))


def measured(world: World, rounds: int) -> Figures:
    """Measure the same calls with clients files of each size."""
    clitools = [with_clients(world, size) for size in (FEW, MANY, MOST)]
    return measure(calls(*clitools[0]) | calls(*clitools[1]) | calls(*clitools[2]), rounds, world)


def with_clients(world: World, size: int, *before: str) -> tuple[Clitool, int]:
    """Return the command with a clients file of so many clients, and their number; options may stand before."""
    clients = write_clients(Path(mkdtemp(dir=world.folder)) / "clients", {}, size)
    settle(world.python, clients)
    return Clitool(world.python, clients, world.clitool.environment, before), size


def calls(clitool: Clitool, size: int) -> dict[str, Command]:
    """Return what is called with a known token, the last one, and with an unknown one."""
    last = size - 1
    params = {"function": "add", "a": 1, "b": 2}
    return {
        named("`verify`", size): clitool.command(last, "verify"),
        named("`verify`, unknown token", size): clitool.command(STRANGER, "verify"),
        named("`call`", size): clitool.call(last, "calculator", params),
        named("`call`, unknown token", size): clitool.call(STRANGER, "calculator", params, status=1),
    }


def named(what: str, size: int) -> str:
    """Name a call with a clients file of some size."""
    return f"{what}: {f'{size:,}'.replace(',', ' ')} clients"


def few(name: str) -> str:
    """Name the same call with few clients."""
    return named(name.partition(":")[0], FEW)


def goals(figures: Figures) -> list[Goal]:
    """Compare many clients with few."""
    names = [name for name in figures.samples if name.endswith(named("", MANY))]
    return [Goal(name, few(name), GOAL, figures.ratio(name, few(name))) for name in names]


if __name__ == "__main__":
    main()
