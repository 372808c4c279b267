"""Which file names a client may use, by their endings."""

from __future__ import annotations

from clitool.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_SHOWN = 20  # entries in a message


class Extensions:
    """The setting `allowed_extensions`.

    An entry permits the names that end in it, after a dot and at least one more character (``.gz`` and ``.tar.gz``
    both permit ``a.tar.gz``), and the file that is called exactly so (``Makefile``, ``.env``). A dot at the beginning
    starts no extension, so ``''``, for names without one, permits ``.env`` like ``Makefile``. Letter case does not
    count; nothing else is folded or normalised.

    Args:
        entries: with or without the dot; None permits every name.

    Raises:
        SettingsError: an entry is a pattern or a path.
    """

    __slots__ = ("_entries", "_names", "_tails")

    def __init__(self, entries: Sequence[str] | None) -> None:
        self._entries = entries
        for entry in entries or ():
            _check(entry)
        self._names = frozenset(_fold(entry) for entry in entries or () if entry)
        self._tails = frozenset(_fold(entry if entry[:1] in ("", ".") else f".{entry}") for entry in entries or ())

    def permit(self, name: str) -> bool:
        """Return whether a file called `name` may be used."""
        if self._entries is None or _fold(name) in self._names:
            return True
        stem = name.lstrip(".")
        dots = [index for index, char in enumerate(stem) if char == "." and index]
        return any(_fold(stem[index:]) in self._tails for index in dots) or (not dots and _fold("") in self._tails)

    @property
    def empty(self) -> bool:
        """Whether no file at all may be used."""
        return self._entries is not None and not self._entries

    def __str__(self) -> str:
        if self._entries is None:
            return "every file"
        if not self._entries:
            return "no file (allowed_extensions is empty)"
        named = [entry for entry in self._entries if entry]
        kinds = [f"files whose ending or whole name is {_listed(named)}"] if named else []
        if len(named) < len(self._entries):
            kinds.append("files without an ending, such as README or .env")
        return ", and ".join(kinds)


def _listed(entries: Sequence[str]) -> str:
    shown = list(entries[:_MOST_SHOWN])
    if len(entries) > _MOST_SHOWN:
        shown.append(f"one of {len(entries) - _MOST_SHOWN} others")
    return " or ".join((", ".join(shown[:-1]), shown[-1])) if len(shown) > 1 else shown[0]


def _fold(text: str) -> tuple[str, bool]:
    # Case folding turns a few other letters into ASCII ones (Kelvin sign, long s); those are not the same extension.
    return text.casefold(), text.isascii()


def _check(entry: str) -> None:
    key = "allowed_extensions"
    if "*" in entry or "?" in entry:
        raise SettingsError(key, "extensions are no patterns; leave allowed_extensions out to permit every file")
    if "/" in entry or not entry.isprintable() or entry != entry.strip() or (entry and not entry.strip(".")):
        raise SettingsError(key, f"{entry!r} is no extension; write one like '.txt'")
