"""Which of the two ways to a MySQL server the tests take: the pure one, or the C extension's.

    .venv/bin/python tests/with_extension.py [ARGUMENTS OF PYTEST]

The extension only serves Unix sockets and servers whose identity is verified, and cannot be loaded where OpenSSL is at
work already; pytest itself loads that. So the worlds of the tests are reached over sockets then, and pytest is started
by a program that loads the extension first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WITH_EXTENSION = os.environ.get("MYSQL_WIRE", "pure") == "extension"

_TESTS = Path(__file__).parent
# What a run of all tests also runs on the extension: the wire, the session, values, faults, and the engines against
# the reference.
_FILES = [
    *(f"tools/test_mysql_{name}.py" for name in ("wire", "session", "dishonest", "tls", "time", "faults", "values")),
    "tools/test_mysql_like_sqlite.py",
    "tools/test_mysql_on_both_wires.py",
    "tools/test_database_engines.py",
]


def start_on_extension() -> subprocess.Popen[str]:
    """Run these tests in a process of their own, which does not get in the way of this one."""
    words = ["nice", sys.executable, "with_extension.py", "-q", "-k", "not sqlite] and not mongodb]", *_FILES]
    return subprocess.Popen(words, cwd=_TESTS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
