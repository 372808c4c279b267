"""Whether two versions of a text say the same."""

from __future__ import annotations

_COMPARED = 10_000  # characters, of letters and digits
_LENGTH = 4  # of the pieces that are compared: line ends and links do not matter, nor what a word is in some language


def says_something_else(plain: str, seen: str) -> bool:
    """Return whether a plain text is empty, or most of it does not stand in what people see instead.

    What people see says nothing else if it says nothing, as a picture does.
    """
    ours, theirs = _pieces(plain[:_COMPARED]), _pieces(seen)
    return bool(theirs) and (not ours or len(ours & theirs) * 2 < len(ours))


def _pieces(text: str) -> set[str]:
    letters = "".join(char for char in text.casefold() if char.isalnum())
    return {letters[at : at + _LENGTH] for at in range(max(len(letters) - _LENGTH, 0) + 1)} if letters else set()
