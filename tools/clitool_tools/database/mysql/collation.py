"""Whether a collation ignores blanks at the end of a text, as most of the server's do."""

from __future__ import annotations


def pads(collation: str) -> bool:
    """Return whether texts that differ only by blanks at their end are equal.

    MariaDB says it in the name, MySQL by the version of the Unicode algorithm:
    https://dev.mysql.com/doc/refman/8.4/en/charset-collation-information-schema.html
    """
    return not ("_nopad_" in collation or "_0900_" in collation or collation in ("", "binary"))
