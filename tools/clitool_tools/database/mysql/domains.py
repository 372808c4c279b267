"""From what information_schema says of a column to its kind and domain."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clitool_tools.database.table import Domain

    Facts = Mapping[str, str | None]

_BYTES = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}


def kind(facts: Facts) -> str:
    """Return the kind of a column.

    Args:
        facts: its row of information_schema.COLUMNS by name.
    """
    return _TYPES.get(facts["DATA_TYPE"] or "", _UNKNOWN)[0]


def domain(facts: Facts) -> Domain | None:
    """Return the domain of a column; `facts` as above."""
    return _TYPES.get(facts["DATA_TYPE"] or "", _UNKNOWN)[1](facts)


def is_unsigned(facts: Facts) -> bool:
    """Return whether a numeric column is declared so."""
    return " unsigned" in (facts["COLUMN_TYPE"] or "")


def _whole(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.numeric import whole

    size = 256 ** _BYTES[facts["DATA_TYPE"] or ""]
    low, high = (0, size - 1) if is_unsigned(facts) else (-size // 2, size // 2 - 1)
    return whole(low, high)


def _bit(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.numeric import whole

    return whole(0, 2 ** (_number(facts, "NUMERIC_PRECISION") or 64) - 1)


def _year(_: Facts) -> Domain:
    from clitool_tools.database.mysql.numeric import year

    return year()


def _decimal(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.numeric import decimal

    digits, scale = _number(facts, "NUMERIC_PRECISION") or 65, _number(facts, "NUMERIC_SCALE") or 0
    return decimal(digits, scale, unsigned=is_unsigned(facts))


def _real(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.numeric import real

    digits, scale = _number(facts, "NUMERIC_PRECISION"), _number(facts, "NUMERIC_SCALE")
    return real(digits, scale, unsigned=is_unsigned(facts), is_single=facts["DATA_TYPE"] == "float")


def _date(_: Facts) -> Domain:
    from clitool_tools.database.mysql.temporal import date

    return date()


def _moment(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.temporal import moment

    return moment(_number(facts, "DATETIME_PRECISION") or 0, in_utc=facts["DATA_TYPE"] == "timestamp")


def _time(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.temporal import time

    return time(_number(facts, "DATETIME_PRECISION") or 0)


def _characters(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.textual import text

    most = _number(facts, "CHARACTER_MAXIMUM_LENGTH")
    return text(facts["CHARACTER_SET_NAME"] or "", most, None, is_padded=facts["DATA_TYPE"] == "char")


def _text(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.textual import text

    most = _number(facts, "CHARACTER_OCTET_LENGTH")
    return text(facts["CHARACTER_SET_NAME"] or "", None, most, is_padded=False)


def _choice(facts: Facts) -> Domain:
    from clitool_tools.database.mysql import textual

    make = textual.choice if facts["DATA_TYPE"] == "enum" else textual.choices
    return make(textual.members(facts["COLUMN_TYPE"] or ""), facts["CHARACTER_SET_NAME"] or "")


def _bytes(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.textual import binary

    most = _number(facts, "CHARACTER_MAXIMUM_LENGTH")
    return binary(most, is_fixed=facts["DATA_TYPE"] == "binary")


def _opaque(_: Facts) -> Domain:
    """Return that of a GEOMETRY or VECTOR: its bytes, as the server keeps them."""
    from clitool_tools.database.mysql.textual import binary

    return binary(None)


def _uuid(_: Facts) -> Domain:
    from clitool_tools.database.mysql.textual import uuid

    return uuid()


def _address(facts: Facts) -> Domain:
    from clitool_tools.database.mysql.textual import internet_address

    return internet_address(6 if facts["DATA_TYPE"] == "inet6" else 4)


def _document(_: Facts) -> None:
    return None


def _nothing(_: Facts) -> Domain:
    from clitool_tools.database.mysql.textual import nothing

    return nothing()


def _number(facts: Facts, name: str) -> int | None:
    found = facts[name]
    return int(found) if found is not None else None


_GEOMETRIES = (
    "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
    "geometrycollection", "geomcollection",
)  # fmt: skip
_TYPES: dict[str, tuple[str, Callable[[Facts], Domain | None]]] = {
    **dict.fromkeys(_BYTES, ("integer", _whole)),
    "bit": ("integer", _bit),
    "year": ("integer", _year),
    "decimal": ("decimal", _decimal),
    **dict.fromkeys(("float", "double"), ("real", _real)),
    "date": ("text", _date),
    **dict.fromkeys(("datetime", "timestamp"), ("text", _moment)),
    "time": ("text", _time),
    **dict.fromkeys(("char", "varchar"), ("text", _characters)),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext"), ("text", _text)),
    **dict.fromkeys(("enum", "set"), ("text", _choice)),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), ("binary", _bytes)),
    **dict.fromkeys((*_GEOMETRIES, "vector"), ("binary", _opaque)),
    "uuid": ("text", _uuid),
    **dict.fromkeys(("inet4", "inet6"), ("text", _address)),
    "json": ("json", _document),
}
_UNKNOWN = ("any", _nothing)
