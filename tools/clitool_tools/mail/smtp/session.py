"""A session with a submission server: from the greeting to the moment when a message is its own."""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.mail.endpoint import STARTTLS
from clitool_tools.mail.smtp.dialogue import Dialogue, Reply
from clitool_tools.mail.smtp.login import log_in
from clitool_tools.mail.wire import dial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool.errors import ClitoolError
    from clitool.tool import Deadline
    from clitool_tools.mail.account import Account
    from clitool_tools.mail.address import Address

_HELLO = "EHLO [127.0.0.1]"  # RFC 5321, 4.1.3; a name would have to be looked up, and would say where we are
_START_CONTENT = 354


class Refusal:
    """A recipient that the server does not take.

    Attributes:
        address: as in the envelope.
        reply: why; text from outside.
    """

    __slots__ = ("address", "reply")

    def __init__(self, address: str, reply: Reply) -> None:
        self.address = address
        self.reply = reply


class Session:
    """Logged in and ready for an envelope.

    Attributes:
        features: what the server offers, in capitals, with the arguments (``SIZE`` -> ``10485760``).
        wire: for what the certificate says.
    """

    __slots__ = ("_dialogue", "_server", "features", "wire")

    def __init__(self, account: Account, deadline: Deadline) -> None:
        self._server, credentials = account.require_smtp()
        self.wire = dial(self._server, account.tls_ca, deadline)
        self.features: Mapping[str, str] = {}
        try:
            self._dialogue = Dialogue(self.wire)
            self._begin(account.tls_ca)
            log_in(self._dialogue, frozenset(self.features.get("AUTH", "").upper().split()), credentials, deadline)
        except BaseException:
            self.wire.close()
            raise

    def close(self) -> None:
        """Say goodbye without waiting for the answer, and hang up."""
        try:
            self._dialogue.send(b"QUIT\r\n")
        except ExecutionError:
            pass  # the server has gone already
        finally:
            self.wire.close()

    @property
    def most_bytes(self) -> int:
        """How large a message may be; 0 if the server does not say (RFC 1870)."""
        limit = self.features.get("SIZE", "")
        return int(limit) if limit.isascii() and limit.isdecimal() and len(limit) < 20 else 0

    def offer(self, sender: Address, recipients: Sequence[Address], size: int, *, utf8: bool) -> list[Refusal]:
        """Begin a message: its envelope and size.

        Args:
            sender: for MAIL FROM.
            recipients: for RCPT TO, each one.
            size: bytes of the message.
            utf8: whether header or envelope leave ASCII (RFC 6531).

        Returns:
            the recipients that the server refuses; the message may go to the others.

        Raises:
            ExecutionError: `smtputf8_unavailable`, or `refused` if it refuses sender or all recipients.
            InvalidParams: `too_large` for this server.
        """
        self._require_fitting(size, utf8=utf8)
        commands = [self._mail_from(sender, size, utf8=utf8), *(f"RCPT TO:<{address}>" for address in recipients)]
        mail, *replies = self._dialogue.ask_all(commands, at_once="PIPELINING" in self.features)
        if not mail.good:
            raise self._refused(f"does not take mail from {str(sender)!r} (setting from)", mail)
        pairs = zip(recipients, replies, strict=True)
        refusals = [Refusal(str(address), reply) for address, reply in pairs if not reply.good]
        if refusals and len(refusals) == len(recipients):
            raise self._all_refused(refusals)
        return refusals

    def try_sender(self, sender: Address) -> Reply:
        """Return what the server says to mail from `sender`; nothing is sent."""
        reply = self._dialogue.ask(self._mail_from(sender, 0, utf8=sender.needs_smtputf8))
        self.withdraw()
        return reply

    def withdraw(self) -> None:
        """Forget the envelope that was offered; nothing is sent."""
        self._dialogue.ask("RSET")

    def transmit(self, data: bytes) -> None:
        """Hand the message over to the recipients that were accepted.

        Args:
            data: with CRLF line ends alone.

        Raises:
            ExecutionError: `unknown_outcome` if all of it was handed over but no answer came; with every other reason
                the message certainly was not sent.
        """
        reply = self._dialogue.ask("DATA")
        if reply.code != _START_CONTENT:
            raise self._refused("does not take the message", reply)
        content = (b"." if data.startswith(b".") else b"") + data.replace(b"\r\n.", b"\r\n..")
        self._dialogue.send(content.removesuffix(b"\r\n") + b"\r\n.\r\n")
        reply = self._verdict()
        if not reply.good:
            raise self._refused("does not take the message", reply)

    def _begin(self, tls_ca: str | None) -> None:
        greeting = self._dialogue.reply("greeting")
        if not greeting.good:
            raise self._refused("does not talk to this machine", greeting)
        self.features = self._hello()
        if self._server.tls != STARTTLS:
            return
        if "STARTTLS" not in self.features:
            raise ExecutionError(f"{self._server} offers no STARTTLS; set smtp_tls: implicit if it has a port", "tls")
        reply = self._dialogue.ask("STARTTLS")
        if not reply.good:
            raise ExecutionError(f"{self._server} does not start TLS: {reply}", "tls")
        self._dialogue.start_tls(tls_ca)
        self.features = self._hello()

    def _hello(self) -> dict[str, str]:
        reply = self._dialogue.ask(_HELLO)
        if not reply.good:
            raise self._refused("does not say what it can do", reply)
        words = [line.partition(" ") for line in reply.lines[1:]]
        return {word.upper(): arguments for word, _, arguments in words}

    def _require_fitting(self, size: int, *, utf8: bool) -> None:
        if utf8 and "SMTPUTF8" not in self.features:
            message = f"{self._server} takes no address with letters beyond ASCII before the '@' (SMTPUTF8)"
            raise ExecutionError(message, "smtputf8_unavailable")
        limit = self.most_bytes
        if limit and limit < size:
            raise InvalidParams(f"the message has {size} bytes; {self._server} takes at most {limit}", "too_large")

    def _mail_from(self, sender: Address, size: int, *, utf8: bool) -> str:
        command = f"MAIL FROM:<{sender}>"
        if "SIZE" in self.features and size:
            command += f" SIZE={size}"
        if utf8:
            command += " BODY=8BITMIME SMTPUTF8"  # RFC 6531, 3.1: whoever offers the one offers the other
        return command

    def _verdict(self) -> Reply:
        try:
            reply = self._dialogue.reply()
        except ExecutionError as error:
            raise self._unknown(str(error)) from error
        if reply.good or 400 <= reply.code < 600:
            return reply
        raise self._unknown(str(reply))

    def _unknown(self, why: str) -> ExecutionError:
        message = (
            f"{self._server} got the whole message but did not say whether it took it ({why}); "
            "whether it was sent cannot be known"
        )
        return ExecutionError(message, "unknown_outcome")

    def _all_refused(self, refusals: Sequence[Refusal]) -> ClitoolError:
        first = refusals[0]
        others = f" and {len(refusals) - 1} more" if len(refusals) > 1 else ""
        return self._refused(f"does not take mail for {first.address!r}{others}", first.reply)

    def _refused(self, what: str, reply: Reply) -> ExecutionError:
        return ExecutionError(f"{self._server} {what}: {reply}", "refused", code=reply.code)
