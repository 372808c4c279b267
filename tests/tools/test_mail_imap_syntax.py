"""What is written to an IMAP server: names, words and numbers, of which none can be more than one word."""

from __future__ import annotations

import pytest
from clitool_tools.mail.imap import utf7
from clitool_tools.mail.imap.syntax import Literal, mailbox_name, section_name, string, uid_set, written
from hypothesis import given
from hypothesis import strategies as st

from clitool.errors import InvalidParams

NAMES = [
    pytest.param("INBOX", b"INBOX", id="plain"),
    pytest.param("Entwürfe", b"Entw&APw-rfe", id="umlaut"),
    pytest.param("R&D", b"R&-D", id="ampersand"),
    pytest.param("&", b"&-", id="only an ampersand"),
    pytest.param("&-", b"&--", id="what an ampersand looks like when encoded"),
    pytest.param("台北/日本語", b"&U,BTFw-/&ZeVnLIqe-", id="the example of the standard"),
    pytest.param("Ünï & çödé", b"&ANw-n&AO8- &- &AOcA9g-d&AOk-", id="mixed"),
    pytest.param("😀", b"&2D3eAA-", id="beyond the basic plane"),
    pytest.param("a~b", b"a~b", id="tilde"),
    pytest.param('say "hi" \\ (now) {5} * %', b'say "hi" \\ (now) {5} * %', id="what is special elsewhere"),
]


@pytest.mark.parametrize(("name", "raw"), NAMES)
def test_names_of_folders_are_written_in_modified_utf_7_and_read_back(name: str, raw: bytes) -> None:
    assert utf7.encode(name) == raw
    assert utf7.decode(raw) == name


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_name_survives(name: str) -> None:
    assert utf7.decode(utf7.encode(name)) == name
    assert utf7.encode(name).isascii()


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"Entw&APw", id="shift that never ends"),
        pytest.param(b"&AP-", id="half a character"),
        pytest.param(b"&2D0-", id="half of a surrogate pair"),
        pytest.param(b"&AEE-", id="ASCII that needs no shift"),
        pytest.param(b"&APw-&APw-", id="two shifts in a row"),
        pytest.param(b"&APx-", id="bits left over"),
        pytest.param(b"&A P-", id="blank in a shift"),
        pytest.param(b"&AP/-", id="slash of ordinary base64"),
        pytest.param(b"a & b", id="bare ampersand"),
        pytest.param("Entwürfe".encode(), id="raw UTF-8"),
        pytest.param(b"Entw\xfcrfe", id="raw Latin-1"),
    ],
)
def test_what_is_no_modified_utf_7_has_no_name(raw: bytes) -> None:
    """Else two folders could have the same name, and a call would reach the wrong one."""
    assert utf7.decode(raw) is None


@given(st.binary())
def test_only_one_spelling_of_a_name_is_read(raw: bytes) -> None:
    name = utf7.decode(raw)

    assert name is None or utf7.encode(name) == raw


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param("", id="empty"),
        pytest.param('INBOX"\r\nA9 DELETE Trash', id="line end"),
        pytest.param("INBOX\nA9 DELETE Trash", id="line feed"),
        pytest.param("INBOX\rA9", id="carriage return"),
        pytest.param("a\0b", id="NUL"),
        pytest.param("a\x1b[2Jb", id="escape"),
        pytest.param("a\x85b", id="next line"),
        pytest.param("a\u2028b", id="line separator"),
        pytest.param("a\u2029b", id="paragraph separator"),
        pytest.param("a\tb", id="tab"),
        pytest.param("a\x7fb", id="delete"),
        pytest.param("a\ud800b", id="half a character"),
    ],
)
def test_a_name_with_a_control_character_is_refused(folder: str) -> None:
    """Row 51: nothing of a name can end the command or begin another."""
    with pytest.raises(InvalidParams) as caught:
        mailbox_name(folder)

    assert caught.value.reason == "bad_mailbox"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        pytest.param("x", b'"x"', id="plain"),
        pytest.param("NIL", b'"NIL"', id="a word of the protocol"),
        pytest.param("", b'""', id="empty"),
        pytest.param('a"b\\c', b'"a\\"b\\\\c"', id="quote and backslash"),
        pytest.param("x) DELETED (", b'"x) DELETED ("', id="parentheses"),
        pytest.param("{10}", b'"{10}"', id="looks like a literal"),
        pytest.param("1:*", b'"1:*"', id="looks like a set"),
    ],
)
def test_text_is_always_quoted(text: str, word: bytes) -> None:
    """Row 52: no text of a caller's is ever an atom."""
    assert string(text) == word


def test_text_beyond_ascii_is_announced_with_its_length() -> None:
    word = string('Grüße"\\')

    assert isinstance(word, Literal)
    assert written(b"T1", [b"SEARCH", word, b"UNSEEN"]) == [
        b"T1 SEARCH {9}\r\n",
        'Grüße"\\'.encode() + b" UNSEEN\r\n",
    ]


@pytest.mark.parametrize("word", [b"a\r\nb", b"a\nb", b"a\0b", "ä".encode(), b"\x7f"], ids=repr)
def test_a_word_that_nobody_quoted_is_never_sent(word: bytes) -> None:
    """The last barrier: a mistake of ours becomes a failed call, and not a command."""
    with pytest.raises(ValueError, match="not printable ASCII"):
        written(b"T1", [b"SEARCH", word])


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029"))))
def test_whatever_the_text_a_command_is_one_line_but_for_announced_literals(texts: list[str]) -> None:
    parts = written(b"T1", [b"X", *map(string, texts)])

    sizes = [0] + [int(part[part.rindex(b"{") + 1 : -3]) for part in parts[:-1]]
    for part, size in zip(parts, sizes, strict=True):
        assert part[size:].endswith(b"\r\n")
        assert part[size:-2].isascii()
        assert part[size:-2].decode().isprintable()


@pytest.mark.parametrize(
    ("uids", "text"),
    [
        pytest.param([7], b"7", id="one"),
        pytest.param([3, 1, 2, 7], b"1:3,7", id="range"),
        pytest.param([1, 1, 2**32 - 1], b"1,4294967295", id="ends"),
    ],
)
def test_uids_are_written_as_a_set(uids: list[int], text: bytes) -> None:
    assert uid_set(uids) == text


@pytest.mark.parametrize("uid", [0, -1, 2**32])
def test_what_is_no_uid_is_never_sent(uid: int) -> None:
    with pytest.raises(ValueError, match=str(uid)):
        uid_set([uid])


@pytest.mark.parametrize("section", ["", "1", "1.2.30", "HEADER", "TEXT", "2.MIME", "1.2.HEADER"])
def test_sections_are_numbers_or_few_words(section: str) -> None:
    assert section_name(section) == section.encode()


@pytest.mark.parametrize(
    "section",
    [
        "1]",
        "1]<0.9> BODY[2",
        "x",
        ".1",
        "1.",
        "1..2",
        "HEADER.1",
        "HEADER.FIELDS (X)",
        "-1",
        "1 ",
        "\u0661",
        "1\r\n",
        "header",
    ],
    ids=ascii,
)
def test_what_is_no_section_is_never_asked_for(section: str) -> None:
    with pytest.raises(ValueError, match="not a section"):
        section_name(section)
