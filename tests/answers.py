"""Values as answers have them."""

from __future__ import annotations

from typing import Any

SAFE_INTEGER = 2**53 - 1


def answered(value: Any) -> Any:
    """Return a JSON value with its large integers as strings, which is how each answer has them."""
    if isinstance(value, dict):
        return {key: answered(item) for key, item in value.items()}
    if isinstance(value, list):
        return [answered(item) for item in value]
    is_large = isinstance(value, int) and not isinstance(value, bool) and abs(value) > SAFE_INTEGER
    return str(value) if is_large else value
