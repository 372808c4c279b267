"""Statistics of many values: exact up to the last division, or root."""

from __future__ import annotations

import math

from clitool.errors import InvalidParams
from clitool_tools.calculator.arithmetic import exact, quotient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Number = int | float


def _sum(values: Sequence[Number]) -> Number:
    units, scale = exact(values)
    return quotient(sum(units), scale, values)


def _average(values: Sequence[Number]) -> Number:
    units, scale = exact(values)
    return quotient(sum(units), scale * len(values), values)


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
    units, scale = exact(values)
    return len(units) * sum(unit * unit for unit in units) - sum(units) ** 2, len(units) * scale


def _variance(values: Sequence[Number]) -> Number:
    above, root_below = _spread(values)
    return quotient(above, root_below**2, values)


def _stdev(values: Sequence[Number]) -> Number:
    above, below = _spread(values)
    root = math.isqrt(above)
    if root * root == above:
        return quotient(root, below, values)
    return math.isqrt(above << 128) / (below << 64)  # 64 more bits than a whole root has


def _percentile(values: Sequence[Number], percent: Number) -> Number:
    if not 0 <= percent <= 100:
        raise InvalidParams("percentile takes a from 0 to 100", "bad_operands")
    above, below = percent.as_integer_ratio()
    rank = -(-above * len(values) // (below * 100))  # rounded up
    return sorted(values)[max(rank, 1) - 1]


# as in `arithmetic`
FUNCTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[..., Number]]] = {
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
