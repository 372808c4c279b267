"""Domains whose values may come as one of the objects that stand for what JSON has no word for."""

from __future__ import annotations

from clitool_tools.database.table import Domain
from clitool_tools.database.values import FORMS, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def domain(expected: str, write: Callable[[Any], Any], compare: Callable[[Any], Any] | None = None) -> Domain:
    """Return a domain whose functions take what such an object stands for.

    Args:
        expected: what it takes, for a sentence.
        write: a value -> what to store, or None if it does not fit.
        compare: the same for a filter; `write` if left out.
    """
    second = compare or write
    return Domain(expected, lambda value: write(decode(value)), lambda value: second(decode(value)), FORMS)
