"""What became of messages that were given a key: a call that is made again sends nothing again."""

from __future__ import annotations

import hashlib
import json
from time import time

from clitool.errors import ExecutionError, InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool.state import State
    from clitool.tool import Deadline
    from clitool_tools.mail.outgoing.message import Message

REMEMBERED = 30 * 24 * 3600.0  # seconds
_GRACE = 2.0  # seconds that a process may live after its deadline


class Entry:
    """The entry of one key: nothing yet, a message on its way, or a first answer.

    It is made just before the content goes to the server, by one process alone, and gets the answer when the server
    has taken it. Found without an answer after its process must have ended, it says that nothing can be said.

    Args:
        state: of this client and family.
        purpose: keys of different tools and accounts are different ones.
        key: the caller's.
        digest: of what the call is to send (see `digest`).
    """

    __slots__ = ("_digest", "_place", "_state")

    def __init__(self, state: State, purpose: str, key: str, digest: str) -> None:
        self._state = state
        self._digest = digest
        self._place = f"{purpose} {hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"

    def answer(self) -> dict[str, Any] | None:
        """Return the first call's answer, or None if no call got so far that it may have sent the message.

        Raises:
            InvalidParams: `key_reused` if the key was for something else.
            ExecutionError: `locked` while another call sends it, `unknown_outcome` if one ended without an answer.
        """
        text = self._state.get(self._place)
        if text is None:
            return None
        found = json.loads(text)
        if found["digest"] != self._digest:
            message = "this idempotency_key was used for another message; give each message a key of its own"
            raise InvalidParams(message, "key_reused")
        if found["answer"] is None:
            raise _open(found)
        answer: dict[str, Any] = found["answer"]
        return answer

    def begin(self, message_id: str, deadline: Deadline) -> dict[str, Any] | None:
        """Note that the message may be sent from now on, and return None; or another call's answer, as `answer`."""
        until = time() + deadline.remaining() + _GRACE
        entry = json.dumps({"digest": self._digest, "message_id": message_id, "until": until, "answer": None})
        while not self._state.put_if_absent(self._place, entry, REMEMBERED):
            answer = self.answer()
            if answer is not None:
                return answer
        return None

    def finish(self, message_id: str, answer: dict[str, Any] | None) -> None:
        """Note the answer, or with None that there will be none."""
        entry = {"digest": self._digest, "message_id": message_id, "until": 0, "answer": answer}
        self._state.set(self._place, json.dumps(entry), REMEMBERED)

    def forget(self) -> None:
        """Let the key be free again: the message certainly was not sent."""
        self._state.delete(self._place)


def digest(message: Message) -> str:
    """Return the fingerprint of what a message says and to whom."""
    parts = [
        [[address.name, str(address)] for address in addresses] for addresses in (message.to, message.cc, message.bcc)
    ]
    files = [[file.name, hashlib.sha256(file.data).hexdigest()] for file in message.attachments]
    content = [parts, message.subject, message.text, message.html, list(message.references), files]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _open(found: dict[str, Any]) -> ExecutionError:
    seconds = found["until"] - time()
    if seconds > 0:
        message = f"another call with this idempotency_key is under way; ask again in {seconds:.0f} seconds"
        return ExecutionError(message, "locked")
    return ExecutionError(
        "an earlier call with this idempotency_key handed the message over and ended before it had the server's answer:"
        " whether it was sent cannot be known, and it was not sent again. Look for its message_id, or use another key"
        " to send it once more",
        "unknown_outcome",
        message_id=found["message_id"],
    )
