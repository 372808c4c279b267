"""What a caller wants written, as bytes."""

from __future__ import annotations

from clitool.errors import InvalidParams


def encode(content: str, encoding: str = "text") -> bytes:
    """Return the bytes that `content` means: UTF-8 of the text as it is, or what it encodes in base64.

    Raises:
        InvalidParams: `bad_encoding`.
    """
    if encoding == "base64":
        return _from_base64(content)
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidParams("the content is not valid Unicode (half a surrogate pair)", "bad_encoding") from error


def _from_base64(content: str) -> bytes:
    from binascii import a2b_base64, b2a_base64

    try:
        data = a2b_base64(content)
    except ValueError:
        data = b""
    if b2a_base64(data, newline=False).decode("ascii") != content:  # the decoder passes over what it does not know
        message = "the content is not base64: A-Z a-z 0-9 + / with = at the end, without spaces or line ends"
        raise InvalidParams(message, "bad_encoding")
    return data
