"""pymongo, or the word that it is not installed; imported only by modules that a call on MongoDB needs."""

from __future__ import annotations

from clitool.errors import DriverMissing

__all__ = ("bson", "pymongo")

try:
    import bson
    import pymongo
except ImportError:
    raise DriverMissing("pymongo", "clitool-convention[mongodb]") from None
