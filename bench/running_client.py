"""Makes a call again and again through the resident worker, as a program that stays would; prints the seconds of each.

    python -P running_client.py TIMES TOKEN WORD ...

Run by the environment's Python; -P, because the resident worker declines what has another module path than its own.
"""

from __future__ import annotations

import os
import sys
from time import monotonic, perf_counter

from clitool.arguments import parse
from clitool.machine import resident_socket
from clitool.stub import find, hand_over
from clitool.watch import Signals, Watch

_DEADLINE_SECONDS = 8


def main() -> None:
    times, token, words = int(sys.argv[1]), sys.argv[2].encode() + b"\n", sys.argv[3:]
    signals = Signals()
    for _ in range(times):
        put_on_standard_input(token)
        started = perf_counter()
        call(words, Watch(signals, monotonic() + _DEADLINE_SECONDS))
        print(perf_counter() - started)


def call(words: list[str], watch: Watch) -> None:
    request = parse(words)
    assert request
    connection = find(resident_socket(os.environ))
    ending = connection and hand_over(connection, request, os.environ, watch, print)
    if ending is None or ending.status:
        sys.exit("the resident worker did not make the call")


def put_on_standard_input(data: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)


main()
