"""The functions of the calculator: exact for whole numbers, and never more work than the answer is worth."""

from __future__ import annotations

import math

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Number = int | float

_SAFE_INTEGER = 2**53 - 1  # up to here a float holds every whole number
_MAX_FACTORIAL = 1_000  # 2568 digits
_MAX_POWER_BITS = 10_000  # a power with more is not begun
_MAX_DECIMALS = 400  # the smallest float has its first digit at the 324th


def _quotient(dividend: int, divisor: int, operands: Iterable[Number] = ()) -> Number:
    """Divide: exactly if it goes without rest and no operand was a fraction, else to the nearest float."""
    if dividend % divisor == 0 and not any(isinstance(each, float) for each in operands):
        return dividend // divisor
    return dividend / divisor


def _divide(a: Number, b: Number) -> Number:
    return _quotient(a, b) if isinstance(a, int) and isinstance(b, int) else a / b


def _pow(a: Number, b: Number) -> Number:
    if a == 0 and b < 0:
        raise ZeroDivisionError
    if isinstance(a, float) or isinstance(b, float) or b < 0:
        return math.pow(a, b)  # unlike **, it never gives a complex number
    if abs(a) > 1 and (a.bit_length() - 1) * b > _MAX_POWER_BITS:
        raise OverflowError
    return int(a**b)


def _sqrt(a: Number) -> Number:
    if isinstance(a, int) and a >= 0 and math.isqrt(a) ** 2 == a:
        return math.isqrt(a)
    return math.sqrt(a)


def _log(a: Number, base: Number = 10) -> Number:
    if a <= 0 or base <= 0 or base == 1:
        raise ValueError
    value = math.log10(a) if base == 10 else math.log(a) / math.log(base)
    exact = isinstance(a, int) and isinstance(base, int) and base ** round(value) == a
    return round(value) if exact else value


def _factorial(a: Number) -> int:
    if not isinstance(a, int) or not 0 <= a <= _MAX_FACTORIAL:
        raise InvalidParams(f"factorial takes a as a whole number from 0 to {_MAX_FACTORIAL}", "bad_operands")
    return math.factorial(a)


def _round(a: Number, decimals: Number = 0) -> Number:
    if not isinstance(decimals, int) or abs(decimals) > _MAX_DECIMALS:
        words = f"round takes b, the number of decimals, as a whole number from -{_MAX_DECIMALS} to {_MAX_DECIMALS}"
        raise InvalidParams(words, "bad_operands")
    from decimal import ROUND_HALF_UP, Context, Decimal

    unit = Decimal((0, (1,), -decimals))
    rounded = Context(prec=2_000, rounding=ROUND_HALF_UP).quantize(Decimal(repr(a)), unit)
    return int(rounded) if isinstance(a, int) else float(rounded)


def _exact(values: Iterable[Number]) -> tuple[list[int], int]:
    """Return the values as whole numbers of one common fraction 1/n, and n: sums of them are exact."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max(below for _, below in ratios)  # each is a power of two
    return [above * (scale // below) for above, below in ratios], scale


def _sum(values: Sequence[Number]) -> Number:
    units, scale = _exact(values)
    return _quotient(sum(units), scale, values)


def _average(values: Sequence[Number]) -> Number:
    units, scale = _exact(values)
    return _quotient(sum(units), scale * len(values), values)


def _median(values: Sequence[Number]) -> Number:
    ordered = sorted(values)
    half, odd = divmod(len(ordered), 2)
    return ordered[half] if odd else _average(ordered[half - 1 : half + 1])


def _mode(values: Sequence[Number]) -> Number:
    counts: dict[Number, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    most = max(counts.values())
    return min(value for value, count in counts.items() if count == most)


def _spread(values: Sequence[Number]) -> tuple[int, int]:
    """Return the variance as a fraction: exact above, and the root of what is below."""
    units, scale = _exact(values)
    return len(units) * sum(unit * unit for unit in units) - sum(units) ** 2, len(units) * scale


def _variance(values: Sequence[Number]) -> Number:
    above, root_below = _spread(values)
    return _quotient(above, root_below**2, values)


def _stdev(values: Sequence[Number]) -> Number:
    above, below = _spread(values)
    root = math.isqrt(above)
    if root * root == above:
        return _quotient(root, below, values)
    return math.isqrt(above << 128) / (below << 64)  # 64 more bits than a whole root has


def _percentile(values: Sequence[Number], percent: Number) -> Number:
    if not 0 <= percent <= 100:
        raise InvalidParams("percentile takes a from 0 to 100", "bad_operands")
    above, below = percent.as_integer_ratio()
    rank = -(-above * len(values) // (below * 100))  # rounded up
    return sorted(values)[max(rank, 1) - 1]


def _percentage_change(a: Number, b: Number) -> Number:
    (before, after), _ = _exact((a, b))
    return _quotient((after - before) * 100, abs(before), (a, b))


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
    "pow": (("a", "b"), (), _pow),
    "percentage_change": (("a", "b"), (), _percentage_change),
    "abs": (("a",), (), abs),
    "sqrt": (("a",), (), _sqrt),
    "exp": (("a",), (), math.exp),
    "ln": (("a",), (), math.log),
    "log": (("a",), ("b",), _log),
    "factorial": (("a",), (), _factorial),
    "floor": (("a",), (), lambda a: a if abs(a) > _SAFE_INTEGER else math.floor(a)),
    "ceil": (("a",), (), lambda a: a if abs(a) > _SAFE_INTEGER else math.ceil(a)),
    "round": (("a",), ("b",), _round),
    "clamp": (("a", "values"), (), _clamp),
    "sin": (("a",), (), math.sin),
    "cos": (("a",), (), math.cos),
    "tan": (("a",), (), math.tan),
    "asin": (("a",), (), math.asin),
    "acos": (("a",), (), math.acos),
    "atan": (("a",), (), math.atan),
    "count": (("values",), (), len),
    "sum": (("values",), (), _sum),
    "average": (("values",), (), _average),
    "median": (("values",), (), _median),
    "mode": (("values",), (), _mode),
    "min": (("values",), (), min),
    "max": (("values",), (), max),
    "range": (("values",), (), lambda values: max(values) - min(values)),
    "variance": (("values",), (), _variance),
    "stdev": (("values",), (), _stdev),
    "percentile": (("values", "a"), (), _percentile),
}
