"""The charsets that mail claims to be in, and the codecs that read them.

Labels come from strangers. Python looks an unknown one up as a module, and knows codecs that are no charsets
(``unicode_escape``, ``hex``), fail always (``undefined``) or hide what is written (``utf-7``), so only the names in a
table of ours are used: https://docs.python.org/3/library/codecs.html#standard-encodings
"""

from __future__ import annotations

CP50221 = "cp50221"  # ISO-2022-JP with the characters of Windows, which Python has no codec for

# Senders write the name of a standard and use what their system has made of it; each row tries the superset, and then
# what else goes by the name. Most of it is https://encoding.spec.whatwg.org/#names-and-labels; keys are `_key`s.
_NAMES: dict[str, tuple[str, ...]] = {
    "usascii ascii ansix341968 iso646us 646": ("ascii",),
    "utf8 utf8mb3 utf8mb4 utf8bom unicode11utf8 unicode20utf8 cesu8": ("utf_8",),
    "utf16 utf16le ucs2 iso10646ucs2 unicode": ("utf_16_le",),
    "utf16be": ("utf_16_be",),
    "utf32 utf32le ucs4": ("utf_32_le",),
    "utf32be": ("utf_32_be",),
    "iso88591 latin1 l1 isolatin1 ansi": ("cp1252",),
    "iso88599 latin5 l5": ("cp1254",),
    "iso885911 tis620 tis62025330": ("cp874",),
    "iso88598i iso88598e logical": ("iso8859_8",),
    "latin2 l2": ("iso8859_2",),
    "latin9 l9": ("iso8859_15",),
    "cyrillic": ("iso8859_5",),
    "greek": ("iso8859_7",),
    "hebrew": ("iso8859_8",),
    "arabic": ("iso8859_6",),
    "koi8r koi8 koi": ("koi8_r",),
    "koi8u koi8ru": ("koi8_u",),
    "gb2312 gb231280 gbk gb18030 euccn cngb chinese cp936 ms936 windows936 936": ("gb18030",),
    "hz hzgb2312": ("hz",),
    "big5 big5eten cnbig5 big5hkscs cp950 ms950 windows950 950": ("cp950", "big5hkscs"),
    "shiftjis sjis mskanji ms932 cp932 windows31j windows932 cp943 932": ("cp932", "shift_jis_2004"),
    "eucjp ujis eucpkdfmtjapanese cp51932": ("euc_jp", "euc_jis_2004"),
    "iso2022jp iso2022jpms cp50220 cp50221 cp50222 jis": ("iso2022_jp_ext", CP50221),
    "iso2022jp2": ("iso2022_jp_2",),
    "euckr ksc56011987 ksc56011989 ksc5601 ksc5601ext korean uhc cp949 ms949 windows949 949": ("cp949",),
    "iso2022kr": ("iso2022_kr",),
    "johab cp1361 ms1361": ("johab",),
    "macintosh mac macroman": ("mac_roman",),
    "maccyrillic": ("mac_cyrillic",),
    "maccentraleurope macce": ("mac_latin2",),
}
_ISO_8859 = frozenset((2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16))
_CODE_PAGES = frozenset(
    (437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 865, 866, 869, 874, *range(1250, 1259))
)
_PAGE_PREFIXES = ("windows", "win", "ibm", "cp", "dos", "ms")
_CODECS = {name: codecs_ for names, codecs_ in _NAMES.items() for name in names.split()}


def known(label: str) -> tuple[str, ...]:
    """Return the codecs to try for `label`, best first; empty if it is no charset that we read."""
    key = _key(label)
    for name in (key, key.removeprefix("x"), key.removeprefix("cs")):
        found = _CODECS.get(name) or _numbered(name)
        if found:
            return found
    return ()


def _key(label: str) -> str:
    # RFC 2231, 5: a language may follow after an asterisk.
    label = label[:64].partition("*")[0].lower()
    return "".join(char for char in label if char.isascii() and char.isalnum())


def _numbered(name: str) -> tuple[str, ...]:
    stem = name.rstrip("0123456789")
    number = int(name[len(stem) :] or 0)
    if name.startswith("iso8859") and name[7:].isdigit() and int(name[7:]) in _ISO_8859:
        return (f"iso8859_{int(name[7:])}",)
    if stem in _PAGE_PREFIXES and number in _CODE_PAGES:
        return (f"cp{number}",)
    return ()
