"""Headers of strangers, for reading: encoded words, addresses, parameters, ids. No bytes make any of it raise."""

from __future__ import annotations

import json

import pytest
from clitool_tools.mail.address_list import mailboxes
from clitool_tools.mail.encoded_words import decode_words
from clitool_tools.mail.headers import LONGEST, MOST_IDS, MOST_MAILBOXES, Headers
from clitool_tools.mail.invisible import Removed
from clitool_tools.mail.outgoing.header import message_ids
from clitool_tools.mail.parameters import parameter, split
from clitool_tools.mail.reading.header_texts import all_fields, header_texts
from hypothesis import given, settings
from hypothesis import strategies as st

# Bytes that look like headers more often than bytes do.
PIECES = b"""=?utf-8?q? =?utf-8?B? ?= =? ? = " \\ < > ( ) , ; : @ a *0*= utf-8'' % %e2 =c3""".split(b" ")
SYNTAX = st.lists(
    st.one_of(st.sampled_from([*PIECES, b" ", b"\r\n ", b"\n", b"\r", b"\0", b"\xe4"]), st.binary(max_size=5)),
    max_size=40,
).map(b"".join)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param(b"=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", "Grüße", id="q"),
        pytest.param(b"=?UTF-8?b?R3LDvMOfZQ==?=", "Grüße", id="b"),
        pytest.param(b"a =?utf-8?q?b_c?= d", "a b c d", id="within-text"),
        pytest.param(b"=?utf-8?q?a?= \t =?utf-8?q?b?=", "ab", id="adjacent"),
        pytest.param(b"=?utf-8?q?a?= x =?utf-8?q?b?=", "a x b", id="not-adjacent"),
        pytest.param(b"=?utf-8?q?a=C3?= =?utf-8?q?=A4?=", "aä", id="character-cut"),
        pytest.param(b"=?utf-8?b?w?= =?utf-8?b?6Q=?=", "ä", id="base64-cut"),
        pytest.param(b"=?utf-8?b?w6Q?= =?utf-8?b?w7Y=?=", "äö", id="base64-without-padding"),
        pytest.param(b"=?utf-8?q?=E4?= =?iso-8859-1?q?=E4?=", "ää", id="charset-changes"),
        pytest.param(b"=?utf-8?q?a?==?utf-8?q?b?=", "ab", id="glued"),
        pytest.param(b"x=?utf-8?q?a?=y", "xay", id="glued-to-text"),
        pytest.param(b"=?utf-8?q?two words?=", "two words", id="blank-within"),
        pytest.param(b"=?utf-8?q?a?b?=", "a?b", id="question-mark-within"),
        pytest.param(b"=?utf-8?q??=", "", id="empty"),
        pytest.param(b"=?utf-8*de?q?=C3=9F?=", "ß", id="language"),
        pytest.param(b"=?gb2312?b?6Ys=?=", b"\xe9\x8b".decode("gb18030"), id="superset"),
        pytest.param(b"=?unknown-8bit?q?=C3=A4?=", "ä", id="unknown-charset"),
        pytest.param(b"=?x?z?b?=", "=?x?z?b?=", id="unknown-encoding"),
        pytest.param(b"=?utf-8?q?no end", "=?utf-8?q?no end", id="no-end"),
        pytest.param(b"=?utf-8?q?=3D=3Futf-8=3Fq=3Fa=3F=3D?=", "=?utf-8?q?a?=", id="decoded-once"),
        pytest.param("raw ä".encode(), "raw ä", id="raw-utf-8"),
        pytest.param(b"raw \xe4", "raw ä", id="raw-latin1"),
        pytest.param(b"=?" + b"x" * 100 + b"?q?a?=", "=?" + "x" * 100 + "?q?a?=", id="long-charset"),
        pytest.param(b"=?unicode_escape?q?=5Cu0041?=", "\\u0041", id="no-charset"),
    ],
)
def test_encoded_words_are_decoded(raw: bytes, text: str) -> None:
    assert decode_words(raw) == text


@pytest.mark.parametrize("raw", [b"=?utf-8?q?a=0D=0ABcc:_x?=", b"a\rBcc: x", b"=?utf-8?b?YQ0KQmNjOiB4?="])
def test_a_text_from_a_header_is_one_line(raw: bytes) -> None:
    """An encoded line end makes no second header, for nobody who reads the answer."""
    headers = Headers(b"Subject: " + raw + b"\r\n\r\n")

    assert (headers.text("subject") or "").split() == ["a", "Bcc:", "x"]
    assert headers.text("bcc") is None


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        pytest.param("ALICE@EXAMPLE.TEST", [("", "ALICE@EXAMPLE.TEST")], id="plain"),
        pytest.param("Alice <alice@example.test>", [("Alice", "alice@example.test")], id="name"),
        pytest.param('"A, B" <a@x.test>, c@y.test', [("A, B", "a@x.test"), ("", "c@y.test")], id="comma-in-name"),
        pytest.param("a@x.test; b@x.test", [("", "a@x.test"), ("", "b@x.test")], id="semicolon"),
        pytest.param('"a\\"b\\\\" <q@x.test>', [('a"b\\', "q@x.test")], id="escapes"),
        pytest.param("a@x.test (Alice (in the lab))", [("Alice (in the lab)", "a@x.test")], id="comment"),
        pytest.param("alice(x)@example.test", [("x", "alice@example.test")], id="comment-within"),
        pytest.param(
            "Team: a@x.test, B <b@x.test>;, c@x.test",
            [("", "a@x.test"), ("B", "b@x.test"), ("", "c@x.test")],
            id="group",
        ),
        pytest.param("undisclosed-recipients:;", [], id="empty-group"),
        pytest.param("<@r.test,@s.test:alice@example.test>", [("", "alice@example.test")], id="route"),
        pytest.param("mailto:alice@example.test", [("", "alice@example.test")], id="mailto"),
        pytest.param('"open <a@b.test>, c@d.test', [('"open', "a@b.test"), ("", "c@d.test")], id="quotation-open"),
        pytest.param("(open a@b.test", [("(open a@b.test", "")], id="comment-open"),
        pytest.param("Alice <a@x.test, Bob <b@y.test>", [("Alice", "a@x.test"), ("Bob", "b@y.test")], id="angle-open"),
        pytest.param("alice", [("alice", "")], id="no-address"),
        pytest.param("<>, ,;", [], id="nothing"),
        pytest.param("=?utf-8?q?J=C3=B6rg?= <j@x.test>", [("Jörg", "j@x.test")], id="encoded-name"),
        pytest.param('"=?utf-8?q?J=C3=B6rg?=" <j@x.test>', [("Jörg", "j@x.test")], id="encoded-in-quotes"),
        pytest.param("jörg@bücher.test", [("", "jörg@bücher.test")], id="international"),
    ],
)
def test_addresses_are_found(raw: str, found: list[tuple[str, str]]) -> None:
    assert [(each.name, each.address) for each in mailboxes(raw.encode())] == found


@pytest.mark.parametrize(
    ("raw", "real"),
    [
        pytest.param('"alice@example.test" <mallory@evil.test>', "mallory@evil.test", id="quoted"),
        pytest.param("alice@example.test <mallory@evil.test>", "mallory@evil.test", id="bare"),
        pytest.param("<alice@example.test> <mallory@evil.test>", "mallory@evil.test", id="two-angles"),
        pytest.param("=?utf-8?q?alice=40example.test?= <mallory@evil.test>", "mallory@evil.test", id="encoded"),
        pytest.param(
            "=?utf-8?q?x=3Calice=40example.test=3E=2C?= <mallory@evil.test>", "mallory@evil.test", id="syntax"
        ),
        pytest.param('"alice\uff20example.test" <mallory@evil.test>', "mallory@evil.test", id="full-width"),
        pytest.param('"alice\u200b@example.test" <mallory@evil.test>', "mallory@evil.test", id="invisible"),
        pytest.param("alice@example.test@evil.test", "", id="two-signs"),
        pytest.param("alice@example.test mallory@evil.test", "", id="two-words"),
    ],
)
def test_a_name_never_poses_as_an_address(raw: str, real: str) -> None:
    """What stands in `address` is where mail goes, and a name that looks like another one is told of."""
    (mailbox,) = mailboxes(raw.encode())

    assert mailbox.address == real
    assert mailbox.poses
    assert any("trust `address`" in note for note in header_texts(Headers(f"From: {raw}\n\n".encode()))[1])


def test_an_encoded_word_in_an_address_means_itself() -> None:
    (mailbox,) = mailboxes(b"=?utf-8?q?alice=40example=2Etest=3E?=@evil.test")

    assert mailbox.address == "=?utf-8?q?alice=40example=2Etest=3E?=@evil.test"


@pytest.mark.parametrize(
    ("raw", "value", "name"),
    [
        pytest.param(b"attachment; filename=a.txt", "attachment", "a.txt", id="plain"),
        pytest.param(b'ATTACHMENT ; FileName = "a;b.txt"', "attachment", "a;b.txt", id="quoted"),
        pytest.param(b'x; filename="a\\"b.txt"', "x", 'a"b.txt', id="escaped"),
        pytest.param(b"x; filename=my file.txt; size=1", "x", "my file.txt", id="blank"),
        pytest.param(b'x; filename="open; y=z', "x", "open; y=z", id="open"),
        pytest.param(b"x; filename*=utf-8''%c3%a4%20.txt", "x", "ä .txt", id="extended"),
        pytest.param(b"x; filename*=iso-8859-1'de'%e4", "x", "ä", id="extended-latin1"),
        pytest.param(b"x; filename*0=a; filename*1=b; filename*2=c", "x", "abc", id="pieces"),
        pytest.param(b"x; filename*2=c; filename*0=a; filename*1=b", "x", "abc", id="pieces-in-disorder"),
        pytest.param(
            b"x; filename*0*=utf-8''%e2%82; filename*1*=%ac; filename*2=%41", "x", "€%41", id="pieces-encoded"
        ),
        pytest.param(b"x; filename=plain; filename*=utf-8''better", "x", "better", id="both"),
        pytest.param(b'x; filename="=?utf-8?B?w6Q=?="', "x", "ä", id="encoded-word"),
        pytest.param("x; filename=ä".encode(), "x", "ä", id="raw"),
        pytest.param(b"x; filename*=idna''%41", "x", "A", id="no-charset"),
        pytest.param(b"x; filename*=plain", "x", "plain", id="no-quotation-marks"),
        pytest.param(b"x; filename*=utf-8''%zz%4", "x", "%zz%4", id="bad-percent"),
        pytest.param(b"x; filename*99999999999=a; filename=b", "x", "b", id="large-number"),
        pytest.param(b"", "", "", id="empty"),
        pytest.param(b";;=;x", "", "", id="nothing"),
    ],
)
def test_parameters_are_split_joined_and_decoded(raw: bytes, value: str, name: str) -> None:
    found, parameters = split(raw)

    assert (found, parameter(parameters, "filename")) == (value, name)


def test_fields_are_found_however_they_are_written() -> None:
    block = (
        b"\xef\xbb\xbfSubject :a\r\n\tb\nnot a field\n  goes on\nFrom me: x\n: y\nX:\r\nTo: \x00c\r\r\n\r\nBody: no\n"
    )

    headers = Headers(block)

    assert [name for name, _ in headers.fields] == ["subject", "x", "to"]
    assert (headers.text("subject"), headers.text("x"), headers.text("to")) == ("a b", "", "c")
    assert headers.text("body") is None
    assert headers.count("x") == 1


def test_ids_are_found_and_bounded() -> None:
    many = b" ".join(b"<r%d@x>" % number for number in range(200))
    headers = Headers(b"References: <a@x>\r\n\t<b@x>junk <c d@x>,<>\r\nX-Many: " + many + b"\r\n\r\n")

    assert headers.ids("references") == ["<a@x>", "<b@x>"]
    found = headers.ids("x-many")
    assert (len(found), found[0], found[-1]) == (MOST_IDS, "<r0@x>", "<r199@x>")


@pytest.mark.parametrize(
    "token", [b"<ab>", b"<@x>", b"<a@>", b"<=?utf-8?q?a?=@x>", b"<a@=?x>", b"<" + b"a" * 2000 + b"@x>"]
)
def test_no_sender_keeps_anybody_from_answering(token: bytes) -> None:
    """What stands in the lists of a message that is read is accepted in an answer to it."""
    headers = Headers(b"References: <a@x> " + token + b" <b!#$%@[1.2.3.4]>\r\n\r\n")

    assert message_ids(" ".join(headers.ids("references"))) == ["<a@x>", "<b!#$%@[1.2.3.4]>"]


def test_what_a_header_says_is_bounded() -> None:
    people = b",".join(b"u%d@x.test" % number for number in range(300))
    headers = Headers(b"Subject: " + b"x" * 100_000 + b"\nTo: " + people + b"\n\n")

    texts, notes = header_texts(headers)

    assert len(texts["subject"]) == LONGEST + 1
    assert len(texts["to"]) == MOST_MAILBOXES
    assert any("more than 100 people in 'to'" in note for note in notes)
    assert all_fields(headers, 5000) == ([{"name": "subject", "value": texts["subject"]}], True)


def test_several_fields_where_one_is_allowed_are_told_of() -> None:
    """A second From, which other programs may take for the first, is no secret."""
    texts, notes = header_texts(Headers(b"From: a@x.test\nfrom: b@x.test\n\n"))

    assert texts["from"] == [{"name": "", "address": "a@x.test"}]
    assert "there are 2 fields 'from' where one is allowed; the first one is shown" in notes


@pytest.mark.parametrize(
    "raw",
    [
        *(b"=?a?q?" * 10_000, b"=?" * 30_000, b"=?a?b?AB?=" * 6_000, b'"' * 60_000, b'\\"' * 30_000, b"(" * 60_000),
        *(b"<" * 60_000, b"<a" * 30_000, b"(a" * 30_000, b":" * 60_000, b";" * 60_000, b'a="' * 20_000, b"; " * 30_000),
        *(
            b"%4" * 30_000,
            b"<a@" * 20_000,
            b"a@b," * 15_000,
            b"x*1=a;" * 10_000,
            b" " * 60_000,
            b"=?utf-8?q?\xe4?=," * 4000,
        ),
    ],
    ids=lambda raw: f"{raw[:6]!r}",
)
def test_a_header_made_to_take_long_is_read_like_others(raw: bytes) -> None:
    """Time grows with the length: where it grows with the square, this test takes minutes."""
    _use(b"X: " + raw + b"\n\n")


def _use(block: bytes) -> None:
    """Read everything that a header has, and check that it is text for JSON."""
    removed = Removed()
    headers = Headers(block, "koi8-r", removed)
    found = [header_texts(headers), all_fields(headers, 1_000_000)]
    for name, raw in headers.fields:
        value, parameters = split(raw)
        found += [value, [parameter(parameters, key.partition("*")[0], "utf-8") for key in parameters]]
        found += [headers.ids(name), headers.date(name), [(box.name, box.address) for box in headers.mailboxes(name)]]
    assert json.dumps(found, ensure_ascii=False).encode("utf-8")


@given(SYNTAX, st.sampled_from([b"From", b"To", b"Subject", b"Date", b"References", b"Content-Type", b""]))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_no_bytes_make_a_header_raise(raw: bytes, name: bytes) -> None:
    _use(name + b": " + raw)
    _use(raw)


@given(st.text(max_size=60), st.sampled_from(["utf-8", "utf-16", "iso-8859-1", "koi8-r", "gb18030", "iso-2022-jp"]))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_what_the_library_encodes_we_decode(text: str, charset: str) -> None:
    from email.header import Header

    text = "".join(char for char in text if char.isprintable()).strip().replace("=?", "")
    try:
        encoded = Header(text, charset, maxlinelen=60).encode().replace("\n", "")
    except UnicodeError:
        return
    assert decode_words(encoded.encode()).split() == text.split()
