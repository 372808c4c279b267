"""The folder that is open."""

from __future__ import annotations

from clitool_tools.mail.imap.response import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from clitool_tools.mail.imap.connection import Answer


class Selected:
    """The folder that is open.

    Attributes:
        name: as the caller called it.
        uidvalidity: while it is the same, a UID means the same message; 0 if the server does not say.
        exists: how many messages there are.
    """

    __slots__ = ("_kept", "exists", "name", "uidvalidity")

    def __init__(self, name: str, answer: Answer, *, writable: bool) -> None:
        validity = (answer.code(b"UIDVALIDITY") or [None])[0]
        self.name = name
        self.uidvalidity = number(validity) or 0
        self.exists = next((response.number or 0 for response in answer.of(b"EXISTS")), 0)
        self._kept = _kept_flags(answer) if writable and answer.code(b"READ-ONLY") is None else ()

    def keeps(self, flag: bytes) -> bool:
        """Return whether a change of this flag outlives the session; false in a folder that was only examined."""
        return self._kept is None or flag.lower() in self._kept


def _kept_flags(answer: Answer) -> Collection[bytes] | None:
    """Return the flags that the server keeps, in lower case; None if it does not say, which means all."""
    flags = (answer.code(b"PERMANENTFLAGS") or [None])[0]
    return [flag.lower() for flag in flags if isinstance(flag, bytes)] if isinstance(flags, list) else None
