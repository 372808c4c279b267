"""How many instructions a call takes, as a ratio to `python -c pass` of the same environment: a count without noise.

    make bench            # or: .venv/bin/python bench/instructions.py [--gate] [--python PYTHON]

With `--gate` it fails if a call takes more than its limit. With `--python` it measures an environment in which the
project is installed already, and what needs no server.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import growth
from callgrind import can_count, instructions, unkilled
from calls import CALCULATOR, LIST, LIST_CLIENTS, VERIFY, calls, one_row, other_ways, others, resident, through
from measuring import BASE, base
from report import Goal, table
from resident import running, taking
from world import ENGINES, made

if TYPE_CHECKING:
    from collections.abc import Mapping

    from measuring import Command
    from world import World

# About 15 % more than was measured with CPython 3.11; 3.12 and 3.13 differ from it by less.
LIMITS = {
    VERIFY: 1.75,
    LIST: 1.75,
    LIST_CLIENTS: 1.8,
    CALCULATOR: 2.0,
    one_row("SQLite"): 2.45,
    one_row("MariaDB"): 3.0,
    one_row("MariaDB over TLS"): 3.45,
    one_row("MariaDB over TCP"): 9.3,
    one_row("MongoDB"): 15.7,
    resident(CALCULATOR): 1.65,
    resident(one_row("SQLite")): 1.65,
    resident(one_row("MariaDB")): 1.65,
    resident(one_row("MongoDB")): 1.65,
}
PATIENT = ("--timeout", "60")  # counting takes fifty times as long


def main() -> int:
    parser = ArgumentParser()
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--python", type=Path)
    options = parser.parse_args()
    if not can_count():
        print("instructions are not counted: valgrind is not installed; run: make services", file=sys.stderr)
        return int(options.gate)
    engines = ("sqlite",) if options.python else ENGINES
    with made(engines, options.python) as world:
        counts = counted(world)
    found = goals(counts)
    print(counts_table(counts))
    too_many = [goal.what for goal in found if not goal.is_reached]
    if options.gate and too_many:
        print(f"more instructions than the limits in {__file__} allow: {', '.join(too_many)}", file=sys.stderr)
        return 1
    return 0


def counted(world: World) -> dict[str, int]:
    """Count the instructions of each call and of the bare interpreter."""
    clitool = world.clitool.variant(*PATIENT)
    cold = others(clitool) | calls(world, clitool) | other_ways(world, clitool) | with_few_and_many_clients(world)
    counts = {BASE: instructions(base(world.python))} | count(world, cold)
    with running(clitool, world.folder / "count-run") as warm:
        paths = through(warm, world)
        with taking(warm, len(paths)):
            return counts | count(world, paths)


def with_few_and_many_clients(world: World) -> dict[str, Command]:
    """Return calls that may hardly differ, with a known and with an unknown token."""
    few, many = (growth.with_clients(world, size, *PATIENT) for size in (growth.FEW, growth.MANY))
    both = growth.calls(*few) | growth.calls(*many)
    return {name: command for name, command in both.items() if name.startswith("`call`")}


def count(world: World, commands: Mapping[str, Command]) -> dict[str, int]:
    """Count the instructions of calls."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # what else the machine does changes no count
        counts = pool.map(instructions, [unkilled(world.python, command) for command in commands.values()])
        return dict(zip(commands, counts, strict=True))


def limit(counts: Mapping[str, int], name: str) -> float:
    """Return which ratio to the bare interpreter a call may have."""
    if name in LIMITS:
        return LIMITS[name]
    return growth.GOAL * counts[growth.few(name)] / counts[BASE]


def goals(counts: Mapping[str, int]) -> list[Goal]:
    """Compare the counts with the limits."""
    bare = counts[BASE]
    calls = {name: number for name, number in counts.items() if name != BASE}
    return [Goal(name, "instructions", limit(counts, name), number / bare) for name, number in calls.items()]


def counts_table(counts: Mapping[str, int]) -> str:
    """Show the counts."""
    rows = [
        (goal.what, f"{counts[goal.what] / 1e6:.1f}", f"{goal.figure:.2f}", f"{goal.limit:.2f}")
        for goal in goals(counts)
    ]
    bare = (BASE, f"{counts[BASE] / 1e6:.1f}", "1.00", "")
    return table(("command", "million instructions", f"ratio to {BASE}", "limit"), [bare, *rows])


if __name__ == "__main__":
    sys.exit(main())
