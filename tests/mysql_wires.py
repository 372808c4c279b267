"""Which of the two ways to a MySQL server the tests take: the pure one, or the C extension's.

    MYSQL_WIRE=extension .venv/bin/python tests/with_extension.py [ARGUMENTS OF PYTEST]

The extension only serves Unix sockets and servers whose identity is verified, and cannot be loaded where OpenSSL is at
work already; pytest itself loads that. So the worlds of the tests are reached over sockets then, and pytest is started
by a program that loads the extension first.
"""

from __future__ import annotations

import os

WITH_EXTENSION = os.environ.get("MYSQL_WIRE", "pure") == "extension"
