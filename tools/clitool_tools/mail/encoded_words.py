"""Encoded words in headers (RFC 2047), also where senders have broken the rules; nothing raises."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE

from clitool_tools.mail.charset import decode
from clitool_tools.mail.transfer import undo

_LONGEST_LABEL = 64


class _Word:
    """One encoded word, or several that follow each other in one charset.

    Senders cut characters in two at the ends of words, and base64 too, so what belongs together is joined first.
    """

    __slots__ = ("_texts", "charset", "encoding")

    def __init__(self, charset: str, encoding: bytes, text: bytes) -> None:
        self.charset = charset
        self.encoding = encoding
        self._texts = [text]

    def data(self) -> bytes:
        """Return the bytes that are encoded."""
        if self.encoding == b"q":
            return b"".join(undo(text.replace(b"_", b"=20"), "quoted-printable").data for text in self._texts)
        joined = b"".join(self._texts)
        if len(joined) % 4 == 0 and any(len(text) % 4 for text in self._texts):
            return undo(joined, "base64").data
        return b"".join(undo(text, "base64").data for text in self._texts)

    def takes(self, other: _Word) -> bool:
        """Return whether `other` goes on with this one; it is a part of this one then."""
        if (self.charset, self.encoding) != (other.charset, other.encoding):
            return False
        if other.data().startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # the mark is no letter of a longer text
            return False
        self._texts += other._texts
        return True


def decode_words(raw: bytes, hint: str = "") -> str:
    """Return the text of a header, or of a piece of one: encoded words decoded, once, and raw bytes as text.

    Args:
        raw: as it was sent, on one line. What looks like an encoded word is one, also without blanks around it.
        hint: the charset of the message's body, for bytes that no encoded word tells about.
    """
    if b"=?" not in raw:
        return decode(raw, "", hint).text
    texts = [
        decode(piece.data(), piece.charset, hint) if isinstance(piece, _Word) else decode(piece, "", hint)
        for piece in _pieces(raw)
    ]
    return "".join(decoded.text for decoded in texts)


def _pieces(raw: bytes) -> list[bytes | _Word]:
    pieces: list[bytes | _Word] = []
    done = look = 0
    last = raw.rfind(b"?=")
    while 0 <= (start := raw.find(b"=?", look)) < last:
        word, end = _word_at(raw, start)
        if word:
            _add(pieces, raw[done:start], word)
            done = end
        look = end
    return [*pieces, raw[done:]]


def _add(pieces: list[bytes | _Word], before: bytes, word: _Word) -> None:
    previous = pieces[-1] if pieces else b""
    if isinstance(previous, _Word) and not before.strip():  # blanks between two words are no text: RFC 2047, 6.2
        if not previous.takes(word):
            pieces.append(word)
    else:
        pieces += [before, word]


def _word_at(raw: bytes, start: int) -> tuple[_Word | None, int]:
    r"""Return the word that begins with the ``=?`` at `start`, or None, and where to go on."""
    after_charset = raw.find(b"?", start + 2, start + 2 + _LONGEST_LABEL)
    encoding, text = raw[after_charset + 1 : after_charset + 2].lower(), after_charset + 3
    end = raw.find(b"?=", text)
    if after_charset < 0 or encoding not in (b"b", b"q") or raw[text - 1 : text] != b"?" or end < 0:
        return None, start + 2
    return _Word(raw[start + 2 : after_charset].decode("latin-1").lower(), encoding, raw[text:end]), end + 2
