"""Which messages a caller asks for, in words of IMAP."""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.mail.imap.syntax import Literal, day, has_control, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from clitool_tools.mail.imap.syntax import Word

_FIRST_YEAR = 1970  # there is no older mail, and servers differ in what they make of older dates


class Query:
    """What all messages of a page have in common; checked, without effect.

    Attributes:
        terms: the text to look for, by where: ``sender``, ``subject`` or ``text``.
    """

    __slots__ = ("_before", "_since", "_unread", "terms")

    def __init__(
        self,
        *,
        unread: bool = False,
        since: str | None = None,
        before: str | None = None,
        sender: str | None = None,
        subject: str | None = None,
        text: str | None = None,
    ) -> None:
        """Check what the caller gave; raises `InvalidParams` (bad_query)."""
        self._unread = unread
        self._since = _date("since", since)
        self._before = _date("before", before)
        terms = {"sender": sender, "subject": subject, "text": text}
        self.terms: Mapping[str, str] = {where: _term(where, term) for where, term in terms.items() if term is not None}

    def criteria(self, *, ascii_only: bool = False) -> list[Word]:
        """Return the criteria of a SEARCH; with `ascii_only`, without the terms that are not ASCII."""
        words: list[Word] = [b"UNSEEN"] if self._unread else []
        for word, value in ((b"SINCE", self._since), (b"BEFORE", self._before)):
            words += (word, day(value)) if value else ()
        for where, term in self.terms.items():
            written = string(term)
            if not (ascii_only and isinstance(written, Literal)):
                words += (_KEYS[where], written)
        return words

    def __repr__(self) -> str:
        return repr((self._unread, self._since, self._before, sorted(self.terms.items())))


_KEYS = {"sender": b"FROM", "subject": b"SUBJECT", "text": b"TEXT"}


def _date(name: str, value: str | None) -> date | None:
    if value is None:
        return None
    from datetime import date

    digits = value.replace("-", "")
    try:
        if len(value) == 10 and digits.isascii() and digits.isdecimal():  # no other spelling of ISO 8601
            return max(date.fromisoformat(value), date(_FIRST_YEAR, 1, 1))
    except ValueError:
        pass
    raise InvalidParams(f"{name} is a day like 2024-02-29, and {value!r} is none", "bad_query")


def _term(name: str, term: str) -> str:
    if has_control(term):
        raise InvalidParams(f"{name} has a line end or another control character, which no search takes", "bad_query")
    return term
