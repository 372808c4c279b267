"""Dates as mail writes them, in headers (RFC 5322, 3.3 and 4.3) and for INTERNALDATE; a broken one is no date."""

from __future__ import annotations

from clitool.lean import datetime as dt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_HOURS = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
_LONGEST = 200  # characters; no date has more


def iso(text: str) -> str | None:
    """Return a date in ISO 8601 with its offset (``2024-02-01T10:00:00+01:00``), or None if it is none.

    Without an offset that is known it is UTC. What is before 1970 is a program's mistake: there was no mail.
    """
    try:
        date = _date(text)
    except (ValueError, OverflowError):
        return None
    return None if date is None or date.year < 1970 else date.isoformat()


def _date(text: str) -> dt.datetime | None:
    words = text[:_LONGEST].partition("(")[0].replace(",", " ").split()
    if len(words) == 1:  # some programs write ISO 8601
        date = dt.datetime.fromisoformat(words[0])
        return date if date.tzinfo else date.replace(tzinfo=dt.UTC)
    words = [part for word in words for part in _parts(word)]
    clock = next((place for place, word in enumerate(words) if ":" in word), None)
    month = next((_MONTHS.index(word[:3].lower()) for word in words if word[:3].lower() in _MONTHS), None)
    numbers = [word for word in words if word.isdecimal() and word.isascii()]
    if clock is None or month is None or len(numbers) < 2:
        return None
    first, second = sorted(numbers[:2], key=len) if len(numbers[0]) != len(numbers[1]) else numbers[:2]
    hour, minute, second_of_minute = _clock(words[clock])
    zone = _zone([word for word in words[clock + 1 :] if word not in numbers])
    return dt.datetime(_year(second), month + 1, int(first), hour, minute, second_of_minute, tzinfo=zone)


def _parts(word: str) -> Sequence[str]:
    """Return the parts of ``01-Feb-2024``; other words, offsets among them, are one."""
    parts = word.split("-")
    return parts if len(parts) == 3 and parts[1].isalpha() else (word,)


def _clock(word: str) -> tuple[int, int, int]:
    hour, minute, second = (*word.split(":"), "0")[:3]
    return int(hour), int(minute), min(int(second.partition(".")[0]), 59)  # 60 is a leap second


def _year(word: str) -> int:
    """Return the year; of two digits it is near ours, of three it counts from 1900 (RFC 5322, 4.3)."""
    year = int(word)
    if len(word) == 2:
        return year + (2000 if year < 50 else 1900)
    return year + 1900 if len(word) == 3 else year


def _zone(words: Sequence[str]) -> dt.tzinfo:
    for word in words:
        sign = "-" if "-" in word else "+"
        digits = word.rpartition(sign)[2].replace(":", "")
        if sign in word and len(digits) == 4 and digits.isdecimal() and int(digits) < 2400:
            offset = dt.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
            return dt.timezone(-offset if sign == "-" else offset)
        if word.lower() in _HOURS:
            return dt.timezone(dt.timedelta(hours=_HOURS[word.lower()]))
    return dt.UTC
