"""The command line of `list`, `verify` and `call`, read by hand: hosts start them all day and never misspell them.

Everything else on the command line belongs to people and to Typer (cli.py).
"""

from __future__ import annotations

from clitool.errors import ClitoolError, InvalidParams, ToolNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from clitool.errors import AuthFailed
    from clitool.tokens import TokenLine

COMMANDS = ("list", "verify", "call")
DEFAULT_TIMEOUT = 8.0  # hosts kill at 10
MAX_TIMEOUT = 3600.0

# option -> (attribute, whether a value follows)
_GLOBAL = {
    "--clients": ("clients", True),
    "--empty-token-client": ("empty_token_client", True),
    "--timeout": ("timeout", True),
    "--trust-file": ("trust_file", False),
    "--pretty": ("pretty", False),
    "-v": ("verbose", False),
    "--verbose": ("verbose", False),
}
_TOKEN = {"--token-stdin": ("token_stdin", False), "--token-file": ("token_file", True)}
_LOCAL: dict[str, dict[str, tuple[str, bool]]] = {
    "list": {},
    "verify": _TOKEN,
    "call": {**_TOKEN, "--params": ("params", True)},
}
_HELP = ("--help", "-h")


class Request:
    """What a machine asks for, with every option at its default.

    Attributes, besides the options:
        words: what it was read from.
        token_line: what was read of the token already, or why it could not be; None if nobody tried.
    """

    def __init__(self, command: str = "", words: Sequence[str] = ()) -> None:
        self.words = words
        self.token_line: TokenLine | AuthFailed | None = None
        self.command = command
        self.tool = ""
        self.clients: str | None = None
        self.empty_token_client: str | None = None
        self.timeout = DEFAULT_TIMEOUT
        self.trust_file = False
        self.pretty = False
        self.verbose = False
        self.token_stdin = False
        self.token_file: str | None = None
        self.params: str | None = None


class UsageError(Exception):
    """The command line is wrong.

    Attributes:
        request: what was understood of it; names the command.
        error: what to answer.
    """

    def __init__(self, request: Request, error: ClitoolError) -> None:
        super().__init__(str(error))
        self.request = request
        self.error = error


def parse(words: Sequence[str]) -> Request | None:
    """Return the request that `words` (without the program) spell, or None if they are not for machines.

    Raises:
        UsageError: one of the three commands, wrongly written.
    """
    request = Request(words=words)
    reader = _Reader(words, request)
    reader.options(_GLOBAL)
    reader.end_of_options()
    request.command = reader.next_word() or ""
    if request.command not in COMMANDS:
        return None
    if request.command == "call":
        reader.tool(_LOCAL["call"])
    reader.options(_LOCAL[request.command])
    if reader.wants_help:
        return None
    reader.finish()
    if reader.problem is not None:
        raise UsageError(request, reader.problem)
    return request


class _Reader:
    """Walks over the words once; keeps the first problem until it is known whether it is ours to report."""

    def __init__(self, words: Sequence[str], request: Request) -> None:
        self._words = list(words)
        self._request = request
        self._seen: set[str] = set()
        self.problem: ClitoolError | None = None
        self.wants_help = False

    def next_word(self) -> str | None:
        return self._words.pop(0) if self._words else None

    def options(self, known: dict[str, tuple[str, bool]]) -> None:
        while self._words and self._words[0].startswith("-") and self._words[0] not in ("-", "--"):
            self._option(self._words.pop(0), known)

    def end_of_options(self) -> None:
        """Take in the `--` that says that no option follows."""
        if self._words[:1] == ["--"]:
            self._words.pop(0)

    def tool(self, known: dict[str, tuple[str, bool]]) -> None:
        # The first word is the tool even if it begins with a dash, unless it is one of our options.
        while self._words and self._words[0].partition("=")[0] in (*known, *_HELP):
            self._option(self._words.pop(0), known)
        self.end_of_options()
        tool = self.next_word()
        if tool is None and not self.wants_help:
            self._fail(ToolNotFound("name the tool: clitool call TOOL --token-stdin --params JSON"))
        self._request.tool = tool or ""

    def finish(self) -> None:
        if self._words:
            self._usage("there is a word too many after the command; parameters go into --params")
        if self._request.token_stdin and self._request.token_file is not None and self._request.command == "call":
            self._usage("give either --token-stdin or --token-file")

    def _option(self, word: str, known: dict[str, tuple[str, bool]]) -> None:
        option, equals, value = word.partition("=")
        if option in _HELP:
            self.wants_help = True
        elif option not in known:
            self._unknown(option, known)
        else:
            if option in self._seen:
                self._usage(f"{option} is given twice")
            self._seen.add(option)
            self._set(option, known[option], value if equals else None)

    def _set(self, option: str, how: tuple[str, bool], value: str | None) -> None:
        attribute, takes_value = how
        if not takes_value:
            if value is not None:
                self._usage(f"{option} takes no value")
            setattr(self._request, attribute, True)
            return
        if value is None:
            value = self.next_word()
        if value is None:
            self._usage(f"{option} needs a value")
        elif attribute == "timeout":
            self._timeout(value)
        else:
            setattr(self._request, attribute, value)

    def _timeout(self, text: str) -> None:
        try:
            seconds = float(text)
        except ValueError:
            seconds = 0.0
        if 0.0 < seconds <= MAX_TIMEOUT:
            self._request.timeout = seconds
        else:
            self._usage(f"--timeout takes seconds, more than 0 and at most {MAX_TIMEOUT:g}")

    def _unknown(self, option: str, known: dict[str, tuple[str, bool]]) -> None:
        if option in _GLOBAL:
            self._usage(f"{option} goes before the command: clitool {option} … {self._request.command}")
            return
        if option in _LOCAL["call"] and not self._request.command:
            self._usage(f"{option} goes after the command")
            return
        from difflib import get_close_matches

        near = get_close_matches(option, list(known), 1)
        # Only what looks like an option's name is repeated: a value, or a token glued to it, may be a secret.
        is_name = len(option) <= 24 and all(c.islower() or c == "-" for c in option)
        named = f"unknown option {option!r}" if is_name else "there is an unknown option"
        self._usage(named + (f"; did you mean {near[0]}?" if near else ""))

    def _usage(self, message: str) -> None:
        self._fail(InvalidParams(message, "usage"))

    def _fail(self, error: ClitoolError) -> None:
        self.problem = self.problem or error
