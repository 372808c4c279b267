"""What one call holds open of an account: sessions with its servers, and its folder for attachments."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.jail import Jail
    from clitool.tool import Deadline
    from clitool_tools.mail.account import Account
    from clitool_tools.mail.imap.session import Session


class Servers:
    """The connection of the family: nothing is opened before it is used, and everything is closed together.

    Attributes:
        account: whose servers these are.
        deadline: bounds every wait.
    """

    __slots__ = ("_attachments", "_imap", "account", "deadline")

    def __init__(self, account: Account, deadline: Deadline) -> None:
        self.account = account
        self.deadline = deadline
        self._attachments: Jail | None = None
        self._imap: Session | None = None

    @property
    def imap(self) -> Session:
        """The IMAP server, logged in at the first use.

        Raises:
            ScopeDenied: `not_configured` if the account has none.
            ExecutionError: `unreachable`, `tls`, `timeout`, `connection_lost`, `login_failed`, `settings` or `mail`.
        """
        if self._imap is None:
            from clitool_tools.mail.imap.session import Session

            self._imap = Session(self.account, self.deadline)
        return self._imap

    @property
    def attachments(self) -> Jail:
        """The folder for attachments.

        Raises:
            ScopeDenied: `not_configured` if the account has none.
            ExecutionError: `settings` if it cannot be used.
        """
        if self._attachments is None:
            from clitool.jail import Jail

            self._attachments = Jail(self.account.require_attachments()[0], "attachments_path")
        return self._attachments

    def close(self) -> None:
        """Log out and release the folder."""
        if self._imap is not None:
            self._imap.close()
        if self._attachments is not None:
            self._attachments.close()
