"""A mail address, by a grammar so strict that every parser on the way to the mailbox reads it alike."""

from __future__ import annotations

from clitool.errors import DriverMissing, InvalidParams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

LONGEST_LOCAL = 64  # bytes of UTF-8; RFC 5321, 4.5.3.1.1
LONGEST_DOMAIN = 253
LONGEST_NAME = 200  # characters of a display name
_SHOWN = 120  # characters of an address in a message

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
# RFC 5322 atext less % and !, by which relays have been told to send elsewhere.
_ATEXT = _LETTERS | frozenset("#$&'*+-/=?^_`{|}~")
_LDH = _LETTERS | {"-"}
_SPECIALS = frozenset('<>"@,;:()[]\\')
# Letters and marks that show nothing (Default_Ignorable_Code_Point of Unicode, and the empty Braille pattern).
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)


class Address:
    """One mailbox; made by `parse`.

    Attributes:
        name: the display name, maybe empty.
        local: what stands before the ``@``, as it was written.
        domain: in lower case, and in its ASCII form if it is an international one.
    """

    __slots__ = ("domain", "local", "name")

    def __init__(self, name: str, local: str, domain: str) -> None:
        self.name = name
        self.local = local
        self.domain = domain

    def __str__(self) -> str:
        """Return what stands between the angle brackets, in a header as in the envelope."""
        return f"{self.local}@{self.domain}"

    @property
    def key(self) -> Hashable:
        """What equal mailboxes have in common: providers ignore letter case, so the allow list does, too."""
        return self.local.lower(), self.domain

    @property
    def needs_smtputf8(self) -> bool:
        """Whether only servers with SMTPUTF8 can take it (RFC 6531)."""
        return not self.local.isascii()


def parse(text: str) -> Address:
    """Return the one mailbox that `text` is: ``local@domain``, or with a name before it in angle brackets.

    The local part is a dot-atom (RFC 5322, 3.2.3), the domain a host name; a name is a quoted string, or words
    without special characters. Comments, groups, routes, quoted local parts, address literals, routing by ``%`` and
    ``!``, encoded words in the address and characters that cannot be seen are refused, and nothing is mapped.

    Raises:
        InvalidParams: `bad_address`.
        DriverMissing: the domain is not ASCII and the package ``idna`` is not installed.
    """
    if not text.isprintable():
        raise _wrong(text, "contains a control, invisible or special blank character")
    name, spec = _split(text)
    local, at, domain = spec.partition("@")
    if not at or "@" in domain:
        raise _wrong(text, "must have exactly one '@': ann@example.org or Ann <ann@example.org>")
    _check_local(local, text)
    return Address(name, local, parse_domain(domain, text))


def parse_domain(domain: str, text: str) -> str:
    """Return a domain in its normal form; `text` is what errors show. Raises as `parse`."""
    ascii_domain = (domain if domain.isascii() else _to_ascii(domain, text)).lower()
    labels = ascii_domain.split(".")
    if len(ascii_domain) > LONGEST_DOMAIN or not all(map(_is_label, labels)) or labels[-1].isdecimal():
        raise _wrong(text, "has a domain that is no host name")
    return ascii_domain


def _split(text: str) -> tuple[str, str]:
    if not text.endswith(">"):
        return "", text
    before, bracket, spec = text[:-1].rpartition("<")
    if not bracket:
        raise _wrong(text, "has a '>' without a '<'")
    return _name(before.strip(" "), text) if before else "", spec


def _name(written: str, text: str) -> str:
    if len(written) >= 2 and written[0] == written[-1] == '"':
        name = _unquoted(written[1:-1])
    else:
        name = None if _SPECIALS.intersection(written) else written
    if name is None or name != name.strip() or len(name) > LONGEST_NAME:
        raise _wrong(text, "has more than a name before the '<'; put a name with special characters into \"…\"")
    return name


def _unquoted(inner: str) -> str | None:
    name, rest = "", inner
    while rest:
        char, rest = rest[0], rest[1:]
        if char == "\\":
            char, rest = rest[:1], rest[1:]
            if char not in ('"', "\\"):
                return None
        elif char == '"':
            return None
        name += char
    return name


def _check_local(local: str, text: str) -> None:
    if not all(local.split(".")) or len(local.encode()) > LONGEST_LOCAL:
        raise _wrong(text, "has an empty or too long part before the '@'")
    if "=?" in local or "?=" in local:
        raise _wrong(text, "has an encoded word in the address; write the address itself")
    if any(char.isascii() and char not in _ATEXT and char != "." for char in local):
        raise _wrong(text, "has a character before the '@' that is not accepted")
    if not local.isascii():
        from unicodedata import is_normalized

        # Some systems fold, and a full-width sign becomes an @.
        if not is_normalized("NFKC", local) or _UNSEEN.intersection(local):
            raise _wrong(text, "has a character before the '@' that looks like another one or like nothing")


def _is_label(label: str) -> bool:
    return 0 < len(label) <= 63 and _LDH.issuperset(label) and label[0] != "-" and label[-1] != "-"


def _to_ascii(domain: str, text: str) -> str:
    """Return the A-labels by IDNA 2008 without any mapping: what would have to be mapped is refused."""
    try:
        import idna
    except ImportError as error:
        raise DriverMissing("idna", "clitool-convention[mail]") from error
    lower = "".join(char.lower() if char.isascii() else char for char in domain)
    try:
        return idna.encode(lower, strict=True).decode("ascii")
    except UnicodeError as error:  # idna.IDNAError is one
        raise _wrong(text, "has a domain that is no valid international host name") from error


def _wrong(text: str, why: str) -> InvalidParams:
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return InvalidParams(f"{shown!r} {why}", "bad_address")
