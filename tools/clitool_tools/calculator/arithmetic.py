"""Arithmetic with one or two operands: exact for whole numbers."""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Number = int | float


def quotient(dividend: int, divisor: int, operands: Iterable[Number] = ()) -> Number:
    """Divide: exactly if it goes without rest and no operand was a fraction, else to the nearest float."""
    if dividend % divisor == 0 and not any(isinstance(each, float) for each in operands):
        return dividend // divisor
    return dividend / divisor


def _divide(a: Number, b: Number) -> Number:
    return quotient(a, b) if isinstance(a, int) and isinstance(b, int) else a / b


def exact(values: Iterable[Number]) -> tuple[list[int], int]:
    """Return the values as whole numbers of one common fraction 1/n, and n: sums of them are exact."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max(below for _, below in ratios)  # each is a power of two
    return [above * (scale // below) for above, below in ratios], scale


def _percentage_change(a: Number, b: Number) -> Number:
    (before, after), _ = exact((a, b))
    return quotient((after - before) * 100, abs(before), (a, b))


def _clamp(a: Number, values: Sequence[Number]) -> Number:
    if len(values) != 2 or values[0] > values[1]:
        raise InvalidParams("clamp takes values as [lowest, highest]", "bad_operands")
    return min(max(a, values[0]), values[1])


# function -> (operands that it needs, operands that it may have, the calculation with these in this order)
FUNCTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[..., Number]]] = {
    "add": (("a", "b"), (), lambda a, b: a + b),
    "subtract": (("a", "b"), (), lambda a, b: a - b),
    "multiply": (("a", "b"), (), lambda a, b: a * b),
    "divide": (("a", "b"), (), _divide),
    "modulo": (("a", "b"), (), lambda a, b: a % b),
    "percentage_change": (("a", "b"), (), _percentage_change),
    "abs": (("a",), (), abs),
    "clamp": (("a", "values"), (), _clamp),
}
