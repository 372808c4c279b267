"""Connections that outlive their call: for the same client and settings only, and only if they say that they can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from command import client, write_clients
from resident_world import OTHER_TOKEN, until

from clitool import kept_connections
from clitool.family import Family
from clitool.kept_connections import KeptConnections
from clitool.settings import Settings
from clitool.tool import Deadline

if TYPE_CHECKING:
    from pathlib import Path

    from resident_world import World


class Connection:
    """One that can be kept."""

    def __init__(self, name: str, deadline: Deadline) -> None:
        self.name = name
        self.deadline = deadline
        self.closed = 0
        self.parks: Any = True
        self.resumes: Any = True

    def park(self) -> bool:
        return self._say(self.parks)

    def resume(self, deadline: Deadline) -> bool:
        self.deadline = deadline
        return self._say(self.resumes)

    def close(self) -> None:
        self.closed += 1

    def _say(self, what: Any) -> bool:
        if isinstance(what, Exception):
            raise what
        return bool(what)


class Plain:
    """One that cannot."""

    closed = 0

    def __init__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        self.closed += 1


FAMILY = Family(name="a", tools=[], connect=lambda _, name, deadline: Connection(name, deadline))
SETTINGS = Settings({}, ("/folder", {"password": "x"}))


def use(
    kept: KeptConnections,
    *,
    who: str = "anna",
    family: Family = FAMILY,
    settings: Settings = SETTINGS,
    name: str = "",
) -> Any:
    """Return the connection of one call, which has let it go."""
    connect, let_go = kept.ways(who, family, settings)
    assert connect
    connection = connect(settings.value, name, Deadline(5))
    let_go(connection)
    kept.settle()
    return connection


@pytest.fixture
def kept() -> KeptConnections:
    return KeptConnections()


def test_the_next_call_has_the_same_connection_under_its_own_deadline(kept: KeptConnections) -> None:
    first = use(kept)
    deadline = first.deadline

    assert use(kept) is first
    assert first.deadline is not deadline
    assert first.closed == 0
    assert len(kept) == 1


OTHERS = [
    pytest.param({"who": "berta"}, id="another client"),
    pytest.param({"family": Family(name="b", tools=[], connect=FAMILY.connect)}, id="another family"),
    pytest.param({"name": "crm"}, id="another connection of it"),
    pytest.param({"settings": Settings({}, ("/folder", {"password": "y"}))}, id="another password"),
    pytest.param({"settings": Settings({}, ("/elsewhere", {"password": "x"}))}, id="another clients file"),
    pytest.param({"settings": Settings({}, ("/folder", {"password": "x", "host": "y"}))}, id="another host"),
]


@pytest.mark.parametrize("other", OTHERS)
def test_nothing_else_has_it(kept: KeptConnections, other: dict[str, Any]) -> None:
    """A login serves only for exactly what it was made for."""
    first = use(kept)

    assert use(kept, **other) is not first
    assert use(kept) is first
    assert len(kept) == 2


@pytest.mark.parametrize("answer", [False, OSError(), None])
@pytest.mark.parametrize("step", ["parks", "resumes"])
def test_one_that_is_not_sure_of_itself_is_closed(kept: KeptConnections, step: str, answer: Any) -> None:
    connect, let_go = kept.ways("anna", FAMILY, SETTINGS)
    assert connect
    first: Any = connect({}, "", Deadline(5))
    setattr(first, step, answer)
    let_go(first)

    assert use(kept) is not first
    assert first.closed == 1


def test_one_that_cannot_be_kept_is_closed_with_its_call(kept: KeptConnections) -> None:
    plain = Family(name="a", tools=[], connect=Plain)

    assert use(kept, family=plain).closed == 1
    assert len(kept) == 0


def test_a_family_without_connections_has_none_here_either(kept: KeptConnections) -> None:
    assert kept.ways("anna", Family(name="a", tools=[]), SETTINGS)[0] is None


@pytest.mark.parametrize("limit", ["IDLE_SECONDS", "MAX_AGE"])
def test_one_that_has_waited_or_lived_for_long_is_closed(
    kept: KeptConnections, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = use(kept)
    assert 0 < (kept.close_idle() or 0) <= kept_connections.IDLE_SECONDS
    monkeypatch.setattr(kept_connections, limit, 0.0)

    assert kept.close_idle() is None
    assert (first.closed, len(kept)) == (1, 0)


def test_as_many_are_kept_as_one_process_may_have(kept: KeptConnections) -> None:
    opened = [use(kept, name=str(number)) for number in range(kept_connections.MAX_CONNECTIONS + 2)]

    assert len(kept) == kept_connections.MAX_CONNECTIONS
    assert [connection.closed for connection in opened[:3]] == [1, 1, 0]


def test_a_call_that_comes_before_that_has_what_the_last_one_let_go(kept: KeptConnections) -> None:
    connect, let_go = kept.ways("anna", FAMILY, SETTINGS)
    assert connect
    first: Any = connect({}, "", Deadline(5))
    let_go(first)

    assert use(kept) is first


def test_what_was_let_go_and_not_parked_is_closed_in_the_end(kept: KeptConnections) -> None:
    connect, let_go = kept.ways("anna", FAMILY, SETTINGS)
    assert connect
    first: Any = connect({}, "", Deadline(5))
    let_go(first)

    kept.close()

    assert (first.closed, len(kept)) == (1, 0)


def test_all_are_closed_in_the_end_even_if_one_does_not_like_it(kept: KeptConnections) -> None:
    first, second = use(kept), use(kept, name="x")
    first.close = lambda: 1 / 0

    kept.close()

    assert (second.closed, len(kept)) == (1, 0)


# Through the resident worker.


@pytest.fixture
def settled(world: World) -> World:
    _write(world, "${SECRET:-none}")
    return world


def _write(world: World, secret: str) -> Path:
    anna = client("habits:use", tools={"habits": {"secret": secret}})
    return write_clients(
        world.clients.parent, {"clients": {"anna": anna, "berta": client("habits:use", token=OTHER_TOKEN)}}
    )


def connected(world: World, **more: Any) -> dict[str, Any]:
    params = {key: more.pop(key) for key in ("which", "fail") if key in more}
    document = world.call("habits_connect", params=params, **more).document
    assert until(lambda: world.status()["under_way"] == 0)
    result: dict[str, Any] = document.get("result", document)
    return result


def test_a_connection_is_kept_from_call_to_call(settled: World) -> None:
    calls = [connected(settled) for _ in range(3)]

    assert [call["calls"] for call in calls] == [1, 2, 3]
    assert {call["number"] for call in calls} == {1}
    assert all(call["remaining"] for call in calls)


def test_cold_calls_keep_nothing(settled: World) -> None:
    assert [connected(settled, cold=True)["calls"] for _ in range(2)] == [1, 1]


def test_a_client_never_has_the_connection_of_another(settled: World) -> None:
    """Not even if both have the same settings."""
    connected(settled)

    assert connected(settled, token=OTHER_TOKEN)["calls"] == 1
    assert connected(settled)["calls"] == 2


def test_what_a_reference_means_now_decides_about_the_connection(settled: World, tmp_path: Path) -> None:
    """A changed variable, secret file or clients file never meets an old login."""
    assert connected(settled, env={"SECRET": "one"})["secret"] == "one"
    assert connected(settled, env={"SECRET": "two"})["secret"] == "two"
    assert connected(settled)["secret"] == "none"
    assert connected(settled, env={"SECRET": "one"})["calls"] == 2

    (tmp_path / "secret").write_text("first")
    _write(settled, f"${{file:{tmp_path}/secret}}")
    assert login(settled) == ["first", 1]
    (tmp_path / "secret").write_text("second")
    assert login(settled) == ["second", 1]
    _write(settled, "third")
    assert login(settled) == ["third", 1]


def login(world: World) -> list[Any]:
    result = connected(world)
    return [result["secret"], result["calls"]]


@pytest.mark.parametrize("fail", ["park", "park raises", "resume", "resume raises"])
def test_a_connection_that_fails_in_between_is_opened_anew(settled: World, fail: str) -> None:
    pid = connected(settled, fail=fail)["pid"]

    again = connected(settled)

    assert (again["pid"], again["calls"], again["number"]) == (pid, 1, 2)


def test_after_an_unforeseen_error_neither_process_nor_connection_goes_on(settled: World) -> None:
    pid = connected(settled)["pid"]
    assert connected(settled, fail="raise")["code"] == "execution_error"

    again = connected(settled)

    assert again["pid"] != pid
    assert (again["calls"], again["number"]) == (1, 1)
