"""Compiles the declarations of the tools into the wheel (see clitool/declarations.py)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Declarations(BuildHookInterface[Any]):
    """Adds the two files to `clitool/`; an editable installation has none, since its tools may change at any time."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files to a temporary folder and have them included."""
        if version == "editable":
            return
        sys.path[:0] = [self.root, str(Path(self.root, "tools"))]
        from clitool.declarations import compile_families
        from clitool.family import load_target
        from clitool.registration import problems

        targets = self.metadata.core.entry_points["clitool.families"]
        families = [(load_target(target), target) for target in targets.values()]
        wrong = [
            problem for (family, _), name in zip(families, targets, strict=True) for problem in problems(family, name)
        ]
        if wrong:
            raise SystemExit("\n".join(wrong))
        self._folder = tempfile.TemporaryDirectory()
        for name, content in compile_families(families).items():
            file = Path(self._folder.name, name)
            file.write_text(content, encoding="ascii")
            build_data["force_include"][str(file)] = f"clitool/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - the interface
        """Remove the temporary folder."""
        if version != "editable":
            self._folder.cleanup()
