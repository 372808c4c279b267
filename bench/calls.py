"""The calls that are measured, by the names that tables give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resident import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from client_files import Clitool
    from measuring import Command
    from world import World

VERIFY, LIST, LIST_CLIENTS, CALCULATOR = "`verify`", "`list`", "`list` with `--clients`", "`call calculator`"


def same(name: str, by: str) -> str:
    """Name the answer of somebody else to the question that a name is of."""
    what, _, engine = name.partition(", ")
    return ", ".join([what, engine.split(",")[0].split(" over ")[0], by])


def one_row(engine: str, by: str = "") -> str:
    """Name the answer of one row of a million by its key."""
    return f"one row, {engine}" + (f", {by}" if by else "")


def many_rows(engine: str, by: str = "") -> str:
    """Name the answer of a hundred thousand rows."""
    return f"100 000 rows, {engine}" + (f", {by}" if by else "")


def resident(name: str) -> str:
    """Name the same through the resident worker."""
    return f"{name}, resident"


def others(clitool: Clitool) -> dict[str, Command]:
    """Return the commands that are no calls."""
    return {VERIFY: clitool.command(7, "verify"), LIST: clitool.plain("list"), LIST_CLIENTS: clitool.command(7, "list")}


def calls(world: World, clitool: Clitool) -> dict[str, Command]:
    """Return the calls."""
    calculator = {CALCULATOR: clitool.call(7, "calculator", {"function": "add", "a": 1, "b": 2})}
    return calculator | {one_row(shop.engine): world.one(clitool, engine) for engine, shop in world.shops.items()}


def other_ways(world: World, clitool: Clitool) -> dict[str, Command]:
    """Return the calls that get at the same in other ways."""
    return {
        one_row(f"{shop.engine} {way}"): world.one(clitool, engine, way)
        for engine, shop in world.shops.items()
        for way in shop.ways
    }


def through(warm: Clitool, world: World) -> Mapping[str, Command]:
    """Return the calls as the resident worker makes them."""
    return made_by(warm, {resident(name): command for name, command in calls(world, warm).items()})
