"""Values and names in the text of a statement: the one place where they get there.

The text protocol has no other way. No literal made here depends on the session's SQL mode: what could end a string or
begin an escape, in any mode, is written in hexadecimal.
"""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal

_DIGITS = 65  # of a DECIMAL (https://mariadb.com/kb/en/decimal/); a longer literal would lose some in silence
_SCALE = 30  # after its point, on MySQL; MariaDB has 38
_LONGEST_NAME = 64  # characters


def literal(value: object) -> str:
    """Return SQL that stands for exactly this value: None, a number, a text or bytes.

    Raises:
        InvalidParams: MySQL has no such value: it is not finite, has too many digits, or is no Unicode text
            (bad_value).
        TypeError: a type that nobody has said how to write.
    """
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"_binary X'{bytes(value).hex()}'"  # without the introducer, MySQL may take it for a number
    if isinstance(value, int):
        return _whole(int(value))
    if isinstance(value, float):
        return _double(value)
    return _decimal(value)


def quoted(name: str) -> str:
    """Return a name of a table or column for SQL text; raises `InvalidParams` (bad_value) if none can be like that."""
    if not name or len(name) > _LONGEST_NAME or name[-1] == " " or not all("\0" < char <= "\uffff" for char in name):
        raise InvalidParams("no table and no column can have such a name", "bad_value")
    _encoded(name)
    return "`" + name.replace("`", "``") + "`"


def _text(value: str) -> str:
    data = _encoded(value)
    if "'" in value or "\\" in value or '"' in value or "\0" in value:
        return f"_utf8mb4 X'{data.hex()}'"
    return f"'{value}'"


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidParams("a text holds half of a surrogate pair, which is no character", "bad_value") from None


def _whole(value: int) -> str:
    if abs(value) >= 10**_DIGITS:
        raise _too_many_digits()
    return str(value)


def _double(value: float) -> str:
    if value - value != 0:  # infinite, or not a number
        raise InvalidParams("MySQL has no number that is infinite or not a number", "bad_value")
    text = repr(value)
    return text if "e" in text else text + "e0"  # without an exponent it would be a DECIMAL


def _decimal(value: object) -> str:
    from decimal import Decimal

    if not isinstance(value, Decimal):
        raise TypeError(f"no literal for {type(value).__name__}")
    if not value.is_finite():
        raise InvalidParams("MySQL has no number that is infinite or not a number", "bad_value")
    _check_digits(value)
    return format(value, "f")


def _check_digits(value: Decimal) -> None:
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    whole = max(0, len(digits) + int(exponent))
    if scale > _SCALE or whole + scale > _DIGITS:
        raise _too_many_digits()


def _too_many_digits() -> InvalidParams:
    return InvalidParams(f"a number has more than {_DIGITS} digits, or more than {_SCALE} after its point", "bad_value")
