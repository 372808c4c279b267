"""Patterns for names and paths, matched in time linear in the name: no backtracking."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Glob:
    """A pattern: ``*`` any characters, ``?`` one, ``[a-z]`` one of these, ``[!a-z]`` one that is none of these.

    None of them matches ``/``. Without a ``/`` the pattern is for the last name of a path, else for the whole path,
    where ``**`` as a whole name stands for any number of names. Letter case counts; hidden files are like others.

    Attributes:
        whole: whether it is for the whole path; ``**`` alone is.
    """

    __slots__ = ("_deep", "_names", "whole")

    def __init__(self, pattern: str) -> None:
        self.whole = "/" in pattern or pattern == "**"
        self._names: list[_Name] = []
        self._deep = 0  # bit i: between the names i-1 and i any number of names may stand
        for name in pattern.split("/"):
            if name == "**" and self.whole:
                self._deep |= 1 << len(self._names)
            elif name not in ("", "."):
                self._names.append(_Name(name))

    def matches(self, parts: Sequence[str]) -> bool:
        """Return whether the path made of `parts` fits."""
        if not self.whole:
            return bool(self._names) and self._names[0].matches(parts[-1])
        return bool(self._state(parts) >> len(self._names) & 1)

    def leads_below(self, parts: Sequence[str]) -> bool:
        """Return whether anything below the folder made of `parts` can fit."""
        unfinished = (1 << len(self._names)) - 1
        return not self.whole or bool(self._state(parts) & (unfinished | self._deep))

    def _state(self, parts: Sequence[str]) -> int:
        state = 1  # bit i: the first i names of the pattern are used up
        for part in parts:
            fitting = sum(1 << i for i, name in enumerate(self._names) if state >> i & 1 and name.matches(part))
            state = fitting << 1 | state & self._deep
        return state


class _Name:
    """The pattern of one name as a bit-parallel automaton: bit i of the state means that i characters are used up."""

    __slots__ = ("_classes", "_fitting", "_stars")

    def __init__(self, pattern: str) -> None:
        self._classes: list[_Class] = []
        self._stars = 0  # bit i: before character i of the pattern stands a star
        self._fitting: dict[str, int] = {}
        at = 0
        while at < len(pattern):
            if pattern[at] == "*":
                self._stars |= 1 << len(self._classes)
                at += 1
            else:
                end = _end(pattern, at)
                self._classes.append(_Class(pattern[at:end]))
                at = end

    def matches(self, name: str) -> bool:
        state = 1
        for char in name:
            state = (state & self._fits(char)) << 1 | state & self._stars
        return bool(state >> len(self._classes) & 1)

    def _fits(self, char: str) -> int:
        if char not in self._fitting:
            self._fitting[char] = sum(1 << i for i, each in enumerate(self._classes) if each.holds(char))
        return self._fitting[char]


def _end(pattern: str, at: int) -> int:
    """Return where the element that begins at `at` ends: one character, or a class in brackets."""
    if pattern[at] == "[":
        first = at + 2 if pattern[at + 1 : at + 2] == "!" else at + 1
        closing = pattern.find("]", first + 1)  # a bracket that closes at once is one of the class
        if closing >= 0:
            return closing + 1
    return at + 1


class _Class:
    """One element of a pattern: a character, ``?`` or a class in brackets."""

    __slots__ = ("_inverted", "_ranges")

    def __init__(self, element: str) -> None:
        self._inverted = element == "?" or element.startswith("[!")
        if element == "?":
            self._ranges = []
        elif len(element) > 1:
            self._ranges = _ranges(element[2 if self._inverted else 1 : -1])
        else:
            self._ranges = [(element, element)]

    def holds(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self._ranges) != self._inverted


def _ranges(inside: str) -> list[tuple[str, str]]:
    ranges, at = [], 0
    while at < len(inside):
        step = 2 if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside) else 0
        ranges.append((inside[at], inside[at + step]))
        at += step + 1
    return ranges
