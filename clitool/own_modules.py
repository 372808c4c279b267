"""A short way to the modules of this program: Python's own, less the questions whose answers are known here.

Where a module of ours lies is known from its package, so neither the other finders are asked nor its folder searched,
and what Python compiled is read as it reads it: with the same check that it belongs to the source. Whatever is not as
expected is left to Python. A call imports some fifty small modules; this saves it a fifteenth of its time.
"""

from __future__ import annotations

import marshal
import os
import sys

from clitool.lean import MAGIC_NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

_OWN = ("clitool.", "clitool_tools.")
_SUFFIX = f".{sys.implementation.cache_tag}.pyc"
_HEADER = 16  # bytes: magic number, flags, time and size of the source
_LOW = 0xFFFFFFFF
_MOST = 1 << 16  # bytes, read at once; the few modules that are larger are left to Python


class OwnModules:
    """A finder and a loader for `sys.meta_path`: of what lies in the program's packages."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        """Return how to load the module called `name`, or None if Python has to look for it."""
        # Where the package itself lies, Python has found already.
        if not name.startswith(_OWN) or path is None or len(path) != 1:
            return None
        folder, last = path[0], name.rpartition(".")[2]
        return self._spec(name, folder, last) or self._spec(name, os.path.join(folder, last), "__init__")

    def create_module(self, _spec: ModuleSpec) -> None:
        """Leave it to Python to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        spec: ModuleSpec = module.__spec__  # type: ignore[assignment]  # Python has just set it
        code, spec.loader_state = spec.loader_state, None
        exec(code, module.__dict__)  # noqa: S102 - what an import is

    def _spec(self, name: str, folder: str, stem: str) -> ModuleSpec | None:
        source = os.path.join(folder, stem + ".py")
        cached = os.path.join(folder, "__pycache__", stem + _SUFFIX)
        try:
            code = _compiled(source, cached)
        except (OSError, ValueError, EOFError, TypeError):
            return None
        is_package = stem == "__init__"
        make: Any = type(__spec__)
        spec: ModuleSpec = make(name, self, origin=source, loader_state=code, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [folder]
        spec.cached = cached
        spec.has_location = True
        return spec


def install() -> None:
    """Have Python ask here first, if what it compiled lies where it does by default."""
    if sys.pycache_prefix is None and not sys.flags.optimize:
        sys.meta_path.insert(0, OwnModules())


def _compiled(source: str, cached: str) -> CodeType:
    """Return the code that Python compiled from `source`; raises whatever it may if there is none, or an old one."""
    found = os.stat(source)
    data = memoryview(_read(cached))
    times = (int(found.st_mtime) & _LOW).to_bytes(4, "little") + (found.st_size & _LOW).to_bytes(4, "little")
    if data[:_HEADER] != MAGIC_NUMBER + bytes(4) + times:
        raise ValueError(cached)
    code: CodeType = marshal.loads(data[_HEADER:])  # noqa: S302 - as Python does, from the same file
    return code


def _read(path: str) -> bytes:
    # A file object would take six system calls for this.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        data = os.read(descriptor, _MOST)
    finally:
        os.close(descriptor)
    if len(data) == _MOST:
        raise ValueError(path)
    return data
