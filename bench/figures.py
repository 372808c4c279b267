"""What many runs of several commands say: they run interleaved, and are compared round by round."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from measuring import BASE, base, check, peak_megabytes, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from measuring import Command
    from world import World


@dataclass(frozen=True)
class Spread:
    """What many values say: their median, and what the lowest and the highest tenth lie beyond."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Figures:
    """What was measured of some commands in one run.

    Attributes:
        samples: the seconds of each command, one for each round.
        bare: the seconds of the bare interpreter just before each of these runs.
        memory: the megabytes of each command.
    """

    samples: dict[str, list[float]]
    bare: dict[str, list[float]]
    memory: dict[str, float]

    def ratio(self, name: str, to: str = BASE) -> Spread:
        """Compare two commands round by round."""
        others = self.bare[name] if to == BASE else self.samples[to]
        return spread([one / other for one, other in zip(self.samples[name], others, strict=True)])

    def milliseconds(self, name: str) -> float:
        """Return the median time of a command."""
        return statistics.median(self.samples[name]) * 1000


def measure(commands: Mapping[str, Command], rounds: int, world: World) -> Figures:
    """Run all of them in each round, so that what else the machine does meets all alike.

    Args:
        commands: by the name that tables give them.
        rounds: how often each one runs, after it was seen to do what it is measured for.
        world: whose interpreter they are compared with.
    """
    for command in commands.values():
        check(command)
    bare = base(world.python)
    everything = {BASE: bare, **commands}
    memory = {name: peak_megabytes(command, world.folder) for name, command in everything.items()}
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in everything}
    for number in range(rounds):
        # In another order each time, since what ran before leaves its traces in the caches.
        for name in Random(number).sample(list(everything), len(everything)):
            pairs[name].append((seconds(bare), seconds(everything[name])))
    samples = {name: [taken for _, taken in values] for name, values in pairs.items()}
    return Figures(samples, {name: [taken for taken, _ in values] for name, values in pairs.items()}, memory)


def spread(values: Sequence[float]) -> Spread:
    """Return the median of values and where their tenths end."""
    ordered = sorted(values)
    tenth = len(ordered) // 10
    return Spread(statistics.median(ordered), ordered[tenth], ordered[-1 - tenth])
