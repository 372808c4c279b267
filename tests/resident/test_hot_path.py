"""What is imported where a resident worker makes the call: little in the stub, nothing of the core behind it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from command import TOKEN

if TYPE_CHECKING:
    from resident_world import World

STUB = {
    "answer", "arguments", "channel", "errors", "frames", "lean", "listener", "machine", "own_modules", "stub",
    "tokens", "watch",
}  # fmt: skip
SUM = '{"function": "add", "a": 1, "b": 2}'

# The command, which in the end says what it has imported.
SHOWING = """
import os, sys
leave = os._exit
def exit(status):
    os.write(2, " ".join(sys.modules).encode())
    leave(status)
os._exit = exit
from clitool.__main__ import main
main()
"""

# A call in a process that is made as the dispatcher's are, which then says what it has imported for it.
BEHIND = """
import os, sys
from clitool.resident import daemon
from clitool.arguments import parse
from clitool.calling import work
daemon._preload()
before = set(sys.modules)
stderr = os.dup(2)
class Line:
    remaining = lambda self: 8.0
    note = about = lambda self, text: None
answer, status = work(parse(sys.argv[1:]), dict(os.environ), Line())
os.write(stderr, " ".join(set(sys.modules) - before).encode())
sys.exit(status != int(os.environ["EXPECTED"]))
"""


def test_the_stub_imports_what_it_needs_and_no_more(shared_world: World) -> None:
    words = shared_world.words("calculator", "--token-stdin", "--params", SUM)
    made = shared_world.status()["calls"]

    names = _imported(SHOWING, *words, env=shared_world.env)

    own = {name.partition(".")[2] for name in names if name.startswith("clitool.")} - {"__main__"}
    assert shared_world.status()["calls"] == made + 1
    assert own <= STUB
    assert not names & {"socket", "json", "re", "typing", "signal", "hashlib", "clitool.worker"}


@pytest.mark.parametrize(
    ("words", "status"),
    [
        pytest.param(("calculator", "--params", SUM), 0, id="a result"),
        pytest.param(("calculator", "--params", '{"function": "add"}'), 1, id="a refusal"),
        pytest.param(("trouble_echo",), 0, id="a tool of a plugin"),
        pytest.param(("habits_connect",), 0, id="a connection"),
    ],
)
def test_a_call_behind_it_imports_nothing_of_the_core(shared_world: World, words: tuple[str, ...], status: int) -> None:
    line = shared_world.words(words[0], "--token-stdin", *words[1:])

    names = _imported(BEHIND, *line, env={**shared_world.env, "EXPECTED": str(status)})

    assert not {name for name in names if not name.startswith("clitool_tools.")}


def _imported(program: str, *words: str, env: dict[str, str]) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *words], input=TOKEN.encode(), capture_output=True, env=env, check=False
    )
    assert done.returncode == 0, done
    return set(done.stderr.decode().split())
