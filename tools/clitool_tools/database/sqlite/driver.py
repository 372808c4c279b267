"""SQLite's driver itself: its package also imports `datetime` and more, for converters that nothing here uses.

That is a fifth of a call. The package is the fallback for a Python that has no `_sqlite3`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
else:
    try:
        import _sqlite3 as sqlite3
    except ImportError:
        import sqlite3

__all__ = ["sqlite3"]
