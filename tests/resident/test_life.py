"""The resident worker begins when it is told to, ends when it is told to, and nothing is lost in between."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from command import CLITOOL, TOKEN, run
from processes import run_at_once
from resident_world import is_alive, is_gone, until

from clitool.resident import dispatcher, place
from clitool.resident.dispatcher import Dispatcher
from clitool.resident.installed import Installed
from clitool.resident.service import CallService

if TYPE_CHECKING:
    from resident_world import World

SUM = {"function": "add", "a": 1, "b": 2}


def test_nothing_starts_it_by_itself(cold_world: World) -> None:
    assert cold_world.call().status == 0
    assert not cold_world.socket.parent.exists()


def test_status_and_stop_say_that_none_runs(cold_world: World) -> None:
    for word in ("status", "stop"):
        result = cold_world.command(word)

        assert (result.status, result.stderr) == (1, b"")
        assert result.stdout.startswith(b"No resident worker runs")


def test_start_returns_when_calls_are_answered(cold_world: World) -> None:
    started = cold_world.command("start")

    assert (started.status, started.stderr) == (0, b"")
    assert started.stdout.decode() == f"The resident worker runs now, as process {cold_world.pid}.\n"
    assert cold_world.call(params={}).status == 0
    assert cold_world.status()["calls"] == 1


def test_status_describes_it(world: World) -> None:
    world.call()
    world.wait_for_call(0)

    lines = dict(line.split(None, 1) for line in world.command("status").stdout.decode().splitlines())

    assert lines["process"] == str(world.pid)
    assert lines["socket"] == str(world.socket)
    assert lines["version"] == run("--version").stdout.decode().split()[1] + f" in {sys.prefix}"
    assert lines["calls"] == "1 taken, 0 under way"
    assert int(lines["workers"]) >= 1


def test_a_second_start_says_that_it_runs_already(world: World) -> None:
    pid = world.pid

    again = world.command("start")
    foreground = world.command("start", "--foreground")

    assert (again.status, again.stdout.decode()) == (1, f"The resident worker runs already, as process {pid}.\n")
    assert foreground.status == 1
    assert b"runs already" in foreground.stderr
    assert world.pid == pid
    assert world.call().status == 0


WAYS = [
    pytest.param([sys.executable, "-W", "error", CLITOOL], id="a flag with a value"),
    pytest.param([sys.executable, "-X", "dev", CLITOOL], id="another mode of the interpreter"),
    pytest.param([sys.executable, "-P", "-m", "clitool"], id="as a module"),
    pytest.param([sys.executable, "-I", CLITOOL], id="without the environment"),
]


@pytest.mark.parametrize("way", WAYS)
def test_it_serves_calls_that_are_started_in_the_same_way(cold_world: World, way: list[str]) -> None:
    words = cold_world.words("calculator", "--token-stdin", "--params", json.dumps(SUM))

    started = run(*way[1:], "resident", "start", command=way[0], env=cold_world.env)
    called = run(*way[1:], *words, command=way[0], env=cold_world.env, stdin=TOKEN.encode())

    assert (started.status, called.status) == (0, 0), (started, called)
    assert cold_world.status()["calls"] == 1
    assert cold_world.call().status == 0


def test_many_starts_at_once_make_one(cold_world: World) -> None:
    words = [CLITOOL, "resident", "start"]
    starts = [
        subprocess.Popen(words, env=cold_world.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "12345"
    ]

    ends = [start.communicate(timeout=60) for start in starts]

    pid = cold_world.pid
    assert {stdout.rpartition(b" ")[2] for stdout, _ in ends} == {b"%d.\n" % pid}, ends
    assert 0 in [start.returncode for start in starts]
    assert until(lambda: [number for number in _ours(cold_world) if _parent(number) != pid] == [pid])


def test_stop_ends_every_process_and_removes_the_socket(world: World) -> None:
    world.call()
    pid, workers = world.pid, world.workers

    stopped = world.command("stop")

    assert (stopped.status, stopped.stdout) == (0, b"The resident worker has ended.\n")
    assert not world.socket.exists()
    assert is_gone(pid)
    assert workers
    assert all(map(is_gone, workers))
    assert world.call().status == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_it_too(world: World, number: signal.Signals) -> None:
    pid = world.pid

    os.kill(pid, number)

    assert is_gone(pid)
    assert not world.socket.exists()


def test_a_call_under_way_is_answered_although_it_stops(world: World) -> None:
    """An answer that was promised is given."""
    with world.begin("a while") as call:
        world.wait_for_call()
        stopped = world.command("stop")
        stdout, _ = call.communicate()

    assert stopped.status == 0
    assert json.loads(stdout) == {"ok": True, "result": "a while has passed"}


def test_while_it_stops_other_calls_are_made_without_it(world: World) -> None:
    with world.begin("a while") as call:
        world.wait_for_call()
        with subprocess.Popen([CLITOOL, "resident", "stop"], env=world.env, stdout=subprocess.DEVNULL) as stop:
            assert until(lambda: not world.socket.exists())
            other = world.call("trouble", params={"how": "nothing"})
            assert stop.poll() is None
        call.communicate()

    assert other.document == {"ok": True, "result": None}


def test_the_foreground_is_for_service_managers(cold_world: World) -> None:
    words = [CLITOOL, "resident", "start", "--foreground"]
    with subprocess.Popen(words, env=cold_world.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert until(cold_world.socket.exists)
        assert until(lambda: cold_world.command("status").status == 0)
        assert cold_world.pid == process.pid
        assert cold_world.call().status == 0
        process.terminate()
        stdout, stderr = process.communicate(timeout=30)

    assert (process.returncode, stdout, stderr) == (0, b"", b"")


def test_a_socket_that_a_killed_one_left_does_no_harm(world: World) -> None:
    pid, workers = world.pid, world.workers
    os.kill(pid, signal.SIGKILL)
    assert is_gone(pid)
    assert world.socket.exists()

    assert world.call().status == 0
    assert world.command("status").status == 1
    assert all(map(is_gone, workers))
    assert world.start() != pid
    assert world.call().status == 0
    assert world.status()["calls"] == 1


def test_what_hinders_a_start_is_said(cold_world: World) -> None:
    long = cold_world.folder / ("x" * 120)
    long.mkdir()

    too_long = cold_world.command("start", env={"XDG_RUNTIME_DIR": str(long)})
    nowhere = cold_world.command("start", env={"XDG_RUNTIME_DIR": str(cold_world.folder / "missing")})

    assert too_long.status == nowhere.status == 1
    assert b"too long" in too_long.stderr
    assert b"XDG_RUNTIME_DIR" in nowhere.stderr
    assert too_long.stderr.count(b"\n") == nowhere.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("code", "words"),
    [
        pytest.param("import os; os._exit(3)", b"it ended with status 3", id="os._exit"),
        pytest.param("import ctypes; ctypes.string_at(0)", b"it was ended by signal 11", id="segmentation fault"),
    ],
)
def test_a_family_that_ends_it_at_once_is_said(cold_world: World, code: str, words: bytes) -> None:
    site = cold_world.folder / "lib" / "site-packages"
    (site / "bad-1.dist-info").mkdir(parents=True)
    (site / "bad-1.dist-info" / "entry_points.txt").write_text("[clitool.families]\nbad = bad:family\n")
    (site / "bad.py").write_text(code)
    cold_world.env["PYTHONPATH"] += f":{site}"

    started = cold_world.command("start")

    assert started.status == 1
    assert started.stderr == b"clitool: the resident worker did not start: " + words + b"\n"
    assert cold_world.call().status == 0


def test_a_family_that_cannot_be_imported_does_no_harm(cold_world: World) -> None:
    site = cold_world.folder / "lib" / "site-packages"
    (site / "bad-1.dist-info").mkdir(parents=True)
    (site / "bad-1.dist-info" / "entry_points.txt").write_text("[clitool.families]\nbad = bad:family\n")
    (site / "bad.py").write_text("raise SystemExit")
    cold_world.env["PYTHONPATH"] += f":{site}"

    cold_world.start()

    assert cold_world.call().status == 0
    assert cold_world.status()["calls"] == 1


def test_without_a_runtime_folder_it_lies_below_tmp_or_run(cold_world: World) -> None:
    env = {key: value for key, value in cold_world.env.items() if key != "XDG_RUNTIME_DIR"}

    shown = run("resident", "status", env=env).stdout.decode().split()[-1]

    run_folder, user = f"/run/user/{os.geteuid()}", os.geteuid()
    expected = f"{run_folder}/clitool" if os.path.isdir(run_folder) else f"/tmp/clitool-{user}"
    assert shown == f"{expected}/resident.sock."


@pytest.mark.parametrize("change", ["another version", "a plugin"])
def test_a_new_installation_counts_at_the_next_call(cold_world: World, change: str) -> None:
    """No call is made by code that has been replaced; the resident worker replaces itself."""
    site = cold_world.folder / "lib" / "site-packages"
    site.mkdir(parents=True)
    cold_world.env["PYTHONPATH"] += f":{site}"
    pid = cold_world.start()
    cold_world.call()
    socket_before = os.stat(cold_world.socket).st_ino

    (site / f"{change.replace(' ', '_')}-1.dist-info").mkdir()
    assert cold_world.call().status == 0
    status = cold_world.status()
    assert (status["calls"], status["declined"]["of another version"]) == (1, 1)

    assert until(lambda: cold_world.status()["calls"] == 0)
    assert cold_world.pid == pid
    assert os.stat(cold_world.socket).st_ino == socket_before
    assert cold_world.call().status == 0
    assert cold_world.status()["calls"] == 1, cold_world.status()
    assert cold_world.command("start").status == 1


def test_a_call_under_way_is_answered_although_the_installation_changes(cold_world: World) -> None:
    site = cold_world.folder / "lib" / "site-packages"
    site.mkdir(parents=True)
    cold_world.env["PYTHONPATH"] += f":{site}"
    cold_world.start()
    with cold_world.begin("a while") as call:
        cold_world.wait_for_call()
        (site / "new-1.dist-info").mkdir()
        assert cold_world.call().status == 0
        stdout, _ = call.communicate()

    assert json.loads(stdout)["ok"]
    assert until(lambda: cold_world.status()["declined"]["of another version"] == 0)


def test_it_ends_where_nobody_finds_it(cold_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody has cleaned up; a second one may have been started in its place, and keeps its socket."""
    monkeypatch.setattr(dispatcher, "_LOOK_SECONDS", 0.05)
    path = place.prepare(cold_world.env)

    def serve(_: int) -> tuple[bool, list[str]]:
        served = Dispatcher(place.listen(path), Installed({}), CallService, "1").run()
        return served, os.listdir(os.path.dirname(path))

    def replace(_: int) -> None:
        assert until(lambda: _answers(cold_world))
        other = cold_world.folder / "other"
        with socket.socket(socket.AF_UNIX) as replacement:
            replacement.bind(str(other))
            other.rename(cold_world.socket)

    ends = run_at_once(lambda number: (serve, replace)[number](number), 2)

    assert ends[0] == (False, ["resident.sock"])


def test_another_interpreter_or_path_is_another_version(world: World) -> None:
    for env in (
        {"PYTHONPATH": world.env["PYTHONPATH"] + ":/tmp"},
        {"PYTHONOPTIMIZE": "1"},
        {"LD_LIBRARY_PATH": "/tmp"},
    ):
        assert world.call(env=env).status == 0

    status = world.status()
    assert (status["calls"], status["declined"]["of another version"]) == (0, 3)


def test_more_calls_than_it_has_processes_are_made_without_it(world: World) -> None:
    size = 2 * (os.cpu_count() or 1) + 6
    calls = [world.begin("a while") for _ in range(size)]
    world.wait_for_call(size)

    assert world.call("trouble", params={"how": "nothing"}).status == 0

    assert world.status()["declined"]["all busy"] == 1
    assert [json.loads(call.communicate()[0])["ok"] for call in calls] == [True] * size
    assert world.status()["workers"] <= size


def test_fifty_calls_at_once_are_all_answered(world: World) -> None:
    with ThreadPoolExecutor(50) as pool:
        results = list(pool.map(lambda number: world.call("trouble_echo", params={"text": str(number)}), range(50)))

    assert [result.document["result"]["text"] for result in results] == [str(number) for number in range(50)]
    assert world.status()["calls"] + world.status()["declined"]["all busy"] <= 50


def test_processes_that_are_too_many_for_other_clients_make_room(world: World) -> None:
    size = 2 * (os.cpu_count() or 1) + 6
    for number in range(size + 3):
        assert world.call(env={"HOME": str(world.folder / str(number))}).status == 0

    status = world.status()
    assert status["calls"] == size + 3
    assert status["workers"] <= size


def test_it_goes_on_from_any_working_folder(world: World) -> None:
    gone = world.folder / "gone"
    gone.mkdir()
    cwd = os.getcwd()
    os.chdir(gone)
    try:
        gone.rmdir()
        result = run(
            *world.words("trouble_echo", "--token-stdin"), stdin=b"clt_a-token-of-the-tests\n", env=world.env, cwd=None
        )  # type: ignore[arg-type]
    finally:
        os.chdir(cwd)

    assert result.status == 0


def _answers(world: World) -> bool:
    try:
        return bool(world.status())
    except OSError:
        return False


def _ours(world: World) -> list[int]:
    return [number for number in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _is_ours(number, world)]


def _is_ours(pid: int, world: World) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return str(world.runtime).encode() in file.read() and is_alive(pid)
    except OSError:
        return False


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0
