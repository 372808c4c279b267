"""What bytes without a true label are probably written in."""

from __future__ import annotations

from clitool_tools.mail.charset_names import known

# What such mail is written in, the most frequent first; where several fit alike, the detector takes any.
_WESTERN = ("cp1252", "cp1250", "cp1254")
_OTHERS = ("cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp874", "cp932", "euc_jp", "gb18030", "big5", "cp949")
_SAMPLE_BYTES = 32 * 1024
_SHORT_BYTES = 64  # from fewer the detector learns little; mostly such texts are western, or Russian


def guess(data: bytes) -> str:
    """Return the codec that `data` looks like, or nothing."""
    sample = data[:_SAMPLE_BYTES]
    high = sum(byte > 127 for byte in sample)
    letters = high + sum(byte > 64 for byte in sample if byte < 128)
    if len(sample) < _SHORT_BYTES and (high < 3 or high * 5 <= letters * 2):
        return "cp1252"
    if len(sample) < _SHORT_BYTES and _is_koi8(sample):
        return "koi8_r"
    try:
        from charset_normalizer import from_bytes
    except ImportError:  # the extra `mail` brings it; a wrong guess is no reason to show nothing
        return "cp1252"
    matches = list(from_bytes(sample, cp_isolation=[*_WESTERN, *_OTHERS]))  # the best one first
    grades = [(match.chaos, match.coherence) for match in matches]
    equal = [match.encoding for match, grade in zip(matches, grades, strict=True) if grade == grades[0]]
    codec = next((name for name in _WESTERN if name in equal), next(iter(equal), ""))
    return next(iter(known(codec)), "")


def _is_koi8(sample: bytes) -> bool:
    """Return whether these are Russian words: read as KOI8 they begin large or small, and go on small."""
    words = sample.decode("koi8_r").split()
    russian = [word for word in words if not word.isascii()]
    return all(
        "\u0430" <= char <= "\u044f" or char.isascii() or ("\u0410" <= word[0] <= "\u042f" and not at)
        for word in russian
        for at, char in enumerate(word)
    )
