"""Dates as MongoDB keeps them, in milliseconds since 1970, and as text."""

from __future__ import annotations

_DATE = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_TIME = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
_ZONE = r"(?:Z|([+-])([0-9]{2}):?([0-9]{2}))"


def milliseconds(text: str) -> int | None:
    """Return the milliseconds since 1970 for a date of RFC 3339, or None if it is none or has parts of a millisecond.

    A day alone is its midnight in UTC; a time needs ``Z`` or an offset.
    """
    import re
    from datetime import UTC, datetime, timedelta

    found = re.fullmatch(f"{_DATE}(?:T{_TIME}{_ZONE})?", text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = found.groups(default="0")
    if fraction[3:].strip("0") or int(hours) > 23 or int(minutes) > 59:
        return None
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    since = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1) + int(fraction[:3].ljust(3, "0"))
    return since + (offset if sign == "-" else -offset) // timedelta(milliseconds=1)
