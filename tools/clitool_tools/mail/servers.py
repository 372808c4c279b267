"""What one call holds open of an account: sessions with its servers, and its folder for attachments."""

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
        deadline: bounds every wait.
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

    def close(self) -> None:
        """Say goodbye to the servers and release the folder."""
        for opened in (self._smtp, self._imap, self._attachments):
            if opened is not None:
                opened.close()
