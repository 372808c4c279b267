"""What numeric columns take from JSON: to store it digit by digit, and to compare with it on the column's own grid."""

from __future__ import annotations

import math

from clitool_tools.database.mysql.forms import domain
from clitool_tools.database.mysql.gap import Gap, greatest, on_decimals, on_doubles, on_integers, on_singles
from clitool_tools.database.values import LARGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal

    from clitool_tools.database.table import Domain

_EXACT = 2**53  # a double holds every integer up to here
_DIGITS = 15  # and gives back every decimal number of so many digits
_LONGEST = 400  # characters of a number as text


def whole(low: int, high: int) -> Domain:
    """Return the domain of an integer column or a BIT."""

    def write(value: object) -> int | None:
        number = _whole(value)
        return number if number is not None and low <= number <= high else None

    def compare(value: object) -> int | Gap | None:
        number = _digits(value) if isinstance(value, str) else _number(value, max(high, LARGEST))
        return None if number is None else on_integers(number, low, high)

    return domain(f"a whole number from {low} to {high}, also as a string of digits", write, compare)


def year() -> Domain:
    """Return the domain of a YEAR: 0, and 1901 to 2155; the server would make 2024 of 24."""
    first, last = 1901, 2155

    def write(value: object) -> int | None:
        number = 0 if value == "0000" else _whole(value)
        return number if number == 0 or (number is not None and first <= number <= last) else None

    def compare(value: object) -> int | Gap | None:
        found = write(value)
        if found is not None or isinstance(value, str):
            return found
        number = _number(value, LARGEST)
        if number is None:
            return None
        if number < first:
            return Gap(0 if number > 0 else None)
        return on_integers(number, first, last)

    return domain(f"a year from {first} to {last}, or 0", write, compare)


def decimal(digits: int, scale: int, *, unsigned: bool) -> Domain:
    """Return the domain of a DECIMAL with so many digits, so many of them after its point."""

    def write(value: object) -> Decimal | None:
        if isinstance(value, float) and _significant(value) > _DIGITS:
            return None  # JSON has rounded it already
        number = _exact(value)
        if number is None or (unsigned and number < 0):
            return None
        found = on_decimals(number, digits, scale)
        return None if isinstance(found, Gap) else found

    def compare(value: object) -> Decimal | Gap | None:
        if isinstance(value, float) and math.isinf(value):
            return Gap(greatest(digits, scale) if value > 0 else None)
        number = _exact(value)
        return None if number is None else on_decimals(number, digits, scale)

    sign = ", not below 0" if unsigned else ""
    expected = f"a number with at most {digits - scale} digits before its point and {scale} after it{sign}"
    return domain(f"{expected}, as a string if it has more than {_DIGITS}", write, compare)


def real(digits: int | None, scale: int | None, *, unsigned: bool, is_single: bool) -> Domain:
    """Return the domain of a DOUBLE or FLOAT; digits and scale are those of the old form ``FLOAT(7, 3)``."""
    placed = on_singles if is_single else on_doubles

    def write(value: object) -> float | None:
        number = _number(value, LARGEST)
        found = None if number is None else placed(number)
        if number is None or not isinstance(found, float) or (unsigned and number < 0):
            return None
        if digits is not None and scale is not None and not _fits(number, digits, scale):
            return None
        return found

    def compare(value: object) -> float | Gap | None:
        number = _number(value, LARGEST)
        return None if number is None else placed(number)

    sign = ", not below 0" if unsigned else ""
    form = "a FLOAT, which has about 7 digits," if is_single else "a double"
    bound = "" if scale is None else f" and at most {scale} digits after its point"
    return domain(f"a number that {form} can hold{bound}{sign}", write, compare)


# Each of these returns the number, or None if the value is none; `bool` is 1 or 0, as in SQL.


def _whole(value: object) -> int | None:
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _EXACT else None
    return _digits(value) if isinstance(value, str) else None


def _digits(text: str) -> int | None:
    """Return the integer that `text` spells the way we show large ones: no sign but minus, no leading zeros."""
    bare = text.removeprefix("-")
    if not (bare.isascii() and bare.isdecimal()) or len(bare) > 20 or (bare[0] == "0" and text != "0"):
        return None
    return int(text)


def _number(value: object, largest: int) -> int | float | None:
    if isinstance(value, int):
        return int(value) if -LARGEST - 1 <= value <= largest else None
    return value if isinstance(value, float) and not math.isnan(value) else None


def _exact(value: object) -> Decimal | None:
    """Return the number with all its digits; of a float those that JSON would show."""
    from decimal import Decimal

    if isinstance(value, int):
        return Decimal(int(value))
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    return Decimal(value) if isinstance(value, str) and _is_number(value) else None


def _is_number(text: str) -> bool:
    """Return whether `text` is written as JSON writes numbers; leading zeros are no harm here."""
    mantissa, _, exponent = text.removeprefix("-").lower().partition("e")
    before, point, after = mantissa.partition(".")
    has_exponent = "e" in text.lower()
    parts = [
        before,
        *([after] if point else []),
        *([exponent.removeprefix("-").removeprefix("+")] if has_exponent else []),
    ]
    return len(text) <= _LONGEST and all(part.isascii() and part.isdecimal() for part in parts)


def _significant(value: float) -> int:
    mantissa = repr(value).partition("e")[0].lstrip("-").replace(".", "")
    return len(mantissa.strip("0"))


def _fits(number: float, digits: int, scale: int) -> bool:
    exact = _exact(number)
    return exact is not None and not isinstance(on_decimals(exact, digits, scale), Gap)
