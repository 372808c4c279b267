"""Where other programs that do the same are installed for the comparison: a folder that git ignores."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".peers"


class MissingError(Exception):
    """A peer cannot be had here; says why."""


def from_npm(package: str, version: str) -> Path:
    """Install a package of npm if it is not there yet; return the folder with all packages."""
    modules = FOLDER / "node_modules"
    description = modules / package / "package.json"
    if not description.exists() or json.loads(description.read_text())["version"] != version:
        FOLDER.mkdir(exist_ok=True)
        words = ["install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", f"{package}@{version}"]
        finish([program("npm"), *words])
    return modules


def program(name: str) -> str:
    """Return the path of a program of the system."""
    path = shutil.which(name)
    if path is None:
        raise MissingError(f"{name} is not installed")
    return path


def finish(words: list[str], **environment: str) -> str:
    """Run an installation or a question for a version; return what it prints."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment or None)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
        raise MissingError(f"{' '.join(words[:2])}: {lines[-1]}")
    return done.stdout.strip()
