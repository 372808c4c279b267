"""What a family imports for one call, beyond what the core has loaded by then: for lists that tests pin."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from command import environment

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys
import clitool.declarations, clitool.lean
from clitool.family import Origin, Secret
from clitool.tool import Context, Deadline
clitool.lean.loads("[]")
before = set(sys.modules)
from clitool_tools.{family} import family
secret = [key for key, schema in family.settings_schema["properties"].items() if schema.get("writeOnly")]
settings = {{key: Secret(value) if key in secret else value for key, value in {settings!r}.items()}}
if {tool!r}:
    context = Context(client="x", settings=family.parse(settings, Origin({folder!r}, ())), reference="x",
                      logger=None, deadline=Deadline(8), open_state=None, connect=family.connect)
    tool = family.tool({tool!r})(context)
    tool.execute(**{params!r})
    context.close()
print(*sorted(set(sys.modules) - before))
"""


def imports_of(folder: Path, family: str, tool: str, settings: dict[str, Any], **params: Any) -> set[str]:
    """Return the names of the modules that a call imports in a fresh process.

    Args:
        folder: where the settings are relative to.
        family: its name.
        tool: the tool's name, or empty to import the family and nothing else.
        settings: of the client.
        params: of the call.
    """
    program = PROGRAM.format(family=family, tool=tool, settings=settings, params=params, folder=str(folder))
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False, env=environment()
    )
    assert done.returncode == 0, done.stderr
    return {name.removeprefix("clitool_tools.") for name in done.stdout.split()}
