"""Whether the packages that an engine needs are there, for `clitool check`, which else only a call would tell."""

from __future__ import annotations

from importlib.util import find_spec

from clitool.errors import DriverMissing
from clitool.family import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def missing(module: str, package: str, extra: str, key: str, level: str = "error") -> Iterator[Finding]:
    """Yield the finding that a package is not installed, if that is so; nothing of it is run.

    Args:
        module: what is imported of it.
        package: its name.
        extra: the requirement that installs it.
        key: the setting for which it is needed.
        level: of the finding.
    """
    try:
        found = find_spec(module)
    except ModuleNotFoundError:  # nor is the package around it
        found = None
    if found is None:
        yield Finding(level, key, str(DriverMissing(package, extra)))
