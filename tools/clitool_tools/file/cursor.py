"""Where a list goes on: opaque to the caller, bound to the question, and no grant of anything."""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_CHECK_BYTES = 8


def write(question: Sequence[object], parts: Sequence[str]) -> str:
    """Return the cursor that goes on after the entry `parts` in the answer to `question`."""
    place = "/".join(parts).encode("utf-8", "surrogateescape")
    return (_check(question, place) + place).hex()


def read(question: Sequence[object], cursor: str) -> tuple[str, ...]:
    """Return the parts that `cursor` was written for.

    Raises:
        InvalidParams: `bad_cursor` if it is damaged or belongs to another question.
    """
    try:
        raw = bytes.fromhex(cursor)
    except ValueError:
        raw = b""
    place = raw[_CHECK_BYTES:]
    if raw.hex() != cursor or not place or raw[:_CHECK_BYTES] != _check(question, place):
        message = "the cursor is damaged or belongs to another list; repeat the call without it"
        raise InvalidParams(message, "bad_cursor")
    return tuple(place.decode("utf-8", "surrogateescape").split("/"))


def _check(question: Sequence[object], place: bytes) -> bytes:
    from clitool.lean import sha256

    return sha256(repr((1, *question, place)).encode("utf-8", "surrogateescape")).digest()[:_CHECK_BYTES]
