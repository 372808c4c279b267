"""Filing one message as a draft."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.mail.outgoing.ledger import attempt
from clitool_tools.mail.outgoing.request import require_size, stamp
from clitool_tools.mail.outgoing.thread import whole_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from clitool.tool import Context
    from clitool_tools.mail.outgoing.ledger import NoEntry
    from clitool_tools.mail.outgoing.message import Message
    from clitool_tools.mail.servers import Servers


class Draft:
    """The way of one message into the folder for drafts; takes what `Delivery` takes."""

    __slots__ = ("_context", "_message", "_servers")

    def __init__(self, context: Context, servers: Servers, message: Message) -> None:
        self._context = context
        self._servers = servers
        self._message = message

    def rehearse(self) -> dict[str, Any]:
        """Return where the draft would go."""
        self._written(*stamp(self._message))
        return self._answer(None, self._folder(), None)

    def file(self, entry: NoEntry) -> dict[str, Any]:
        """File the draft and return the answer; if `entry` has a first answer, return that.

        Raises:
            ExecutionError: `unknown_outcome` if it may have been filed; with every other error it was not.
        """
        earlier = entry.answer()
        if earlier is not None:
            return earlier
        self._message.references = whole_thread(self._context, self._servers.account, self._message.references)
        message_id, date = stamp(self._message)
        data = self._written(message_id, date)
        folder = self._folder()
        with attempt(entry, message_id, date, self._context.deadline):
            uid = self._servers.imap.append(folder, data, rb"\Draft \Seen")
        answer = self._answer(message_id, folder, uid)
        entry.finish(answer)
        return answer

    def _written(self, message_id: str, date: datetime) -> bytes:
        data = self._message.write(message_id, date, show_bcc=True)
        require_size(self._servers.account, data)
        return data

    def _folder(self) -> str:
        folder = self._servers.imap.special_use("drafts")
        if folder is None:
            raise ExecutionError("the account has no folder for drafts; make one called Drafts", "not_found")
        return folder.name

    def _answer(self, message_id: str | None, folder: str, uid: int | None) -> dict[str, Any]:
        permit = self._servers.account.recipients.permit
        return {
            "message_id": message_id,
            "folder": folder,
            "uid": uid,
            "not_allowed": [str(address) for address in self._message.recipients if not permit(address)],
            "dry_run": message_id is None,
        }
