"""What columns of texts and bytes take: what comes back as it was, in the column's character set and length."""

from __future__ import annotations

from clitool_tools.database.mysql.charset import holds, length
from clitool_tools.database.mysql.forms import domain
from clitool_tools.database.mysql.gap import Stranger
from clitool_tools.database.names import listed
from clitool_tools.database.values import BINARY, RawText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clitool_tools.database.table import Domain

    Text = str | RawText


def text(charset: str, characters: int | None, octets: int | None, *, is_padded: bool) -> Domain:
    """Return the domain of a text column.

    Args:
        charset: its character set.
        characters: the most that it keeps, if they are counted.
        octets: the most bytes that it keeps, if these are counted.
        is_padded: whether it is a CHAR, which gives a text back without the blanks at its end.
    """

    def write(value: object) -> Text | None:
        found = _text(value)
        if found is None or not _is_kept(_characters(found)):
            return None
        return None if is_padded and _characters(found).endswith(" ") else found

    def _is_kept(content: str) -> bool:
        if not holds(charset, content) or (characters is not None and len(content) > characters):
            return False
        return octets is None or length(charset, content) <= octets

    def compare(value: object) -> Text | Stranger | None:
        found = _text(value)
        return found if found is None or holds(charset, _characters(found)) else Stranger()

    size = "" if characters is None else f" of at most {characters} characters"
    blanks = ", without blanks at its end" if is_padded else ""
    within = "" if charset == "utf8mb4" else f" in the character set {charset}"
    return domain(f"a string{size}{within}{blanks}", write, compare)


def choice(members: Sequence[str], charset: str) -> Domain:
    """Return the domain of an ENUM: one of its members, spelt as they are; the server would take a number for one."""

    def write(value: object) -> str | None:
        return value if isinstance(value, str) and value in members else None

    return domain(f"one of the strings {_quoted(members)}", write, _comparable(charset))


def choices(members: Sequence[str], charset: str) -> Domain:
    """Return the domain of a SET: some of its members in their order, with commas between them."""

    def write(value: object) -> str | None:
        if not isinstance(value, str):
            return None
        chosen = value.split(",") if value else []
        return value if chosen == [member for member in members if member in chosen] else None

    return domain(
        f"a string of some of {_quoted(members)}, in this order, joined by commas", write, _comparable(charset)
    )


def uuid() -> Domain:
    """Return the domain of a UUID."""

    def write(value: object) -> str | None:
        if not isinstance(value, str) or [len(part) for part in value.split("-")] != [8, 4, 4, 4, 12]:
            return None
        return value.lower() if not value.strip("0123456789abcdefABCDEF-") else None

    return domain('a UUID "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"', write)


def internet_address(version: int) -> Domain:
    """Return the domain of an INET4 or INET6: a text that means such an address."""

    def write(value: object) -> str | None:
        import socket

        try:
            data = socket.inet_pton(socket.AF_INET6 if version == 6 else socket.AF_INET, value)  # type: ignore[arg-type]  # the TypeError is caught
        except (OSError, TypeError, ValueError):
            return None
        return socket.inet_ntop(socket.AF_INET6 if version == 6 else socket.AF_INET, data)

    return domain(f"an IPv{version} address", write)


def binary(most: int | None, *, is_fixed: bool = False) -> Domain:
    """Return the domain of a column of bytes: at most `most`, or exactly where the server would fill it with zeros."""

    def compare(value: object) -> bytes | None:
        return value if isinstance(value, bytes) and not isinstance(value, RawText) else None

    def write(value: object) -> bytes | None:
        found = compare(value)
        if found is None or most is None:
            return found
        return found if len(found) == most or (len(found) < most and not is_fixed) else None

    size = "" if most is None else f" of {'exactly' if is_fixed else 'at most'} {most} bytes"
    return domain(BINARY + size, write, compare)


def nothing() -> Domain:
    """Return the domain of a column whose type is not known here: it can be read, but not filled or compared."""
    return domain("no value from this program, which does not know its type", lambda _: None)


def members(declared: str) -> list[str]:
    """Return the members of an ENUM or SET from its declaration, as information_schema gives it."""
    found: list[str] = []
    rest = declared.partition("(")[2]
    while rest[:1] == "'":
        member, rest = _member(rest[1:])
        found.append(member)
        rest = rest.removeprefix(",")
    return found


def _member(text: str) -> tuple[str, str]:
    """Return the string that ends at its closing quote, and what follows."""
    letters: list[str] = []
    position = 0
    while position < len(text):
        letter = text[position]
        if letter == "'" and text[position + 1 : position + 2] != "'":
            return "".join(letters), text[position + 1 :]
        if letter in "'\\":
            position += 1
            escaped = text[position : position + 1]
            letter = _ESCAPES.get(escaped, escaped) if letter == "\\" else letter
        letters.append(letter)
        position += 1
    return "".join(letters), ""


_ESCAPES = {"n": "\n", "r": "\r", "0": "\0", "t": "\t", "Z": "\x1a", "b": "\b"}


def _comparable(charset: str) -> Callable[[object], Text | Stranger | None]:
    def compare(value: object) -> Text | Stranger | None:
        found = _text(value)
        return found if found is None or holds(charset, _characters(found)) else Stranger()

    return compare


def _text(value: object) -> Text | None:
    """Return a text, also one that only MariaDB takes for one: with halves of surrogate pairs."""
    if isinstance(value, RawText):
        return value if _characters(value) else None
    return value if isinstance(value, str) else None


def _characters(text: Text) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return ""


def _quoted(names: Sequence[str]) -> str:
    return listed(repr(name) for name in names)
