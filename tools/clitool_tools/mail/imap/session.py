"""What the tools do with an IMAP account, in one connection, which one call after the other may have."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.mail.imap.faults import refused
from clitool_tools.mail.imap.fetched import messages
from clitool_tools.mail.imap.opening import open_connection
from clitool_tools.mail.imap.reader import MOST_BYTES
from clitool_tools.mail.imap.response import number
from clitool_tools.mail.imap.selected import Selected
from clitool_tools.mail.imap.syntax import Literal, mailbox, mailbox_name, section_name, uid_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clitool.tool import Deadline
    from clitool_tools.mail.account import Account
    from clitool_tools.mail.imap.connection import Answer, Connection
    from clitool_tools.mail.imap.fetched import Message
    from clitool_tools.mail.imap.folders import Folder
    from clitool_tools.mail.imap.syntax import Word

_AT_ONCE = 500  # messages in one FETCH; Yahoo refuses more than some thousands, and a command has its length
_MOST_COUNTED = 500  # folders whose messages are counted one by one, where the server cannot do it for all


class Session:
    """A connection that is logged in.

    Folders are named as people write them. Every method raises `ExecutionError` for what the server or the network
    does: connection_lost, timeout, and those that are named there.

    Attributes:
        connection: the conversation itself.
    """

    def __init__(self, account: Account, deadline: Deadline) -> None:
        self.connection: Connection = open_connection(account, deadline)
        self._endpoint = account.require_imap()[0]
        self._is_inside = False  # of a folder

    def park(self) -> bool:
        """End a call: leave the folder that is open; return whether another call can have the connection."""
        from clitool_tools.mail.imap.between_calls import leave_folder

        if self._is_inside and self.connection.in_step:
            self._is_inside = not leave_folder(self.connection)
        return self.connection.in_step and not self._is_inside

    def resume(self, deadline: Deadline) -> bool:
        """Begin another call; return whether the server is still there for us."""
        from clitool_tools.mail.imap.between_calls import take_over

        return take_over(self.connection, deadline)

    def close(self) -> None:
        """Log out, without waiting for the answer."""
        try:
            self.connection.tell(b"LOGOUT")
        except ExecutionError:  # it has ended already
            pass
        finally:
            self.connection.close()

    def examine(self, folder: str) -> Selected:
        """Open a folder so that nothing in it changes, whatever is read; for every reading.

        Raises:
            InvalidParams: no folder can be called so (bad_mailbox).
            ExecutionError: there is no such folder (not_found), or it cannot be opened (permission, mail).
        """
        return self._open(b"EXAMINE", folder)

    def select(self, folder: str) -> Selected:
        """Open a folder to change the flags of messages; raises as `examine`."""
        return self._open(b"SELECT", folder)

    def search(self, criteria: Sequence[Word]) -> list[int]:
        """Return the UIDs of the messages in the open folder that fit all criteria, ascending; all if there are none.

        Raises:
            CharsetRefused: a criterion is not ASCII and the server does not search for that.
        """
        from clitool_tools.mail.imap import search

        words = search.command(criteria, self.connection.capabilities)
        answer = self.connection.run(*words)
        if not answer.ok and b"CHARSET" in words:
            raise search.CharsetRefused(f"{self._endpoint} searches for ASCII text only")
        return search.found(self._require(answer, "search the folder"))

    def fetch(self, uids: Iterable[int], *items: bytes, keep: int = MOST_BYTES) -> dict[int, Message]:
        """Return messages of the open folder by UID, in one round trip for 500; what is gone is not among them.

        Args:
            uids: numbers from 1 to 2^32-1.
            items: ``FLAGS``, ``BODY.PEEK[1]<0.1000>``, …; of our own making.
            keep: bytes of each body that are kept.
        """
        wanted = sorted(set(uids))
        found: dict[int, Message] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            chunk = wanted[start : start + _AT_ONCE]
            names = b"(%s)" % b" ".join((b"UID", *items))
            answer = self.connection.run(b"UID", b"FETCH", uid_set(chunk), names, keep=keep)
            news = messages(self._require(answer, "show messages").of(b"FETCH"))
            found.update((uid, news[uid]) for uid in chunk if uid in news)
        return found

    def fetch_last(self, selected: Selected, number: int, *items: bytes, keep: int = MOST_BYTES) -> dict[int, Message]:
        """Return the last messages of the open folder by UID, without a search for them.

        Args:
            selected: the folder, as it was when it was opened.
            number: how many messages.
            items: as for `fetch`.
            keep: as for `fetch`.
        """
        first, last = max(1, selected.exists - number + 1), selected.exists
        names = b"(%s)" % b" ".join((b"UID", *items))
        answer = self.connection.run(b"FETCH", b"%d:%d" % (first, last), names, keep=keep)
        return messages(self._require(answer, "show messages").of(b"FETCH"))

    def part(self, uid: int, section: str, max_bytes: int) -> bytes:
        """Return the beginning of a part as it is stored, so encoded; the message stays unread.

        Args:
            uid: of a message in the open folder.
            section: a part's number, ``HEADER``, ``TEXT``, ``1.MIME``, or empty for the whole message.
            max_bytes: what is beyond is not asked for; ask for one more to learn whether there is more.

        Raises:
            ExecutionError: there is no such message or part (not_found).
        """
        item = b"BODY.PEEK[%b]<0.%d>" % (section_name(section), max_bytes)
        data = self._message(uid, item, keep=max_bytes).body(section)
        if data is None:
            what = f"part {section}" if section else "content"
            raise ExecutionError(f"message {uid} has no {what}", "not_found")
        return data

    def store(self, uids: Iterable[int], flags: bytes, *, add: bool) -> None:
        r"""Add flags (``\Seen``) to messages of the folder opened with `select`, or remove them.

        Read them back: servers answer OK for messages that are gone, and for flags that they do not keep.
        """
        wanted = sorted(set(uids))
        verb = b"+FLAGS.SILENT" if add else b"-FLAGS.SILENT"
        for start in range(0, len(wanted), _AT_ONCE):
            chunk = uid_set(wanted[start : start + _AT_ONCE])
            self._require(self.connection.run(b"UID", b"STORE", chunk, verb, b"(%s)" % flags), "change flags")

    def append(self, folder: str, data: bytes, flags: bytes = b"") -> int | None:
        r"""File a message and return its UID, or None if the server does not say.

        Args:
            folder: where.
            data: the message, with CRLF at the ends of lines.
            flags: of it: ``\Seen``.

        Raises:
            ExecutionError: not_found, no_space, permission or mail; or unknown_outcome if the server was handed the
                message and gave no answer that can be understood.
        """
        raw = mailbox_name(folder)
        answer = self._append(raw, data, flags)
        if not answer.ok and (found := self._listed(folder)) is not None and found.raw != raw:
            answer = self._append(found.raw, data, flags)
        filed = self._require(answer, "file the message").code(b"APPENDUID")
        return number(filed[1]) if filed and len(filed) == 2 else None

    def folders(self, *, counted: bool = False) -> list[Folder]:
        """Return all folders of the account in the server's order; with their counts, if these are wanted."""
        from clitool_tools.mail.imap.folders import LIST_STATUS, command, count, folders

        offered = self.connection.capabilities
        answer = self._require(self.connection.run(*command(offered, counted=counted)), "list the folders")
        listed = folders(answer.of(b"LIST"))
        if counted and LIST_STATUS in offered:
            count(listed, answer.of(b"STATUS"))
        elif counted:
            self._count_each(listed)
        return listed

    def special_use(self, role: str) -> Folder | None:
        """Return the folder for ``sent`` or ``drafts``: the one that the server says it is, or that is called so."""
        from clitool_tools.mail.imap.folders import by_role

        return by_role(self.folders(), role)

    def _count_each(self, listed: Sequence[Folder]) -> None:
        from clitool_tools.mail.imap.folders import COUNTS, count

        names = [mailbox(folder.raw) for folder in listed if folder.selectable]
        countable = [name for name in names if isinstance(name, bytes)][:_MOST_COUNTED]
        for answer in self.connection.run_all([(b"STATUS", name, COUNTS) for name in countable]):
            count(listed, answer.of(b"STATUS"))

    def _open(self, verb: bytes, folder: str) -> Selected:
        raw = mailbox_name(folder)
        answer = self._enter(verb, raw)
        if not answer.ok:
            found = self._listed(folder)
            if found is not None and not found.selectable:
                message = f"the folder {folder!r} holds only other folders; mail_list_folders shows which hold mail"
                raise ExecutionError(message, "not_found")
            if found is not None and found.raw != raw:
                answer = self._enter(verb, found.raw)
            elif found is None:
                raise ExecutionError(f"there is no folder {folder!r}; mail_list_folders shows all", "not_found")
        return Selected(folder, self._require(answer, "open the folder"), writable=verb == b"SELECT")

    def _enter(self, verb: bytes, raw: bytes) -> Answer:
        answer = self.connection.run(verb, mailbox(raw))
        self._is_inside = self._is_inside or answer.ok  # after a refusal, perhaps still where we were before
        return answer

    def _listed(self, folder: str) -> Folder | None:
        """Return the folder that is listed under this name: what is called so may be spelled otherwise."""
        return next((each for each in self.folders() if each.name == folder), None)

    def _append(self, raw: bytes, data: bytes, flags: bytes) -> Answer:
        words: list[Word] = [b"APPEND", mailbox(raw)]
        if flags:
            words.append(b"(%s)" % flags)
        try:
            return self.connection.run(*words, Literal(data))
        except ExecutionError as error:
            raise ExecutionError(
                f"whether the message was filed cannot be known: {error}", "unknown_outcome"
            ) from error

    def _message(self, uid: int, *items: bytes, keep: int = MOST_BYTES) -> Message:
        found = self.fetch((uid,), *items, keep=keep)
        if uid not in found:
            raise ExecutionError(f"there is no message {uid} in this folder; list the folder again", "not_found")
        return found[uid]

    def _require(self, answer: Answer, doing: str) -> Answer:
        if not answer.ok:
            raise refused(self._endpoint, answer, doing)
        return answer
