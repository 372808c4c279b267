"""Sending one message: once, within the quota, and with an answer that outlives the process."""

from __future__ import annotations

from clitool_tools.mail.outgoing.ledger import attempt
from clitool_tools.mail.outgoing.quota import counted
from clitool_tools.mail.outgoing.request import require_size, stamp
from clitool_tools.mail.outgoing.thread import whole_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from clitool.tool import Context
    from clitool_tools.mail.outgoing.ledger import NoEntry
    from clitool_tools.mail.outgoing.message import Message
    from clitool_tools.mail.servers import Servers
    from clitool_tools.mail.smtp.session import Refusal


class Delivery:
    """The way of one message to the server.

    Args:
        context: of the call.
        servers: of the account.
        message: what to send, with its attachments.
    """

    __slots__ = ("_context", "_message", "_servers")

    def __init__(self, context: Context, servers: Servers, message: Message) -> None:
        self._context = context
        self._servers = servers
        self._message = message

    def rehearse(self) -> dict[str, Any]:
        """Return what the server says to the envelope, which is withdrawn."""
        message_id, date = stamp(self._message)
        refusals = self._offer(self._message.write(message_id, date))
        self._servers.smtp.withdraw()
        return self._answer(None, refusals)

    def send(self, entry: NoEntry) -> dict[str, Any]:
        """Send the message and return the answer; if `entry` has a first answer, return that.

        Raises:
            ExecutionError: `unknown_outcome` if it may have been sent; with every other error it was not.
        """
        earlier = entry.answer()
        if earlier is not None:
            return earlier if earlier["sent_copy"] else self._complete(earlier, entry)
        message_id, date = stamp(self._message)
        data = self._write(message_id, date)
        with counted(self._context, self._servers.account):
            refusals = self._offer(data)
            with attempt(entry, message_id, date, self._context.deadline):
                self._servers.smtp.transmit(data)
        answer = self._answer(message_id, refusals)
        entry.finish(answer)
        return self._with_copy(answer, data, entry)

    def _write(self, message_id: str, date: datetime) -> bytes:
        message = self._message
        message.references = whole_thread(self._context, self._servers.account, message.references)
        return message.write(message_id, date)

    def _offer(self, data: bytes) -> list[Refusal]:
        require_size(self._servers.account, data)
        message = self._message
        utf8 = message.needs_smtputf8
        return self._servers.smtp.offer(message.sender, message.recipients, len(data), utf8=utf8)

    def _complete(self, answer: dict[str, Any], entry: NoEntry) -> dict[str, Any]:
        """File the copy that a call which sent the message did not come to file."""
        date = entry.date() or stamp(self._message)[1]
        return self._with_copy(answer, self._write(answer["message_id"], date), entry)

    def _with_copy(self, answer: dict[str, Any], data: bytes, entry: NoEntry) -> dict[str, Any]:
        from clitool_tools.mail.outgoing.sent import file_copy, not_saved

        if not entry.begin_copy(self._context.deadline):
            return {**answer, "sent_copy": not_saved("another call with this idempotency_key is filing it")}
        try:
            copy = file_copy(self._servers, data, answer["message_id"])
        except Exception as error:  # noqa: BLE001 - whatever it is, the message is sent, and the answer says so
            self._context.logger.error(f"filing a copy failed: {error!r}")  # noqa: G004, TRY400 - not `logging`
            copy = not_saved("a fault of this program; its log says more")
        whole = {**answer, "sent_copy": copy}
        entry.finish(whole)
        return whole

    def _answer(self, message_id: str | None, refusals: Sequence[Refusal]) -> dict[str, Any]:
        refused = {refusal.address for refusal in refusals}
        return {
            "message_id": message_id,
            "accepted": [str(address) for address in self._message.recipients if str(address) not in refused],
            "refused": [
                {"address": refusal.address, "code": refusal.reply.code, "message": refusal.reply.words}
                for refusal in refusals
            ],
            "sent_copy": None,
            "dry_run": message_id is None,
        }
