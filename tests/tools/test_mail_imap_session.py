"""A session with a real IMAP server: ways to log in, folders whatever they are called, reading that changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.mail.imap.syntax import string
from mail_world import client_of, session_of
from services.relay import Relay
from services.scripted_imap import ScriptedImap

from clitool.errors import ExecutionError, InvalidParams

if TYPE_CHECKING:
    from mail_world import MailWorld

MESSAGE = b"Subject: %s\r\nFrom: a@example.test\r\n\r\nbody\r\n"
ODD_NAMES = [
    pytest.param("Entwürfe 2024", b"Entw&APw-rfe 2024", id="umlaut and blank"),
    pytest.param("Gesendete Objekte", b"Gesendete Objekte", id="blank"),
    pytest.param("日本語/台北", b"&ZeVnLIqe-/&U,BTFw-", id="Japanese, in a hierarchy"),
    pytest.param("R&D", b"R&-D", id="ampersand"),
    pytest.param('say "hi"', b'say "hi"', id="quotes"),
    pytest.param("back\\slash", b"back\\slash", id="backslash"),
    pytest.param("ends in \\", b"ends in \\", id="backslash at the end"),
    pytest.param("stars * and % signs", b"stars * and % signs", id="wildcards"),
    pytest.param("(x) {5} [y]", b"(x) {5} [y]", id="brackets"),
    pytest.param("NIL", b"NIL", id="a word of the protocol"),
    pytest.param("😀", b"&2D3eAA-", id="beyond the basic plane"),
    pytest.param("a.b", b"a.b", id="dot"),
]


# Ways in


@pytest.mark.parametrize("tls", ["implicit", "starttls", "none"])
@pytest.mark.parametrize("secret", ["password", "password_command", "token_command"])
def test_every_way_to_encrypt_and_to_log_in(mail: MailWorld, tls: str, secret: str) -> None:
    del mail.settings["password"]
    value = {"password": mail.user.password, "token_command": ["echo", mail.user.token]}
    mail.settings[secret] = value.get(secret, ["printf", "%s", mail.user.password])
    port = mail.servers.dovecot.imaps if tls == "implicit" else mail.servers.dovecot.imap
    mail.settings.update(imap_tls=tls, imap_port=port)

    with session_of(mail) as session:
        assert session.examine("INBOX").exists == 0


def test_user_names_and_passwords_beyond_ascii(mail: MailWorld) -> None:
    mail.settings.update(username="jörg@example.test", password="jörg-pw")

    with session_of(mail) as session:
        assert session.examine("INBOX").uidvalidity


def test_a_tls_name_is_checked_also_after_starttls(mail: MailWorld) -> None:
    """The authority is ours, the name is not: 127.0.0.1 by another spelling that is not in the certificate."""
    mail.settings.update(imap_host="127.1", imap_tls="starttls", imap_port=mail.servers.dovecot.imap)

    assert mail.reason("list_folders") == "tls"


# Folders


@pytest.mark.parametrize(("name", "raw"), ODD_NAMES)
def test_a_folder_can_be_used_whatever_it_is_called(mail: MailWorld, name: str, raw: bytes) -> None:
    mail.create(raw.decode())

    with session_of(mail) as session:
        uid = session.append(name, MESSAGE % b"x", b"\\Seen")
        assert session.examine(name).exists == 1
        assert [folder.raw for folder in session.folders() if folder.name == name] == [raw]
        assert uid is not None
        assert session.fetch([uid], b"FLAGS")[uid].has_flag(b"\\Seen")


def test_nothing_else_is_made_or_touched_by_odd_names(mail: MailWorld) -> None:
    """Row 51: what follows a quote or a line end in a name is part of the name, or nothing at all."""
    before = mail.folders()

    for name in ('INBOX" (x) "', 'x"\\', "INBOX Inj", "* %", "{3}", 'x") CREATE "Inj'):
        with session_of(mail) as session, pytest.raises(ExecutionError, match="there is no folder"):
            session.examine(name)
    with session_of(mail) as session, pytest.raises(InvalidParams):
        session.examine('INBOX"\r\nA9 CREATE Inj')

    assert mail.folders() == before


def test_the_inbox_is_found_in_any_letter_case(mail: MailWorld) -> None:
    mail.append(MESSAGE % b"x")

    with session_of(mail) as session:
        assert session.examine("inbox").exists == 1


def test_a_folder_of_folders_cannot_be_opened(mail: MailWorld) -> None:
    mail.create("outer/inner")

    with session_of(mail) as session, pytest.raises(ExecutionError, match="holds only other folders"):
        session.examine("outer")


@pytest.mark.parametrize(
    ("listed", "name", "opened"),
    [
        pytest.param(b"Entw&APw", "Entw&APw", b'"Entw&APw"', id="shift that never ends"),
        pytest.param(b"R&D", "R&D", b'"R&D"', id="bare ampersand"),
    ],
)
def test_a_name_that_a_server_spells_wrongly_is_given_back_as_it_came(listed: bytes, name: str, opened: bytes) -> None:
    """Yandex: github.com/modern-email/defects/issues/46."""
    answers: dict[str, Any] = {
        "EXAMINE": [b"TAG NO no such folder\r\n", b"* 2 EXISTS\r\nTAG OK\r\n"],
        "LIST": b'* LIST () "/" "%s"\r\nTAG OK\r\n' % listed,
    }
    with ScriptedImap(answers) as server, session_of(client_of(server.port)) as session:
        assert session.examine(name).exists == 2

    assert [line.partition(b" EXAMINE ")[2] for line in server.lines if b"EXAMINE" in line][1] == opened


def test_the_folders_for_sent_mail_and_drafts_are_those_that_the_server_names(mail: MailWorld) -> None:
    mail.create("Gesendet")

    with session_of(mail) as session:
        assert [getattr(session.special_use(role), "name", None) for role in ("sent", "drafts")] == ["Sent", "Drafts"]


# Reading


def test_reading_changes_nothing(mail: MailWorld) -> None:
    uid = mail.append(MESSAGE % b"x")

    with session_of(mail) as session:
        session.examine("INBOX")
        session.part(uid, "", 1000)
        session.fetch(
            [uid], b"BODY[]"
        )  # as a server does that ignores PEEK: still nothing, for the folder is read-only
        session.store([uid], b"\\Seen", add=True)

    assert mail.flags(uid) == set()


def test_a_part_comes_as_far_as_it_is_asked_for(mail: MailWorld) -> None:
    uid = mail.append(b"Subject: x\r\n\r\n" + b"0123456789" * 1000 + b"\r\n")

    with session_of(mail) as session:
        session.examine("INBOX")
        assert session.part(uid, "1", 15) == b"012345678901234"
        assert len(session.part(uid, "1", 20_000)) == 10_002
        assert session.part(uid, "HEADER", 100) == b"Subject: x\r\n\r\n"


def test_a_server_that_sends_more_than_it_was_asked_for_fills_no_memory() -> None:
    answers = {"UID FETCH": b"* 1 FETCH (UID 1 BODY[1] {50}\r\n" + b"x" * 50 + b")\r\nTAG OK\r\n"}
    with ScriptedImap(answers) as server, session_of(client_of(server.port)) as session:
        session.examine("INBOX")
        assert session.part(1, "1", 5) == b"xxxxx"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(b"TAG OK nothing\r\n", "no message 5", id="no data"),
        pytest.param(b"* 1 FETCH (UID 6 BODY[1] x)\r\nTAG OK\r\n", "no message 5", id="another message"),
        pytest.param(b"* 1 FETCH (BODY[1] x)\r\nTAG OK\r\n", "no message 5", id="no UID"),
        pytest.param(b"* 1 FETCH (UID 5 BODY[1] NIL)\r\nTAG OK\r\n", "no part 1", id="no part"),
        pytest.param(b"* 1 FETCH (UID 5 BODY[2] x)\r\nTAG OK\r\n", "no part 1", id="another part"),
        pytest.param(b"* 1 FETCH (UID 5 RFC822.SIZE 9)\r\nTAG OK\r\n", "no part 1", id="metadata only"),
        pytest.param(b"TAG NO cannot\r\n", "refuses to show messages", id="refused"),
    ],
)
def test_a_message_that_does_not_come_is_an_error(answer: bytes, words: str) -> None:
    """Exchange says OK and sends nothing, iCloud sends other items than it was asked for."""
    with ScriptedImap({"UID FETCH": answer}) as server, session_of(client_of(server.port)) as session:
        session.examine("INBOX")
        with pytest.raises(ExecutionError, match=words):
            session.part(5, "1", 100)


def test_literals_that_arrive_in_pieces_and_among_other_news_are_put_together() -> None:
    answer = (
        b"* 4 EXISTS\r\n* 9 FETCH (FLAGS (\\Seen))\r\n"
        b'* 1 FETCH (BODY[HEADER.FIELDS (SUBJECT)] {14}\r\nSubject: (")\r\n FLAGS (\\Seen) UID 5)\r\n'
        b"* 1 FETCH (UID 5 BODY[1] {3}\r\na{3 RFC822.SIZE {2}\r\n17)\r\n* 2 EXPUNGE\r\nTAG OK\r\n"
    )
    with ScriptedImap({"UID FETCH": answer}) as server, session_of(client_of(server.port)) as session:
        session.examine("INBOX")
        message = session.fetch([5], b"FLAGS")[5]

    assert message.body("HEADER.FIELDS") == b'Subject: (")\r\n'
    assert (message.body("1"), message.size, message.has_flag(b"\\seen")) == (b"a{3", 17, True)


def test_many_messages_come_in_few_round_trips(mail: MailWorld) -> None:
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        with session_of(mail) as session:
            session.examine("INBOX")
            session.fetch(range(1, 1202, 2), b"FLAGS")

    assert relay.commands[1:] == ["ID", "EXAMINE", "UID FETCH", "UID FETCH", "LOGOUT"]


@pytest.mark.parametrize("number", [b"9" * 5000, b"x", b"-1", b"()", b""], ids=lambda number: repr(number[:5]))
def test_numbers_that_are_none_break_nothing(number: bytes) -> None:
    answers = {
        "EXAMINE": b"* %b EXISTS\r\n* OK [UIDVALIDITY %b]\r\nTAG OK\r\n" % (number, number),
        "UID FETCH": b"* 1 FETCH (UID %b RFC822.SIZE %b)\r\nTAG OK\r\n" % (number, number),
        "APPEND": b"TAG OK [APPENDUID %b %b]\r\n" % (number, number),
        "STATUS": b"* STATUS INBOX (MESSAGES %b UNSEEN %b)\r\nTAG OK\r\n" % (number, number),
        "LIST": b'* LIST () "/" INBOX\r\nTAG OK\r\n',
    }
    with ScriptedImap(answers) as server, session_of(client_of(server.port)) as session:
        assert (session.examine("INBOX").exists, session.examine("INBOX").uidvalidity) == (0, 0)
        assert session.fetch([1], b"RFC822.SIZE") == {}
        assert session.append("INBOX", MESSAGE % b"x") is None
        assert session.folders(counted=True)[0].messages is None


# Searching


@pytest.mark.parametrize(
    ("criteria", "found"),
    [
        pytest.param([], [1, 2, 3], id="all"),
        pytest.param([b"SUBJECT", string("one")], [1], id="ASCII"),
        pytest.param([b"SUBJECT", string("grüße")], [2], id="beyond ASCII"),
        pytest.param([b"SUBJECT", string("grüße"), b"FROM", string("bücher")], [2], id="two beyond ASCII"),
        pytest.param([b"SUBJECT", string('say "hi" \\')], [3], id="quotes and backslash"),
        pytest.param([b"SUBJECT", string("nothing")], [], id="nothing"),
        pytest.param([b"SUBJECT", string("NIL")], [], id="a word of the protocol"),
    ],
)
def test_messages_are_searched_for(mail: MailWorld, criteria: list[Any], found: list[int]) -> None:
    mail.append(MESSAGE % b"one")
    mail.append("Subject: Grüße\r\nFrom: Bücher <b@example.test>\r\n\r\nx\r\n".encode())
    mail.append(MESSAGE % b'say "hi" \\')

    with session_of(mail) as session:
        session.examine("INBOX")
        assert session.search(criteria) == found


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        pytest.param(b"* SEARCH 2 7 1\r\nTAG OK\r\n", [1, 2, 7], id="in no order"),
        pytest.param(b"TAG OK done\r\n", [], id="iCloud: line left out"),
        pytest.param(b"* SEARCH\r\nTAG OK\r\n", [], id="nothing"),
        pytest.param(b"* SEARCH \r\nTAG OK\r\n", [], id="a blank at the end"),
        pytest.param(b"* search 1 2\r\nTAG OK\r\n", [1, 2], id="lower case"),
        pytest.param(b"* SEARCH 1\r\n* SEARCH 2 1\r\nTAG OK\r\n", [1, 2], id="two lines"),
        pytest.param(b"* SEARCH 1 2 (MODSEQ 917162500)\r\nTAG OK\r\n", [1, 2], id="with a MODSEQ"),
        pytest.param(b"* SEARCH 0 -1 x 4294967296 3\r\nTAG OK\r\n", [3], id="what are no UIDs"),
        pytest.param(b'* ESEARCH (TAG "T3") UID ALL 1:3,9,7\r\nTAG OK\r\n', [1, 2, 3, 7, 9], id="ranges"),
        pytest.param(b'* ESEARCH (TAG "T3") UID ALL 7,1:3,2:5,4\r\nTAG OK\r\n', [1, 2, 3, 4, 5, 7], id="overlapping"),
        pytest.param(b'* ESEARCH (TAG "T3") UID ALL 3:1\r\nTAG OK\r\n', [1, 2, 3], id="range from its end"),
        pytest.param(b'* ESEARCH (TAG "T3") UID\r\nTAG OK\r\n', [], id="ESEARCH finds nothing"),
        pytest.param(b'* ESEARCH (TAG "ALL") UID COUNT 2 ALL 1:2\r\nTAG OK\r\n', [1, 2], id="ALL as a tag"),
        pytest.param(b'* ESEARCH (TAG "T3") UID ALL\r\nTAG OK\r\n', [], id="ALL of nothing"),
    ],
)
def test_what_servers_find_is_understood(answer: bytes, found: list[int]) -> None:
    with ScriptedImap({"UID SEARCH": answer}) as server, session_of(client_of(server.port)) as session:
        session.examine("INBOX")
        assert session.search([]) == found


@pytest.mark.parametrize("uids", ["1:4294967295", "1:1900000,3000000:4900000"])
def test_more_messages_than_any_folder_holds_are_an_error(uids: str) -> None:
    """Twenty characters must not fill the memory with four milliards of numbers."""
    answer = f'* ESEARCH (TAG "T3") UID ALL {uids}\r\nTAG OK\r\n'.encode()
    with ScriptedImap({"UID SEARCH": answer}) as server, session_of(client_of(server.port)) as session:
        session.examine("INBOX")
        with pytest.raises(ExecutionError, match="more messages"):
            session.search([])


# Filing


def test_a_message_is_filed_with_its_flags(mail: MailWorld) -> None:
    with session_of(mail) as session:
        uid = session.append("Drafts", MESSAGE % b"x", b"\\Draft \\Seen")
        session.examine("Drafts")
        assert uid is not None
        message = session.fetch([uid], b"FLAGS")[uid]

    assert mail.messages("Drafts") == [MESSAGE % b"x"]
    assert message.has_flag(b"\\Draft")


def test_a_message_cannot_be_filed_where_there_is_no_folder(mail: MailWorld) -> None:
    with session_of(mail) as session, pytest.raises(ExecutionError, match="no such folder") as caught:
        session.append("Nowhere", MESSAGE % b"x")

    assert caught.value.reason == "not_found"
    assert "Nowhere" not in mail.folders()


@pytest.mark.parametrize("code", [b"", b"[APPENDUID 7]", b"[APPENDUID 7 x]", b"[APPENDUID]"], ids=repr)
def test_a_server_need_not_say_under_which_uid_it_filed(code: bytes) -> None:
    with ScriptedImap({"APPEND": b"TAG OK %s\r\n" % code}) as server, session_of(client_of(server.port)) as session:
        assert session.append("Sent", MESSAGE % b"x") is None

    assert server.lines[3].startswith(b"Subject: x")
