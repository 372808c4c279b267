"""Bytes of strangers as text: charsets, transfer encodings, invisible characters. Nothing raises, whatever they are."""

from __future__ import annotations

import codecs
import json
import sys

import pytest
from clitool_tools.mail.charset import decode
from clitool_tools.mail.charset_names import CP50221, known
from clitool_tools.mail.invisible import Removed, visible_line, visible_text
from clitool_tools.mail.iso2022_jp import as_shift_jis
from clitool_tools.mail.transfer import decoded_size, undo
from hypothesis import given, settings
from hypothesis import strategies as st

LABELS = [
    *("", "utf-8", "us-ascii", "iso-8859-1", "gb2312", "ks_c_5601-1987", "shift_jis", "iso-2022-jp", "euc-jp", "big5"),
    *("utf-16", "utf-32", "hz-gb-2312", "koi8-r", "windows-1251", "unknown-8bit", "x-user-defined", "utf-7", "idna"),
    *("unicode_escape", "hex", "undefined", "x\0y", "utf-8 euao6y", "\ud800", "9" * 100),
]


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("UTF8", "utf_8"),
        ("utf8mb4", "utf_8"),
        ("ISO-8859-1", "cp1252"),
        ("latin1", "cp1252"),
        ("cp-1252", "cp1252"),
        ("windows-1252", "cp1252"),
        ("ISO_8859-15", "iso8859_15"),
        ("iso-8859-9", "cp1254"),
        ("iso-8859-8-i", "iso8859_8"),
        ("windows-874", "cp874"),
        ("tis-620", "cp874"),
        ("gb2312", "gb18030"),
        ("GBK", "gb18030"),
        ("x-gbk", "gb18030"),
        ("ks_c_5601-1987", "cp949"),
        ("euc-kr", "cp949"),
        ("shift_jis", "cp932"),
        ("x-sjis", "cp932"),
        ("windows-31j", "cp932"),
        ("big5", "cp950"),
        ("csISO2022JP", "iso2022_jp_ext"),
        ("x-mac-roman", "mac_roman"),
        ("ibm850", "cp850"),
        ("koi8-r", "koi8_r"),
        ("utf-8*en", "utf_8"),
        (' "utf-8"', "utf_8"),
    ],
)
def test_a_label_means_what_its_senders_mean(label: str, codec: str) -> None:
    assert known(label)[0] == codec


@pytest.mark.parametrize(
    "label",
    [
        *("utf-7", "utf7", "unicode_escape", "raw_unicode_escape", "idna", "punycode", "hex", "base64", "rot13", "zip"),
        *("undefined", "mbcs", "oem", "charmap", "x\0y", "utf-8 euao6y", "unknown-8bit", "8bit", "binary", "x-unknown"),
        *("", "\ud800", "../aliases", "cp037", "iso-8859-99", "iso-8859-", "cp1", "windows-99999999999999999999"),
    ],
)
def test_what_is_no_charset_reaches_no_codec(label: str) -> None:
    """A stranger's name never chooses one of Python's codecs, nor a module to import."""
    before = set(sys.modules)

    decoded = decode(b"a+AGE- \\u0041 41 xn--a", label)

    assert known(label) == ()
    assert decoded.text == "a+AGE- \\u0041 41 xn--a"
    assert not {name for name in set(sys.modules) - before if name.startswith("encodings.")}


def test_every_codec_in_the_table_exists() -> None:
    from clitool_tools.mail import charset_names

    numbered = [known(f"iso-8859-{number}") for number in range(1, 17)] + [
        known(f"cp{number}") for number in range(2000)
    ]
    for codec in {name for names in (*charset_names._CODECS.values(), *numbered) for name in names}:
        assert codec == CP50221 or codecs.lookup(codec)


@pytest.mark.parametrize(
    ("data", "label", "text", "charset", "guessed"),
    [
        pytest.param("“€”".encode("cp1252"), "iso-8859-1", "“€”", "cp1252", False, id="superset"),
        pytest.param("朱镕基".encode("gb18030"), "gb2312", "朱镕基", "gb18030", False, id="superset-chinese"),
        pytest.param("똠".encode("cp949"), "euc-kr", "똠", "cp949", False, id="superset-korean"),
        pytest.param("①髙".encode("cp932"), "shift_jis", "①髙", "cp932", False, id="superset-japanese"),
        pytest.param(b"\x1b$B-!\x1b(B", "iso-2022-jp", "①", "cp50221", False, id="superset-mail-japanese"),
        pytest.param(b"\x1b$B2q5D\x1b(B", "us-ascii", "会議", "iso-2022-jp-ext", True, id="japanese-called-ascii"),
        pytest.param("Grüße".encode(), "us-ascii", "Grüße", "utf-8", True, id="utf-8-called-ascii"),
        pytest.param("Grüße".encode(), "unknown-8bit", "Grüße", "utf-8", True, id="utf-8-without-label"),
        pytest.param(b"\xef\xbb\xbfa\xc3\xa4", "iso-8859-1", "aä", "utf-8", False, id="byte-order-mark"),
        pytest.param("caf\xe9".encode("latin-1"), "utf-8", "café", "cp1252", True, id="latin-1-called-utf-8"),
        pytest.param("señor".encode("latin-1"), "", "señor", "cp1252", True, id="short-and-western"),
        pytest.param("Привет, как дела".encode("koi8_r"), "", "Привет, как дела", "koi8-r", True, id="short-russian"),
        pytest.param("ab".encode("utf-16"), "utf-16", "ab", "utf-16-le", False, id="utf-16"),
        pytest.param(b"\xfe\xff\0a\0b", "utf-16", "ab", "utf-16-be", False, id="utf-16-other-order"),
        pytest.param(b"a\0b\0", "utf-16", "ab", "utf-16-le", False, id="utf-16-without-mark"),
        pytest.param("ab".encode("utf-32"), "utf-32", "ab", "utf-32-le", False, id="utf-32"),
        pytest.param(b"~{VPND~}", "hz-gb-2312", "中文", "hz", False, id="ascii-that-is-not"),
    ],
)
def test_bytes_are_read_as_what_they_are(data: bytes, label: str, text: str, charset: str, guessed: bool) -> None:
    decoded = decode(data, label)

    assert (decoded.text, decoded.charset, decoded.guessed) == (text, charset, guessed)
    assert not decoded.damaged


def test_a_hint_is_taken_where_the_label_is_of_no_use() -> None:
    data = "Счёт за октябрь".encode("cp866")

    assert decode(data, "", "ibm866").text == "Счёт за октябрь"
    assert decode(data, "unknown-8bit", "ibm866").text == "Счёт за октябрь"


def test_a_longer_text_without_label_is_guessed() -> None:
    text = "Добрый день! Направляем вам счёт на оплату за октябрь. Спасибо за заказ!"

    assert decode(text.encode("cp1251")).text == text
    assert decode("Où êtes-vous? Ça va très bien, grâce à l'équipe, et à bientôt.".encode("cp1252")).charset == "cp1252"


def test_without_the_detector_something_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)

    assert "\ufffd" not in decode("Добрый день, направляем вам счёт за октябрь, он во вложении".encode("cp1251")).text


def test_one_bad_byte_spoils_nothing_else() -> None:
    decoded = decode("Äpfel, Öl, Übermut, süß, groß, schön ".encode() + b"\xff" + " und müßig".encode(), "utf-8")

    assert decoded.text == "Äpfel, Öl, Übermut, süß, groß, schön \ufffd und müßig"
    assert decoded.damaged
    assert not decoded.guessed


def test_a_character_that_is_cut_off_is_left_out_and_no_damage() -> None:
    decoded = decode("grün €".encode()[:-1], "utf-8", complete=False)

    assert (decoded.text, decoded.damaged, decoded.guessed) == ("grün ", False, False)


def test_japanese_is_moved_to_the_same_characters_in_shift_jis() -> None:
    text = "".join(chr(code) for code in range(0x4E00, 0x9FA0) if _in_jis(chr(code)))

    assert len(text) > 6000
    assert as_shift_jis(text.encode("iso2022_jp")).decode("cp932") == text


def _in_jis(char: str) -> bool:
    try:
        return char.encode("iso2022_jp").decode("iso2022_jp") == char.encode("cp932").decode("cp932")
    except UnicodeEncodeError:
        return False


@given(st.binary(max_size=300), st.one_of(st.sampled_from(LABELS), st.text(max_size=30)), st.sampled_from(LABELS))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_no_bytes_and_no_label_make_the_decoder_raise(data: bytes, label: str, hint: str) -> None:
    """Text has no half surrogate pairs, so that it is valid Unicode in every JSON."""
    for complete in (True, False):
        text = decode(data, label, hint, complete=complete).text
        assert json.loads(json.dumps(text)) == text
        text.encode("utf-8")


# Transfer encodings


@pytest.mark.parametrize(
    ("data", "encoding", "result", "damaged"),
    [
        pytest.param(b"SGVsbG8=", "base64", b"Hello", False, id="base64"),
        pytest.param(b"SGVs\r\nbG8=\r\n", "BASE64 ", b"Hello", False, id="base64-lines"),
        pytest.param(b"SGVsbG8", "base-64", b"Hello", False, id="base64-without-padding"),
        pytest.param(b"YQ==YQ==", "base64", b"aa", False, id="base64-twice"),
        pytest.param(b"SGVs*bG8=", "base64", b"Hello", True, id="base64-foreign"),
        pytest.param(b"SGVsb", "base64", b"Hel", True, id="base64-cut"),
        pytest.param(b"SGVsbG8=\r\n--\r\na list\r\n", "base64", b"Hello", True, id="base64-footer"),
        pytest.param(
            b"SGVsbG8g" * 8 + b"\r\n--\r\na list\r\n", "base64", b"Hello " * 8, True, id="base64-footer-unpadded"
        ),
        pytest.param(b"Test\r\nis what this is.", "base64", b"Test\r\nis what this is.", True, id="base64-not"),
        pytest.param(b"", "base64", b"", False, id="base64-empty"),
        pytest.param(b"a=20b=\r\nc=C3=A4", "quoted-printable", b"a bc\xc3\xa4", False, id="qp"),
        pytest.param(b"a=ZZ=1 =", "quoted-printable", b"a=ZZ=1 ", True, id="qp-broken"),
        pytest.param(b"a   \r\nb=\r\n", "Quoted_Printable", b"a\r\nb", False, id="qp-blanks"),
        pytest.param(b"begin 644 x\r\n#0V%T\r\n`\r\nend\r\n", "x-uuencode", b"Cat", False, id="uuencode"),
        pytest.param(b"begin 644 x\r\n#0V%T\r\n", "uuencode", b"Cat", True, id="uuencode-cut"),
        pytest.param(b"none", "uue", b"none", True, id="uuencode-not"),
        pytest.param(b"as is", "7bit", b"as is", False, id="7bit"),
        pytest.param(b"as is", "", b"as is", False, id="none"),
        pytest.param(b"as is", "x-rot-13", b"as is", True, id="unknown"),
    ],
)
def test_a_transfer_encoding_is_undone(data: bytes, encoding: str, result: bytes, damaged: bool) -> None:
    undone = undo(data, encoding)

    assert (undone.data, undone.damaged) == (result, damaged)


def test_what_ends_in_the_middle_is_no_damage_where_the_end_was_not_asked_for() -> None:
    assert not undo(b"SGVsb", "base64", complete=False).damaged
    assert undo(b"a=C3=A", "quoted-printable", complete=False).data == b"a\xc3"


@given(st.binary(max_size=500), st.sampled_from(["base64", "quoted-printable", "uuencode", "8bit", "x"]))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_no_bytes_make_a_transfer_encoding_raise(data: bytes, encoding: str) -> None:
    undo(data, encoding)
    undo(b"begin 644 x\n" + data, encoding, complete=False)
    assert decoded_size(len(data), encoding) <= len(data)


@given(st.binary(max_size=2000))
@settings(deadline=None, derandomize=True, max_examples=100)
def test_what_the_library_encodes_we_decode(data: bytes) -> None:
    import base64
    import quopri

    assert undo(base64.encodebytes(data), "base64").data == data
    lines = data.replace(b"\r", b"").replace(b"\n", b"")
    assert undo(quopri.encodestring(lines), "quoted-printable").data == lines


# Invisible characters


@pytest.mark.parametrize(
    ("text", "shown", "characters", "direction"),
    [
        pytest.param("plain\ttext\n", "plain\ttext\n", 0, 0, id="plain"),
        pytest.param("ig\u200bnore\ufeff", "ignore", 2, 0, id="no-width"),
        pytest.param("invoice\u202efdp.exe", "invoicefdp.exe", 1, 1, id="reversed"),
        pytest.param("\u2066a\u2069\u061c\u200f", "a", 4, 4, id="direction"),
        pytest.param("\U000e0041\U000e0042\U000e007f", "", 3, 0, id="tags"),
        pytest.param("a\x00\x1b[2J\x7f\x9b\ufffe", "a[2J", 5, 0, id="controls"),
        pytest.param("soft\u00adhyphen\u034f\u3164", "softhyphen", 3, 0, id="ignorable"),
        pytest.param("a\r\nb\rc\u2028d\x85e\x0bf\x0cg", "a\nb\nc\nd\ne\nf\ng", 0, 0, id="line-ends"),
        pytest.param(
            "👨\u200d👩 ❤\ufe0f\u200d🔥 می\u200cخو", "👨\u200d👩 ❤\ufe0f\u200d🔥 می\u200cخو", 0, 0, id="needed"
        ),
        pytest.param("a\u200db \u200d ä\u200d\u200dö", "ab  äö", 4, 0, id="joiners"),
        pytest.param("😀" + "\U000e0100\U000e0110" * 9, "😀", 18, 0, id="selectors"),
    ],
)
def test_what_is_not_seen_is_removed_and_counted(text: str, shown: str, characters: int, direction: int) -> None:
    """Nothing hides from a reader, or shows a name other than it is, by characters that are not seen."""
    removed = Removed()

    assert visible_text(text, removed) == shown
    assert (removed.characters, removed.direction) == (characters, direction)


def test_a_line_is_one_line() -> None:
    assert visible_line(" a\r\nb\tc\u2028 ") == "a b c"


@given(st.text())
@settings(deadline=None, derandomize=True, max_examples=200)
def test_nothing_of_category_format_or_control_is_left(text: str) -> None:
    from unicodedata import category

    shown = visible_text(text)

    visible_forms = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\u200c\u200d"
    hidden = [char for char in shown if category(char) in ("Cf", "Cc") and char not in visible_forms + "\n\t"]
    assert [char for char in hidden if not "\U00013430" <= char <= "\U0001343f"] == []
    assert visible_text(shown) == shown
