"""A tool: one action with one scope and one closed schema; and the context that a call gives it."""

from __future__ import annotations

from time import monotonic

from clitool.errors import ExecutionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ClassVar, Protocol

    from clitool.family import Connection
    from clitool.log import Logger
    from clitool.state import State

    class Tool(Protocol):
        """The shape of a tool class; nothing inherits from it. One instance serves one call.

        `input_schema` is written out and closed; `execute` takes the same names as keyword-only parameters with the
        same defaults. Whatever the tool would touch and whether that is allowed is decided in
        `decide(self, **the same parameters)`, if the tool has it: without effect, so that `clitool explain` can ask;
        `execute` starts by calling it. A tool registers no `atexit` handler: its process ends without them.
        """

        name: ClassVar[str]
        description: ClassVar[str]
        required_scope: ClassVar[str]
        effect: ClassVar[str]  # read | write | delete | send
        idempotent: ClassVar[bool]
        input_schema: ClassVar[Mapping[str, Any]]

        def __init__(self, context: Context) -> None: ...

        @property
        def execute(self) -> Callable[..., Any]:
            """Do it; a property here, since each tool has parameters of its own."""


class Deadline:
    """The moment by which a call must have answered."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds left, never below zero."""
        return max(0.0, self._end - monotonic())

    def check(self) -> None:
        """Raise `ExecutionError` (timeout) if no time is left; for loops of a tool."""
        if not self.remaining():
            raise ExecutionError("the call took too long and was stopped; ask for less or raise --timeout", "timeout")


def close(opened: Connection | State) -> None:
    """Let go of a connection by closing it, as every call does whose process ends with it."""
    opened.close()


class Context:
    """What one call may know and use.

    Attributes:
        client: the client's name.
        settings: what the family's `parse` returned for this client, or the empty mapping.
        reference: names this call in logs, audit and unforeseen errors.
        logger: writes to this family's log; never to stdout.
        deadline: when the call must be over.
        state: durable key/value store of this client and family.
        touches: what `touched` collected for the audit line.
    """

    __slots__ = (
        "_connect",
        "_connections",
        "_let_go",
        "_open_state",
        "_state",
        "client",
        "deadline",
        "logger",
        "reference",
        "settings",
        "touches",
    )

    def __init__(
        self,
        *,
        client: str,
        settings: Any,  # noqa: ANN401 - each family has a settings type of its own
        reference: str,
        logger: Logger,
        deadline: Deadline,
        open_state: Callable[[], State],
        connect: Callable[[Any, str, Deadline], Connection] | None = None,
        let_go: Callable[[Connection], object] = close,
    ) -> None:
        self.client = client
        self.settings = settings
        self.reference = reference
        self.logger = logger
        self.deadline = deadline
        self.touches: dict[str, object] = {}
        self._open_state = open_state
        self._state: State | None = None
        self._connect = connect
        self._let_go = let_go
        self._connections: dict[str, Connection] = {}

    @property
    def state(self) -> State:
        """The store of this client and family; raises `ExecutionError` (state) if there is no folder for it."""
        if self._state is None:
            self._state = self._open_state()
        return self._state

    def connection(self, name: str = "") -> Any:  # noqa: ANN401 - each family has a connection type of its own
        """Return this call's connection called `name`; the core opens it at the first request, and lets it go."""
        if name not in self._connections:
            if self._connect is None:
                raise TypeError("this family declares no connect")
            self._connections[name] = self._connect(self.settings, name, self.deadline)
        return self._connections[name]

    def touched(self, **what: object) -> None:
        """Note for the audit line what the call touches: table, path, number of recipients; never values."""
        self.touches.update(what)

    def close(self) -> None:
        """Let every connection go and close the store, if the call opened them; the core calls it once.

        What cannot be closed is noted in the log: the call's outcome, good or bad, stands already.
        """
        for connection in self._connections.values():
            self._try(self._let_go, connection)
        if self._state is not None:
            self._try(close, self._state)

    def _try(self, end: Callable[[Any], object], opened: Connection | State) -> None:
        try:
            end(opened)
        except Exception as error:  # noqa: BLE001 - a driver may raise anything
            self.logger.warn(f"closing failed: {type(error).__name__}")  # noqa: G004, G010 - not `logging`
