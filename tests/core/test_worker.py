"""Whatever a tool does, the caller gets one document, in time, and nothing outlives the call."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from command import CLITOOL, PLUGINS, TOKEN, Result, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Call = Callable[..., Result]

ENDS = [
    pytest.param("exit", "crashed", id="os._exit"),
    pytest.param("crash", "crashed", id="segmentation fault"),
    pytest.param("orphan", "crashed", id="dead worker whose child holds the pipe"),
    pytest.param("close everything", "crashed", id="every descriptor closed"),
    pytest.param("garbage", "crashed", id="garbage in every descriptor"),
    pytest.param("empty answer", "crashed", id="a forged answer without content"),
    pytest.param("endless answer", "crashed", id="a forged answer of 2^64 bytes"),
    pytest.param("signal bytes", "crashed", id="a forged signal"),
    pytest.param("sys.exit", "internal", id="sys.exit"),
    pytest.param("raise", "internal", id="an unforeseen exception"),
    pytest.param("interrupt", "internal", id="KeyboardInterrupt"),
    pytest.param("generator exit", "internal", id="GeneratorExit"),
    pytest.param("memory", "internal", id="MemoryError"),
    pytest.param("recurse", "internal", id="endless recursion"),
    pytest.param("nan", "bad_result", id="NaN"),
    pytest.param("object", "bad_result", id="a Python object"),
    pytest.param("scattered bytes", "bad_result", id="bytes that do not lie together"),
    pytest.param("nested", "bad_result", id="a tower of lists"),
    pytest.param("too much", "answer_size", id="70 MB"),
]


@pytest.mark.parametrize(("how", "reason"), ENDS)
def test_a_tool_that_ends_badly_is_one_execution_error(call: Call, how: str, reason: str) -> None:
    """C25, C30: A tool cannot make the program answer with anything but the convention's document."""
    result = call("trouble", how=how)

    assert result.verdict == ("execution_error", reason)
    assert b"hunter2" not in result.stdout + result.stderr


@pytest.mark.parametrize("how", ["spin", "sleep"])
def test_a_tool_that_goes_on_is_stopped_at_the_deadline(call: Call, how: str) -> None:
    """C20: Also C code that holds the interpreter's lock cannot outlast the deadline."""
    assert call("trouble", how=how, before=("--timeout", "1")).verdict == ("execution_error", "timeout")


def test_a_tool_that_floods_standard_error_is_cut_short_and_stopped_at_the_deadline(call: Call) -> None:
    """A worker that never pauses neither outlasts its deadline nor fills its host's memory."""
    result = call("trouble", how="flood", before=("--timeout", "1"))

    assert result.verdict == ("execution_error", "timeout")
    assert len(result.stderr) < 200_000


def test_what_a_tool_prints_is_not_part_of_the_answer(call: Call) -> None:
    """C27."""
    result = call("trouble", how="print")

    assert result.document == {"ok": True, "result": "printed"}
    assert result.stderr == b""


def test_what_a_tool_prints_goes_to_the_log(call: Call, tmp_path: Path) -> None:
    env = environment(PYTHONPATH=PLUGINS, LOGS_DIRECTORY=str(tmp_path / "log"))

    call("trouble", how="print", run_with={"env": env})

    [day] = (tmp_path / "log").iterdir()
    printed = (day / "output.log").read_text()
    for line in ("from print", "from descriptor 1", "from descriptor 2", "from a child"):
        assert line in printed


@pytest.mark.parametrize("how", ["nothing", "refusal", "raise", "sys.exit", "nan"])
def test_what_a_tool_opened_is_closed_whatever_becomes_of_the_call(call: Call, tmp_path: Path, how: str) -> None:
    env = environment(PYTHONPATH=PLUGINS, LOGS_DIRECTORY=str(tmp_path / "log"))

    call("trouble_connected", how=how, run_with={"env": env})

    [output] = (tmp_path / "log").glob("*/output.log")
    assert output.read_text() == "the connection is closed\n"


def test_the_answer_does_not_wait_for_a_child_that_keeps_stdout_open(call: Call) -> None:
    started = time.monotonic()

    result = call("trouble", how="straggler")

    assert result.document["result"] == "left a child behind"
    assert time.monotonic() - started < 15  # the child sleeps for 20 seconds


def test_a_child_that_a_tool_left_behind_ends_with_the_call(call: Call, tmp_path: Path) -> None:
    """Nothing that a call started outlives it."""
    marker = f"PATH=/usr/bin:/bin:/{os.getpid()}-{time.monotonic_ns()}"
    env = environment(PYTHONPATH=PLUGINS) | {"PATH": marker.removeprefix("PATH=")}

    assert call("trouble", how="straggler", run_with={"env": env}).status == 0

    assert not _eventually_alive(marker)


def test_standard_input_of_a_tool_is_empty(clitool: Callable[..., Result]) -> None:
    stdin = TOKEN.encode() + b"\nsecret of the host\n"

    result = clitool("call", "trouble", "--token-stdin", "--params", '{"how": "stdin"}', stdin=stdin)

    assert result.document["result"] == ""


def test_an_unforeseen_error_is_in_the_log_under_its_reference(call: Call, tmp_path: Path) -> None:
    env = environment(PYTHONPATH=PLUGINS, LOGS_DIRECTORY=str(tmp_path / "log"))

    document = call("trouble", how="raise", run_with={"env": env}).document

    reference = document["details"]["reference"]
    assert reference in document["error"]
    [day] = (tmp_path / "log").iterdir()
    log = (day / "core.log").read_text()
    assert reference in log
    assert "RuntimeError" in log


def test_values_that_json_lacks_are_converted_as_documented(call: Call) -> None:
    """C29."""
    binary = {"$binary": {"base64": "AP8=", "subType": "00"}}

    result = call("trouble", how="convertible").document["result"]

    assert result == [
        binary,
        "1.10",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "00000000-0000-0000-0000-000000000001",
        [1, 2],
        [1, 2],
    ]


def test_integers_that_a_float_cannot_hold_are_text(call: Call) -> None:
    result = call("trouble", how="big numbers").document["result"]

    assert result == [2**53 - 1, str(2**53), str(-(2**53)), str(2**64), True, {"n": str(10**30)}, [str(2**60)]]


def test_the_answer_is_ascii_also_for_half_a_character(call: Call) -> None:
    result = call("trouble", how="surrogate")

    assert result.stdout.isascii()
    assert result.document["result"] == "half \ud800, emoji \U0001f600, <html>, é"


def test_a_long_answer_arrives_whole_at_a_slow_reader(clients_path: Path) -> None:
    with _start(clients_path, "megabytes") as process:
        time.sleep(0.5)
        stdout = process.stdout.read() if process.stdout else b""

    assert len(json.loads(stdout)["result"]) == 5_000_000


def test_an_array_that_is_written_already_arrives_whole(call: Call) -> None:
    result = call("trouble", how="written").document["result"]

    assert result == {"before": str(2**60), "array": [[number] for number in range(300_000)], "after": "x"}


def test_a_long_answer_arrives_whole_on_a_pipe_that_does_not_block(clients_path: Path) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    with _start(clients_path, "megabytes", stdout=write):
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            document = json.loads(pipe.read())

    assert len(document["result"]) == 5_000_000


def test_a_reader_that_leaves_ends_the_program_quietly(clients_path: Path) -> None:
    with _start(clients_path, "megabytes") as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_signal_ends_the_program_while_nobody_reads_its_answer(clients_path: Path) -> None:
    with _start(clients_path, "megabytes") as process:
        assert process.stdout
        process.stdout.read(10)
        process.terminate()
        assert process.wait(timeout=10) == -signal.SIGTERM


def test_a_standard_error_that_nobody_reads_does_not_hold_the_answer_up(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    with suppress(BlockingIOError):
        while True:
            os.write(write, b"x" * 4096)
    os.set_blocking(write, True)

    done = subprocess.run(
        [CLITOOL, "--clients", str(tmp_path / "none"), "list"],
        stdout=subprocess.PIPE,
        stderr=write,
        check=False,
        env=environment(),
        timeout=30,
    )

    assert json.loads(done.stdout)
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_call_with_a_document(clients_path: Path, number: signal.Signals) -> None:
    """C26."""
    with _start(clients_path, "sleep") as process:
        worker = _worker_of(process.pid)
        process.send_signal(number)
        stdout, _ = process.communicate(timeout=10)

    assert json.loads(stdout)["details"] == {"reason": "interrupted"}
    assert process.returncode == 1
    assert not _is_alive_soon(worker)


@pytest.mark.parametrize("how", ["sleep", "spin"])
def test_the_worker_ends_when_its_parent_is_killed(clients_path: Path, how: str) -> None:
    """A host that kills the program leaves no process behind, whatever the tool is doing."""
    with _start(clients_path, how) as process:
        worker = _worker_of(process.pid)
        process.kill()

    assert not _is_alive_soon(worker)


# What macOS lacks: a signal from the kernel when a pipe is closed, and a look at a dead child without reaping it.
AS_ON_MACOS = [
    sys.executable,
    "-P",
    "-c",
    """
import fcntl, os
for module, name in ((fcntl, "F_SETSIG"), (os, "waitid")):
    module.__dict__.pop(name, None)
from clitool.__main__ import main
main()
""",
]


@pytest.mark.parametrize("how", ["sleep", "spin"])
def test_the_worker_ends_when_its_parent_is_killed_on_macos_at_the_latest_after_the_deadline(
    clients_path: Path, how: str
) -> None:
    with _start(clients_path, how, "--timeout", "1", command=AS_ON_MACOS) as process:
        worker = _worker_of(process.pid)
        process.kill()

    assert not _is_alive_soon(worker)


@pytest.mark.parametrize(
    ("how", "reason"), [("exit", "crashed"), ("crash", "crashed"), ("orphan", "crashed"), ("spin", "timeout")]
)
def test_a_tool_that_ends_badly_is_one_execution_error_on_macos_too(clients_path: Path, how: str, reason: str) -> None:
    with _start(clients_path, how, "--timeout", "2", command=AS_ON_MACOS) as process:
        stdout, _ = process.communicate()

    assert json.loads(stdout)["details"] == {"reason": reason}


def test_signals_that_the_host_had_ignored_stay_ignored(clients_path: Path) -> None:
    """What was started with nohup, or in the background of a script, is not for the terminal to end."""
    ignored = _after("signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    with _start(clients_path, "sleep", "--timeout", "2", command=ignored) as process:
        _worker_of(process.pid)
        process.terminate()
        stdout, _ = process.communicate()

    assert json.loads(stdout)["details"] == {"reason": "timeout"}


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="without it a signal about a child is all there is to go by")
def test_a_signal_about_a_child_is_no_proof_that_the_worker_is_dead(call: Call) -> None:
    assert call("trouble", how="child signal").document["result"] == "still here"


def test_a_crash_writes_no_memory_to_a_file(call: Call) -> None:
    """The memory of a call holds its token and its settings."""
    assert call("trouble", how="core dump").document["result"] == [0, 0]


def test_signals_that_the_host_had_blocked_are_heard_all_the_same(clients_path: Path) -> None:
    blocked = _after("signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))")
    with _start(clients_path, "orphan", command=blocked) as process:
        stdout, _ = process.communicate()

    assert json.loads(stdout)["details"] == {"reason": "crashed"}


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_closed_standard_descriptors_do_no_harm(clients_path: Path, tmp_path: Path, closed: tuple[int, ...]) -> None:
    """No pipe of the program's own takes the place of standard output."""
    (tmp_path / "token").write_text(TOKEN)
    shut = " ".join(f"{number}>&-" if number else "0<&-" for number in closed)
    script = f'exec "$0" --clients "$1" call trouble --token-file "$2" --params "$3" {shut}'

    done = subprocess.run(
        ["/bin/sh", "-c", script, CLITOOL, str(clients_path), str(tmp_path / "token"), '{"how": "print"}'],
        capture_output=True,
        check=False,
        env=environment(PYTHONPATH=PLUGINS),
        cwd="/",
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (b"" if 1 in closed else b'{"ok":true,"result":"printed"}\n')


def test_a_full_disk_behind_stdout_ends_the_program_quietly(clients_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([CLITOOL, "list"], stdout=full, stderr=subprocess.PIPE, check=False, env=environment())

    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("descriptors", [5, 6, 7, 8, 9])
def test_too_few_descriptors_are_one_execution_error(clients_path: Path, descriptors: int) -> None:
    script = f'ulimit -n {descriptors}; exec "$0" --clients "$1" call trouble'

    done = subprocess.run(
        ["/bin/sh", "-c", script, CLITOOL, str(clients_path)],
        capture_output=True,
        check=False,
        env=environment(),
        cwd="/",
    )

    assert Result(done.returncode, done.stdout, done.stderr).verdict[0] in {"execution_error", "auth_failed"}
    assert b"Traceback" not in done.stderr


NO_FORK = [
    pytest.param("BlockingIOError(11, 'Resource temporarily unavailable')", "io", id="too many processes"),
    pytest.param("MemoryError", "internal", id="no memory"),
    pytest.param("KeyboardInterrupt", "interrupted", id="an interruption before anybody listens"),
]


@pytest.mark.parametrize(("error", "reason"), NO_FORK)
def test_a_program_that_cannot_even_start_its_worker_answers_with_a_document(error: str, reason: str) -> None:
    code = f"""
import os, sys
def fork():
    raise {error}
os.fork = fork
sys.argv = ["clitool", "call", "trouble"]
from clitool.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=False, env=environment())

    assert Result(done.returncode, done.stdout, done.stderr).verdict == ("execution_error", reason)
    assert b"Traceback" not in done.stderr


def test_a_tools_own_deadline_lies_before_that_of_its_supervisor() -> None:
    """However late a call gets so far, a tool that watches its deadline can still answer with its own words."""
    from clitool.arguments import Request
    from clitool.calling import _deadline
    from clitool.channel import Channel

    request = Request("call")
    channel = Channel(-1, time.monotonic() + request.timeout / 2)

    assert _deadline(request, channel).remaining() < channel.remaining()


def test_verbose_tells_the_owner_where_an_unforeseen_error_came_from(call: Call) -> None:
    quiet, verbose = call("trouble", how="raise"), call("trouble", how="raise", before=("-v",))

    assert quiet.stderr == b"clitool: internal error: RuntimeError\n"
    assert b"trouble.py" in verbose.stderr
    assert b"trouble.py" not in verbose.stdout


def test_without_a_log_no_answer_claims_that_the_log_has_it(call: Call) -> None:
    document = call("trouble", how="raise").document

    assert document["error"] == "the call failed inside"
    assert document["details"] == {"reason": "internal", "reference": ""}


def _start(
    clients: Path, how: str, *before: str, command: Sequence[str] = (CLITOOL,), **more: Any
) -> subprocess.Popen[bytes]:
    words = [
        *command,
        "--clients",
        str(clients),
        *before,
        "call",
        "trouble",
        "--token-stdin",
        "--params",
        json.dumps({"how": how}),
    ]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    process = subprocess.Popen(words, env=environment(PYTHONPATH=PLUGINS), cwd="/", **pipes)
    assert process.stdin
    process.stdin.write(TOKEN.encode() + b"\n")
    process.stdin.flush()
    return process


def _after(statement: str) -> list[str]:
    """Return the command, which does something to its signals before it starts."""
    return [sys.executable, "-c", f"import os, signal, sys; {statement}; os.execv(sys.argv[1], sys.argv[1:])", CLITOOL]


def _worker_of(pid: int) -> int:
    """Wait until the worker is inside the tool: it has pointed its stdout elsewhere and read its token."""
    for _ in range(500):
        children = _children(pid)
        if children and _is_busy(children[0]):
            return children[0]
        time.sleep(0.02)
    pytest.fail("no worker appeared")


def _children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def _is_busy(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as file:
        return os.readlink(f"/proc/{pid}/fd/0") == os.devnull and file.read() != ""


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _is_alive_soon(pid: int) -> bool:
    return _until_false(lambda: _is_alive(pid))


def _eventually_alive(marker: str) -> bool:
    return _until_false(lambda: any(marker in environ for environ in _environments()))


def _until_false(condition: Callable[[], bool]) -> bool:
    for _ in range(100):
        if not condition():
            return False
        time.sleep(0.05)
    return True


def _environments() -> list[str]:
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", errors="replace") as file:
                if int(pid) != os.getpid():
                    found.append(file.read())
        except OSError:
            continue
    return found
