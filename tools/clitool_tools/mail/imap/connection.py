"""Commands and what comes back for them, over one connection."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.mail.faults import explained, trouble
from clitool_tools.mail.imap.reader import MOST_BYTES, Reader
from clitool_tools.mail.imap.response import Response
from clitool_tools.mail.imap.syntax import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from clitool_tools.mail.imap.response import Value
    from clitool_tools.mail.imap.syntax import Word
    from clitool_tools.mail.wire import Wire


class Answer:
    """What a command brought.

    Attributes:
        responses: the untagged ones, in their order; some may be about other things.
        end: the last one, with the tag of the command: OK, NO or BAD.
    """

    __slots__ = ("end", "responses")

    def __init__(self, end: Response, responses: list[Response]) -> None:
        self.end = end
        self.responses = responses

    @property
    def ok(self) -> bool:
        """Whether the server did it."""
        return self.end.kind == b"OK"

    def of(self, kind: bytes) -> Iterator[Response]:
        """Yield the untagged responses of this kind."""
        return (response for response in self.responses if response.kind == kind)

    def code(self, word: bytes) -> list[Value] | None:
        """Return the arguments of a response code, wherever it stands, or None."""
        for response in (self.end, *self.responses):
            found, arguments = response.code
            if found == word:
                return arguments
        return None


class Connection:
    """The conversation with a server; one command at a time.

    Attributes:
        capabilities: what the server said last that it can do, in upper case; empty if it has said nothing yet.
        in_step: whether the last answer was read to its end; if not, what comes next belongs to it.
        wire: what it goes over.
    """

    __slots__ = ("_count", "_reader", "capabilities", "in_step", "wire")

    def __init__(self, wire: Wire) -> None:
        self.capabilities: frozenset[bytes] = frozenset()
        self.in_step = True
        self.wire = wire
        self._reader = Reader(wire)
        self._count = 0

    def greeting(self) -> Response:
        """Return the first thing that the server says.

        Raises:
            ExecutionError: it says nothing (timeout), or what no IMAP server says (unreachable).
        """
        response = Response(self._reader.response(MOST_BYTES, "greeting"))
        if response.tag != b"*" or response.kind not in (b"OK", b"PREAUTH", b"BYE"):
            message = f"{self.wire.endpoint} does not speak IMAP; check imap_host and imap_port"
            raise ExecutionError(message, "unreachable")
        self._learn(response)
        return response

    def encrypt(self, tls_ca: str | None) -> None:
        """Speak TLS from here on; whatever came before is forgotten, since anybody may have put it there."""
        self.wire.start_tls(tls_ca)
        self._reader = Reader(self.wire)
        self.capabilities = frozenset()

    def run(self, *words: Word, keep: int = MOST_BYTES, respond: Callable[[bytes], bytes] | None = None) -> Answer:
        """Send a command and return its answer, whether OK, NO or BAD.

        Args:
            words: of the command; see `clitool_tools.mail.imap.syntax`.
            keep: bytes of each literal in the answer that are kept.
            respond: what to say to a challenge of the server; without it there is none.

        Raises:
            ExecutionError: the connection or the server fails (connection_lost, timeout, mail).
        """
        tag, parts = self._written(words)
        self._begin()
        responses: list[Response] = []
        for part in parts:
            self._send(part)
            response = self._read(tag, responses, keep)
            while response.tag == b"+" and part is parts[-1] and respond is not None:
                self._send(respond(response.pieces[0]) + b"\r\n")
                response = self._read(tag, responses, keep)
            if response.tag == tag:
                self.in_step = True
                return Answer(response, responses)
        raise self._nonsense()

    def run_all(self, commands: Iterable[Sequence[Word]]) -> list[Answer]:
        """Send several commands without literals at once, and return their answers: one round trip for all."""
        sent = [self._written(words) for words in commands]
        self._begin()
        self._send(b"".join(part for _, (part,) in sent))
        answers = []
        for tag, _ in sent:
            responses: list[Response] = []
            end = self._read(tag, responses, MOST_BYTES)
            if end.tag != tag:
                raise self._nonsense()
            answers.append(Answer(end, responses))
        self.in_step = True
        return answers

    def tell(self, *words: Word) -> None:
        """Send a command without literals whose outcome does not matter; the next one does not wait for it."""
        _, (part,) = self._written(words)
        self._send(part)

    def close(self) -> None:
        """End the connection."""
        self.wire.close()

    def _written(self, words: Sequence[Word]) -> tuple[bytes, list[bytes]]:
        self._count += 1
        tag = b"T%d" % self._count
        return tag, written(tag, words)

    def _begin(self) -> None:
        self._reader.begin()
        self.in_step = False

    def _send(self, data: bytes) -> None:
        with explained(self.wire.endpoint, "talk"):
            self.wire.sendall(data)

    def _read(self, tag: bytes, responses: list[Response], keep: int) -> Response:
        """Read up to the end of the command or the next request for more; put what comes before into `responses`."""
        while True:
            response = Response(self._reader.response(keep))
            self._learn(response)
            if response.tag in (tag, b"+"):
                return response
            if response.tag == b"*":  # else it ends a command that nobody waits for
                if response.kind == b"BYE":  # its words are not passed on: they might repeat a password
                    raise trouble(EOFError(), self.wire.endpoint, "talk")
                responses.append(response)

    def _learn(self, response: Response) -> None:
        """Take note of capabilities, wherever the server lists them."""
        word, arguments = response.code
        if response.kind == b"CAPABILITY":
            arguments = response.values()
        elif word != b"CAPABILITY":
            return
        self.capabilities = frozenset(word.upper() for word in arguments if isinstance(word, bytes))

    def _nonsense(self) -> ExecutionError:
        return ExecutionError(f"{self.wire.endpoint} does not keep to the rules of IMAP", "mail")
