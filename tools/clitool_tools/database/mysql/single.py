"""FLOAT, the number with 24 bits: which of them a double is near, and how it is written shortest."""

from __future__ import annotations

from struct import Struct

_SINGLE = Struct("<f")
_BITS = Struct("<i")
LARGEST = float.fromhex("0x1.fffffep127")


def nearest(value: float) -> float:
    """Return the FLOAT nearest to `value`, which lies between -LARGEST and LARGEST."""
    (found,) = _SINGLE.unpack(_SINGLE.pack(value))
    return float(found)


def below(value: float) -> float:
    """Return the greatest FLOAT less than the FLOAT `value`; for -LARGEST, minus infinity."""
    if not value:
        return -_from_bits(1)
    (bits,) = _BITS.unpack(_SINGLE.pack(value))
    return _from_bits(bits - 1 if value > 0 else bits + 1)


def shortest(value: float) -> float:
    """Return the double with the fewest digits that is nearest to the same FLOAT as `value`, which is one.

    Six digits always survive the way through a FLOAT; nine tell any two of them apart. But to nine digits, the largest
    one is rounded to more than a FLOAT can hold.
    """
    for digits in range(6, 10):
        candidate = float(f"{value:.{digits}g}")
        if -LARGEST <= candidate <= LARGEST and nearest(candidate) == value:
            return candidate
    return value


def _from_bits(bits: int) -> float:
    (found,) = _SINGLE.unpack(_BITS.pack(bits))
    return float(found)
