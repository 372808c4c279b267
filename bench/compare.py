"""How long other programs take for the same, in one run with ours.

    .venv/bin/python bench/compare.py [ROUNDS ROUNDS_OF_MANY_ROWS]

They are installed into `bench/.peers`; see `bench/peers`. What cannot be installed is named.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import peers
import rows
import start_up
from calls import many_rows, one_row, resident, same
from figures import Figures, measure
from measuring import BASE
from peers.mongosh import NAME as MONGOSH
from peers.toolbox import NAME as TOOLBOX
from report import Goal, figures_table, goals_table
from resident import running
from world import KEY, MANY, made

if TYPE_CHECKING:
    from collections.abc import Mapping

    from measuring import Command
    from peers import Peer
    from world import World

# Whose time may be at most which part of whose.
GOALS = (
    (one_row("SQLite"), one_row("SQLite", TOOLBOX), 0.5),
    (one_row("MariaDB"), one_row("MariaDB", TOOLBOX), 0.6),
    (one_row("MongoDB"), one_row("MongoDB", MONGOSH), 0.2),
    (resident(one_row("SQLite")), one_row("SQLite", TOOLBOX), 0.35),
    (resident(one_row("MariaDB")), one_row("MariaDB", TOOLBOX), 0.35),
    (resident(one_row("MongoDB")), one_row("MongoDB", TOOLBOX), 0.35),
    (many_rows("SQLite"), many_rows("SQLite", TOOLBOX), 0.5),
    (many_rows("MariaDB"), many_rows("MariaDB", TOOLBOX), 0.8),
)


def main() -> None:
    one_rounds, many_rounds = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (start_up.ROUNDS, rows.ROUNDS)
    with made() as world, running(world.clitool, world.folder / "run") as warm:
        found, missing = peers.find(world)
        one = measure(start_up.commands(world, warm) | one_row_by(found, world), one_rounds, world)
        many = measure(rows.commands(world, warm) | many_rows_by(found, world), many_rounds, world)
    print(goals_table([*goals(one), *goals(many)]))
    by_toolbox = {"ratio to `toolbox invoke` (p10-p90)": lambda name: same(name, TOOLBOX)}
    print(figures_table(one, {f"ratio to {BASE} (p10-p90)": lambda _: BASE, **by_toolbox}))
    print(figures_table(many, by_toolbox))
    print(*(f"not measured: {name}: {reason}\n" for name, reason in missing.items()), sep="")


def one_row_by(found: Mapping[str, Peer], world: World) -> dict[str, Command]:
    """Return how the peers give one row by its key."""
    return {
        one_row(shop.engine, peer.name): peer.one(shop, KEY)
        for engine, shop in world.shops.items()
        for peer in found.values()
        if engine in peer.engines
    }


def many_rows_by(found: Mapping[str, Peer], world: World) -> dict[str, Command]:
    """Return how the peers give many rows."""
    return {
        many_rows(shop.engine, peer.name): peer.many(shop, MANY)
        for engine, shop in world.shops.items()
        for peer in found.values()
        if engine in peer.engines
    }


def goals(figures: Figures) -> list[Goal]:
    """Compare with the peers that there are goals for, and that were measured in this run."""
    return [
        Goal(ours, theirs, limit, figures.ratio(ours, theirs))
        for ours, theirs, limit in GOALS
        if {ours, theirs} <= set(figures.samples)
    ]


if __name__ == "__main__":
    main()
