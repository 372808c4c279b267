"""The numbers of MongoDB's errors, and what each is in the words of this project.

https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
"""

from __future__ import annotations

LARGE = "a document, or a filter, would be larger than the 16 MB that MongoDB takes"
_BUSY = ("locked", "another change of the same documents is going on; try again")
_MEANWHILE = ("locked", "the collection was changed meanwhile; try again")
_LOST = ("connection_lost", "the server gave up its role in the middle of the call; try again")
_LOGIN = ("login_failed", "the server refuses the user or the password; look at authSource, too")
_RIGHT = (
    "permission",
    "the account has not the right for this on the server; `clitool check --connect` prints the role that it needs",
)
_VALUE = ("bad_value", "MongoDB takes no such value or field name there")
_LARGE = ("too_large", LARGE)
_INDEX = ("bad_value", "an index of the collection takes no such value; database_describe shows the indexes")
_MEMORY = ("database", "the query needs too much memory; ask for less, or sort by an indexed field")
_CACHE = ("database", "the change is more than the server's cache takes now; change less at once, or try again")

FAULTS: dict[int, tuple[str, str]] = {
    2: _VALUE,
    9: _VALUE,
    11: _LOGIN,
    13: _RIGHT,
    14: _VALUE,
    18: _LOGIN,
    20: ("no_transactions", "this server has no transactions; a replica set has"),
    24: _BUSY,
    26: ("not_found", "the collection does not exist any more"),
    28: ("bad_value", "a dotted name leads through a value that is not a document"),
    34: ("bad_value", "a dotted name means a place far behind the end of an array"),
    43: _MEANWHILE,
    52: _VALUE,
    53: ("bad_value", "this cannot be the _id of a document"),
    56: ("bad_value", "a field needs a name"),
    57: _VALUE,
    66: ("bad_value", "the _id or shard key of a document cannot change"),
    73: ("not_found", "no collection can have such a name"),
    91: _LOST,
    112: _BUSY,
    146: _MEMORY,
    166: ("table_not_allowed", "a view cannot be changed; change the collection behind it"),
    171: ("bad_value", "an index of the collection allows an array in one of its fields only, not in two"),
    175: _MEANWHILE,
    189: _LOST,
    225: _BUSY,
    246: _BUSY,
    251: _BUSY,
    263: ("no_transactions", "the server cannot do this inside of a transaction"),
    292: _MEMORY,
    388: _CACHE,
    391: _LOGIN,
    8000: _LOGIN,
    10003: ("bad_value", "a document of a capped collection cannot change its size"),
    10058: _LOST,
    10107: _LOST,
    10334: _LARGE,
    11600: _LOST,
    11602: _LOST,
    13026: _INDEX,
    13027: _INDEX,
    13068: _INDEX,
    13388: _MEANWHILE,
    13435: _LOST,
    13436: _LOST,
    14031: ("no_space", "the server's disk is full"),
    16755: _INDEX,
    16766: _INDEX,
    16804: _INDEX,
    16837: _VALUE,
    17261: _INDEX,
    17262: _INDEX,
    17280: ("too_large", "a value is too large for an index of the collection"),
    17419: _LARGE,
    17420: _LARGE,
}
"""Number -> (reason, sentence)."""
DUPLICATE = (11000, 11001, 12582)
TIMEOUT = (50, 89, 202, 262)
UNAUTHORIZED = 13
MEMORY = (146, 292)  # what a query is told that needs more memory than the server grants one
