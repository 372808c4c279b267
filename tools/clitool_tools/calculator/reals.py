"""Functions of the reals, and roundings: exact where a whole number is, and never more work than it is worth."""

from __future__ import annotations

import math

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Number = int | float

_SAFE_INTEGER = 2**53 - 1  # up to here a float holds every whole number
_MAX_FACTORIAL = 1_000  # 2568 digits
_MAX_POWER_BITS = 10_000  # a power with more is not begun
_MAX_DECIMALS = 400  # the smallest float has its first digit at the 324th


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


# as in `arithmetic`
FUNCTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[..., Number]]] = {
    "pow": (("a", "b"), (), _pow),
    "sqrt": (("a",), (), _sqrt),
    "exp": (("a",), (), math.exp),
    "ln": (("a",), (), math.log),
    "log": (("a",), ("b",), _log),
    "factorial": (("a",), (), _factorial),
    "floor": (("a",), (), lambda a: a if abs(a) > _SAFE_INTEGER else math.floor(a)),
    "ceil": (("a",), (), lambda a: a if abs(a) > _SAFE_INTEGER else math.ceil(a)),
    "round": (("a",), ("b",), _round),
    "sin": (("a",), (), math.sin),
    "cos": (("a",), (), math.cos),
    "tan": (("a",), (), math.tan),
    "asin": (("a",), (), math.asin),
    "acos": (("a",), (), math.acos),
    "atan": (("a",), (), math.atan),
}
