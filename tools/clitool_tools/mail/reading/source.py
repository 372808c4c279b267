"""Where the bytes of a message come from: a server that is asked for parts, or the whole of it in memory."""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.mail.headers import Headers
from clitool_tools.mail.reading.mime import Whole, complete

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from clitool_tools.mail.imap.fetched import Message
    from clitool_tools.mail.imap.session import Session
    from clitool_tools.mail.imap.structure import Part

    class Source(Protocol):
        """A message whose parts can be fetched."""

        @property
        def root(self) -> Part:
            """What the message is made of."""

        def fetch(self, sections: Mapping[str, int]) -> dict[str, bytes]:
            """Return of each section so many bytes from its beginning, as they are stored; of those that there are."""


HEADER_BYTES = 131_072
_ITEMS = (b"INTERNALDATE", b"RFC822.SIZE", b"FLAGS", b"BODY.PEEK[HEADER]<0.%d>" % HEADER_BYTES)


class Remote:
    """A message on a server.

    Attributes:
        root: what it is made of.
        message: what the server says of it: flags, size, when it came.
        header: its header, the first `HEADER_BYTES` of it.
        notes: what the server could not do.
    """

    __slots__ = ("_most", "_session", "_uid", "_whole", "header", "message", "notes", "root")

    def __init__(self, session: Session, uid: int, most: int) -> None:
        """Ask for everything but the content, in one round trip.

        Args:
            session: the folder is open in it.
            uid: of a message.
            most: bytes of the whole message that may be fetched if there is no other way.

        Raises:
            ExecutionError: there is no such message (not_found).
        """
        self._session = session
        self._uid = uid
        self._most = most
        self._whole: Whole | None = None
        self.notes: list[str] = []
        self.message = self._ask()
        self.header = self.message.body("HEADER") or b""
        structure = self.message.structure
        self.root = self._fall_back().root if structure is None else structure
        if not self.root.kind.startswith("multipart/"):
            complete(self.root, Headers(self.header))

    def fetch(self, sections: Mapping[str, int]) -> dict[str, bytes]:
        """Return of each section so many bytes from its beginning, as they are stored; in one round trip.

        What the server does not send is looked for in the whole message, if that is not too large, or is missing.
        """
        if not sections or self._whole is not None:
            return self._whole.fetch(sections) if self._whole else {}
        items = [f"BODY.PEEK[{section}]<0.{most}>".encode() for section, most in sections.items()]
        message = self._session.fetch((self._uid,), *items, keep=max(sections.values())).get(self._uid)
        bodies = {section: message.body(section) for section in sections} if message else {}
        found = {section: data for section, data in bodies.items() if data is not None}
        if len(found) == len(sections):
            return found
        if (self.message.size or 0) > self._most:
            self.notes.append("the server does not send all that it says there is")
            return found
        return self._fall_back().fetch(sections)

    def _ask(self) -> Message:
        found = self._fetched(*_ITEMS, b"BODYSTRUCTURE")
        if found is None:  # or its structure is one that nobody can read
            found = self._fetched(*_ITEMS)
        if found is None:
            message = f"there is no message {self._uid} in this folder; list the folder again"
            raise ExecutionError(message, "not_found")
        return found

    def _fetched(self, *items: bytes) -> Message | None:
        """Return what the server gives of the message; None if that is nothing, or nothing that makes sense."""
        try:
            found = self._session.fetch((self._uid,), *items, keep=HEADER_BYTES).get(self._uid)
        except ExecutionError as error:
            if error.reason != "mail":
                raise
            return None
        return found if found and found.items.keys() - {b"UID"} else None

    def _fall_back(self) -> Whole:
        """Return the message as we take it apart ourselves."""
        if self._whole is None:
            data = self._session.part(self._uid, "", self._most + 1)
            if len(data) > self._most:
                message = (
                    f"the server does not say what message {self._uid} is made of, and the whole of it is larger than "
                    f"max_message_bytes permits ({self._most})"
                )
                raise InvalidParams(message, "too_large")
            self._whole = Whole(data)
            self.notes.append(
                "the server could not say or send its parts, so it was fetched whole and taken apart here"
            )
        return self._whole
