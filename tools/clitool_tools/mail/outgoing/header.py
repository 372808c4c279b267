"""Header fields, written so that every reader finds in them what was meant and nothing else (RFC 5322, 2047, 2231)."""

from __future__ import annotations

from binascii import b2a_base64

from clitool.errors import InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clitool_tools.mail.address import Address

_WIDTH = 76  # of a line with encoded words; RFC 2047, 2
_WORD_BYTES = 36  # of text in one encoded word: with the longest name before it, the line stays within the width
_PLAIN_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_")
_PLAIN_FILE = _PLAIN_NAME | frozenset(".()[]+,#&@!~'")
_ATTRIBUTE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
LONGEST_ID = 900  # octets; a line has at most 998


def require_text(text: str, what: str) -> None:
    """Raise `InvalidParams` (bad_header) if `text` could end a line somewhere, or is no Unicode text."""
    for char in text:
        if char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" or "\ud800" <= char <= "\udfff":
            raise InvalidParams(f"{what} contains a line break or another control character", "bad_header")


def text_field(name: str, text: str) -> str:
    """Return a field with free text, which is meant literally: what looks like an encoded word is encoded itself."""
    require_text(text, name)
    if not text:
        return f"{name}:\r\n"
    if _is_plain(text):
        return _folded(name, text.split(" "))
    return _folded(name, _encoded_words(text))


def address_field(name: str, addresses: Iterable[Address]) -> str:
    """Return a field with mailboxes; only a local part beyond ASCII leaves ASCII (RFC 6532)."""
    items = [_mailbox(address) for address in addresses]
    return f"{name}: " + ",\r\n ".join(items) + "\r\n"


def id_field(name: str, ids: Iterable[str]) -> str:
    """Return a field with message ids."""
    return _folded(name, list(ids))


def file_parameter(name: str) -> str:
    """Return the parameter `filename` for a file's name, which is meant literally."""
    if _PLAIN_FILE.issuperset(name) and len(name) <= 60:
        return f'filename="{name}"'
    octets = name.encode("utf-8", "replace")
    return "filename*=utf-8''" + "".join(chr(o) if chr(o) in _ATTRIBUTE else f"%{o:02X}" for o in octets)


def message_ids(text: str) -> list[str]:
    """Return the message ids in `text`, which holds nothing else but blanks and folds (RFC 5322, 3.6.4).

    Raises:
        InvalidParams: `bad_header`.
    """
    unfolded = text.replace("\r\n", "\n").replace("\n ", " ").replace("\n\t", " ").replace("\t", " ")
    found = [one for one in unfolded.split(" ") if one]
    if not found or not all(map(is_message_id, found)):
        message = "a message id looks like <left@right>, in printable ASCII; several are separated by blanks"
        raise InvalidParams(message, "bad_header")
    return found


def is_message_id(token: str) -> bool:
    """Return whether `token` is one message id, in its angle brackets and short enough for a line."""
    left, at, right = token[1:-1].partition("@")
    whole = token[:1] == "<" and token[-1:] == ">" and bool(left and at and right)
    clean = token.isascii() and token.isprintable() and "=?" not in token and len(token) <= LONGEST_ID
    return whole and clean and "<" not in token[1:] and ">" not in token[:-1]


def _is_plain(text: str) -> bool:
    words = text.split(" ")
    # An empty word is a blank at an end, or one after another; readers drop those.
    return text.isascii() and "=?" not in text and all(word and len(word) <= 60 for word in words)


def _encoded_words(text: str) -> list[str]:
    return [f"=?utf-8?b?{_base64(chunk)}?=" for chunk in _chunks(text)]


def _base64(text: str) -> str:
    return b2a_base64(text.encode(), newline=False).decode("ascii")


def _chunks(text: str) -> Iterator[str]:
    """Yield `text` in pieces of a bounded number of bytes; no character is divided (RFC 2047, 5)."""
    start = size = 0
    for index, char in enumerate(text):
        width = len(char.encode())
        if size + width > _WORD_BYTES:
            yield text[start:index]
            start, size = index, 0
        size += width
    yield text[start:]


def _folded(name: str, words: list[str]) -> str:
    lines = [f"{name}:"]
    for word in words:
        if len(lines[-1]) + 1 + len(word) > _WIDTH and lines[-1] != f"{name}:":
            lines.append("")
        lines[-1] += f" {word}"
    return "\r\n".join(lines) + "\r\n"


def _mailbox(address: Address) -> str:
    if not address.name:
        return str(address)
    if _PLAIN_NAME.issuperset(address.name) and "  " not in address.name and len(address.name) <= 60:
        return f"{address.name} <{address}>"
    return "\r\n ".join([*_encoded_words(address.name), f"<{address}>"])
