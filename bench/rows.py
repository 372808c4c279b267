"""How long 100 000 rows take, as a ratio to a minimal script with the same driver and the standard json module.

    .venv/bin/python bench/rows.py [ROUNDS] [ENGINE ...]

The scripts are in `bench/minimal`; they convert as we do. Real servers are started as the tests start them.
"""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import json
import os
import sqlite3
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(Path(__file__).parent)]

from start_up import TOKEN, install, peak_megabytes, run  # noqa: E402 - beside this script

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
ENGINES = sys.argv[2:] or ["sqlite", "mysql", "mongodb"]
ROWS = 100_000
GOAL = 1.5
LIMITS = {"max_rows": ROWS, "max_bytes": 67_108_864, "timeout": 60, "allowed_tables": ["orders"]}
SQL = (
    "CREATE TABLE orders (id INT PRIMARY KEY, customer VARCHAR(40), total DOUBLE, amount DECIMAL(12, 2),"
    " placed DATETIME, note TEXT)"
)

# The settings of a client, and the words for the minimal script.
Setup = tuple[dict[str, Any], list[str]]


def main() -> None:
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        folder = Path(name)
        python = install(folder / "env", "[all]")
        pairs = {engine: pair(python, folder, engine, servers) for engine in ENGINES}
        print(f"| {ROWS} rows | minimal ms | clitool ms | ratio (goal {GOAL}) | peak MB minimal | peak MB clitool |")
        print("|---|---|---|---|---|---|")
        for engine, words in pairs.items():
            print(compared(engine, *words))


def pair(python: Path, folder: Path, engine: str, servers: ExitStack) -> tuple[list[str], list[str]]:
    settings, words = SETUPS[engine](folder, servers)
    script = [str(python), str(ROOT / "bench" / "minimal" / f"rows_{engine}.py"), *words, str(ROWS)]
    clients = folder / f"{engine}.yaml"
    token = {"id": "t", "sha256": hashlib.sha256(f"{TOKEN}7".encode()).hexdigest()}
    client = {"tokens": [token], "scopes": ["database:read"], "tools": {"database": {**LIMITS, **settings}}}
    clients.write_text(json.dumps({"clients": {"bench": client}}))
    clients.chmod(0o600)
    params = json.dumps({"table": "orders", "limit": ROWS})
    command = [str(python.parent / "clitool"), "--clients", str(clients), "--timeout", "60"]
    return script, [*command, "call", "database_query", "--token-stdin", "--params", params]


def compared(engine: str, script: list[str], command: list[str]) -> str:
    memory = [peak_megabytes(words) for words in (script, command)]
    times = [(run(script), run(command)) for _ in range(ROUNDS)]
    minimal, ours = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
    ratio = statistics.median(ours / minimal for minimal, ours in times)
    return f"| {engine} | {minimal:.0f} | {ours:.0f} | {ratio:.2f} | {memory[0]:.0f} | {memory[1]:.0f} |"


def rows() -> list[tuple[Any, ...]]:
    start = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - columns have no time zone
    minute = dt.timedelta(minutes=1)
    return [
        (n, f"customer {n % 1000}", n / 7, decimal.Decimal(n) / 100, start + n * minute, "x" * 20) for n in range(ROWS)
    ]


def sqlite(folder: Path, _: ExitStack) -> Setup:
    path = folder / "shop.db"
    database = sqlite3.connect(path)
    database.execute(SQL)
    plain = (
        (n, customer, total, float(amount), str(placed), note) for n, customer, total, amount, placed, note in rows()
    )
    database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", plain)
    database.commit()
    database.close()
    return {"type": "sqlite", "connection_string": "sqlite:///shop.db"}, [str(path)]


def mysql(_: Path, servers: ExitStack) -> Setup:
    from services.mariadb import MariaDB

    server = MariaDB()
    servers.callback(server.stop)
    server.run("CREATE DATABASE bench; CREATE USER bench@'%' IDENTIFIED BY 'bench'; GRANT ALL ON bench.* TO bench@'%'")
    with server.owner("bench") as handle:
        cursor = handle.cursor()
        cursor.execute(SQL)
        cursor.executemany("INSERT INTO orders VALUES (%s, %s, %s, %s, %s, %s)", rows())
    settings = {"host": "127.0.0.1", "port": server.port, "user": "bench", "password": "bench", "database": "bench"}
    return {"type": "mysql", **settings}, [str(server.port), "bench"]


def mongodb(_: Path, servers: ExitStack) -> Setup:
    from bson import Decimal128
    from services.mongod import Mongod

    server = Mongod()
    servers.callback(server.stop)
    documents = (
        {"_id": n, "customer": customer, "total": total, "amount": Decimal128(amount), "placed": placed, "note": note}
        for n, customer, total, amount, placed, note in rows()
    )
    with server.owner() as client:
        client.bench.orders.insert_many(documents)
    address = server.address("bench")
    return {"type": "mongodb", "connection_string": address}, [address, "bench"]


SETUPS = {"sqlite": sqlite, "mysql": mysql, "mongodb": mongodb}

if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()
