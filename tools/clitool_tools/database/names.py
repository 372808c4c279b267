"""Names that a caller wrote: compared as SQL does, and told apart in error sentences."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SHOWN = 20  # names in one sentence
_LONGEST = 80  # characters of a name in one sentence


def fold(name: str) -> bytes:
    """Return what equal names have in common: SQLite and MySQL columns ignore the case of ASCII letters only.

    `str.lower` would not do: it also makes the Kelvin sign a ``k``.
    """
    return name.encode("utf-8", "surrogatepass").lower()


def shown(name: str) -> str:
    """Return `name` in quotes, shortened if it is long."""
    return repr(name if len(name) <= _LONGEST else name[:_LONGEST] + "…")


def listed(names: Iterable[str]) -> str:
    """Return the names for a sentence, bounded in number."""
    known = list(names)
    rest = len(known) - _SHOWN
    return ", ".join(known[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def hint(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` if one of the known names is near, or nothing."""
    from difflib import get_close_matches

    spelt = {name.lower(): name for name in known}
    near = get_close_matches(word[:_LONGEST].lower(), spelt, 1)
    return f"; did you mean {spelt[near[0]]!r}?" if near else ""


def column_hint(name: str, known: Iterable[str]) -> str:
    """Return the `hint` for a column that a statement calls ``c`` or ``t.c``; nothing if it exists, out of reach."""
    word, columns = name.rpartition(".")[2], list(known)
    return "" if fold(word) in map(fold, columns) else hint(word, columns)
