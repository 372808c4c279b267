"""Warm workers: one key each, a bounded number, the least used make room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clitool.worker_pool import WorkerPool

if TYPE_CHECKING:
    from clitool.warm_worker import WarmWorker


class Worker:
    """A process that does what it is told at once."""

    def __init__(self) -> None:
        self.dead = self.killed = self.dismissed = self.closed = self.stubborn = False

    def dismiss(self) -> None:
        self.dismissed = True
        self.dead = not self.stubborn

    def kill(self) -> None:
        self.killed = self.dead = True

    def is_dead(self) -> bool:
        return self.dead

    def reap(self) -> bool:
        return self.dead

    def close(self) -> None:
        self.closed = True


class Pool:
    """A pool of three, and what happened to its workers."""

    def __init__(self, idle_seconds: float = 60.0) -> None:
        self.started: list[Any] = []
        self.left: list[Any] = []
        self.pool = WorkerPool(self._start, self.left.append, 3, idle_seconds)

    def _start(self) -> WarmWorker:
        worker: Any = Worker()
        self.started.append(worker)
        found: WarmWorker = worker
        return found

    def once(self, key: bytes) -> Any:
        """The worker that did a job for `key` and is free again."""
        slot = self.pool.take(key)
        assert slot
        self.pool.give_back(slot)
        return slot.worker


@pytest.fixture
def pool() -> Pool:
    return Pool()


def test_a_key_has_its_worker_again(pool: Pool) -> None:
    assert pool.once(b"a") is pool.once(b"a")
    assert pool.once(b"b") is not pool.once(b"a")


def test_a_worker_never_serves_two_keys(pool: Pool) -> None:
    """What one client's calls leave in memory never meets another client."""
    seen = {key: pool.once(key) for key in (b"a", b"b", b"c", b"d", b"e")}

    assert len(set(map(id, seen.values()))) == 5


def test_a_busy_worker_gets_no_second_job(pool: Pool) -> None:
    first, second = pool.pool.take(b"a"), pool.pool.take(b"a")

    assert first
    assert second
    assert first.worker is not second.worker


def test_the_one_that_was_used_least_lately_makes_room(pool: Pool) -> None:
    workers = [pool.once(key) for key in (b"a", b"b", b"c", b"a", b"d")]

    assert [worker.dismissed for worker in workers] == [False, True, False, False, False]
    assert len(pool.pool.slots) == 3


def test_there_is_none_if_all_are_busy(pool: Pool) -> None:
    assert all(pool.pool.take(key) for key in (b"a", b"b", b"c"))

    assert pool.pool.take(b"d") is None
    assert pool.pool.take(b"a") is None
    assert len(pool.started) == 3


def test_one_is_kept_ready_for_a_key_that_comes(pool: Pool) -> None:
    pool.pool.stock()
    pool.pool.stock()
    assert len(pool.started) == 1

    assert pool.once(b"a") is pool.started[0]


def test_none_is_kept_ready_where_there_is_no_room(pool: Pool) -> None:
    for key in (b"a", b"b", b"c"):
        pool.once(key)

    pool.pool.stock()

    assert len(pool.started) == 3


def test_idle_ones_are_dismissed_and_the_one_kept_ready_is_not() -> None:
    pool = Pool(idle_seconds=0.0)
    used = pool.once(b"a")
    pool.pool.stock()

    pool.pool.tidy()

    assert used.dismissed
    assert used.closed
    assert not pool.started[1].dismissed
    assert pool.left == [used]


def test_one_that_does_not_leave_is_killed(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = pool.once(b"a")
    worker.stubborn = True
    monkeypatch.setattr("clitool.worker_pool._LEAVE_SECONDS", 0.0)

    pool.pool.close()
    assert not pool.pool.is_empty
    pool.pool.tidy()

    assert worker.killed
    assert pool.pool.is_empty


def test_the_dead_are_found_and_leave_nothing(pool: Pool) -> None:
    slot = pool.pool.take(b"a")
    assert slot
    pool.started[0].dead = True

    assert pool.pool.dead() == [slot]
    pool.pool.kill(slot)
    pool.pool.tidy()

    assert pool.started[0].closed
    assert pool.pool.is_empty


def test_a_dismissed_worker_leaves_even_when_it_has_left_something(pool: Pool) -> None:
    """Its whole group is killed once it has ended."""
    worker = pool.once(b"a")
    pool.pool.close()

    pool.pool.tidy()

    assert worker.killed
