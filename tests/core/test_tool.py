"""The context of a call: what it opens for a tool, it closes, and closing changes no outcome."""

from __future__ import annotations

from typing import Any

import pytest
from contexts import make_context

from clitool.errors import ExecutionError
from clitool.family import Family
from clitool.tool import Context, Deadline


class Connection:
    def __init__(self, name: str, closed: list[str]) -> None:
        self._name = name
        self._closed = closed

    def close(self) -> None:
        self._closed.append(self._name)
        if self._name == "broken":
            raise RuntimeError("password=hunter2")


def context(closed: list[str]) -> Context:
    def connect(_settings: Any, name: str, _deadline: Deadline) -> Connection:
        return Connection(name, closed)

    return make_context(Family(name="thing", tools=[], connect=connect), {})


def test_a_connection_is_opened_once_and_closed_with_the_call() -> None:
    closed: list[str] = []
    one = context(closed)

    assert one.connection("a") is one.connection("a")
    one.connection("b")
    one.close()

    assert sorted(closed) == ["a", "b"]


def test_a_connection_that_cannot_be_closed_keeps_neither_the_others_open_nor_the_result_back() -> None:
    """The log learns of it, without the driver's words; the call's outcome stands already."""
    closed: list[str] = []
    one = context(closed)
    for name in ("a", "broken", "b"):
        one.connection(name)

    one.close()

    assert sorted(closed) == ["a", "b", "broken"]
    logger: Any = one.logger
    assert logger.lines == [("warn", "closing failed: RuntimeError")]


def test_a_family_without_connections_has_none_to_give() -> None:
    with pytest.raises(TypeError):
        make_context(Family(name="thing", tools=[]), {}).connection()


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_a_deadline_that_has_passed_leaves_nothing(seconds: float) -> None:
    deadline = Deadline(seconds)

    assert deadline.remaining() == 0.0
    with pytest.raises(ExecutionError) as caught:
        deadline.check()
    assert caught.value.reason == "timeout"
