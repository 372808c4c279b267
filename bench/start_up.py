"""How long one call takes, as a ratio to `python -c pass` of the same environment, measured in the same run.

    make bench            # or: .venv/bin/python bench/start_up.py [ROUNDS]

The wheel is built and installed into an environment of its own, as a user has it: an editable install or a missing
`.pyc` would change the figures. Commands run interleaved, medians count; single figures of a busy machine do not.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 41
TOKEN = "bench-token"
BASE = "python -c pass"
GOALS = {"verify": 4.0, "list": 2.6, "call calculator": 4.2, "call database_query": 4.8, "call mail_read_inbox": 1.5}
MEMORY_GOAL_MB = 30


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = install(folder / "env")
        clients = write_clients(folder / "data")
        measure(commands(python, clients), ROUNDS)


def install(folder: Path, extras: str = "") -> Path:
    """Install the project with its extras into an environment of its own; return that environment's Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", f"{ROOT}{extras}"], stdout=subprocess.DEVNULL, check=True
    )
    return python


def write_clients(folder: Path) -> Path:
    import hashlib

    folder.mkdir(mode=0o700)
    write_database(folder / "shop.db")
    settings = {"type": "sqlite", "connection_string": "sqlite:///shop.db", "allowed_tables": ["orders"]}
    clients = {
        f"client{n}": {
            "tokens": [{"id": "t", "sha256": hashlib.sha256(f"{TOKEN}{n}".encode()).hexdigest()}],
            "scopes": ["calculator:use", "database:read", "logmcp:read"],
            "tools": {"database": settings},
        }
        for n in range(10)
    }
    path = folder / "clients.yaml"
    path.write_text(json.dumps({"clients": clients}, indent=1))
    path.chmod(0o600)
    return path


def write_database(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, total REAL, note TEXT)")
    rows = ((n, f"customer {n % 1000}", n / 7, "x" * 20) for n in range(1_000_000))
    database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", rows)
    database.commit()
    database.close()


def commands(python: Path, clients: Path) -> dict[str, list[str]]:
    clitool = [str(python.parent / "clitool"), "--clients", str(clients)]
    query = json.dumps({"table": "orders", "where": {"id": 500_000}})
    total = json.dumps({"function": "add", "a": 1, "b": 2})
    return {
        BASE: [str(python), "-c", "pass"],
        "verify": [*clitool, "verify"],
        "list": [clitool[0], "list"],
        "list --clients": [*clitool, "list"],
        "call calculator": [*clitool, "call", "calculator", "--token-stdin", "--params", total],
        "call database_query": [*clitool, "call", "database_query", "--token-stdin", "--params", query],
    }


def measure(table: dict[str, list[str]], rounds: int, base: str = BASE) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in table}
    # First, so that the disk's cache is warm for all.
    memory = {name: peak_megabytes(words) for name, words in table.items()}
    for _ in range(rounds):
        for name, words in table.items():
            seconds[name].append(run(words))
    report(seconds, memory, base)


def run(words: list[str]) -> float:
    """Return the wall seconds of one run."""
    started = time.perf_counter()
    finish(words)
    return time.perf_counter() - started


# The system counts what a process holds before it becomes another program as memory of that program. So a small
# process starts it, not this one.
PEAK = """
import os, resource, sys
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


def peak_megabytes(words: list[str]) -> float:
    """Return the peak memory of the largest process of one run."""
    amount = int(finish([sys.executable, "-I", "-S", "-c", PEAK, *words]).stderr)
    return amount / (1024 * 1024 if sys.platform == "darwin" else 1024)


def finish(words: list[str]) -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"]}
    return subprocess.run(words, input=f"{TOKEN}7\n".encode(), capture_output=True, env=environment, check=True)


def report(seconds: dict[str, list[float]], memory: dict[str, float], base: str) -> None:
    print(f"| command | median ms | ratio | goal | p10-p90 of the ratio | peak MB (goal {MEMORY_GOAL_MB}) |")
    print("|---|---|---|---|---|---|")
    for name, values in seconds.items():
        ratios = sorted(value / other for value, other in zip(values, seconds[base], strict=True))
        spread = f"{ratios[len(ratios) // 10]:.2f}-{ratios[-1 - len(ratios) // 10]:.2f}"
        goal = f"{GOALS[name]:.1f}" if name in GOALS else ""
        median, ratio = statistics.median(values) * 1000, statistics.median(ratios)
        print(f"| {name} | {median:.1f} | {ratio:.2f} | {goal} | {spread} | {memory[name]:.1f} |")


if __name__ == "__main__":
    main()
