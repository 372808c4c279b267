"""Parameters of Content-Type and Content-Disposition: split, joined and decoded (RFC 2045, 5.1; RFC 2231)."""

from __future__ import annotations

from clitool_tools.mail.charset import decode
from clitool_tools.mail.encoded_words import decode_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_PIECES = 1000
_PIECE = rb'(?:"(?:[^"\\]|\\.)*"?|[^";])+'  # between semicolons, which count for nothing within quotation marks


def split(raw: bytes) -> tuple[str, dict[str, bytes]]:
    """Return the value of such a header in lower case, and its parameters as they are written, by names in lower case.

    Args:
        raw: the header's value on one line.
    """
    import re

    value, _, rest = raw.partition(b";")
    found: dict[str, bytes] = {}
    for piece in re.findall(_PIECE, rest, re.DOTALL):
        name, equals, text = piece.partition(b"=")
        if equals:
            found.setdefault(name.decode("latin-1").strip().lower(), _unquoted(text.strip()))
    return value.strip().decode("latin-1").lower(), found


def _unquoted(text: bytes) -> bytes:
    import re

    quoted = re.match(rb'"((?:[^"\\]|\\.)*)', text, re.DOTALL)
    return re.sub(rb"\\(.)", rb"\1", quoted[1], flags=re.DOTALL) if quoted else text


def parameter(parameters: Mapping[str, bytes], name: str, hint: str = "") -> str:
    """Return the text of a parameter; empty if there is none.

    Args:
        parameters: raw values by names in lower case, among them ``name*0*`` and its like.
        name: without asterisk.
        hint: the charset of the message's body, for raw bytes.
    """
    pieces = _pieces(parameters, name)
    if not pieces:
        # Encoded words have no place here (RFC 2047, 5), and are what many senders write.
        return decode_words(parameters.get(name, b""), hint)
    charset, data = "", b""
    for place, (is_extended, value) in enumerate(pieces):
        piece = value
        if is_extended and not place and value.count(b"'") >= 2:
            label, _, piece = value.split(b"'", 2)
            charset = label.decode("latin-1")
        data += _percent_decoded(piece) if is_extended else piece
    return decode(data, charset, hint).text if charset else decode_words(data, hint)


def _pieces(parameters: Mapping[str, bytes], name: str) -> list[tuple[bool, bytes]]:
    """Return the continuations of `name` in the order of their numbers, and whether each is percent-encoded."""
    found = []
    for key, value in parameters.items():
        stem, asterisk, number = key.partition("*")
        number, is_extended, _ = number.partition("*")
        if stem == name and asterisk and (number.isdecimal() or not number) and len(number) < 6:
            found.append((int(number or 0), bool(is_extended) or not number, value))
    return [(is_extended, value) for _, is_extended, value in sorted(found)[:_MOST_PIECES]]


def _percent_decoded(value: bytes) -> bytes:
    import re

    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes.fromhex(match[1].decode("ascii")), value)
