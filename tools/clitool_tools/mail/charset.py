"""Bytes that claim a charset, as text: the claim is believed as far as it holds."""

from __future__ import annotations

import codecs

from clitool_tools.mail.charset_names import CP50221, known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# In these, bytes below 128 do not mean what they mean in ASCII.
_NOT_ASCII = ("hz", "utf_16_le", "utf_16_be", "utf_32_le", "utf_32_be")
# What a byte order mark says counts more than any label; the longest one first.
_MARKS = {
    codecs.BOM_UTF8: "utf_8",
    codecs.BOM_UTF32_LE: "utf_32_le",
    codecs.BOM_UTF32_BE: "utf_32_be",
    codecs.BOM_UTF16_LE: "utf_16_le",
    codecs.BOM_UTF16_BE: "utf_16_be",
}


class Decoded:
    """Text, and how it was got.

    Attributes:
        text: without lone surrogates and byte order mark; otherwise whatever the bytes say, control characters too.
        guessed: whether that is not what the label says.
        damaged: whether some bytes mean nothing in it; U+FFFD stands for them.
    """

    __slots__ = ("_codec", "damaged", "guessed", "text")

    def __init__(self, text: str, codec: str, *, guessed: bool = False, damaged: bool = False) -> None:
        self.text = text
        self._codec = codec
        self.guessed = guessed
        self.damaged = damaged

    @property
    def charset(self) -> str:
        """What it was read as; a name of ours, not the sender's."""
        return self._codec.replace("_", "-").replace("iso8859", "iso-8859").replace("iso2022", "iso-2022")


def decode(data: bytes, label: str = "", hint: str = "", *, complete: bool = True) -> Decoded:
    """Return the text that `data` is; never raises.

    Args:
        data: the bytes, with their transfer encoding undone.
        label: the charset that they claim; may be empty or anything.
        hint: the label of something that belongs to them (the body, for a header), for when their own is of no use.
        complete: false if `data` may end in the middle of a character.
    """
    if not label and data.isascii():  # nearly all of a header
        return _decode_ascii(data)
    marked = next((codec for mark, codec in _MARKS.items() if data.startswith(mark)), None)
    claimed = known(label) if marked is None else (marked,)
    if data.isascii() and (not claimed or claimed[0] == "ascii"):
        return _decode_ascii(data)
    if data.isascii() and b"\x1b" not in data and claimed[0] not in _NOT_ASCII:
        return Decoded(data.decode("ascii"), claimed[0])
    found = _first(data, claimed, complete=complete)
    if found:
        return Decoded(*found)
    kept = _mostly(data, claimed, complete=complete)
    if kept is not None:
        return Decoded(kept, claimed[0], damaged=True)
    return _decode_unlabelled(data, claimed, hint, complete=complete)


def _decode_ascii(data: bytes) -> Decoded:
    if b"\x1b" in data:
        from clitool_tools.mail.iso2022_jp import is_likely

        found = _first(data, known("iso-2022-jp"), complete=True) if is_likely(data) else None
        if found:
            return Decoded(*found, guessed=True)
    return Decoded(data.decode("ascii"), "ascii")


def _first(data: bytes, candidates: Sequence[str], *, complete: bool) -> tuple[str, str] | None:
    for codec in candidates:
        text = _strict(data, codec, complete=complete)
        if text is not None:
            return text, codec
    return None


def _strict(data: bytes, codec: str, *, complete: bool) -> str | None:
    if codec == CP50221:
        from clitool_tools.mail.iso2022_jp import as_shift_jis

        data, codec = as_shift_jis(data), "cp932"
    try:
        text = codecs.getincrementaldecoder(codec)("strict").decode(data, complete)
    except UnicodeError:
        return None
    return text.removeprefix("\ufeff")


def _replacing(data: bytes, codec: str, *, complete: bool) -> str:
    return codecs.getincrementaldecoder(codec)("replace").decode(data, complete).removeprefix("\ufeff")


def _mostly(data: bytes, claimed: Sequence[str], *, complete: bool) -> str | None:
    """Return the text in the claimed charset if only a tenth of what is not ASCII is damaged in it."""
    if not claimed or claimed[0] == "ascii":
        return None
    text = _replacing(data, claimed[0], complete=complete)
    others = sum(not char.isascii() for char in text)
    return text if text.count("\ufffd") * 10 <= others else None


def _decode_unlabelled(data: bytes, claimed: Sequence[str], hint: str, *, complete: bool) -> Decoded:
    found = _first(data, ("utf_8", *known(hint)), complete=complete)
    if found:
        return Decoded(*found, guessed=True)
    from clitool_tools.mail.charset_guess import guess

    codec = guess(data) or next((name for name in claimed if name != "ascii"), "utf_8")
    text = _strict(data, codec, complete=complete)
    if text is not None:
        return Decoded(text, codec, guessed=True)
    return Decoded(_replacing(data, codec, complete=complete), codec, guessed=True, damaged=True)
