"""The context of a call, built the way the core builds it, for tests that drive a tool directly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from clitool.errors import ExecutionError
from clitool.family import Origin
from clitool.settings import _hide
from clitool.state import State
from clitool.tool import Context, Deadline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool.family import Family


class CollectingLogger:
    """Keeps what a tool logs as ``(level, message)`` in `lines`."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def debug(self, message: str) -> None:
        self.lines.append(("debug", message))

    def info(self, message: str) -> None:
        self.lines.append(("info", message))

    def warn(self, message: str) -> None:
        self.lines.append(("warn", message))

    def error(self, message: str) -> None:
        self.lines.append(("error", message))


def no_state() -> NoReturn:
    """Stand for a client without a folder for state."""
    raise ExecutionError("there is no folder for state", "state")


def make_context(
    family: Family,
    settings: Mapping[str, Any],
    *,
    folder: str = "/",
    protected: Sequence[str] = (),
    seconds: float = 60.0,
    state: str | None = None,
) -> Context:
    """Return the context of one call by a client with these settings.

    Args:
        family: its `parse` turns the settings into what the tool sees, its `connect` serves `context.connection()`.
        settings: as in clients.yaml below the family's name; they fit the family's schema.
        folder: where the clients file would lie; relative paths in settings start there.
        protected: paths that no tool may reach.
        seconds: until the deadline.
        state: folder for state; without it there is none.
    """
    hidden = _hide(settings, family.settings_schema)
    parsed = family.parse(hidden, Origin(folder, protected)) if family.parse else hidden
    logger: Any = CollectingLogger()
    return Context(
        client="tester",
        settings=parsed,
        reference="test-reference",
        logger=logger,
        deadline=Deadline(seconds),
        open_state=no_state if state is None else lambda: State(state, "tester", family.name),
        connect=family.connect,
    )
