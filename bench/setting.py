"""Where figures come from: the machine, the date, and the versions of everything."""

from __future__ import annotations

import datetime as dt
import os
import platform
import shutil
import subprocess
from typing import TYPE_CHECKING

from installation import ROOT, version
from report import table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from peers import Peer
    from world import World

_PACKAGES = ("clitool-convention", "PyYAML", "jsonschema", "mysql-connector-python", "pymongo")


def setting_table(world: World, found: Mapping[str, Peer]) -> str:
    """Show them."""
    rows = {
        "date": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}",
        "commit": _commit(),
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB",
        "system": f"{_system()}, Linux {platform.release()}" if platform.system() == "Linux" else platform.platform(),
        "Python": _python(world.python),
        **{package: version(world.python, package) for package in _PACKAGES},
        **{shop.engine: shop.version for shop in world.shops.values()},
        "Dovecot": _said("dovecot", "--version"),
        "Node": _said("node", "--version").removeprefix("v"),
        "valgrind": _said("valgrind", "--version").removeprefix("valgrind-"),
        **{name: peer.version for name, peer in found.items()},
    }
    return table(("what", "version"), [(what, value) for what, value in rows.items() if value])


def _python(python: Path) -> str:
    code = "import platform as p; print(p.python_implementation(), p.python_version() + ',', p.python_compiler())"
    return subprocess.run([python, "-c", code], capture_output=True, check=True, text=True).stdout.strip()


def _commit() -> str:
    changed = _said("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no")
    return _said("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD") + (" with changes" if changed else "")


def _said(program: str, *words: str) -> str:
    """Return the first word that a program says; nothing if it is not there or says none."""
    path = shutil.which(program, path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"]))
    if path is None:
        return ""
    done = subprocess.run([path, *words], capture_output=True, check=False, text=True)
    return "".join(done.stdout.split()[:1]) if done.returncode == 0 else ""


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()
