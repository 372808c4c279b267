"""Characters that a reader does not see; they hide words from people, or show them other than they are."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Match

_ENDS = "\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"
_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e007f"  # a second, invisible ASCII
_CONTROLS = "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff"
_WIDTHLESS = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
_JOINERS = "\u200c\u200d"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HIDDEN = f"[{_DIRECTION}{_TAGS}{_CONTROLS}{_WIDTHLESS}{_JOINERS}{_SELECTORS}]+"
_SPELLING = f"[{_SELECTORS}]?[{_JOINERS}]?"  # what emoji and the scripts of Persia, India and Mongolia need of it


class Removed:
    """How many invisible characters were removed from the texts of one message.

    Attributes:
        characters: all of them.
        direction: those of them that change the direction in which text is shown.
    """

    __slots__ = ("characters", "direction")

    def __init__(self) -> None:
        self.characters = 0
        self.direction = 0

    def add(self, other: Removed) -> None:
        """Count what was removed from another text, too."""
        self.characters += other.characters
        self.direction += other.direction

    def notes(self) -> list[str]:
        """Return what a reader should know about them."""
        if not self.characters:
            return []
        notes = [f"invisible characters that were removed: {self.characters}"]
        if self.direction:
            notes.append(f"of them, such as reverse text, with which names and endings are faked: {self.direction}")
        return notes


def visible_text(text: str, removed: Removed | None = None) -> str:
    r"""Return `text` with every line end as ``\n`` and without what cannot be seen, which is counted in `removed`.

    A joiner or variation selector stays where writing needs it: alone, between characters beyond ASCII.
    """
    if text.isascii() and text.isprintable():
        return text
    import re

    def kept(match: Match[str]) -> str:
        if _is_spelling(match):
            return match[0]
        if removed:
            removed.characters += len(match[0])
            removed.direction += len(re.findall(f"[{_DIRECTION}]", match[0]))
        return ""

    return re.sub(_HIDDEN, kept, re.sub(_ENDS, "\n", text))


def visible_line(text: str, removed: Removed | None = None) -> str:
    """Return `text` like `visible_text`, as one line without blanks around it; other white space becomes a blank."""
    line = visible_text(text, removed)
    return line.replace("\n", " ").replace("\t", " ").strip()


def _is_spelling(run: Match[str]) -> bool:
    import re

    before, after = run.string[max(run.start() - 1, 0) : run.start()], run.string[run.end() : run.end() + 1]
    if before.isascii() or before.isspace() or not re.fullmatch(_SPELLING, run[0]):
        return False
    return run[0][-1] not in _JOINERS or not (after.isascii() or after.isspace())
