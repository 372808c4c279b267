"""From what information_schema says of a column to its kind and domain."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clitool_tools.database.table import Domain

    Facts = Mapping[str, str | None]
    Found = tuple[str, Domain | None]

_BYTES = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}


def domain(facts: Facts) -> Found:
    """Return kind and domain of a column.

    Args:
        facts: its row of information_schema.COLUMNS by name.
    """
    base = facts["DATA_TYPE"] or ""
    found = _TYPES.get(base)
    if found is not None:
        return found(facts)
    from clitool_tools.database.mysql.textual import nothing

    return "any", nothing()


def is_unsigned(facts: Facts) -> bool:
    """Return whether a numeric column is declared so."""
    return " unsigned" in (facts["COLUMN_TYPE"] or "")


def _whole(facts: Facts) -> Found:
    from clitool_tools.database.mysql.numeric import whole

    size = 256 ** _BYTES[facts["DATA_TYPE"] or ""]
    low, high = (0, size - 1) if is_unsigned(facts) else (-size // 2, size // 2 - 1)
    return "integer", whole(low, high)


def _bit(facts: Facts) -> Found:
    from clitool_tools.database.mysql.numeric import whole

    return "integer", whole(0, 2 ** (_number(facts, "NUMERIC_PRECISION") or 64) - 1)


def _year(_: Facts) -> Found:
    from clitool_tools.database.mysql.numeric import year

    return "integer", year()


def _decimal(facts: Facts) -> Found:
    from clitool_tools.database.mysql.numeric import decimal

    digits, scale = _number(facts, "NUMERIC_PRECISION") or 65, _number(facts, "NUMERIC_SCALE") or 0
    return "decimal", decimal(digits, scale, unsigned=is_unsigned(facts))


def _real(facts: Facts) -> Found:
    from clitool_tools.database.mysql.numeric import real

    digits, scale = _number(facts, "NUMERIC_PRECISION"), _number(facts, "NUMERIC_SCALE")
    return "real", real(digits, scale, unsigned=is_unsigned(facts), is_single=facts["DATA_TYPE"] == "float")


def _date(_: Facts) -> Found:
    from clitool_tools.database.mysql.temporal import date

    return "text", date()


def _moment(facts: Facts) -> Found:
    from clitool_tools.database.mysql.temporal import moment

    return "text", moment(_number(facts, "DATETIME_PRECISION") or 0, in_utc=facts["DATA_TYPE"] == "timestamp")


def _time(facts: Facts) -> Found:
    from clitool_tools.database.mysql.temporal import time

    return "text", time(_number(facts, "DATETIME_PRECISION") or 0)


def _characters(facts: Facts) -> Found:
    from clitool_tools.database.mysql.textual import text

    most = _number(facts, "CHARACTER_MAXIMUM_LENGTH")
    return "text", text(facts["CHARACTER_SET_NAME"] or "", most, None, is_padded=facts["DATA_TYPE"] == "char")


def _text(facts: Facts) -> Found:
    from clitool_tools.database.mysql.textual import text

    most = _number(facts, "CHARACTER_OCTET_LENGTH")
    return "text", text(facts["CHARACTER_SET_NAME"] or "", None, most, is_padded=False)


def _choice(facts: Facts) -> Found:
    from clitool_tools.database.mysql import textual

    make = textual.choice if facts["DATA_TYPE"] == "enum" else textual.choices
    return "text", make(textual.members(facts["COLUMN_TYPE"] or ""), facts["CHARACTER_SET_NAME"] or "")


def _bytes(facts: Facts) -> Found:
    from clitool_tools.database.mysql.textual import binary

    most = _number(facts, "CHARACTER_MAXIMUM_LENGTH")
    return "binary", binary(most, is_fixed=facts["DATA_TYPE"] == "binary")


def _opaque(_: Facts) -> Found:
    """Return that of a GEOMETRY or VECTOR: its bytes, as the server keeps them."""
    from clitool_tools.database.mysql.textual import binary

    return "binary", binary(None)


def _uuid(_: Facts) -> Found:
    from clitool_tools.database.mysql.textual import uuid

    return "text", uuid()


def _address(facts: Facts) -> Found:
    from clitool_tools.database.mysql.textual import internet_address

    return "text", internet_address(6 if facts["DATA_TYPE"] == "inet6" else 4)


def _document(_: Facts) -> Found:
    return "json", None


def _number(facts: Facts, name: str) -> int | None:
    found = facts[name]
    return int(found) if found is not None else None


_GEOMETRIES = (
    "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
    "geometrycollection", "geomcollection",
)  # fmt: skip
_TYPES: dict[str, Callable[[Facts], Found]] = {
    **dict.fromkeys(_BYTES, _whole),
    "bit": _bit,
    "year": _year,
    "decimal": _decimal,
    **dict.fromkeys(("float", "double"), _real),
    "date": _date,
    **dict.fromkeys(("datetime", "timestamp"), _moment),
    "time": _time,
    **dict.fromkeys(("char", "varchar"), _characters),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext"), _text),
    **dict.fromkeys(("enum", "set"), _choice),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), _bytes),
    **dict.fromkeys((*_GEOMETRIES, "vector"), _opaque),
    "uuid": _uuid,
    **dict.fromkeys(("inet4", "inet6"), _address),
    "json": _document,
}
