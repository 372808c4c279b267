"""Who may import whom, read from the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = sorted((ROOT / "clitool").rglob("*.py"))
TOOLS = sorted((ROOT / "tools" / "clitool_tools").rglob("*.py"))
PLUGIN_API = {"clitool.family", "clitool.tool", "clitool.errors", "clitool.jail", "clitool.json_array", "clitool.lean"}
DRIVERS = {"sqlite3", "mysql", "pymongo", "bson", "imaplib", "smtplib", "sqlglot"}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "clitool"}
    return found


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", CORE, ids=name)
def test_the_core_names_no_tool_and_imports_no_driver(path: Path) -> None:
    # Its own store, its sample, and where all get the driver from.
    allowed = {"sqlite3"} if path.name in {"state.py", "sample.py", "lean.py"} else set()

    tops = {module.partition(".")[0] for module in imports(path)}

    assert "clitool_tools" not in tops
    assert not tops & DRIVERS - allowed


@pytest.mark.parametrize("path", TOOLS, ids=name)
def test_a_tool_imports_the_plugin_api_and_its_own_family_only(path: Path) -> None:
    """Families are independent: each could move to a distribution of its own."""
    family = path.relative_to(ROOT / "tools" / "clitool_tools").parts[0].removesuffix(".py")

    for module in imports(path):
        if module.partition(".")[0] == "clitool":
            assert module in PLUGIN_API, module
        if module.partition(".")[0] == "clitool_tools":
            assert f"{module}.".startswith(f"clitool_tools.{family}."), module


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in CORE
        if path.name not in {"__main__.py", "door.py", "entry_points.py", "worker.py", "daemon.py", "service.py"}
        and path.name not in {"cli.py", "door.py"}
    ],
    ids=name,
)
def test_only_doors_read_the_command_line_and_the_environment(path: Path) -> None:
    names = {ast.unparse(node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}

    assert not names & {"sys.argv", "os.environ", "os.getenv", "sys.exit"}


@pytest.mark.parametrize("path", [*CORE, *TOOLS], ids=name)
def test_a_module_fits_its_size_and_says_what_it_is(path: Path) -> None:
    text = path.read_text()

    assert text.count("\n") <= 400
    assert ast.get_docstring(ast.parse(text))
