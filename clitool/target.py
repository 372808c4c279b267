"""Objects by the names that entry points give them: `module:attribute`."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load(target: str) -> Any:  # noqa: ANN401 - whatever stands there
    """Import and return what `target` names (`module:attribute`, perhaps dotted); raises whatever that raises."""
    module, _, attribute = target.partition(":")
    __import__(module)  # importlib.import_module does the same, but importing importlib costs more than some tools
    value: Any = sys.modules[module]
    for part in attribute.split("."):
        value = getattr(value, part)
    return value
