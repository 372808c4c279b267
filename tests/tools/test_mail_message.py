"""Messages as they are written: what was checked is what stands in the bytes, for every reader.

Ids that are numbers are rows of the attack table in research/files-and-mail.md (b.2).
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import SMTP, default
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.mail import family
from clitool_tools.mail.address import parse
from clitool_tools.mail.outgoing import message as message_module
from clitool_tools.mail.outgoing.attachments import Attachment
from clitool_tools.mail.outgoing.header import message_ids
from clitool_tools.mail.outgoing.request import read_message
from contexts import make_context
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.errors import ClitoolError, InvalidParams

if TYPE_CHECKING:
    from clitool_tools.mail.outgoing.message import Message

SENDER = "Ann <ann@example.test>"
SETTINGS = {"smtp_host": "mail.example.test", "username": "ann", "password": "secret", "from": SENDER}
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ID = "<1@example.test>"

# No line break is in these, and yet the library writes headers and bodies from them (CVE-2024-6923 has a sibling here).
REPLY_TO = "=?utf-8?q?hi=0D=0AReply-To:_evil=40evil.test?="
BODY = "=?utf-8?q?hi=0D=0A=0D=0Aforged_body?="
MORE = "=?utf-8?q?x=2C_mallory=40evil=2Etest=2C?="
FILE = "=?utf-8?q?x=0D=0AX-Evil:_1?=.txt"


def write(*, files: tuple[tuple[str, bytes], ...] = (), show_bcc: bool = False, **params: Any) -> bytes:
    account = make_context(family, SETTINGS).settings[""]
    found = read_message(account, **{"subject": "Hello", "text": "…", "to": ["bob@example.test"], **params})
    found.attachments = [Attachment(name, data) for name, data in files]
    return found.write(ID, NOW, show_bcc=show_bcc)


def read(data: bytes) -> EmailMessage:
    parsed = message_from_bytes(data, policy=default)
    assert isinstance(parsed, EmailMessage)
    return parsed


def shown(data: bytes, name: str = "Subject") -> str:
    """Return a header's text as a reader shows it."""
    value = next(str(raw) for key, raw in message_from_bytes(data).raw_items() if key == name)
    return str(make_header(decode_header(value.replace("\r\n", ""))))


# --- what the standard library does, so that the tests below are known to test something

HOLED = {(3, 11, 7), (3, 12, 1)}  # where it was seen; later ones refuse or encode it


def by_the_library(**headers: str) -> bytes:
    message = EmailMessage(policy=SMTP)
    for name, value in headers.items():
        message[name] = value
    message.set_content("x")
    return message.as_bytes()


@pytest.mark.skipif(sys.version_info[:3] not in HOLED, reason="this Python is not known to do it")
def test_the_library_writes_headers_bodies_and_recipients_from_encoded_words() -> None:
    assert b"\r\nReply-To: evil@evil.test\r\n" in by_the_library(Subject=REPLY_TO)
    assert b"\r\n\r\nforged body\r\n" in by_the_library(Subject=BODY)
    assert b"x, mallory@evil.test, <bob@example.test>" in by_the_library(To=f"{MORE} <bob@example.test>")
    message = EmailMessage(policy=SMTP)
    message.set_content("x")
    message.add_attachment(b"x", maintype="text", subtype="plain", filename=FILE)
    assert b"\r\nX-Evil: 1.txt" in message.as_bytes()


# --- header text

OWN = ["Date", "From", "To", "Subject", "Message-ID"]
MIME = {"MIME-Version", "Content-Type", "Content-Transfer-Encoding"}


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(REPLY_TO, id="46"),
        pytest.param("=?utf-8?q?a=0D=0ABcc:_e=40evil.test?=", id="46-bcc"),
        pytest.param(BODY, id="46-body"),
        pytest.param("=?utf-8?b?aGkNClJlcGx5LVRvOiBlQGUudGVzdA==?=", id="46-base64"),
        pytest.param("=?utf-8?q?a?= =?utf-8?q?=0D=0AX:_y?=", id="46-two-words"),
        pytest.param("=?utf-8?q?a", id="46-unfinished"),
        pytest.param("x =?unknown?x?y?= z", id="46-unknown"),
        pytest.param("re: =?us-ascii?Q?=0A?=", id="46-lf-alone"),
        pytest.param("=?utf-8*en?q?=0D=0AX:_y?=", id="46-language"),
        pytest.param("=?utf-7?q?+AA0ACg-X:_y?=", id="46-utf-7"),
        pytest.param("", id="empty"),
        pytest.param("Hello", id="plain"),
        pytest.param("Grüße 👩‍👩‍👧 ✓", id="unicode"),
        pytest.param("x" * 1000, id="one-long-word"),
        pytest.param("word " * 199 + "end", id="many-words"),
        pytest.param("ü" * 1000, id="long-unicode"),
        pytest.param("  two  blanks  ", id="blanks"),
        pytest.param(" ", id="blank"),
        pytest.param("Bcc: e@evil.test", id="like-a-header"),
        pytest.param("\u202egnp.exe", id="bidi"),
        pytest.param("a\u00a0b\u3000c", id="special-blanks"),
    ],
)
def test_a_subject_is_what_a_reader_shows(subject: str) -> None:
    """Header text is meant literally (row 46): it makes no header, no body, and is not decoded."""
    data = write(subject=subject)

    assert shown(data) == subject
    assert [name for name in message_from_bytes(data).keys() if name not in MIME] == OWN  # noqa: SIM118 - not a mapping
    assert max(map(len, data.split(b"\r\n"))) <= 78


@pytest.mark.parametrize("char", [*"\r\n\0\x0b\x0c\x1f\x7f\x85\x9f\u2028\u2029\ud800\udcff\t\x1b", "\r\n", "\r\n "])
@pytest.mark.parametrize("place", ["a{}Bcc: e@evil.test", "{}a", "a{}"], ids=["inside", "front", "end"])
def test_a_subject_with_a_control_character_is_refused(place: str, char: str) -> None:
    """Row 44: every character that some reader takes for the end of a line."""
    with pytest.raises(InvalidParams) as caught:
        write(subject=place.format(char))

    assert caught.value.reason == "bad_header"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("Alice", id="plain"),
        pytest.param(MORE, id="30"),
        pytest.param('"=?utf-8?q?a=0ABcc=3A_e?="', id="48"),
        pytest.param(f'"{REPLY_TO}"', id="48-crlf"),
        pytest.param('"mallory@evil.test"', id="address"),
        pytest.param('"a@b.test>, <mallory@evil.test"', id="two-addresses"),
        pytest.param('"\\"\\\\"', id="quote-and-backslash"),
        pytest.param("Jörg  Müller", id="unicode-and-blanks"),
        pytest.param("x" * 200, id="long"),
        pytest.param('"group: a;"', id="group"),
        pytest.param('"(comment)"', id="comment"),
        pytest.param("-", id="hyphen"),
    ],
)
def test_a_display_name_changes_no_recipient(name: str) -> None:
    data = write(to=[f"{name} <bob@example.test>"], cc=f"{name} <carl@example.test>")
    parsed: Any = read(data)

    for field, address in (("To", "bob@example.test"), ("Cc", "carl@example.test")):
        assert [one.addr_spec for one in parsed[field].addresses] == [address]
        assert shown(data, field) == f"{parse(f'{name} <bob@example.test>').name} <{address}>"


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        pytest.param("<a@b>", ["<a@b>"], id="one"),
        pytest.param("<a@b> <c@d>", ["<a@b>", "<c@d>"], id="50-list"),
        pytest.param("<a@b>\r\n <c@d>", ["<a@b>", "<c@d>"], id="50-folded"),
        pytest.param("<a@b>\n\t<c@d>", ["<a@b>", "<c@d>"], id="50-folded-lf"),
        pytest.param(" <a@b> ", ["<a@b>"], id="blanks"),
        pytest.param("<CAF=x+y/z$1@[10.0.0.1]>", ["<CAF=x+y/z$1@[10.0.0.1]>"], id="odd"),
    ],
)
def test_message_ids_are_tokens(text: str, ids: list[str]) -> None:
    assert message_ids(text) == ids
    parsed = read(write(in_reply_to=text))
    assert parsed["In-Reply-To"] == ids[-1]
    assert parsed["References"].split() == ids


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<a@b>\r\nBcc: e@evil.test", id="50"),
        pytest.param("<a@b>\r\n\r\nbody", id="50-body"),
        pytest.param("<a@b>\n", id="50-lf"),
        pytest.param("<a@b>\r", id="50-cr"),
        pytest.param("<a@b\0>", id="nul"),
        pytest.param("a@b", id="no-angles"),
        pytest.param("<ab>", id="no-at"),
        pytest.param("<@b>", id="no-left"),
        pytest.param("<a@>", id="no-right"),
        pytest.param("<a@b", id="open"),
        pytest.param("<<a@b>>", id="nested"),
        pytest.param("<a@b>,<c@d>", id="comma"),
        pytest.param("<a@b> x", id="word"),
        pytest.param("<a@bü>", id="non-ascii"),
        pytest.param("<=?utf-8?q?=0D=0AX:_y?=@b>", id="encoded-word"),
        pytest.param(f"<{'a' * 900}@b>", id="long"),
        pytest.param("", id="empty"),
        pytest.param(" ", id="blank"),
    ],
)
def test_what_is_no_message_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        write(in_reply_to=text)

    assert caught.value.reason == "bad_header"


def test_a_list_of_message_ids_is_the_thread() -> None:
    parsed = read(write(in_reply_to=["<a@b>", "<c@d>", "<e@f>"]))

    assert parsed["In-Reply-To"] == "<e@f>"
    assert parsed["References"].split() == ["<a@b>", "<c@d>", "<e@f>"]


def test_an_empty_list_of_message_ids_is_none() -> None:
    assert "References" not in read(write(in_reply_to=[]))


def test_a_thread_of_any_length_is_folded() -> None:
    data = write(in_reply_to=[f"<{number:0200}@b>" for number in range(99)])

    assert len(read(data)["References"].split()) == 99
    assert max(map(len, data.split(b"\r\n"))) < 998


# --- who sees what


def test_bcc_is_in_no_byte_of_a_message_that_is_sent() -> None:
    data = write(bcc=["hidden@example.test"], cc=["carl@example.test"])

    assert b"hidden" not in data
    assert b"Bcc" not in data


def test_a_draft_tells_its_sender_of_bcc() -> None:
    assert read(write(bcc=["Hidden <hidden@example.test>"], show_bcc=True))["Bcc"] == "Hidden <hidden@example.test>"


def test_date_message_id_and_sender_are_ours() -> None:
    parsed = read(write())

    assert parsed["Date"].datetime == NOW
    assert parsed["Message-ID"] == ID
    assert parsed["From"] == SENDER


def test_letters_beyond_ascii_stay_in_the_local_part_alone() -> None:
    """IDNA is for the domain (github.com/jstedfast/MailKit/issues/1026)."""
    data = write(to=["Jörg <jörg@bücher.test>"])

    assert "\r\n <jörg@xn--bcher-kva.test>\r\n".encode() in data


# --- the content


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(".\n", id="57-dot"),
        pytest.param("..\n.a\n.\n.\n", id="57-dots"),
        pytest.param("x" * 5000, id="57-long-line"),
        pytest.param("ü" * 5000, id="57-long-line-unicode"),
        pytest.param("a\nb\r\nc\rd", id="57-bare-ends"),
        pytest.param("a\n\n\n", id="57-empty-lines"),
        pytest.param("", id="empty"),
        pytest.param("From me\nFrom you\n", id="from"),
        pytest.param("trailing blank \ntab\t\n", id="blank-at-end"),
        pytest.param("=20 =?utf-8?q?a?= =", id="like-encodings"),
        pytest.param("--===============1==\nX: y", id="like-a-boundary"),
        pytest.param("nul\0bell\x07\x1b[2J", id="controls"),
        pytest.param("a\x85b\u2028c\u2029d\x0be\x0cf", id="odd-ends"),
        pytest.param("Grüße 👍", id="unicode"),
        pytest.param("漢字" * 300, id="cjk"),
    ],
)
@pytest.mark.parametrize("kind", ["text", "html"])
def test_a_text_arrives_as_it_was_given(kind: str, text: str) -> None:
    """Row 57: no line that ends the message early, none that a server divides; only line ends become one kind."""
    data = write(**{"text": None, kind: text})
    body: Any = read(data).get_body((kind.replace("text", "plain"),))
    lines = text.replace("\r\n", "\n").replace("\r", "\n")

    assert body.get_payload(decode=True).replace(b"\r\n", b"\n").decode().removesuffix("\n") == lines.removesuffix("\n")
    assert data.isascii()
    assert b"\0" not in data
    assert all(len(line) <= 78 and b"\r" not in line and b"\n" not in line for line in data.split(b"\r\n"))


def test_a_lone_surrogate_is_no_text() -> None:
    for kind in ("text", "html"):
        with pytest.raises(InvalidParams) as caught:
            write(**{"text": "x", kind: "a\ud800"})
        assert caught.value.reason == "bad_encoding"


def test_text_and_html_are_alternatives_and_files_follow() -> None:
    parsed = read(write(text="plain", html="<p>rich", files=(("a.pdf", b"%PDF"), ("b.txt", b"b"))))
    alternative, *files = parsed.iter_parts()

    assert parsed.get_content_type() == "multipart/mixed"
    assert [part.get_content_type() for part in alternative.iter_parts()] == ["text/plain", "text/html"]
    assert [part.get_content_type() for part in files] == ["application/pdf", "text/plain"]


def test_a_message_without_content_is_refused() -> None:
    with pytest.raises(InvalidParams) as caught:
        write(text=None)

    assert caught.value.reason == "schema"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param("report.pdf", "application/pdf", id="plain"),
        pytest.param("two words.TXT", "text/plain", id="blank"),
        pytest.param("Übersicht.csv", "text/csv", id="unicode"),
        pytest.param(FILE, "text/plain", id="encoded-word"),
        pytest.param("=?utf-8?b?eA0KWDogeQ==?=", "application/octet-stream", id="encoded-word-base64"),
        pytest.param('a"; filename="b.exe', "application/octet-stream", id="quote"),
        pytest.param("a'b%41.txt", "text/plain", id="percent-and-quote"),
        pytest.param("mail.eml", "application/octet-stream", id="message"),
        pytest.param("a.tar.gz", "application/gzip", id="compressed"),
        pytest.param("a.tar.br", "application/octet-stream", id="compressed-otherwise"),
        pytest.param("README", "application/octet-stream", id="no-ending"),
        pytest.param("data:text/html,x", "application/octet-stream", id="url"),
        pytest.param("ü" * 120 + ".txt", "text/plain", id="long"),
        pytest.param("a; b=c.txt", "text/plain", id="semicolon"),
    ],
)
def test_a_file_arrives_with_its_name_and_bytes(name: str, kind: str) -> None:
    every = bytes(range(256)) * 4
    data = write(files=((name, every),))
    [part] = read(data).iter_attachments()

    assert part.get_filename() == name
    assert part.get_content_type() == kind
    assert part.get_payload(decode=True) == every
    assert set(part.keys()) == {"Content-Type", "Content-Transfer-Encoding", "Content-Disposition"}


# --- the last look


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"Subject: Hello\r\n", b"Subject: Hello\r\nReply-To: e@evil.test\r\n", id="more-header"),
        pytest.param(b"Subject: Hello\r\n", b"Subject: Hello\r\n\r\nforged", id="body"),
        pytest.param(b"Subject: Hello\r\n", b"Subject: Hello\r\nTo: e@evil.test\r\n", id="second-to"),
        pytest.param(b"Subject: Hello\r\n", b"Subject: Hello\nX: y\r\n", id="bare-lf"),
        pytest.param(b"Subject: Hello\r\n", b"Subject: Hello\rX: y\r\n", id="bare-cr"),
        pytest.param(b"Subject: Hello\r\n", b"Subject: \0\r\n", id="nul"),
        pytest.param(b"Subject: Hello\r\n", b"Subject: " + b"x" * 990 + b"\r\n", id="long-line"),
        pytest.param(b"Subject: Hello\r\n", b"", id="less-header"),
        pytest.param(b"Subject: Hello\r\n", b"Hello\r\n", id="no-colon"),
        pytest.param(b"To: bob@example.test", b"To: bob@example.test, e@evil.test", id="more-recipients"),
        pytest.param(b"To: bob@example.test", b"To: e@evil.test", id="other-recipient"),
        pytest.param(b"To: bob@example.test", b"To: bob@example.test <e@evil.test>", id="two-readings"),
        pytest.param(b"To: bob@example.test", b'To: "bob@example.test"@evil.test', id="quoted-local"),
        pytest.param(b"From: Ann", b"From: e@evil.test, Ann", id="more-senders"),
    ],
)
def test_bytes_that_say_something_else_are_not_sent(monkeypatch: pytest.MonkeyPatch, old: bytes, new: bytes) -> None:
    """Whatever may go wrong in the writing: the finished bytes are read again and compared."""
    real = message_module.Message._fields

    def spoilt(self: Message, *args: Any, **options: Any) -> dict[str, str]:
        fields = real(self, *args, **options)
        assert old.decode() in "".join(fields.values())
        return {name: field.replace(old.decode(), new.decode()) for name, field in fields.items()}

    monkeypatch.setattr(message_module.Message, "_fields", spoilt)

    with pytest.raises(InvalidParams, match="not sent") as caught:
        write()
    assert caught.value.reason == "bad_header"


# --- whatever is accepted

TEXTS = st.text(
    st.one_of(
        st.sampled_from([*'=?utf-8qQbB_=0D0A \t\r\n:@<>,;"\\().', "\u00fc", "\u200d", "\ud800"]), st.characters()
    ),
    max_size=60,
)
WORDS = st.builds("=?{}?{}?{}?=".format, st.sampled_from(["utf-8", "latin1", "x"]), st.sampled_from("qQbB"), TEXTS)
LINES = st.one_of(TEXTS, WORDS, st.builds("{} {}".format, WORDS, WORDS))
LOCALS = st.sampled_from(["bob", "BOB", "x.y", "a+b", "o'neill", "jörg", "=", "{}", "-oX"])
DOMAINS = st.sampled_from(["example.test", "Bücher.test", "a.b-c.test"])
ADDRESSES = st.one_of(
    st.builds("{}@{}".format, LOCALS, DOMAINS),
    st.builds("{} <{}@{}>".format, LINES, LOCALS, DOMAINS),
    st.builds('"{}" <{}@{}>'.format, LINES.map(lambda name: name.replace("\\", "").replace('"', "")), LOCALS, DOMAINS),
)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    st.lists(ADDRESSES, max_size=3),
    st.lists(ADDRESSES, max_size=2),
    st.lists(ADDRESSES, max_size=2),
    LINES,
    TEXTS,
    st.one_of(st.none(), TEXTS),
    st.lists(st.one_of(TEXTS, WORDS).filter(lambda name: name.isprintable() and "/" not in name and name), max_size=2),
)
def test_what_is_accepted_is_what_every_reader_finds(
    to: list[str], cc: list[str], bcc: list[str], subject: str, text: str, html: str | None, files: list[str]
) -> None:
    """The recipients on the wire are those that were checked, and the header has the intended names."""
    account = make_context(family, SETTINGS).settings[""]
    try:
        found = read_message(account, to=to, cc=cc, bcc=bcc, subject=subject, text=text, html=html)
        found.attachments = [Attachment(name, b"x") for name in files]
        data = found.write(ID, NOW)
    except ClitoolError as error:
        assert error.reason in {"bad_address", "bad_header", "bad_encoding"}
        assert "not sent" not in str(error), "only the last look found it"
        return
    parsed: Any = read(data)
    seen = [one for name in ("To", "Cc") for field in parsed.get_all(name, []) for one in field.addresses]
    local = [one.username.encode("utf-8", "surrogateescape").decode().lower() for one in seen]
    hidden = {parse(one).key for one in bcc}

    assert {(name, one.domain) for name, one in zip(local, seen, strict=True)} | hidden == {
        address.key for address in found.recipients
    }
    assert {name for name in parsed.keys() if name not in MIME} == {  # noqa: SIM118 - not a mapping
        *("Date", "From", "Subject", "Message-ID"),
        *(["To"] if to else []),
        *(["Cc"] if cc else []),
    }
    assert shown(data) == subject
    assert [part.get_filename() for part in parsed.iter_attachments()] == files
