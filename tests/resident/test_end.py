"""However a call ends, its caller gets one document in time, nothing of it goes on, and no other call suffers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest
from command import CLITOOL, TOKEN, Result
from resident_world import World, is_alive, is_gone, until

from clitool.stub import ACCEPTED, STATUS, header

if TYPE_CHECKING:
    from pathlib import Path


def busy_worker(world: World) -> int:
    """The process that makes the one call that is under way, once it is inside the tool."""
    found: list[int] = []

    def look() -> bool:
        found[:] = [pid for pid in world.workers if _is_in_the_tool(pid, world)]
        return bool(found)

    assert until(look)
    return found[0]


def _is_in_the_tool(pid: int, world: World) -> bool:
    try:
        stdin, folder = (os.readlink(f"/proc/{pid}/{link}") for link in ("fd/0", "cwd"))
    except OSError:
        return False
    return stdin == os.devnull and folder == str(world.folder)


def outcome(call: subprocess.Popen[bytes]) -> tuple[str, str]:
    stdout, stderr = call.communicate(timeout=60)
    return Result(call.returncode, stdout, stderr).verdict


@pytest.mark.parametrize("how", ["sleep", "spin", "flood"])
def test_a_tool_that_goes_on_is_stopped_at_the_deadline(world: World, how: str) -> None:
    """Also C code that holds the interpreter's lock; when the caller hears of it, the process is gone."""
    with world.begin(how, "--timeout", "1") as call:
        worker = busy_worker(world) if how != "flood" else 0
        code, reason = outcome(call)
        assert not worker or not is_alive(worker)

    assert (code, reason) == ("execution_error", "crashed" if how == "flood" else "timeout")
    assert world.call().status == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("how", ["sleep", "spin"])
def test_a_signal_ends_the_call_with_a_document(world: World, number: signal.Signals, how: str) -> None:
    with world.begin(how) as call:
        worker = busy_worker(world)
        call.send_signal(number)
        assert outcome(call) == ("execution_error", "interrupted")
        assert not is_alive(worker)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_before_the_token_came_ends_the_call_with_a_document(world: World, number: signal.Signals) -> None:
    words = [CLITOOL, *world.words("habits", "--token-stdin")]
    with subprocess.Popen(words, env=world.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as call:
        assert until(lambda: _heard(call.pid))
        call.send_signal(number)
        assert call.stdout
        document = json.loads(call.stdout.read())

    assert document["details"] == {"reason": "interrupted"}
    assert call.returncode == 1


@pytest.mark.parametrize(("timeout", "reason"), [("1", "timeout"), ("8", "token_missing")])
def test_a_token_that_does_not_come_is_not_waited_for_for_long(world: World, timeout: str, reason: str) -> None:
    words = [CLITOOL, *world.words("habits", "--token-stdin", before=("--timeout", timeout))]
    with subprocess.Popen(words, env=world.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as call:
        assert call.stdin
        call.stdin.write(b"clt_half")
        call.stdin.flush()
        assert call.stdout
        assert json.loads(call.stdout.read())["details"] == {"reason": reason}


def test_a_token_that_comes_late_and_in_pieces_is_taken(world: World) -> None:
    words = [CLITOOL, *world.words("trouble_echo", "--token-stdin", "--params", "@-")]
    with subprocess.Popen(words, env=world.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as call:
        assert call.stdin
        assert until(lambda: _heard(call.pid))
        for piece in (TOKEN[:5].encode(), TOKEN[5:].encode() + b'\n{"te', b'xt": "x"}'):
            call.stdin.write(piece)
            call.stdin.flush()
            subprocess.run(["sleep", "0.2"], check=True)
        call.stdin.close()
        assert call.stdout
        assert json.loads(call.stdout.read())["result"] == {"text": "x", "mode": "x"}
    assert world.status()["calls"] == 1


@pytest.mark.parametrize("how", ["sleep", "spin"])
def test_a_call_ends_when_its_stub_is_killed(world: World, how: str) -> None:
    with world.begin(how) as call:
        worker = busy_worker(world)
        call.kill()

    assert is_gone(worker)
    assert until(lambda: world.status()["under_way"] == 0)
    assert world.call().status == 0


def test_a_stub_that_is_stopped_holds_its_call_up_until_the_deadline_and_no_longer(world: World) -> None:
    with world.begin("sleep", "--timeout", "1") as call:
        worker = busy_worker(world)
        call.send_signal(signal.SIGSTOP)
        assert world.call().status == 0
        assert is_gone(worker)
        assert until(lambda: world.status()["under_way"] == 0)
        call.send_signal(signal.SIGCONT)
        assert outcome(call)[0] == "execution_error"


def test_a_long_answer_that_nobody_reads_is_held_until_the_deadline_and_no_longer(world: World) -> None:
    with world.begin("megabytes", "--timeout", "2") as call:
        world.wait_for_call()
        call.send_signal(signal.SIGSTOP)
        assert world.call().status == 0
        assert until(lambda: world.status()["under_way"] == 0)
        call.send_signal(signal.SIGCONT)
        call.communicate()
    assert world.call().status == 0


def test_a_long_answer_arrives_whole_at_a_slow_reader(world: World) -> None:
    with world.begin("megabytes") as call:
        subprocess.run(["sleep", "0.5"], check=True)
        stdout, _ = call.communicate()

    assert len(json.loads(stdout)["result"]) == 5_000_000


@pytest.mark.parametrize("how", ["exit", "crash", "orphan", "close everything", "garbage", "endless answer"])
def test_a_tool_that_ends_badly_ends_its_call_only(world: World, how: str) -> None:
    with world.begin("a while") as other:
        world.wait_for_call()
        assert world.call("trouble", params={"how": how}).verdict == ("execution_error", "crashed")
        stdout, _ = other.communicate()

    assert json.loads(stdout)["ok"]
    assert world.call().status == 0


def test_a_worker_that_is_killed_is_replaced(world: World) -> None:
    with world.begin("sleep") as call:
        os.kill(busy_worker(world), signal.SIGKILL)
        assert outcome(call) == ("execution_error", "crashed")

    for worker in world.workers:
        os.kill(worker, signal.SIGKILL)
    assert world.call().status == 0


@pytest.mark.parametrize("how", ["sleep", "spin"])
def test_calls_end_with_the_dispatcher(world: World, how: str) -> None:
    """A call that may have had effects is never made a second time."""
    with world.begin(how) as call:
        worker = busy_worker(world)
        os.kill(world.pid, signal.SIGKILL)
        assert outcome(call) == ("execution_error", "crashed")

    assert is_gone(worker)
    assert world.call().status == 0


def test_a_dispatcher_that_is_stopped_holds_no_call_up(world: World) -> None:
    pid = world.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        assert world.call("trouble", params={"how": "nothing"}).document == {"ok": True, "result": None}
        rest = world.call("trouble_echo", "--params", "@-", stdin=TOKEN.encode() + b'\n{"text": "not lost"}')
    finally:
        os.kill(pid, signal.SIGCONT)

    assert rest.document["result"]["text"] == "not lost"
    assert until(lambda: world.status()["under_way"] == 0)
    assert world.call().status == 0


def test_a_worker_that_is_stopped_holds_its_client_up_until_the_deadline_only(world: World) -> None:
    assert world.call().status == 0
    assert until(lambda: world.status()["under_way"] == 0)
    for worker in world.workers:
        os.kill(worker, signal.SIGSTOP)

    assert world.call("trouble", params={"how": "nothing"}, before=("--timeout", "4")).status == 0
    assert until(lambda: world.status()["under_way"] == 0)


@pytest.mark.parametrize("reason", ["timeout", "interrupted", "crashed"])
def test_a_call_that_was_lost_has_its_audit_line_and_only_one(world: World, tmp_path: Path, reason: str) -> None:
    world.env["LOGS_DIRECTORY"] = str(tmp_path / "log")
    with world.begin("sleep", "--timeout", "2" if reason == "timeout" else "30") as call:
        worker = busy_worker(world)
        if reason == "crashed":
            os.kill(worker, signal.SIGKILL)
        if reason == "interrupted":
            call.terminate()
        assert outcome(call) == ("execution_error", reason)

    [file] = (tmp_path / "log").glob("*/audit.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["phase"], line["reason"], line["client"], line["tool"]) for line in lines] == [
        ("outcome", reason, "anna", "trouble")
    ]


@pytest.mark.parametrize("after", ["nothing", "the header", "the announcement"])
def test_a_stub_that_stops_half_way_holds_nobody_up(world: World, after: str) -> None:
    """Until the last byte of it came, nothing of a call is done."""
    calls = [_half_way(world, after) for _ in range(3)]

    assert world.call().status == 0
    assert until(lambda: world.status()["under_way"] == 0)
    for call in calls:
        call.close()
    assert world.call().status == 0


@pytest.mark.parametrize("declined", [True, False], ids=["declined", "not accepted in time"])
def test_a_call_that_its_command_makes_can_be_accepted_no_more(cold_world: World, declined: bool) -> None:
    """No call is made twice: not even by a process that comes to itself when the command has given it up."""
    with _listener(cold_world) as listener, cold_world.begin("nothing") as call:
        connection = _receive_call(listener)
        if declined:
            connection.shutdown(socket.SHUT_RDWR)
        assert json.loads(call.communicate(timeout=60)[0]) == {"ok": True, "result": None}
        with pytest.raises(BrokenPipeError):
            connection.send(ACCEPTED)
        connection.close()


def test_a_call_that_was_accepted_and_lost_is_not_made_again(cold_world: World) -> None:
    """Whoever accepts a call may have made it."""
    with _listener(cold_world) as listener, cold_world.begin("nothing") as call:
        with _receive_call(listener) as connection:
            connection.send(ACCEPTED)
        assert outcome(call) == ("execution_error", "crashed")


def test_signals_that_the_host_had_ignored_stay_ignored(world: World) -> None:
    ignoring = ["/usr/bin/env", "--ignore-signal=TERM", CLITOOL]
    with world.begin("sleep", "--timeout", "3", command=ignoring) as call:
        busy_worker(world)
        call.terminate()
        assert outcome(call) == ("execution_error", "timeout")


@pytest.mark.parametrize("descriptors", range(5, 14))
def test_too_few_descriptors_are_an_answer_or_one_execution_error(world: World, descriptors: int) -> None:
    script = f'ulimit -n {descriptors}; exec "$0" "$@"'
    words = [CLITOOL, *world.words("trouble", "--token-stdin", "--params", '{"how": "nothing"}')]

    done = subprocess.run(
        ["/bin/sh", "-c", script, *words],
        input=TOKEN.encode(),
        capture_output=True,
        check=False,
        env=world.env,
        cwd="/",
    )

    result = Result(done.returncode, done.stdout, done.stderr)
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0 or result.verdict[0] in {"execution_error", "auth_failed"}


def _listener(world: World) -> socket.socket:
    """What listens, in a process of the same user, where his resident worker would."""
    world.socket.parent.mkdir(mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(world.socket))
    listener.listen()
    listener.settimeout(20)
    return listener


def _receive_call(listener: socket.socket) -> socket.socket:
    """A connection from which a whole call was read."""
    connection, _ = listener.accept()
    connection.settimeout(20)
    sent = b""
    while TOKEN.encode() not in sent:
        data, descriptors, *_ = socket.recv_fds(connection, 1 << 16, 2)
        for descriptor in descriptors:
            os.close(descriptor)
        sent += data
    return connection


def _half_way(world: World, after: str) -> socket.socket:
    if after == "the announcement":
        return world.announced()
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(world.socket))
    if after == "the header":
        connection.sendall(header(STATUS)[:50])
    return connection


def _heard(pid: int) -> bool:
    """Whether the process listens for signals that end it."""
    with open(f"/proc/{pid}/status") as file:
        caught = next(line.split()[1] for line in file if line.startswith("SigCgt"))
    return bool(int(caught, 16) & 1 << (signal.SIGTERM - 1))
