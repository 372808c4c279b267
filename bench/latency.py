"""How evenly the resident worker answers: 2 000 calls for one row, each a process, and from a client that stays.

MCP Toolbox as a server that stays, asked by a client that stays, is measured beside it.

.venv/bin/python bench/latency.py [CALLS]
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from calls import one_row, resident
from held import held_megabytes
from measuring import BASE, Command, base, run, seconds
from peers import toolbox_server
from peers.installed import MissingError
from peers.toolbox import Toolbox
from report import table
from resident import made_by, number, running
from world import KEY, made

if TYPE_CHECKING:
    from collections.abc import Sequence

    from client_files import Clitool
    from orders import Shop
    from world import World

CALLS = 2_000
STAYING = "a client that stays"
_BARE_EVERY = 20  # calls
_CLIENT = str(Path(__file__).parent / "running_client.py")


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    with made() as world:
        print(latency_table(world, calls))


def latency_table(world: World, calls: int) -> str:
    """Measure the calls of each engine and show them."""
    head = ("call", "p50 ms", "p90 ms", "p99 ms", f"p50 as a ratio to {BASE}", "MB held")
    return table(head, [row for engine in world.shops for row in engine_rows(world, engine, calls)])


def engine_rows(world: World, engine: str, calls: int) -> list[tuple[str, ...]]:
    """Measure the calls of one engine, with a resident worker for it alone."""
    shop = world.shops[engine]
    with running(world.clitool, world.folder / f"run-{engine}") as warm:
        rows = resident_rows(world, warm, engine, calls)
    return [*rows, *toolbox_rows(world, shop, calls)]


def resident_rows(world: World, warm: Clitool, engine: str, calls: int) -> list[tuple[str, ...]]:
    """Measure the calls that the resident worker makes."""
    name = resident(one_row(world.shops[engine].engine))
    command = world.one(warm, engine)
    made_by(warm, {name: command})
    taken, bare = each_a_process(world, command, calls)
    return [
        (f"{name}, each a process", *cells(taken), f"{percentile(taken, 50) / bare:.2f}", ""),
        (f"{name}, from {STAYING}", *cells(staying(world, command, calls)), "", f"{held_megabytes(number(warm)):.0f}"),
    ]


def toolbox_rows(world: World, shop: Shop, calls: int) -> list[tuple[str, ...]]:
    """Measure MCP Toolbox, if it is there."""
    try:
        taken, megabytes = toolbox_server.calls_of(Toolbox(world.folder), shop, KEY, calls)
    except MissingError:
        return []
    name = one_row(shop.engine, toolbox_server.NAME)
    return [(f"{name}, from {STAYING}", *cells(taken), "", f"{megabytes:.0f}")]


def each_a_process(world: World, command: Command, calls: int) -> tuple[list[float], float]:
    """Return the times of many runs, and the median time of the bare interpreter meanwhile."""
    taken, bare = [], []
    for call in range(calls):
        if call % _BARE_EVERY == 0:
            bare.append(seconds(base(world.python)))
        taken.append(seconds(command))
    return taken, statistics.median(bare)


def staying(world: World, command: Command, calls: int) -> list[float]:
    """Return the times of the same calls as a program sees them that makes one after the other."""
    words = [str(world.python), "-P", _CLIENT, str(calls), command.stdin.decode().strip(), *command.words[1:]]
    return [float(line) for line in run(Command(words, environment=command.environment)).split()]


def percentile(taken: Sequence[float], part: int) -> float:
    """Return what so many hundredths of the values lie below."""
    return sorted(taken)[min(len(taken) * part // 100, len(taken) - 1)]


def cells(taken: Sequence[float]) -> list[str]:
    """Show the median, the ninetieth and the ninety-ninth percentile as milliseconds."""
    return [f"{percentile(taken, part) * 1000:.2f}" for part in (50, 90, 99)]


if __name__ == "__main__":
    main()
