"""Values to compare with that no value of a column equals: where they lie, since the server would round them.

MySQL compares a value with a constant by making both of one type, and rounds where it must: 24 becomes the year 2024,
half a second is cut off, an integer becomes a double. So each domain puts what is compared on the grid of the column's
own values first.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal
    from typing import Any

_MAXIMUM = math.nextafter(math.inf, 0)  # the largest double


class Gap:
    """A value between those that the column can have.

    Attributes:
        floor: the greatest of these below it; None if all are above it.
    """

    __slots__ = ("floor",)

    def __init__(self, floor: Any) -> None:  # noqa: ANN401 - of the column's own type
        self.floor = floor


class Stranger:
    """A text with characters that the column's character set has not: nothing there is equal, less or greater."""

    __slots__ = ()


# Each of these returns the number if it is one of the column's own, else the gap that it is in.


def on_integers(number: float, low: int, high: int) -> int | Gap:
    """Place a number among the integers from `low` to `high`."""
    if number < low:
        return Gap(None)
    if number > high:
        return Gap(high)
    floor = math.floor(number)
    return floor if floor == number else Gap(floor)


def on_decimals(number: Decimal, digits: int, scale: int) -> Decimal | Gap:
    """Place a number among the decimals with so many digits, so many of them after the point."""
    from decimal import ROUND_FLOOR, Context, Decimal

    most = greatest(digits, scale)
    if number.copy_abs() > most:  # before any arithmetic, which rounds: the exponent may be absurd
        return Gap(most if number > 0 else None)
    wide = Context(prec=digits + 2)
    floor = number.quantize(Decimal((0, (1,), -scale)), ROUND_FLOOR, wide)
    if floor == number:
        return floor.normalize(wide)
    return Gap(floor if floor >= most.copy_negate() else None)


def greatest(digits: int, scale: int) -> Decimal:
    """Return the greatest of these decimals."""
    from decimal import Decimal

    return Decimal((0, (9,) * digits, -scale))


def on_doubles(number: float) -> float | Gap:
    """Place a number, which may be an integer that no double is, among the doubles."""
    if math.isinf(number):
        return Gap(_MAXIMUM if number > 0 else None)
    found = float(number)
    if found == number:
        return found
    return Gap(math.nextafter(found, -math.inf) if found > number else found)


def on_singles(number: float) -> float | Gap:
    """Place a number among those that FLOAT has; one that such a number is shown as counts as that."""
    from clitool_tools.database.mysql.single import LARGEST as MAXIMUM
    from clitool_tools.database.mysql.single import below, nearest, shortest

    if number > MAXIMUM:
        return Gap(MAXIMUM)
    if number < -MAXIMUM:
        return Gap(None)
    found = nearest(float(number))
    if number in (found, shortest(found)):
        return found
    return Gap(below(found) if found > number else found)
