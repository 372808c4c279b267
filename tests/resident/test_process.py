"""Each call finds its process as if it had been started for it, and meets nothing of another client's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from command import CLITOOL, TOKEN, client, write_clients
from resident_world import CLIENTS, OTHER_TOKEN, is_gone, until

if TYPE_CHECKING:
    from resident_world import World


def found(world: World, leave: str = "", **more: Any) -> dict[str, Any]:
    """What a call finds, before it leaves something behind."""
    params = {"leave": leave} if leave else {}
    result: dict[str, Any] = world.call(params=params, **more).document["result"]
    assert until(lambda: world.status()["under_way"] == 0)
    return result


def test_one_client_has_one_process(world: World) -> None:
    pids = {found(world)["pid"] for _ in range(3)}

    assert len(pids) == 1
    assert pids <= set(world.workers)


def test_two_clients_never_meet_in_a_process(world: World) -> None:
    """What one client's call leaves in memory is nowhere near another client's."""
    mine = found(world, "a module's state")
    other = found(world, token=OTHER_TOKEN)
    again = found(world)

    assert other["pid"] != mine["pid"] == again["pid"]
    assert (other["left"], again["left"]) == ([], ["something"])


def test_calls_share_a_process_only_if_clients_file_and_trust_are_the_same(world: World) -> None:
    copy = write_clients(world.folder / "copy", CLIENTS)
    mine = found(world)["pid"]

    trusting = found(world, before=("--trust-file",))["pid"]
    world.clients = copy
    of_copy = found(world)["pid"]

    assert len({mine, trusting, of_copy}) == 3


def test_a_call_finds_what_its_caller_has(world: World) -> None:
    folder = world.folder / "here"
    folder.mkdir()
    found(world)

    result = found(
        world,
        env={"SOME": "thing", "EMPTY": "", "TZ": "Asia/Tokyo", "UTF8": "\u00e9"},
        cwd=str(folder),
        stdin=TOKEN.encode() + b"\nmore\n",
    )

    assert result["cwd"] == str(folder)
    expected = {**world.env, "SOME": "thing", "EMPTY": "", "TZ": "Asia/Tokyo", "UTF8": "\u00e9"}
    assert {key: value for key, value in result["environment"].items() if key != "LC_CTYPE"} == expected
    assert result["zone"] == "JST"
    assert result["stdin"] == ""
    assert result["group"]


def test_a_variable_of_one_call_is_not_there_in_the_next(world: World) -> None:
    found(world, env={"SOME": "secret", "TZ": "Asia/Tokyo"})

    result = found(world)

    assert "SOME" not in result["environment"]
    assert result["zone"] != "JST"


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000])
def test_a_call_has_its_callers_umask(shared_world: World, mask: int) -> None:
    words = shared_world.words("habits", "--token-stdin")
    made = subprocess.run(
        ["/bin/sh", "-c", f'umask {mask:o}; exec "$0" "$@"', CLITOOL, *words],
        input=TOKEN.encode(),
        capture_output=True,
        env=shared_world.env,
        check=True,
        cwd="/",
    )

    assert json.loads(made.stdout)["result"]["umask"] == mask


def test_a_call_finds_the_same_as_a_cold_one(world: World) -> None:
    def without_numbers(result: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in result.items() if key not in {"pid", "descriptors"}}

    cold = world.call(params={}, cold=True, env={"XDG_RUNTIME_DIR": str(world.folder)}).document["result"]
    warm = found(world)
    cold["environment"]["XDG_RUNTIME_DIR"] = warm["environment"]["XDG_RUNTIME_DIR"]

    assert without_numbers(warm) == without_numbers(cold)


def test_no_descriptor_is_left_over_from_call_to_call(world: World) -> None:
    first = found(world)["descriptors"]

    for _ in range(5):
        again = found(world)
    assert again["descriptors"] == first
    assert len(first) <= 8


SPOILS = [
    "a child",
    "a grandchild",
    "a child that exec",
    "descriptors",
    "a thread",
    "memory",
    "an import path",
    "a signal handler",
    "a blocked signal",
    "an alarm",
    "a limit",
    "another stdout",
]
HARMLESS = ["a working folder", "a umask", "an environment", "closed standard descriptors", "a finished child"]


@pytest.mark.parametrize("leave", SPOILS)
def test_a_process_that_a_call_has_changed_makes_no_other_call(shared_world: World, leave: str) -> None:
    """What cannot be undone ends with the process, and with all that was started."""
    pid = found(shared_world, leave)["pid"]

    again = found(shared_world)

    assert again["pid"] != pid
    assert again["left"] == []
    assert is_gone(pid)
    assert until(lambda: not _group(pid))


@pytest.mark.parametrize("leave", HARMLESS)
def test_what_every_call_is_given_anew_does_no_harm(shared_world: World, leave: str) -> None:
    before = found(shared_world, leave)

    assert found(shared_world) == before


FAILURES = [
    pytest.param({"how": "raise"}, {}, False, id="an unforeseen error"),
    pytest.param({"how": "nan"}, {}, False, id="a result that is no JSON"),
    pytest.param({"how": "exit"}, {}, False, id="an end of the process"),
    pytest.param({"how": "refusal"}, {}, True, id="a refusal"),
    pytest.param({"how": "trouble of the world"}, {}, True, id="trouble of the world"),
    pytest.param({"how": 1}, {}, True, id="wrong parameters"),
    pytest.param({"how": "sleep"}, {"before": ("--timeout", "1")}, False, id="a deadline"),
]


@pytest.mark.parametrize(("params", "more", "kept"), FAILURES)
def test_whether_a_process_goes_on_after_a_failure(
    shared_world: World, params: dict[str, Any], more: dict[str, Any], kept: bool
) -> None:
    pid = found(shared_world)["pid"]

    assert shared_world.call("trouble", params=params, **more).status == 1
    assert until(lambda: shared_world.status()["under_way"] == 0)

    assert (found(shared_world)["pid"] == pid) == kept


def test_a_refused_token_leaves_no_process_behind(world: World) -> None:
    found(world)
    workers = set(world.workers)

    for number in range(5):
        assert world.call(token=f"wrong-{number}").verdict == ("auth_failed", "token_rejected")

    assert until(lambda: len(world.workers) <= len(workers) + 1)


def test_a_revoked_token_is_refused_at_the_next_call(world: World) -> None:
    """The clients file is looked at again at each call."""
    assert found(world)
    changed = {**CLIENTS, "clients": {**CLIENTS["clients"], "anna": client("role:watcher", token="new")}}

    write_clients(world.clients.parent, changed)

    assert world.call().verdict == ("auth_failed", "token_rejected")


def test_a_right_that_is_taken_away_is_missing_at_the_next_call(world: World) -> None:
    assert found(world)
    text = world.clients.read_text()

    world.clients.write_text(text.replace('"habits:use", "trouble:use", "calc', '"trouble:use", "calc'))

    assert world.call().verdict == ("scope_denied", "scope_missing")
    world.clients.write_text(text)
    assert world.call().status == 0


@pytest.mark.usefixtures("as_root")
def test_no_token_is_seen_in_the_dispatcher(world: World) -> None:
    """The dispatcher knows no secrets: they go from the stub to the process that makes the call."""
    world.call()

    assert TOKEN.encode() not in _memory(world.pid)
    assert TOKEN.encode() in _memory(world.workers[-1]) + _memory(world.workers[0])


def _memory(pid: int) -> bytes:
    found = b""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            addresses, rights, *_ = line.split()
            start, end = (int(address, 16) for address in addresses.split("-"))
            if rights.startswith("rw") and end - start < 1 << 28:
                memory.seek(start)
                try:
                    found += memory.read(end - start)
                except OSError:
                    continue
    return found


def _group(number: int) -> list[int]:
    members = []
    for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))):
        try:
            if os.getpgid(pid) == number:
                members.append(pid)
        except OSError:
            continue
    return members


def test_an_environment_that_cannot_be_had_again_is_left_to_the_call_itself(world: World) -> None:
    """A variable without a name can be inherited, but not set."""
    words = [CLITOOL, *world.words("habits", "--token-stdin")]
    program = """
import ctypes, os, sys
def texts(given):
    return (ctypes.c_char_p * (len(given) + 1))(*map(os.fsencode, given))
variables = [f"{name}={value}" for name, value in os.environ.items()]
ctypes.CDLL(None).execve(os.fsencode(sys.argv[1]), texts(sys.argv[1:]), texts([*variables, "=x"]))
"""  # Python's own way does not let it

    done = subprocess.run(
        [sys.executable, "-c", program, *words], input=TOKEN.encode(), env=world.env, capture_output=True, check=False
    )

    assert done.returncode == 0, done
    assert world.status()["calls"] == 0
