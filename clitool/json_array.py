"""A JSON array that is written already: for results that would take much memory as Python objects."""

from __future__ import annotations

from clitool.lean import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


_CHUNK = 1 << 16  # what a pipe takes at once; and few enough strings to wait for more


class JsonArray:
    """Items that were turned into text one by one; a tool may return it anywhere in its result.

    It stands for the list of its items, and iterates and compares as that list, by reading the text again.
    """

    __slots__ = ("_chunks", "_items", "_length", "_size")
    __hash__ = None  # type: ignore[assignment]  # as a list

    def __init__(self) -> None:
        self._chunks: list[bytes] = []  # the text so far, without the bracket at its end
        self._items: list[str] = []  # what comes next
        self._size = 0  # of those
        self._length = 0

    def append(self, item: str) -> None:
        """Add an item: strict JSON, ASCII only, as `clitool.lean.dumps` writes it; no integer beyond ±(2^53-1)."""
        self._items.append(item)
        self._length += 1
        self._size += len(item)
        if self._size >= _CHUNK:
            self._pack()

    def pieces(self) -> list[bytes]:
        """Return the text of the array, in pieces, none of them a copy."""
        self._pack()
        return [*(self._chunks or [b"["]), b"]"]

    def _pack(self) -> None:
        if self._items:
            text = ("," if self._chunks else "[") + ",".join(self._items)
            self._chunks.append(text.encode("ascii"))
            self._items, self._size = [], 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - a number or a slice, one item or a list of them
        return self._read()[index]

    def __eq__(self, other: object) -> bool:
        return bool(self._read() == (other._read() if isinstance(other, JsonArray) else other))

    def __repr__(self) -> str:
        return repr(self._read())

    def _read(self) -> Any:  # noqa: ANN401 - the list
        return loads(b"".join(self.pieces()).decode("ascii"))
