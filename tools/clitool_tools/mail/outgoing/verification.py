"""The finished bytes, read again as a receiver would: what was checked is what is sent."""

from __future__ import annotations

from email import message_from_bytes
from email.policy import default
from email.utils import getaddresses

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from email.message import Message as Parsed
    from typing import Any

    from clitool_tools.mail.outgoing.message import Message

_MIME = frozenset(("MIME-Version", "Content-Type", "Content-Transfer-Encoding"))
_PART = _MIME | {"Content-Disposition"}
_LONGEST_LINE = 998  # octets; RFC 5322, 2.1.1


def require_meant(data: bytes, fields: Sequence[str], message: Message, *, show_bcc: bool) -> None:
    """Raise `InvalidParams` (bad_header) unless `data` says what `message` says and nothing else.

    The header's names are compared, in our own reading and in the library's; so are the addresses of each field, read
    by both parsers of the library, and the names of the attachments.
    """
    _require_lines(data)
    own = _field_names(data.partition(b"\r\n\r\n")[0])
    _require(own[: len(fields)] == list(fields), "its header has other fields")
    _require(len(set(own)) == len(own) and set(own) - set(fields) <= _MIME, "its header has more fields")
    parsed = message_from_bytes(data, policy=default)
    _require(parsed.keys() == own, "its header is read in another way")
    meant = {"From": [message.sender], "To": message.to, "Cc": message.cc, "Bcc": message.bcc if show_bcc else ()}
    for name, addresses in meant.items():
        pairs = [(address.local, address.domain) for address in addresses]
        _require(_by_registry(parsed, name) == pairs == _by_utils(parsed, name), f"{name} is read in another way")
    files = [part.get_filename() for part in _parts(parsed) if "Content-Disposition" in part]
    _require(files == [file.name for file in message.attachments], "a file's name is read in another way")


def _require_lines(data: bytes) -> None:
    text = data.replace(b"\r\n", b"")
    odd = any(octet in text for octet in (b"\r", b"\n", b"\0"))
    longest = max(map(len, data.split(b"\r\n")))
    _require(not odd and longest <= _LONGEST_LINE, "it has a line that no server takes")


def _field_names(head: bytes) -> list[str]:
    lines = [line for line in head.split(b"\r\n") if not line.startswith((b" ", b"\t"))]
    return [line.partition(b":")[0].decode("ascii", "replace") for line in lines]


def _by_registry(parsed: Parsed, name: str) -> list[tuple[str, str]]:
    fields: list[Any] = parsed.get_all(name, [])
    found = [address for field in fields for address in field.addresses]
    return [(_text(address.username), address.domain) for address in found]


def _by_utils(parsed: Parsed, name: str) -> list[tuple[str, str]]:
    found = [spec for _, spec in getaddresses([str(value) for key, value in parsed.raw_items() if key == name])]
    return [(_text(spec.rpartition("@")[0]), spec.rpartition("@")[2]) for spec in found]


def _text(raw: str) -> str:
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _parts(parsed: Parsed) -> Iterator[Parsed]:
    for part in parsed.walk():
        if part is not parsed:
            _require(set(part.keys()) <= _PART, "a part has more fields")
            yield part


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InvalidParams(f"the message would not be read as it is meant ({what}); it is not sent", "bad_header")
