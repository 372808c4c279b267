"""How much longer calls take when the clients file grows: 10 000 and 100 000 clients, as a ratio to the same with 10.

make bench            # or: .venv/bin/python bench/growth.py [ROUNDS]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from client_files import Clitool, settle, write_clients
from figures import Figures, measure
from report import Goal, figures_table, goals_table
from world import made

if TYPE_CHECKING:
    from measuring import Command
    from world import World

ROUNDS = 41
FEW = 10
SIZES = {FEW: None, 10_000: 1.05, 100_000: None}  # how many clients, and what that may cost
STRANGER = "nobody"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with made(()) as world:
        figures = measured(world, rounds)
        print(goals_table(goals(figures)))
        print(figures_table(figures, {f"ratio to {FEW} clients (p10-p90)": few}))


def measured(world: World, rounds: int) -> Figures:
    """Measure the same calls with clients files of each size."""
    clitools = {size: with_clients(world, size) for size in SIZES}
    settle(world.python, *(clitool.clients for clitool in clitools.values()))
    commands = [calls(clitool, size) for size, clitool in clitools.items()]
    return measure({name: command for some in commands for name, command in some.items()}, rounds, world)


def with_clients(world: World, size: int) -> Clitool:
    """Return the command with a clients file of so many clients."""
    clients = write_clients(world.folder / f"clients-{size}", {}, size)
    return Clitool(world.python, clients, world.clitool.environment)


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
    return f"{what}: {size} clients"


def few(name: str) -> str:
    """Name the same call with few clients."""
    return named(name.partition(":")[0], FEW)


def goals(figures: Figures) -> list[Goal]:
    """Compare the sizes that there are goals for with the smallest one."""
    return [
        Goal(name, few(name), limit, figures.ratio(name, few(name)))
        for size, limit in SIZES.items()
        for name in figures.samples
        if limit and name.endswith(f": {size} clients")
    ]


if __name__ == "__main__":
    main()
