"""What columns of dates and times take: texts in the form in which they are shown, checked down to the digits kept.

The server takes much more, in silence: ``1011`` for eleven past ten, two digits for a year, half seconds cut off.
Parts of a date may be zero, as the server stores them.
"""

from __future__ import annotations

from clitool_tools.database.mysql.forms import domain
from clitool_tools.database.mysql.gap import Gap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool_tools.database.table import Domain

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MICRO = 6
_HOURS = 838  # the most that a TIME has


def date() -> Domain:
    """Return the domain of a DATE."""
    return domain('a date "YYYY-MM-DD"', _date)


def moment(precision: int, *, in_utc: bool) -> Domain:
    """Return the domain of a DATETIME, or of a TIMESTAMP, which is in UTC; with so many digits of a second."""

    def write(value: object) -> str | None:
        found = _moment(value, in_utc=in_utc)
        return None if found is None or _cut(found, precision) != found else found

    def compare(value: object) -> str | Gap | None:
        if _date(value) is not None:
            return f"{value} 00:00:00"
        found = _moment(value, in_utc=in_utc)
        if found is None or _cut(found, precision) == found:
            return found
        return Gap(_cut(found, precision))

    zone = ' in UTC, with or without "Z" at its end' if in_utc else ", without a time zone"
    return domain(f'a time "YYYY-MM-DDTHH:MM:SS{_fraction(precision)}"{zone}', write, compare)


def time(precision: int) -> Domain:
    """Return the domain of a TIME, which may be negative and longer than a day, with so many digits of a second."""

    def write(value: object) -> str | None:
        found = _time(value)
        return None if found is None or _cut(found, precision) != found else found

    def compare(value: object) -> str | Gap | None:
        found = _time(value)
        if found is None or _cut(found, precision) == found:
            return found
        cut = _cut(found, precision)
        return Gap(_earlier(cut, precision) if found[0] == "-" else cut)

    return domain(f'a time "HH:MM:SS{_fraction(precision)}" up to ±{_HOURS}:59:59', write, compare)


def _fraction(precision: int) -> str:
    return "." + "f" * precision if precision else ""


def _date(value: object) -> str | None:
    if not isinstance(value, str) or len(value) != 10 or value[4] != "-" or value[7] != "-":
        return None
    year, month, day = _numbers(value[:4], value[5:7], value[8:])
    return value if year >= 0 and 0 <= month <= 12 and 0 <= day <= _days(year, month) else None


def _days(year: int, month: int) -> int:
    is_leap = year % 4 == 0 and (year % 100 != 0 or (year % 400 == 0 and year > 0))
    return 29 if month == 2 and is_leap else _DAYS[month - 1]  # a month of zero has 31, like December


def _moment(value: object, *, in_utc: bool) -> str | None:
    """Return the text as the server writes it, its fraction without zeros at the end."""
    if not isinstance(value, str) or value[10:11] not in ("T", " "):
        return None
    text = value[11:].removesuffix("Z").removesuffix("+00:00") if in_utc else value[11:]
    clock = _clock(text, 23)
    return None if _date(value[:10]) is None or clock is None else f"{value[:10]} {clock}"


def _time(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    sign = value[:1] if value[:1] == "-" else ""
    clock = _clock(value[len(sign) :], _HOURS)
    return None if clock is None else (sign if clock.strip("0:.") else "") + clock


def _clock(text: str, hours: int) -> str | None:
    """Return ``HH:MM:SS`` with what is left of its fraction, or None; hours beyond 99 have three digits."""
    whole, point, fraction = text.partition(".")
    parts = whole.split(":")
    if len(parts) != 3 or [len(part) for part in parts[1:]] != [2, 2] or not 2 <= len(parts[0]) <= 3:
        return None
    hour, minute, second = _numbers(*parts)
    if not (0 <= hour <= hours and 0 <= minute <= 59 and 0 <= second <= 59) or (len(parts[0]) == 3) != (hour > 99):
        return None
    if point and (not _is_digits(fraction) or len(fraction) > _MICRO):
        return None
    kept = fraction.rstrip("0")
    return f"{whole}.{kept}" if kept else whole


def _cut(text: str, precision: int) -> str:
    whole, _, fraction = text.partition(".")
    kept = fraction[:precision].rstrip("0")
    return f"{whole}.{kept}" if kept else whole


def _earlier(text: str, precision: int) -> str | None:
    """Return the TIME one step before `text`, which is negative or zero; None if there is none."""
    whole, _, fraction = text.lstrip("-").partition(".")
    hour, minute, second = _numbers(*whole.split(":"))
    step = 10**precision
    ticks = (hour * 3600 + minute * 60 + second) * step + int(fraction.ljust(precision, "0") or "0") + 1
    seconds, rest = divmod(ticks, step)
    if seconds >= (_HOURS + 1) * 3600:
        return None
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"-{clock}.{rest:0{precision}d}" if precision else f"-{clock}"


def _numbers(*parts: str) -> list[int]:
    """Return the numbers, -1 for what is none."""
    return [int(part) if _is_digits(part) else -1 for part in parts]


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdecimal()
