"""Which messages fit: the words of a SEARCH command, and the numbers that come back (RFC 3501, 6.4.4; RFC 4731)."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.mail.imap.response import Atom
from clitool_tools.mail.imap.syntax import LARGEST_UID, Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clitool_tools.mail.imap.connection import Answer
    from clitool_tools.mail.imap.response import Value
    from clitool_tools.mail.imap.syntax import Word

_MOST = 2_000_000  # messages in a folder; a range costs a server nothing to write


class CharsetRefused(ExecutionError):
    """The server searches for ASCII only."""

    default_reason = "mail"


def command(criteria: Sequence[Word], capabilities: frozenset[bytes]) -> list[Word]:
    """Return the command that searches for what fits all `criteria`."""
    words: list[Word] = [b"UID", b"SEARCH"]
    if b"ESEARCH" in capabilities:
        words += (b"RETURN", b"(ALL)")  # 1:20000 and not twenty thousand numbers
    if any(isinstance(word, Literal) for word in criteria):
        words += (b"CHARSET", b"UTF-8")  # only where it is needed: some servers reject every explicit charset
    return [*words, *(criteria or (b"ALL",))]


def found(answer: Answer) -> list[int]:
    """Return the UIDs in an answer, ascending; servers that find nothing may leave out the line.

    Raises:
        ExecutionError: more than any folder holds (mail).
    """
    uids: list[int] = []
    for first, last in sorted(_found_ranges(answer)):
        start = max(first, uids[-1] + 1) if uids else first
        if len(uids) + last - start >= _MOST:
            raise ExecutionError("the IMAP server finds more messages than any folder holds", "mail")
        uids.extend(range(start, last + 1))
    return uids


def _found_ranges(answer: Answer) -> Iterator[tuple[int, int]]:
    for response in answer.of(b"SEARCH"):
        for uid in _numbers(response.pieces[0].split(b" ")):
            yield uid, uid
    for response in answer.of(b"ESEARCH"):
        yield from _ranges(_all(response.values()))


def _all(values: Sequence[Value]) -> bytes:
    """Return the sequence set in ``(TAG "T5") UID ALL 1:3,5``; empty if nothing was found."""
    names = [value.upper() if isinstance(value, Atom) else b"" for value in values]
    value = values[names.index(b"ALL") + 1] if b"ALL" in names[:-1] else None
    return value if isinstance(value, bytes) else b""


def _ranges(sequence_set: bytes) -> Iterator[tuple[int, int]]:
    for part in sequence_set.split(b","):
        ends = list(_numbers(part.split(b":")))
        if ends:
            yield min(ends), max(ends)


def _numbers(words: Iterable[bytes]) -> Iterator[int]:
    for word in words:
        if word.isdigit() and len(word) <= 10 and 0 < int(word) <= LARGEST_UID:
            yield int(word)
