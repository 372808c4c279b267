"""What a call holds open of an account: sessions with its servers, and its folder for attachments."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.jail import Jail
    from clitool.tool import Deadline
    from clitool_tools.mail.account import Account
    from clitool_tools.mail.imap.session import Session as ImapSession
    from clitool_tools.mail.smtp.session import Session as SmtpSession


class Servers:
    """The connection of the family: nothing is opened before it is used, and everything is closed together.

    Each property raises `ScopeDenied` (not_configured) if the account has no such thing, and `ExecutionError` if it
    cannot be opened.

    Attributes:
        account: whose servers these are.
        deadline: of the call; bounds every wait.
    """

    __slots__ = ("_attachments", "_imap", "_smtp", "account", "deadline")

    def __init__(self, account: Account, deadline: Deadline) -> None:
        self.account = account
        self.deadline = deadline
        self._imap: ImapSession | None = None
        self._smtp: SmtpSession | None = None
        self._attachments: Jail | None = None

    @property
    def imap(self) -> ImapSession:
        """The server to read from, logged in."""
        if self._imap is None:
            from clitool_tools.mail.imap.session import Session

            self._imap = Session(self.account, self.deadline)
        return self._imap

    @property
    def smtp(self) -> SmtpSession:
        """The server to send through, logged in."""
        if self._smtp is None:
            from clitool_tools.mail.smtp.session import Session

            self._smtp = Session(self.account, self.deadline)
        return self._smtp

    @property
    def attachments(self) -> Jail:
        """The folder for attachments."""
        if self._attachments is None:
            from clitool.jail import Jail

            self._attachments = Jail(self.account.require_attachments()[0], "attachments_path")
        return self._attachments

    def park(self) -> bool:
        """End a call: let go of all but the server to read from; return whether another call can have that.

        A server to send through is not: mails are rare, and it has little patience with clients that are silent.
        """
        _close(self._smtp, self._attachments)
        self._smtp = self._attachments = None
        return self._imap is not None and self._imap.park()

    def resume(self, deadline: Deadline) -> bool:
        """Begin another call; return whether the server to read from is still there for us."""
        self.deadline = deadline
        return self._imap is not None and self._imap.resume(deadline)

    def close(self) -> None:
        """Say goodbye to the servers and release the folder."""
        _close(self._smtp, self._imap, self._attachments)


def _close(*several: SmtpSession | ImapSession | Jail | None) -> None:
    for opened in several:
        if opened is not None:
            opened.close()
