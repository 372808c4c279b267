"""What became of messages that were given a key: a call that is made again sends nothing again."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from datetime import datetime
from time import time

from clitool.errors import ClitoolError, ExecutionError, InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from clitool.tool import Context, Deadline
    from clitool_tools.mail.outgoing.message import Message

REMEMBERED = 30 * 24 * 3600.0  # seconds
_GRACE = 2.0  # seconds that a process may live after its deadline


class NoEntry:
    """A message without a key: nothing is kept of it."""

    def answer(self) -> dict[str, Any] | None:
        """Return the answer of an earlier call with the same key, or None."""
        return None

    def date(self) -> datetime | None:
        """Return when the message of the earlier call was written, or None."""
        return None

    def begin(self, message_id: str, date: datetime, deadline: Deadline) -> None:
        """Note that the message may be sent from now on."""

    def finish(self, answer: dict[str, Any]) -> None:
        """Note the answer."""

    def begin_copy(self, deadline: Deadline) -> bool:  # noqa: ARG002 - of `Entry`
        """Return whether this call is to file the copy of the message, and no other one until the deadline."""
        return True

    def end(self, *, unknown: bool) -> None:
        """Note that there will be no answer."""


class Entry(NoEntry):
    """The entry of one key: nothing yet, a message on its way, or a first answer.

    It is made just before the content goes to the server, by one process alone, and gets the answer when the server
    has taken it. Found without an answer after its process must have ended, it says that nothing can be said.

    Args:
        context: of the call.
        place: the name of the entry.
        digest: of what the call is to send.
    """

    __slots__ = ("_context", "_digest", "_kept", "_place")

    def __init__(self, context: Context, place: str, digest: str) -> None:
        self._context = context
        self._place = place
        self._digest = digest
        self._kept: dict[str, Any] = {}

    def answer(self) -> dict[str, Any] | None:
        """Return the answer of an earlier call with the same key, or None if none got so far.

        Raises:
            InvalidParams: `key_reused` if the key was for something else.
            ExecutionError: `locked` while another call sends it, `unknown_outcome` if one ended without an answer.
        """
        text = self._context.state.get(self._place)
        if text is None:
            return None
        self._kept = json.loads(text)
        if self._kept["digest"] != self._digest:
            message = "this idempotency_key was used for another message; give each message a key of its own"
            raise InvalidParams(message, "key_reused")
        if self._kept["answer"] is None:
            raise _without_answer(self._kept)
        answer: dict[str, Any] = self._kept["answer"]
        return answer

    def date(self) -> datetime | None:
        """Return when the message of the earlier call was written, or None."""
        return datetime.fromisoformat(self._kept["date"]) if self._kept else None

    def begin(self, message_id: str, date: datetime, deadline: Deadline) -> None:
        """Note that the message may be sent from now on, at most until the deadline.

        Raises:
            ExecutionError: `locked` if another process was faster.
        """
        self._kept = {
            "digest": self._digest,
            "message_id": message_id,
            "date": date.isoformat(),
            "until": time() + deadline.remaining() + _GRACE,
            "answer": None,
        }
        if not self._context.state.put_if_absent(self._place, json.dumps(self._kept), REMEMBERED):
            raise ExecutionError("another call with this idempotency_key is under way; ask again", "locked")

    def finish(self, answer: dict[str, Any]) -> None:
        """Note the answer; if that cannot be done, the message is sent all the same."""
        try:
            self._keep(answer=answer)
        except ClitoolError as error:
            self._context.logger.warn(f"the answer to a sent message cannot be kept: {error}")  # noqa: G004, G010 - not `logging`

    def begin_copy(self, deadline: Deadline) -> bool:
        """Return whether this call is to file the copy of the message, and no other one until the deadline.

        Calls that come while the first one files it would each find none, and file one.
        """
        try:
            return self._context.state.put_if_absent(f"copy {self._place}", "", deadline.remaining() + _GRACE)
        except ExecutionError as error:
            self._context.logger.warn(f"that a copy is being filed cannot be noted: {error}")  # noqa: G004, G010 - not `logging`
            return True

    def end(self, *, unknown: bool) -> None:
        """Note that there will be no answer; unless the outcome is `unknown`, the key is free again."""
        try:
            if unknown:
                self._keep(until=0)
            else:
                self._context.state.delete(self._place)
        except ExecutionError as error:  # the error that brought us here says more
            self._context.logger.warn(f"the end of a message cannot be kept: {error}")  # noqa: G004, G010 - not `logging`

    def _keep(self, **changes: object) -> None:
        self._kept = {**self._kept, **changes}
        self._context.state.set(self._place, json.dumps(self._kept), REMEMBERED)


def find_entry(context: Context, purpose: str, key: str | None, message: Message) -> NoEntry:
    """Return the entry of a caller's key; keys for different purposes are different ones.

    Args:
        context: of the call.
        purpose: the tool and the account.
        key: None if the caller gave none.
        message: what the call is to send, with its attachments.
    """
    if key is None:
        return NoEntry()
    place = f"{purpose} {hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return Entry(context, place, _digest(message))


@contextmanager
def attempt(entry: NoEntry, message_id: str, date: datetime, deadline: Deadline) -> Iterator[None]:
    """Inside, the message is handed over; an error says by its reason whether it may have been sent."""
    entry.begin(message_id, date, deadline)
    try:
        yield
    except ClitoolError as error:
        unknown = error.reason == "unknown_outcome"
        if unknown:
            error.details["message_id"] = message_id
        entry.end(unknown=unknown)
        raise


def _digest(message: Message) -> str:
    people = [[[one.name, str(one)] for one in field] for field in (message.to, message.cc, message.bcc)]
    files = [[file.name, hashlib.sha256(file.data).hexdigest()] for file in message.attachments]
    content = [people, message.subject, message.text, message.html, list(message.references), files]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _without_answer(kept: dict[str, Any]) -> ExecutionError:
    seconds = kept["until"] - time()
    if seconds > 0:
        message = f"another call with this idempotency_key is under way; ask again in {seconds:.0f} seconds"
        return ExecutionError(message, "locked")
    return ExecutionError(
        "an earlier call with this idempotency_key handed the message over and ended before it had the server's answer:"
        " whether it was sent cannot be known, and it was not sent again. Look for its message_id, or use another key"
        " to send it once more",
        "unknown_outcome",
        message_id=kept["message_id"],
    )
