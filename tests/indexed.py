"""Clients files with an index, without the two seconds that the program would wait for it."""

from __future__ import annotations

import os
from pathlib import Path

from clitool.client_index import identity
from clitool.client_index_content import content
from clitool.clients_file import index_path
from clitool.clients_yaml import parse


def write_index(path: Path) -> Path:
    """Write what the program itself would write beside the clients file, and return where."""
    index = Path(index_path(str(path)))
    index.touch(0o600)
    index.write_bytes(content(parse(path.read_bytes(), str(path)), identity(os.stat(path))))
    return index
