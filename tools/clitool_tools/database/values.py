"""Values beyond JSON: how stored values are shown in it, and what the caller's objects stand for.

Three objects stand for what JSON has no word for: ``{"$binary": {"base64": "…", "subType": "00"}}`` for bytes,
``{"$numberDouble": "Infinity"}`` (or ``-Infinity``), both as in MongoDB's Extended JSON v2, and
``{"$rawText": {"base64": "…"}}`` for a stored text whose bytes are not UTF-8.
"""

from __future__ import annotations

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Stored = Any  # what an engine binds: the JSON scalars, bytes, RawText, and what its own domains make

LARGEST = 2**63 - 1  # an integer column of SQLite and a BIGINT hold 64 bits
INFINITY = float("inf")
BINARY = '{"$binary": {"base64": "…", "subType": "00"}}'


class RawText(bytes):
    """A text whose bytes are not UTF-8."""

    __slots__ = ()


def decode(value: object) -> object:
    """Return the value that one of the three objects stands for, anything else as it is."""
    if isinstance(value, dict) and len(value) == 1:
        form, content = next(iter(value.items()))
        if form in FORMS:
            return FORMS[form](content)
    if isinstance(value, str) and not is_unicode(value):
        raise InvalidParams("a string holds half of a surrogate pair, which is no character", "bad_value")
    return value


def show(value: Any) -> Any:  # noqa: ANN401 - any stored value, any JSON value
    """Return the JSON value for a stored one; the inverse of `accept`.

    A text comes from the driver decoded as UTF-8 with `surrogateescape`, so that wrong bytes can be told.
    """
    if isinstance(value, bytes):
        return {"$binary": {"base64": _base64(value), "subType": "00"}}
    if isinstance(value, float) and value in (INFINITY, -INFINITY):
        return {"$numberDouble": "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, str) and not is_unicode(value):
        return {"$rawText": {"base64": _base64(value.encode("utf-8", "surrogateescape"))}}
    return value


def _form_binary(content: object) -> bytes:
    if not isinstance(content, dict) or not {"base64"} <= content.keys() <= {"base64", "subType"}:
        raise _malformed("$binary", BINARY)
    if content.get("subType", "00") != "00":
        raise InvalidParams("the subType of '$binary' must be \"00\"", "bad_value")
    return _bytes(content["base64"], "$binary", BINARY)


def _form_raw_text(content: object) -> str | RawText:
    form = '{"$rawText": {"base64": "…"}}'
    if not isinstance(content, dict) or content.keys() != {"base64"}:
        raise _malformed("$rawText", form)
    data = _bytes(content["base64"], "$rawText", form)
    text = data.decode("utf-8", "surrogateescape")
    return text if is_unicode(text) else RawText(data)


def _form_double(content: object) -> float:
    if content not in ("Infinity", "-Infinity"):
        raise _malformed("$numberDouble", '{"$numberDouble": "Infinity"} or "-Infinity"')
    return INFINITY if content == "Infinity" else -INFINITY


FORMS: dict[str, Callable[[object], object]] = {
    "$binary": _form_binary,
    "$numberDouble": _form_double,
    "$rawText": _form_raw_text,
}


def _bytes(text: object, form: str, usage: str) -> bytes:
    from binascii import a2b_base64

    try:
        return a2b_base64(text, strict_mode=True)  # type: ignore[arg-type]  # the TypeError is caught
    except (ValueError, TypeError):
        raise _malformed(form, usage) from None


def _malformed(form: str, usage: str) -> InvalidParams:
    return InvalidParams(f"{form!r} is malformed; write {usage}", "bad_value")


def _base64(data: bytes) -> str:
    from binascii import b2a_base64

    return b2a_base64(data, newline=False).decode("ascii")


def is_unicode(text: str) -> bool:
    """Return whether `text` holds characters only: no half of a surrogate pair, which stands for a wrong byte."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
