"""How evenly the resident worker answers: 2 000 calls for one row, each a process, and from a client that stays.

MCP Toolbox as a server that stays, asked by a client that stays, is measured beside it.

.venv/bin/python bench/latency.py [CALLS]
"""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass
from itertools import pairwise
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
    from world import World

CALLS = 2_000
STAYING = "a client that stays"
_BARE_EVERY = 20  # calls
_CLIENT = str(Path(__file__).parent / "running_client.py")


@dataclass(frozen=True)
class Answers:
    """How one sort of calls was answered.

    Attributes:
        what: the sort of calls.
        seconds: of each.
        bare: the median time of the bare interpreter meanwhile, if each call is a process.
        megabytes: what the program holds that stays, if the calls come from a client that stays, too.
    """

    what: str
    seconds: Sequence[float]
    bare: float | None = None
    megabytes: float | None = None

    def percentile(self, part: int) -> float:
        """Return what so many hundredths of the times lie below."""
        return sorted(self.seconds)[min(len(self.seconds) * part // 100, len(self.seconds) - 1)]

    def row(self) -> tuple[str, ...]:
        """Show this in a table."""
        times = [f"{self.percentile(part) * 1000:.2f}" for part in (50, 90, 99)]
        ratio = f"{self.percentile(50) / self.bare:.2f}" if self.bare else ""
        return (self.what, *times, ratio, f"{self.megabytes:.0f}" if self.megabytes else "")


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    with made() as world:
        print(latency_report(world, calls))


def latency_report(world: World, calls: int) -> str:
    """Measure the calls of each engine; show them, and say where MCP Toolbox is ahead."""
    answers = [each for engine in world.shops for each in engine_answers(world, engine, calls)]
    head = ("call", "p50 ms", "p90 ms", "p99 ms", f"p50 as a ratio to {BASE}", "MB held")
    words = [ahead(ours, theirs) for ours, theirs in pairwise(answers) if toolbox_server.NAME in theirs.what]
    return "\n".join([table(head, [each.row() for each in answers]), *words])


def engine_answers(world: World, engine: str, calls: int) -> list[Answers]:
    """Measure the calls of one engine, with a resident worker for it alone; MCP Toolbox comes last, if it is there."""
    with running(world.clitool, world.folder / f"run-{engine}") as warm:
        ours = resident_answers(world, warm, engine, calls)
    try:
        toolbox = Toolbox(world.folder)
    except MissingError:
        return ours
    shop = world.shops[engine]
    taken, megabytes = toolbox_server.calls_of(toolbox, shop, KEY, calls)
    return [*ours, Answers(f"{one_row(shop.engine, toolbox_server.NAME)}, from {STAYING}", taken, megabytes=megabytes)]


def resident_answers(world: World, warm: Clitool, engine: str, calls: int) -> list[Answers]:
    """Measure the calls that the resident worker makes."""
    name = resident(one_row(world.shops[engine].engine))
    command = world.one(warm, engine)
    made_by(warm, {name: command})
    taken, bare = each_a_process(world, command, calls)
    from_client = staying(world, command, calls)
    held = held_megabytes(number(warm))
    return [
        Answers(f"{name}, each a process", taken, bare),
        Answers(f"{name}, from {STAYING}", from_client, None, held),
    ]


def ahead(ours: Answers, theirs: Answers) -> str:
    """Say how the other one compares."""
    times, megabytes = theirs.percentile(50) / ours.percentile(50), (theirs.megabytes or 0) / (ours.megabytes or 1)
    return f"- {theirs.what}: {times:.2g} of the time and {megabytes:.2g} of the memory of the resident worker."


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


if __name__ == "__main__":
    main()
