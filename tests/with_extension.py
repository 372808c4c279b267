"""Run as a program: pytest, with the C extension of MySQL's connector loaded before all else; see `mysql_wires`."""

from __future__ import annotations

import os
import sys

import _mysql_connector  # noqa: F401 - before anything that loads OpenSSL

if __name__ == "__main__":
    os.environ["MYSQL_WIRE"] = "extension"
    import pytest

    sys.exit(pytest.main(sys.argv[1:]))
