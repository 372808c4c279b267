"""What a call costs, as a number without noise: the instructions that its processes execute, as a user installs it."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from services.process import program

ROOT = Path(__file__).parents[1]
COUNT = str(ROOT / "bench" / "instructions.py")


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of an environment with the built wheel; its dependencies are those of this one."""
    code = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    words = ["--python", str(python), "install", "--quiet", "--disable-pip-version-check", "--no-deps", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    [packages] = python.parents[1].glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_no_call_takes_more_instructions_than_its_limit(python: Path) -> None:
    program("valgrind")

    done = subprocess.run(
        [sys.executable, COUNT, "--gate", "--python", str(python)], capture_output=True, check=False, text=True
    )

    assert done.returncode == 0, done.stderr + done.stdout
