"""A poll loop: calls whoever waits for a descriptor when something comes there."""

from __future__ import annotations

from select import POLLIN, poll

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Loop:
    """Descriptors, each with what to do when it is ready."""

    def __init__(self) -> None:
        self._poll = poll()
        self._handlers: dict[int, Callable[[], object]] = {}

    def watch(self, descriptor: int, handler: Callable[[], object], events: int = POLLIN) -> None:
        """Call `handler` whenever one of `events` comes, or the descriptor's end; it must not wait for anything."""
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, events)

    def forget(self, descriptor: int) -> None:
        """Watch a descriptor no more; must be done before it is closed."""
        if self._handlers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def turn(self, seconds: float) -> None:
        """Wait until something comes, at most for so long, and have it handled."""
        ready = [(number, self._handlers[number]) for number, _ in self._poll.poll(max(0.0, seconds) * 1000)]
        for descriptor, handler in ready:
            # One that was handled before may have closed it, and another one may have its number by now.
            if self._handlers.get(descriptor) is handler:
                handler()
