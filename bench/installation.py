"""Installs the project as a user has it: a wheel in an environment of its own, with compiled modules."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def install(folder: Path, *requirements: str) -> Path:
    """Install packages into a new environment and return its Python; an editable install would change the figures."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip(python, "install", "--quiet", *requirements)
    return python


def install_project(folder: Path, extras: str = "[all]") -> Path:
    """Install the project with its extras into a new environment and return its Python."""
    return install(folder, f"{ROOT}{extras}")


def version(python: Path, package: str) -> str:
    """Return the version of an installed package; nothing if it is not installed."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, check=False, text=True).stdout.strip()


def pip(python: Path, *words: str) -> str:
    """Run the environment's pip and return what it prints."""
    done = subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", *words], capture_output=True, check=False, text=True
    )
    if done.returncode:
        raise RuntimeError(f"pip {' '.join(words)}: {done.stderr.strip()[-1000:]}")
    return done.stdout
