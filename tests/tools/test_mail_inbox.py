"""`mail_read_inbox`: the newest messages of a folder, filtered, page by page, however odd they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mail_world import client_of
from services.relay import Relay
from services.scripted_imap import ScriptedImap

if TYPE_CHECKING:
    from mail_world import MailWorld

MULTIPART = (
    "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nhi\n"
    '--x\nContent-Type: application/pdf\nContent-Disposition: attachment; filename="a.pdf"\n\nx\n--x--\n'
)


def message(subject: str = "x", more: str = "", body: str = "hello\n") -> bytes:
    return f"From: Ann <ann@example.test>\nTo: bob@example.test\nSubject: {subject}\n{more}\n{body}".encode()


def subjects(answer: dict[str, Any]) -> list[str]:
    return [row["subject"] for row in answer["messages"]]


# What is said about a message


def test_a_message_is_described(mail: MailWorld) -> None:
    date = "Date: Thu, 01 Feb 2024 10:00:00 +0100\n"
    uid = mail.append(message("Hello", date), flags="\\Answered \\Flagged", when="02-Feb-2024 11:00:00 +0000")

    answer = mail.call("read_inbox")

    (row,) = answer["messages"]
    size = row.pop("size")
    assert row == {
        "uid": uid,
        "date": "2024-02-01T10:00:00+01:00",
        "received": "2024-02-02T11:00:00+00:00",
        "from": [{"name": "Ann", "address": "ann@example.test"}],
        "to": [{"name": "", "address": "bob@example.test"}],
        "subject": "Hello",
        "seen": False,
        "answered": True,
        "flagged": True,
        "has_attachments": False,
    }
    assert size == len(mail.messages()[0])
    assert answer["uidvalidity"] > 0
    assert (answer["folder"], answer["total"], answer["truncated"], answer["next_cursor"]) == ("INBOX", 1, False, None)


def test_listing_marks_nothing_as_read(mail: MailWorld) -> None:
    uid = mail.append(message())

    mail.call("read_inbox", text="hello")

    assert mail.flags(uid) == set()
    assert mail.call("read_inbox")["messages"][0]["seen"] is False


SUBJECTS = [
    pytest.param(b"plain", "plain", id="plain"),
    pytest.param(b"=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Grüße", id="quoted"),
    pytest.param(b"=?UTF-8?B?R3LDvMOfZQ==?=", "Grüße", id="base64"),
    pytest.param(b"=?utf-8?q?Gr=C3=BC?=\n =?utf-8?q?=C3=9Fe?=", "Grüße", id="two words on two lines"),
    pytest.param("Grüße".encode(), "Grüße", id="raw UTF-8"),
    pytest.param("Grüße".encode("latin-1"), "Grüße", id="raw Latin-1"),
    pytest.param(b"=?iso-8859-1?q?=93quoted=94?=", "“quoted”", id="Windows in the name of Latin-1"),
    pytest.param(b"=?x-unknown?q?caf=C3=A9?=", "café", id="charset that nobody knows"),
    pytest.param(b"=?gb2312?b?w/u7+g==?=", "名机", id="Chinese"),
    pytest.param(b"=?utf-8?q?a=0D=0ABcc:_b=40example.test?=", "a Bcc: b@example.test", id="line end in a word"),
    pytest.param(b"a =?utf-8?q?", "a =?utf-8?q?", id="word that never ends"),
    pytest.param(b'quotes " and \\ (and) {5}', 'quotes " and \\ (and) {5}', id="what is special in IMAP"),
    pytest.param(b"one\n\ttwo", "one two", id="folded"),
    pytest.param(b"", "", id="empty"),
    pytest.param(b"x" * 2000, "x" * 500 + "…", id="long"),
    pytest.param("ig\u200bno\u202ere".encode(), "ignore", id="invisible characters"),
]


@pytest.mark.parametrize(("raw", "shown"), SUBJECTS)
def test_subjects_are_shown_as_they_are_meant(mail: MailWorld, raw: bytes, shown: str) -> None:
    mail.append(b"Subject: " + raw + b"\nFrom: a@example.test\n\nx\n")

    assert subjects(mail.call("read_inbox")) == [shown]


def test_a_message_without_any_header_is_listed(mail: MailWorld) -> None:
    mail.append(b"\njust a body\n")

    (row,) = mail.call("read_inbox")["messages"]

    assert (row["subject"], row["from"], row["to"]) == ("", [], [])
    assert row["date"] == row["received"]


DATES = [
    pytest.param("Thu, 01 Feb 2024 10:00:00 +0100", "2024-02-01T10:00:00+01:00", id="as it should be"),
    pytest.param("1 Feb 24 10:00 EST", "2024-02-01T10:00:00-05:00", id="old style"),
    pytest.param("Thu, 1 Feb 2024 10:00:00 -0000", "2024-02-01T10:00:00+00:00", id="offset unknown"),
    pytest.param("Thu Feb  1 10:00:00 2024", "2024-02-01T10:00:00+00:00", id="as C writes it"),
    pytest.param("2024-02-01T10:00:00Z", "2024-02-01T10:00:00+00:00", id="ISO 8601"),
    pytest.param("Thu, 1 Feb 2024 10:00:60 +0000 (CET)", "2024-02-01T10:00:59+00:00", id="leap second, comment"),
    pytest.param("Thu, 1 Feb 2024 10:00:00 GMT+0100", "2024-02-01T10:00:00+01:00", id="offset from GMT"),
    pytest.param("01-Feb-2024 10:00:00 +0000", "2024-02-01T10:00:00+00:00", id="dashes"),
]
BROKEN_DATES = [
    "",
    "yesterday",
    "Sat, Jun 100",
    "31 Feb 2024 10:00:00 +0000",
    "Thu, 01 Jan 1904 00:00:00 +0000",
    "1 Feb 2024 25:00:00 +0000",
    "1 Feb 99999 10:00:00 +0000",
    "1 Feb -2024 10:00:00 +0000",
    "Feb Feb Feb :::",
    "9" * 5000,
    "=?utf-8?q?1_Feb?=",
    "Thu, 1 Feb 2024 1\u0663:00:00 x\u0663",
]


@pytest.mark.parametrize(("written", "date"), DATES)
def test_dates_are_read_as_programs_write_them(written: str, date: str) -> None:
    from clitool_tools.mail.dates import iso

    assert iso(written) == date


def test_a_broken_date_breaks_no_list(mail: MailWorld) -> None:
    for written in BROKEN_DATES:
        mail.append(message(more=f"Date: {written}\n"), when="02-Feb-2024 11:00:00 +0000")

    rows = mail.call("read_inbox")["messages"]

    received = "2024-02-02T11:00:00+00:00"
    assert len(rows) == len(BROKEN_DATES)
    assert {row["date"] for row in rows} <= {received, "2024-02-01T13:00:00+00:00"}
    assert {row["received"] for row in rows} == {received}


def test_attachments_are_seen(mail: MailWorld) -> None:
    mail.append(message("with", MULTIPART.partition("\n\n")[0] + "\n", MULTIPART.partition("\n\n")[2]))
    mail.append(message("without", "Content-Type: text/html\nContent-Disposition: inline; filename=a.html\n"))

    rows = mail.call("read_inbox")["messages"]

    assert {row["subject"]: row["has_attachments"] for row in rows} == {"with": True, "without": False}


def test_many_recipients_are_cut(mail: MailWorld) -> None:
    everybody = ", ".join(f"u{number}@example.test" for number in range(500))
    mail.append(f"To: {everybody}\nSubject: x\n\nx\n".encode())

    (row,) = mail.call("read_inbox")["messages"]

    assert [each["address"] for each in row["to"]] == [f"u{number}@example.test" for number in range(10)]


def test_a_message_made_to_fill_the_list_takes_little_of_it(mail: MailWorld) -> None:
    people = ", ".join(f"{'n' * 900} <{'a' * 900}@example.test>" for _ in range(50))
    mail.append(f"To: {people}\nFrom: {people}\nSubject: {'s' * 60_000}\n\nx\n".encode())

    assert len(json.dumps(mail.call("read_inbox"))) < 15_000


# Filters


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        pytest.param({}, ["four", "three", "Grüße aus Köln", "one"], id="none"),
        pytest.param({"unread": True}, ["four", "Grüße aus Köln", "one"], id="unread"),
        pytest.param({"since": "2024-02-02"}, ["four", "three", "Grüße aus Köln"], id="since"),
        pytest.param({"before": "2024-02-02"}, ["one"], id="before"),
        pytest.param({"since": "2024-02-02", "before": "2024-02-03"}, ["Grüße aus Köln"], id="one day"),
        pytest.param({"since": "2024-02-03", "before": "2024-02-02"}, [], id="no day"),
        pytest.param({"since": "0001-01-01"}, ["four", "three", "Grüße aus Köln", "one"], id="before there was mail"),
        pytest.param({"before": "9999-12-31"}, ["four", "three", "Grüße aus Köln", "one"], id="the last day"),
        pytest.param({"before": "0001-01-01"}, [], id="before the first"),
        pytest.param({"sender": "BÜCHER"}, ["Grüße aus Köln"], id="sender beyond ASCII"),
        pytest.param({"sender": "ann@"}, ["four", "three", "one"], id="sender"),
        pytest.param({"subject": "grüße"}, ["Grüße aus Köln"], id="subject beyond ASCII"),
        pytest.param({"subject": "thr"}, ["three"], id="part of a subject"),
        pytest.param({"text": "wörld"}, ["four"], id="text beyond ASCII"),
        pytest.param({"subject": "grüße", "sender": "bücher", "text": "köln"}, ["Grüße aus Köln"], id="all"),
        pytest.param({"subject": "four", "sender": "bücher"}, [], id="not both"),
        pytest.param({"text": "nothing has this"}, [], id="nothing"),
    ],
)
def test_filters_are_combined(mail: MailWorld, filters: dict[str, Any], found: list[str]) -> None:
    mail.append(message("one"), when="01-Feb-2024 23:59:00 +0000")
    text = "From: =?utf-8?q?B=C3=BCcher?= <b@example.test>\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe_aus_K=C3=B6ln?=\n\nx\n"
    mail.append(text.encode(), when="02-Feb-2024 00:01:00 +0000")
    mail.append(message("three"), flags="\\Seen", when="03-Feb-2024 10:00:00 +0000")
    utf8 = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n"
    mail.append(message("four", utf8, "hello wörld\n"), when="04-Feb-2024 10:00:00 +0000")

    answer = mail.call("read_inbox", **filters)

    assert subjects(answer) == found
    assert answer["total"] == len(found)


INJECTIONS = [
    'x"\r\nZ CREATE Inj\r\nZ NOOP',
    "x\r\nZ CREATE Inj",
    "x\nZ CREATE Inj",
    "x\rZ CREATE Inj",
    "x\0",
    "x\x85y",
    "x\u2028y",
    "x\u2029y",
    "x\x1b[2J",
    "x\ty",
    "x\ud800",
]
HARMLESS = ['x" CREATE "Inj', "x) (OR ALL", "{3}", "{3+}", "1:*", "NIL", "\\", '"', '\\"', "%*", "x" * 500, "ü{3}"]


@pytest.mark.parametrize("term", INJECTIONS, ids=ascii)
@pytest.mark.parametrize("where", ["sender", "subject", "text"])
def test_a_search_term_cannot_end_the_command(mail: MailWorld, where: str, term: str) -> None:
    """Row 52: imaplib, imap-tools and IMAPClient made the folder. Nothing is sent; not even a connection is opened."""
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        assert mail.reason("read_inbox", **{where: term}) == "bad_query"

    assert relay.sent == b""


def test_what_looks_like_protocol_is_only_text(mail: MailWorld) -> None:
    """Row 52: the words of the commands on the wire are ours alone, whatever is looked for."""
    before = mail.folders()
    for term in HARMLESS:
        mail.append(f"Subject: a {term} b\n\nx\n".encode())
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        for term in HARMLESS:
            answer = mail.call("read_inbox", subject=term)
            assert f"a {term} b"[:500] in [subject[:500] for subject in subjects(answer)], term

    assert mail.folders() == before
    assert set(relay.commands) == {"LOGIN", "ID", "EXAMINE", "UID SEARCH", "UID FETCH", "LOGOUT"}


@pytest.mark.parametrize(
    "folder", ['INBOX"\r\nA9 DELETE Trash', "INBOX\r\nA9 CREATE Inj", "a\0", "a\u2028b", "a\ud800", "\x7f"], ids=ascii
)
@pytest.mark.parametrize(
    ("tool", "params"), [("read_inbox", {}), ("mark_read", {"uids": [1]})], ids=["read_inbox", "mark_read"]
)
def test_the_name_of_a_folder_cannot_end_the_command(
    mail: MailWorld, tool: str, params: dict[str, Any], folder: str
) -> None:
    """Row 51."""
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        assert mail.reason(tool, folder=folder, **params) == "bad_mailbox"

    assert relay.sent == b""


@pytest.mark.parametrize(
    "params",
    [
        *({"since": day} for day in ("yesterday", "2024-2-1", "20240201", "2024-02-30", "2024-W05-1", "01-Feb-2024")),
        *(
            {"since": day}
            for day in ("2024-02-01 ", "\u0662\u0660\u0662\u0664-02-01", "0000-01-01", '"', "2024-02-0\r")
        ),
        {"before": "2024-13-01"},
        {"since": ""},
    ],
    ids=ascii,
)
def test_a_day_is_a_day(mail: MailWorld, params: dict[str, Any]) -> None:
    assert mail.reason("read_inbox", **params) == "bad_query"


@pytest.mark.parametrize(
    "params",
    [
        {"folder": ""},
        {"folder": "x" * 1001},
        {"sender": ""},
        {"subject": "x" * 501},
        {"unread": "yes"},
        {"unread": 1},
        {"limit": 0},
        {"limit": 201},
        {"limit": "20"},
        {"limit": True},
        {"cursor": ""},
        {"cursor": "x" * 101},
        {"since": 20240201},
        {"mark_as_read": True},
        {"folder": ["INBOX"]},
    ],
    ids=ascii,
)
def test_the_schema_is_closed(mail: MailWorld, params: dict[str, Any]) -> None:
    assert mail.reason("read_inbox", **params) == "schema"


# Pages


def fill(mail: MailWorld, number: int) -> None:
    for count in range(number):
        mail.append(message(f"m{count}"))


def test_pages_lead_through_the_whole_folder_newest_first(mail: MailWorld) -> None:
    fill(mail, 7)
    seen: list[str] = []
    cursor = None

    for size in (3, 3, 1):
        answer = mail.call("read_inbox", limit=3, **({"cursor": cursor} if cursor else {}))
        assert (len(answer["messages"]), answer["total"]) == (size, 7)
        seen += subjects(answer)
        cursor = answer["next_cursor"]
        assert answer["truncated"] is (cursor is not None)

    assert seen == [f"m{count}" for count in reversed(range(7))]
    assert cursor is None


def test_a_page_that_is_just_full_is_not_truncated(mail: MailWorld) -> None:
    fill(mail, 3)

    assert mail.call("read_inbox", limit=3)["truncated"] is False


def test_what_comes_and_goes_between_pages_neither_repeats_nor_hides_messages(mail: MailWorld) -> None:
    fill(mail, 6)
    first = mail.call("read_inbox", limit=2)
    mail.append(message("new"))
    mail.owner.select("INBOX")
    mail.owner.uid("STORE", str(first["messages"][-1]["uid"]), "+FLAGS", "\\Deleted")
    mail.owner.expunge()

    second = mail.call("read_inbox", limit=2, cursor=first["next_cursor"])

    assert subjects(second) == ["m3", "m2"]


def damaged(cursor: str) -> list[str]:
    _, validity, uid, check = cursor.split(".")
    other = "0" if check[0] != "0" else "1"
    return [
        "x",
        "1",
        "...",
        cursor + ".",
        cursor[:-1],
        "." + cursor,
        f"2.{validity}.{uid}.{check}",
        f"1.{validity}.{int(uid) + 1}.{check}",
        f"1.{int(validity) + 1}.{uid}.{check}",
        f"1.{validity}.0{uid}.{check}",
        f"1.{validity}.-1.{check}",
        f"1.{validity}.1:*.{check}",
        f"1.{validity}.{uid}.{other}{check[1:]}",
        f"1.{validity}.{uid}\r\n.{check}",
        f"1.{validity}.{uid}.{check.upper()}Ä",
        f"1.{'9' * 60}.{uid}.{check}",
        "1.\u0661.\u0662." + check,
        "\ud800",
    ]


def test_a_cursor_that_was_changed_is_refused(mail: MailWorld) -> None:
    fill(mail, 3)
    cursor = mail.call("read_inbox", limit=1)["next_cursor"]

    for other in damaged(cursor):
        assert mail.reason("read_inbox", limit=1, cursor=other) == "bad_cursor", other
    assert subjects(mail.call("read_inbox", limit=1, cursor=cursor)) == ["m1"]


@pytest.mark.parametrize(
    "other", [{"folder": "Sent"}, {"unread": True}, {"subject": "m"}, {"since": "2024-01-01"}, {"sender": "m"}], ids=str
)
def test_a_cursor_belongs_to_its_question(mail: MailWorld, other: dict[str, Any]) -> None:
    fill(mail, 3)
    cursor = mail.call("read_inbox", limit=1)["next_cursor"]

    assert mail.reason("read_inbox", limit=1, cursor=cursor, **other) == "bad_cursor"


def test_a_cursor_is_of_no_use_when_the_folder_was_made_anew(mail: MailWorld) -> None:
    """The UIDs of another UIDVALIDITY name other messages."""
    mail.create("Box")
    for count in range(3):
        mail.append(message(f"m{count}"), "Box")
    cursor = mail.call("read_inbox", folder="Box", limit=1)["next_cursor"]
    mail.owner.delete("Box")
    mail.create("Other")  # takes the next number, so that the folder gets another one
    mail.create("Box")
    for count in range(3):
        mail.append(message(f"n{count}"), "Box")

    document = mail.refusal("read_inbox", folder="Box", limit=1, cursor=cursor)

    assert document["details"]["reason"] == "changed"
    assert "without cursor" in document["error"]


# Round trips


@pytest.mark.parametrize("number", [1, 20, 60])
@pytest.mark.parametrize(
    ("filters", "commands"),
    [({}, ["FETCH"]), ({"subject": "m", "unread": True}, ["UID SEARCH", "UID FETCH"])],
    ids=["all", "filtered"],
)
def test_a_page_costs_the_same_round_trips_whatever_it_holds(
    mail: MailWorld, filters: dict[str, Any], commands: list[str], number: int
) -> None:
    """No message costs a command of its own."""
    fill(mail, number)
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        assert len(mail.call("read_inbox", limit=60, **filters)["messages"]) == number

    assert relay.commands == ["LOGIN", "ID", "EXAMINE", *commands, "LOGOUT"]


@pytest.mark.parametrize(
    "fetched",
    [
        pytest.param(b"TAG OK nothing\r\n", id="nothing"),
        pytest.param(b"TAG NO cannot\r\n", id="refused"),
        pytest.param(b"* 1 FETCH (UID 1 BODY[HEADER.FIELDS] x)\r\nTAG OK\r\n", id="one of three"),
        pytest.param(b"".join(b"* %d FETCH (UID %d)\r\n" % (n, n) for n in (1, 2, 3)) + b"TAG OK\r\n", id="no headers"),
    ],
)
def test_where_the_last_messages_do_not_come_by_themselves_they_are_searched_for(fetched: bytes) -> None:
    with ScriptedImap(answers(FETCH=fetched)) as server:
        answer = client_of(server.port).call("read_inbox")

    assert [row["uid"] for row in answer["messages"]] == [3, 2, 1]
    assert "UID SEARCH" in server.commands


def test_an_empty_folder_costs_no_fetch(mail: MailWorld) -> None:
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        assert mail.call("read_inbox")["messages"] == []
        assert mail.call("read_inbox", unread=True)["messages"] == []

    assert not {"FETCH", "UID FETCH"} & set(relay.commands)


# Two accounts


def test_a_client_with_two_accounts_says_which(mail: MailWorld, other_mail: MailWorld) -> None:
    mail.append(message("mine"))
    other_mail.append(message("other"))
    mail.settings = {"connections": {"work": mail.settings, "home": other_mail.settings}}

    assert subjects(mail.call("read_inbox", connection="work")) == ["mine"]
    assert subjects(mail.call("read_inbox", connection="home")) == ["other"]
    assert mail.reason("read_inbox") == "connection_unknown"
    assert mail.reason("read_inbox", connection="third") == "connection_unknown"


def test_a_cursor_of_one_account_is_none_of_the_other(mail: MailWorld, other_mail: MailWorld) -> None:
    for world in (mail, other_mail):
        fill(world, 2)
    mail.settings = {"connections": {"work": mail.settings, "home": other_mail.settings}}
    cursor = mail.call("read_inbox", connection="work", limit=1)["next_cursor"]

    assert mail.reason("read_inbox", connection="home", limit=1, cursor=cursor) in ("bad_cursor", "changed")


def test_an_account_without_imap_cannot_be_read(mail: MailWorld) -> None:
    for key in ("imap_host", "imap_port", "imap_tls"):
        del mail.settings[key]

    assert mail.reason("read_inbox") == "not_configured"


# Servers with habits


def answers(**more: Any) -> dict[str, Any]:
    header = b"Subject: Gr\xc3\xbc\xc3\x9fe\r\nFrom: =?utf-8?q?B=C3=BCcher?= <b@example.test>\r\n\r\n"
    item = b"* %d FETCH (UID %d BODY[HEADER.FIELDS (DATE FROM TO SUBJECT)] {%d}\r\n%s)\r\n"
    fetched = b"".join(item % (uid, uid, len(header), header) for uid in range(1, 4))
    return {"UID SEARCH": b"* SEARCH 1 2 3\r\nTAG OK\r\n", "UID FETCH": fetched + b"TAG OK\r\n", **more}


REFUSALS = [b"TAG NO [BADCHARSET (US-ASCII)] no\r\n", b"TAG BAD unknown charset\r\n", b"TAG NO what\r\n"]


@pytest.mark.parametrize("refusal", REFUSALS, ids=repr)
@pytest.mark.parametrize(
    ("filters", "number"),
    [({"subject": "grüße"}, 3), ({"sender": "BÜCHER"}, 3), ({"subject": "Köln"}, 0), ({"subject": "grüße x"}, 0)],
    ids=str,
)
def test_where_a_server_rejects_the_charset_we_look_for_ourselves(
    refusal: bytes, filters: dict[str, Any], number: int
) -> None:
    """Not without the charset: then a server may find nothing, which would be a wrong answer."""
    search = [refusal, b"* SEARCH 1 2 3\r\nTAG OK\r\n"]
    with ScriptedImap(answers(**{"UID SEARCH": search})) as server:
        answer = client_of(server.port).call("read_inbox", unread=True, **filters)

    assert subjects(answer) == ["Grüße"] * number
    assert answer["total"] is None
    searches = [line.partition(b"UID SEARCH ")[2] for line in server.lines if b"UID SEARCH" in line]
    assert searches[0].startswith(b"CHARSET UTF-8 UNSEEN ")
    assert searches[1] == b"UNSEEN"


def test_where_a_server_rejects_the_charset_the_text_of_messages_cannot_be_searched() -> None:
    with ScriptedImap(answers(**{"UID SEARCH": REFUSALS[0]})) as server:
        document = client_of(server.port).refusal("read_inbox", text="grüße")

    assert "ASCII" in document["error"]


def test_what_we_look_for_ourselves_comes_in_pages_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clitool_tools.mail.inbox.page._LOOKED_AT", 2)
    search = [REFUSALS[0], b"* SEARCH 1 2 3\r\nTAG OK\r\n"]
    with ScriptedImap(answers(**{"UID SEARCH": search})) as server:
        client = client_of(server.port)
        first = client.call("read_inbox", subject="grüße")
        search[:] = [REFUSALS[0], b"* SEARCH 1 2 3\r\nTAG OK\r\n"]
        second = client.call("read_inbox", subject="grüße", cursor=first["next_cursor"])

    assert [row["uid"] for row in first["messages"] + second["messages"]] == [3, 2, 1]
    assert (first["truncated"], second["truncated"]) == (True, False)


def test_no_charset_is_named_for_ascii() -> None:
    with ScriptedImap(answers()) as server:
        client_of(server.port).call("read_inbox", subject="ascii")

    assert b'UID SEARCH SUBJECT "ascii"' in server.lines[3]


def test_an_empty_answer_to_a_search_means_that_nothing_fits() -> None:
    """iCloud leaves the line out."""
    with ScriptedImap(answers(**{"UID SEARCH": b"TAG OK done\r\n"})) as server:
        assert client_of(server.port).call("read_inbox")["messages"] == []


ROWS = [
    pytest.param(b"TAG OK\r\n", None, id="Exchange: nothing"),
    pytest.param(b"* 3 FETCH (UID 3 RFC822.SIZE 5)\r\nTAG OK\r\n", 5, id="no header"),
    pytest.param(b"* 3 FETCH (UID 3 RFC822.SIZE 5 BODYSTRUCTURE ((((\r\nTAG OK\r\n", 5, id="half a structure"),
    pytest.param(b"* 3 FETCH (UID 3 RFC822.SIZE 5 BODYSTRUCTURE NIL)\r\nTAG OK\r\n", 5, id="no structure"),
    pytest.param(
        b"* 3 FETCH (UID 3 RFC822.SIZE 5 BODYSTRUCTURE " + b"(" * 5000 + b"\r\nTAG OK\r\n", None, id="deep structure"
    ),
    pytest.param(b"* 3 FETCH (UID 3 RFC822.SIZE x INTERNALDATE y FLAGS z)\r\nTAG OK\r\n", None, id="other types"),
    pytest.param(b"* 3 FETCH (UID 3 RFC822.SIZE " + b"9" * 30 + b")\r\nTAG OK\r\n", None, id="size of a universe"),
]


@pytest.mark.parametrize(("fetched", "size"), ROWS)
def test_a_message_that_the_server_does_not_describe_is_a_row_all_the_same(fetched: bytes, size: int | None) -> None:
    with ScriptedImap(answers(**{"UID SEARCH": b"* SEARCH 3\r\nTAG OK\r\n", "UID FETCH": fetched})) as server:
        (row,) = client_of(server.port).call("read_inbox")["messages"]

    assert (row["uid"], row["size"], row["subject"], row["has_attachments"]) == (3, size, None, None)
    json.dumps(row)


def test_a_server_that_stumbles_over_one_structure_lists_the_messages_without() -> None:
    header = b"* 3 FETCH (UID 3 BODY[HEADER.FIELDS (SUBJECT)] {12}\r\nSubject: x\r\n)\r\nTAG OK\r\n"
    fetches = [b"TAG NO cannot parse\r\n", header]
    with ScriptedImap(answers(**{"UID SEARCH": b"* SEARCH 3\r\nTAG OK\r\n", "UID FETCH": fetches})) as server:
        (row,) = client_of(server.port).call("read_inbox")["messages"]

    assert (row["subject"], row["has_attachments"]) == ("x", None)


def test_nothing_is_ever_asked_for_in_a_way_that_marks_it() -> None:
    """Office 365 marks messages even after PEEK; a folder that is only examined stays as it is."""
    with ScriptedImap(answers()) as server:
        client_of(server.port).call("read_inbox")

    assert "SELECT" not in server.commands
    assert all(b"BODY[" not in line for line in server.lines)
