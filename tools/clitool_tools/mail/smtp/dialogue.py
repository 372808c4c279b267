"""Commands to the server and its replies, one at a time or several at once."""

from __future__ import annotations

from clitool.errors import ExecutionError, one_line
from clitool_tools.mail.faults import explained, trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from clitool_tools.mail.wire import Wire

_LONGEST_LINE = 8192  # bytes; RFC 5321, 4.5.3.1.5 has 512
_MOST_LINES = 200
_AT_ONCE = 100  # commands; who sends more without reading may wait for a server that waits in turn (RFC 2920, 3.1)
_SHOWN = 200  # characters of a server's words in a sentence of ours


class Reply:
    """What the server said to one command.

    Attributes:
        code: three digits.
        lines: its words, line by line; text from outside.
    """

    __slots__ = ("code", "lines")

    def __init__(self, code: int, lines: Sequence[str]) -> None:
        self.code = code
        self.lines = lines

    @property
    def good(self) -> bool:
        """Whether the command was carried out."""
        return 200 <= self.code < 300

    @property
    def words(self) -> str:
        """What it said, on one line and bounded."""
        words = one_line(" ".join(self.lines))
        return words if len(words) <= _SHOWN else words[:_SHOWN] + "…"

    def __str__(self) -> str:
        return f"{self.code} {self.words}".rstrip()

    @property
    def status(self) -> str:
        """The code and, if the words begin with one, the enhanced code (RFC 3463): no other word of the server's."""
        first = self.lines[0].partition(" ")[0] if self.lines else ""
        parts = first.split(".")
        enhanced = len(parts) == 3 and all(part.isdecimal() and len(part) <= 3 for part in parts)
        return f"{self.code} {first}" if enhanced else str(self.code)


class Dialogue:
    """The lines that go to and fro."""

    __slots__ = ("_reader", "wire")

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self._reader = wire.makefile()

    def reply(self, doing: str = "talk") -> Reply:
        """Return the next reply.

        Raises:
            ExecutionError: `connection_lost`, `timeout`, or `unreachable` if this is not SMTP.
        """
        lines: list[str] = []
        while len(lines) < _MOST_LINES:
            line = self._line(doing)
            code, mark, text = line[:3], line[3:4], line[4:]
            if not (code.isascii() and code.isdecimal()) or mark not in ("", " ", "-"):
                break
            lines.append(text)
            if mark != "-":
                return Reply(int(code), lines)
        endpoint = self.wire.endpoint
        raise ExecutionError(f"{endpoint} does not speak SMTP; check smtp_host and smtp_port", "unreachable")

    def ask(self, command: str) -> Reply:
        """Send one command, which holds no line break, and return its reply."""
        return self.ask_all([command], at_once=False)[0]

    def ask_all(self, commands: Sequence[str], *, at_once: bool) -> list[Reply]:
        """Send several commands and return their replies; `at_once` if the server has PIPELINING (RFC 2920)."""
        size = _AT_ONCE if at_once else 1
        replies: list[Reply] = []
        for start in range(0, len(commands), size):
            some = commands[start : start + size]
            self._send(some)
            replies += [self.reply() for _ in some]
        return replies

    def send(self, data: bytes) -> None:
        """Send bytes as they are; when it returns, all of them are on their way."""
        with explained(self.wire.endpoint, "talk"):
            self.wire.sendall(data)

    def start_tls(self, tls_ca: str | None) -> None:
        """Encrypt from here on; what came before is forgotten, since anybody may have put it there."""
        self.wire.start_tls(tls_ca)
        self._reader = self.wire.makefile()

    def _send(self, commands: Sequence[str]) -> None:
        self.send("".join(f"{command}\r\n" for command in commands).encode())

    def _line(self, doing: str) -> str:
        with explained(self.wire.endpoint, doing):
            line = self._reader.readline(_LONGEST_LINE)
        if line.endswith(b"\n"):
            return line.decode("utf-8", "replace").rstrip("\r\n")
        if len(line) < _LONGEST_LINE:
            raise trouble(EOFError(), self.wire.endpoint, doing)
        return ""  # without an end, so that it is no reply
