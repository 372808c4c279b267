"""Which characters a character set of the server has, so that a text that it has not is told from a wrong collation.

A text that cannot be converted to the column's character set makes the server refuse the comparison as one of two
collations, whatever it is compared for.
"""

from __future__ import annotations

# The codec that has the same characters, but for a handful; sets that are not here are trusted with ASCII only.
_CODECS = {
    "ascii": "ascii", "big5": "big5", "cp1250": "cp1250", "cp1251": "cp1251", "cp1256": "cp1256", "cp1257": "cp1257",
    "cp850": "cp850", "cp852": "cp852", "cp866": "cp866", "cp932": "cp932", "eucjpms": "euc_jp", "euckr": "euc_kr",
    "gb18030": "gb18030", "gb2312": "gb2312", "gbk": "gbk", "greek": "iso8859_7", "hebrew": "iso8859_8",
    "hp8": "hp_roman8", "koi8r": "koi8_r", "koi8u": "koi8_u", "latin1": "cp1252", "latin2": "iso8859_2",
    "latin5": "iso8859_9", "latin7": "iso8859_13", "macce": "mac_latin2", "macroman": "mac_roman",
    "sjis": "shift_jis", "tis620": "tis_620", "ujis": "euc_jp",
}  # fmt: skip
_UNICODE = {"utf8mb4": "utf-8", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be"}
_BASIC_PLANE = {"utf8mb3": "utf-8", "utf8": "utf-8", "ucs2": "utf-16-be"}


def holds(charset: str, text: str) -> bool:
    """Return whether the character set has all characters of `text`."""
    if charset in _UNICODE or text.isascii():
        return True
    if charset in _BASIC_PLANE:
        return max(text) <= "\uffff"
    try:
        text.encode(_CODECS.get(charset, "ascii"))
    except UnicodeEncodeError:
        return False
    return True


def length(charset: str, text: str) -> int:
    """Return how many bytes `text` takes in the character set, which holds it."""
    codec = _UNICODE.get(charset) or _BASIC_PLANE.get(charset) or _CODECS.get(charset)
    return len(text.encode(codec, "surrogatepass")) if codec else len(text)
