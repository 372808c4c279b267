"""Says in words where another program is ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calls import resident

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from figures import Figures
    from peers import Peer


def ahead(figures: Figures, question: Callable[..., str], engines: Iterable[str], found: Iterable[Peer]) -> list[str]:
    """Name everybody who takes less time or memory for the same question.

    Args:
        figures: of one run.
        question: names the answer of an engine, ours or somebody's.
        engines: as people call them.
        found: who was measured.
    """
    names = [(question(engine), question(engine, peer.name), peer.name) for engine in engines for peer in found]
    sentences = [_sentence(figures, *three) for three in names if three[1] in figures.samples]
    return [sentence for sentence in sentences if sentence]


def _sentence(figures: Figures, ours: str, theirs: str, peer: str) -> str:
    ways = {"a cold call": ours, "one through the resident worker": resident(ours)}
    parts = [(way, figures.ratio(theirs, name).median) for way, name in ways.items()]
    faster = [f"{part:.2g} of the time of {way}" for way, part in parts if part < 1]
    ours_megabytes, megabytes = figures.memory[ours], figures.memory[theirs]
    less = [f"{megabytes:.0f} MB where a cold call takes {ours_megabytes:.0f}"] if megabytes < ours_megabytes else []
    return f"- {ours}: {peer} takes {', and '.join(faster + less)}." if faster + less else ""
