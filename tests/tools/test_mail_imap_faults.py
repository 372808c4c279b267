"""What goes wrong on the way to an IMAP server: one sentence each, with a reason and what to set."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from mail_world import PASSWORD, client_of
from services.certificates import Authority
from services.process import free_port
from services.relay import Relay
from services.scripted_imap import CLOSE, DRIP, HELLO, SILENCE, ScriptedImap

from clitool.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mail_world import MailClient, MailWorld

NON_ASCII_PASSWORD = "s3cret-pässword"


def trouble(client: MailClient, **params: Any) -> tuple[str, str]:
    """Return reason and sentence of a call that must fail."""
    document = client.refusal("list_folders", **params)
    return document["details"]["reason"], document["error"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


# Real servers


def test_a_wrong_password_says_which_settings_to_check(mail: MailWorld) -> None:
    mail.settings["password"] = "wrong"

    reason, sentence = trouble(mail)

    assert reason == "login_failed"
    assert "check username and password" in sentence


def test_a_wrong_token_says_so(mail: MailWorld) -> None:
    del mail.settings["password"]
    mail.settings["token_command"] = ["echo", "wrong-token"]

    reason, sentence = trouble(mail)

    assert reason == "login_failed"
    assert "token that token_command prints" in sentence
    assert "wrong-token" not in sentence


def test_a_certificate_of_an_unknown_authority_is_refused(mail: MailWorld) -> None:
    """A password goes to nobody who cannot prove who he is."""
    del mail.settings["tls_ca"]

    assert trouble(mail)[0] == "tls"
    assert "tls_ca" in trouble(mail)[1]


def test_a_certificate_for_another_name_is_refused(mail: MailWorld) -> None:
    with ScriptedImap(certificate=mail.servers.authority.issue("other", ["DNS:other.test"])) as server:
        mail.settings["imap_port"] = server.port
        reason, sentence = trouble(mail)

    assert reason == "tls"
    assert "another name" in sentence
    assert "imap_host" in sentence
    assert server.lines == []


def test_plain_text_where_tls_was_expected_says_what_to_set(mail: MailWorld) -> None:
    mail.settings["imap_port"] = mail.servers.dovecot.imap

    reason, sentence = trouble(mail)

    assert reason == "tls"
    assert "imap_tls: starttls" in sentence


@pytest.mark.parametrize("tls", ["starttls", "none"])
def test_tls_where_plain_text_was_expected_says_what_to_set(mail: MailWorld, tls: str) -> None:
    mail.settings.update(imap_port=mail.servers.dovecot.imaps, imap_tls=tls)

    with pytest.raises(ExecutionError, match="imap_tls: implicit") as caught:
        mail.call("list_folders", seconds=0.35)

    assert caught.value.reason == "timeout"


def test_a_password_is_not_sent_in_the_clear_where_the_server_forbids_it(mail: MailWorld) -> None:
    """Dovecot takes none on 127.0.0.2 without TLS; nothing is sent to try it."""
    mail.settings.update(imap_host="127.0.0.2", imap_port=mail.servers.dovecot.imap, imap_tls="none")

    reason, sentence = trouble(mail)

    assert reason == "tls"
    assert "imap_tls: starttls" in sentence


def test_a_full_mailbox_says_so(mail: MailWorld) -> None:
    mail.settings.update(username="full@example.test", password="full-pw")
    session = mail.context().connection("").imap

    with pytest.raises(ExecutionError, match="no room left") as caught:
        session.append("INBOX", b"Subject: x\r\n\r\n" + b"x" * 5000 + b"\r\n")
    session.close()

    assert caught.value.reason == "no_space"


def test_a_connection_that_ends_in_the_middle_is_an_error_and_never_an_empty_answer(mail: MailWorld) -> None:
    mail.settings.update(imap_tls="none")

    def call(after: int | None = None) -> Relay:
        with Relay(mail.servers.dovecot.imap, after) as relay:
            mail.settings["imap_port"] = relay.port
            mail.call("list_folders")
        return relay

    ends = [match.start() for match in re.finditer(rb"T[123] OK", call().received)]
    for after in (0, 1, *ends, *(end + 5 for end in ends)):
        with pytest.raises(ExecutionError, match="ended the connection") as caught:
            call(after)
        assert caught.value.reason == "connection_lost"
    assert len(ends) == 3


# Servers that misbehave by script


def test_nobody_listens() -> None:
    reason, sentence = trouble(client_of(free_port()))

    assert reason == "unreachable"
    assert "imap_port" in sentence


@pytest.mark.parametrize("host", ["no-such-host.invalid", "no..label.invalid", f"{'x' * 64}.invalid", ".invalid"])
def test_a_host_that_does_not_exist_or_cannot(host: str) -> None:
    reason, sentence = trouble(client_of(1, imap_host=host, imap_tls="implicit"))

    assert reason == "unreachable"
    assert "imap_host" in sentence


def test_an_expired_certificate(authority: Authority) -> None:
    with ScriptedImap(certificate=authority.issue("expired", days=-1)) as server:
        reason, sentence = trouble(client_of(server.port, imap_tls="implicit", tls_ca=str(authority.path)))

    assert reason == "tls"
    assert "expired" in sentence
    assert server.lines == []


def test_a_self_signed_certificate_is_refused(authority: Authority) -> None:
    with ScriptedImap(certificate=authority) as server:
        reason, sentence = trouble(client_of(server.port, imap_tls="implicit"))

    assert reason == "tls"
    assert "self-signed" in sentence
    assert "tls_ca" in sentence


@pytest.mark.parametrize("content", [b"", b"not a certificate", None], ids=["empty", "text", "missing"])
def test_a_file_of_authorities_that_is_none(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)

    with ScriptedImap() as server:
        document = client_of(server.port, imap_tls="implicit", tls_ca=str(path)).refusal("list_folders")

    assert document["details"]["reason"] == "settings"
    assert "tls_ca" in document["error"]
    assert str(tmp_path) not in document["error"]


GREETINGS = [
    pytest.param(SILENCE, "timeout", "no greeting", id="never comes"),
    pytest.param(b"* OK", "timeout", "no greeting", id="never ends"),
    pytest.param(b"* OK " + DRIP, "timeout", "no greeting", id="a character at a time"),
    pytest.param(CLOSE, "connection_lost", "before its greeting", id="closed at once"),
    pytest.param(b"* OK hel" + CLOSE, "connection_lost", "before its greeting", id="closed in the middle"),
    pytest.param(b"* BYE too many connections\r\n", "unreachable", "too many connections", id="goodbye"),
    pytest.param(b"220 mail.example.test ESMTP\r\n", "unreachable", "does not speak IMAP", id="SMTP"),
    pytest.param(b"+OK POP3 ready\r\n", "unreachable", "does not speak IMAP", id="POP3"),
    pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", "unreachable", "does not speak IMAP", id="SSH"),
    pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", "unreachable", "does not speak IMAP", id="HTTP"),
    pytest.param(b"\r\n", "unreachable", "does not speak IMAP", id="empty line"),
]


@pytest.mark.parametrize(("greeting", "reason", "words"), GREETINGS)
def test_a_greeting_that_is_none(greeting: bytes, reason: str, words: str) -> None:
    if greeting == b"* OK":
        greeting += SILENCE
    with ScriptedImap(greeting=greeting) as server, pytest.raises(ExecutionError, match=words) as caught:
        client_of(server.port).call("list_folders", seconds=0.35)

    assert caught.value.reason == reason
    assert server.lines == []


ANSWERS = [
    pytest.param({"LOGIN": SILENCE}, "timeout", "in time", id="login is never answered"),
    pytest.param({"LIST": b'* LIST () "/" a\r\n' + SILENCE}, "timeout", "in time", id="list never ends"),
    pytest.param({"LIST": b"* LIST " + DRIP}, "timeout", "in time", id="a character at a time"),
    pytest.param({"LIST": b'* LIST () "/" {50}\r\nab' + SILENCE}, "timeout", "in time", id="literal never ends"),
    pytest.param({"LIST": b'* LIST () "/" {50}\r\nab' + CLOSE}, "connection_lost", "ended", id="closed in a literal"),
    pytest.param({"LIST": b'* LIST () "/" a\r\n' + CLOSE}, "connection_lost", "ended", id="closed between lines"),
    pytest.param({"LIST": b"* BYE shutting down\r\n" + CLOSE}, "connection_lost", "ended", id="goodbye"),
    pytest.param({"LIST": b"TAG NO [SERVERBUG] oops\r\n"}, "mail", "trouble inside", id="bug"),
    pytest.param({"LIST": b"TAG NO [NOPERM] no\r\n"}, "permission", "list the folders", id="not permitted"),
    pytest.param({"LIST": b"TAG BAD what?\r\n"}, "mail", "what?", id="command not understood"),
    pytest.param({"LIST": b"TAG NO \x1b[2J\xff\r\n"}, "mail", "refuses", id="text that is none"),
    pytest.param({"LIST": b"+ more?\r\n" + SILENCE}, "mail", "rules of IMAP", id="asks for more"),
    pytest.param({"LOGIN": b"TAG NO no\r\n"}, "login_failed", "check username and password", id="login refused"),
    pytest.param({"LOGIN": b"TAG BAD no\r\n"}, "login_failed", "check username", id="login not understood"),
    pytest.param({"LOGIN": b"TAG NO [UNAVAILABLE] x\r\n"}, "mail", "try again later", id="login not possible now"),
    pytest.param({"LOGIN": b"TAG NO [PRIVACYREQUIRED] x\r\n"}, "tls", "starttls", id="wants encryption"),
    pytest.param(
        {"LOGIN": b"TAG NO ann " + PASSWORD.encode() + b" is wrong\r\n"},
        "login_failed",
        "refuses",
        id="server repeats the password",
    ),
    pytest.param(
        {"LOGIN": b"* BYE LOGIN ann " + PASSWORD.encode() + b"\r\n" + CLOSE},
        "connection_lost",
        "ended",
        id="server repeats the password and leaves",
    ),
]


@pytest.mark.parametrize(("answers", "reason", "words"), ANSWERS)
def test_an_answer_that_is_none(answers: dict[str, bytes], reason: str, words: str) -> None:
    """A time-out is an error and never the answer that there is no mail; a password is never repeated."""
    with ScriptedImap(answers) as server, pytest.raises(ExecutionError, match=words) as caught:
        client_of(server.port).call("list_folders", seconds=0.35)

    assert caught.value.reason == reason
    assert PASSWORD not in str(caught.value)


def test_a_server_that_answers_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server sends is bounded in memory, lines, literals and their number alike."""
    for module in ("reader", "connection"):
        monkeypatch.setattr(f"clitool_tools.mail.imap.{module}.MOST_BYTES", 10_000)
    endless = [
        b"* LIST " + b"x" * 20_000 + b"\r\n" + SILENCE,
        b'* LIST () "/" {9000}\r\n' + b"x" * 9000 + b" {9000}\r\n" + b"x" * 9000 + b"\r\n" + SILENCE,
        b"* 1 EXISTS\r\n" * 5000 + SILENCE,
        *(b"* LIST " + value * 300 + b"\r\n" + SILENCE for value in (b"()", b"a ", b'""', b"a\t", b"1,")),
    ]
    for answer in endless:
        with ScriptedImap({"LIST": answer}) as server:
            assert trouble(client_of(server.port))[0] == "connection_lost"


def test_what_is_left_of_an_answer_that_was_given_up_is_not_read_as_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a stranger's text that looks like the server's words."""
    monkeypatch.setattr("clitool_tools.mail.imap.reader.MOST_BYTES", 10_000)
    forged = b"* 1 FETCH (UID 1 BODY[HEADER.FIELDS (SUBJECT)] {16}\r\nSubject: forged\n)\r\nT4 OK\r\nT5 OK\r\n"
    answer = b"* 1 FETCH (X {9900}\r\n" + b"x" * 9900 + b" {500}\r\n" + forged
    with ScriptedImap({"FETCH": answer, "UID SEARCH": b"* SEARCH 1\r\nTAG OK\r\n"}) as server:
        document = client_of(server.port).refusal("read_inbox")

    assert document["details"]["reason"] == "connection_lost"
    assert server.commands == ["LOGIN", "CAPABILITY", "EXAMINE", "FETCH"]


DEEP = b"(" * 100_000


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        pytest.param({"LIST": b"* LIST " + DEEP + b"\r\nTAG OK\r\n"}, "mail", id="list"),
        pytest.param({"STATUS": b"* STATUS INBOX " + DEEP + b"\r\nTAG OK\r\n"}, "mail", id="counts"),
        pytest.param({"CAPABILITY": b"* CAPABILITY " + DEEP + b"\r\nTAG OK\r\n"}, "mail", id="capabilities"),
        pytest.param({"LIST": b"TAG NO [X " + DEEP + b"] no\r\n"}, "mail", id="code of a refusal"),
        pytest.param({"LOGIN": b"TAG NO [X " + DEEP + b"] no\r\n"}, "login_failed", id="code of a refused login"),
        pytest.param({"LOGIN": b"TAG OK [CAPABILITY " + DEEP + b"] in\r\n"}, None, id="capabilities in a code"),
        pytest.param({"LIST": b"* OK [ALERT " + DEEP + b"] x\r\nTAG OK\r\n"}, None, id="code of an alert"),
    ],
)
def test_lists_in_lists_without_end_are_trouble_with_the_server(answers: dict[str, bytes], reason: str | None) -> None:
    """It is no fault of the program's, and what hangs on a code alone goes on without it."""
    usual = {"LIST": b'* LIST () "/" INBOX\r\nTAG OK\r\n'}
    with ScriptedImap({**usual, **answers}) as server:
        client = client_of(server.port)
        if reason is None:
            client.call("list_folders")
        else:
            assert trouble(client)[0] == reason


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param({"EXAMINE": b"* OK [UIDVALIDITY " + DEEP + b"]\r\nTAG OK\r\n"}, id="code of the folder"),
        pytest.param({"UID FETCH": b"* 1 FETCH " + DEEP + b"\r\nTAG OK\r\n"}, id="message"),
    ],
)
def test_lists_in_lists_about_one_message_break_no_list(answers: dict[str, bytes]) -> None:
    with ScriptedImap({"UID SEARCH": b"* SEARCH 1 2\r\nTAG OK\r\n", **answers}) as server:
        rows = client_of(server.port).call("read_inbox", unread=True)["messages"]

    assert [row["uid"] for row in rows] == [2, 1]


def test_a_search_that_cannot_be_read_is_no_empty_answer() -> None:
    with ScriptedImap({"UID SEARCH": b"* ESEARCH " + DEEP + b"\r\nTAG OK\r\n"}) as server:
        assert client_of(server.port).reason("read_inbox", unread=True) == "mail"


# Encryption and logins


def test_a_server_without_starttls_gets_no_password() -> None:
    with ScriptedImap({"STARTTLS": b"TAG BAD unknown\r\n"}) as server:
        reason, sentence = trouble(client_of(server.port, imap_tls="starttls"))

    assert (reason, server.commands) == ("tls", ["STARTTLS"])
    assert "imap_tls: implicit" in sentence


def test_a_server_that_lets_us_in_before_encryption_is_not_trusted() -> None:
    """Whoever sits in between could say PREAUTH to keep us from STARTTLS, which is not allowed after it."""
    with ScriptedImap(greeting=b"* PREAUTH welcome\r\n") as server:
        reason, _ = trouble(client_of(server.port, imap_tls="starttls"))

    assert (reason, server.lines) == ("tls", [])


def test_what_was_sent_before_encryption_is_forgotten(mail: MailWorld) -> None:
    """CVE-2011-0411 and its kind: lines put before the handshake must not be read as the server's after it."""
    injected = b"* CAPABILITY LOGINDISABLED\r\nT2 NO injected\r\n* BYE injected\r\n"
    with Injector(mail.servers.dovecot.imap, injected) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="starttls")
        folders = mail.call("list_folders")["folders"]

    assert "INBOX" in [folder["folder"] for folder in folders]


def test_a_password_beyond_ascii_goes_by_plain() -> None:
    with ScriptedImap({"AUTHENTICATE": [b"+ \r\n"]}) as server, pytest.raises(ExecutionError, match="in time"):
        client_of(server.port, password=NON_ASCII_PASSWORD).call("list_folders", seconds=0.35)

    assert server.lines[:2] == [b"T1 AUTHENTICATE PLAIN", b"AGFubgBzM2NyZXQtcMOkc3N3b3Jk"]


def test_a_password_beyond_ascii_goes_as_a_literal_where_there_is_no_plain() -> None:
    greeting = b"* OK [CAPABILITY IMAP4rev1] scripted\r\n"
    with ScriptedImap(greeting=greeting) as server:
        client_of(server.port, password=NON_ASCII_PASSWORD).call("list_folders")

    assert server.lines[:2] == [b'T1 LOGIN "ann" {16}', NON_ASCII_PASSWORD.encode()]


@pytest.mark.parametrize(
    ("greeting", "lines"),
    [
        pytest.param(b"SASL-IR", [b"T1 AUTHENTICATE XOAUTH2 dXNlcj1hbm4BYXV0aD1CZWFyZXIgdG9rZW4BAQ=="], id="at once"),
        pytest.param(b"", [b"T1 AUTHENTICATE XOAUTH2", b"dXNlcj1hbm4BYXV0aD1CZWFyZXIgdG9rZW4BAQ=="], id="when asked"),
        pytest.param(
            b"SASL-IR X-CM-EXT-1",
            [b"T1 AUTHENTICATE XOAUTH2", b"dXNlcj1hbm4BYXV0aD1CZWFyZXIgdG9rZW4BAQ=="],
            id="Coremail offers what it rejects",
        ),
    ],
)
def test_a_token_goes_by_xoauth2(greeting: bytes, lines: list[bytes]) -> None:
    hello = b"* OK [CAPABILITY IMAP4rev1 AUTH=XOAUTH2 %s] hi\r\n" % greeting
    answers = {"AUTHENTICATE": b"TAG OK in\r\n" if len(lines) == 1 else b"+ \r\n"}
    with ScriptedImap(answers, hello) as server:
        user = client_of(server.port, token_command=["echo", "token"])
        del user.settings["password"]
        with suppress(ExecutionError):  # the script does not go on after the second line
            user.call("list_folders", seconds=0.35)

    assert server.lines[: len(lines)] == lines


@pytest.mark.parametrize(
    ("capabilities", "token", "words"),
    [
        pytest.param(b"AUTH=PLAIN", True, "set password", id="token, but passwords only"),
        pytest.param(b"LOGINDISABLED AUTH=XOAUTH2", False, "starttls", id="password, but not in the clear"),
    ],
)
def test_a_login_that_the_server_does_not_offer_is_not_tried(capabilities: bytes, token: bool, words: str) -> None:
    with ScriptedImap(greeting=b"* OK [CAPABILITY IMAP4rev1 %s] hi\r\n" % capabilities) as server:
        user = client_of(server.port)
        if token:
            user.settings["token_command"] = ["echo", "token"]
            del user.settings["password"]
        _, sentence = trouble(user)

    assert words in sentence
    assert server.lines == []


@pytest.mark.parametrize(
    ("host", "words"),
    [
        pytest.param("outlook.office365.com", "token_command", id="Microsoft"),
        pytest.param("imap.gmail.com", "password made for this app", id="Google"),
        pytest.param("imap.mail.me.com", "password made for this app", id="Apple"),
        pytest.param("notgmail.com", "", id="another one"),
    ],
)
def test_a_refused_password_is_explained_where_the_provider_is_known(host: str, words: str) -> None:
    from clitool_tools.mail.imap.login import _hint

    assert words in _hint(host)
    assert bool(words) == bool(_hint(host))


# Servers with habits


def test_a_program_says_its_name_where_that_is_offered() -> None:
    """163.com, 126.com: no folder is opened before; nobody waits for the answer."""
    answers = {
        "CAPABILITY": b"* CAPABILITY IMAP4rev1 ID\r\nTAG OK done\r\n",
        "ID": b"TAG BAD not understood\r\n",
    }
    with ScriptedImap(answers) as server:
        client_of(server.port).call("list_folders")

    assert server.commands[:4] == ["LOGIN", "CAPABILITY", "ID", "LIST"]
    assert b'ID ("name" "clitool"' in server.lines[2]


def test_capabilities_are_asked_for_where_nothing_says_them() -> None:
    with ScriptedImap(greeting=b"* OK hello\r\n") as server:
        client_of(server.port).call("list_folders")

    assert server.commands[:4] == ["CAPABILITY", "LOGIN", "CAPABILITY", "LIST"]


def test_a_server_that_still_does_not_trust_us_is_explained() -> None:
    answers = {
        "SELECT": b"TAG NO SELECT Unsafe Login. Please contact kefu@188.com for help\r\n",
        "LIST": b'* LIST () "/" INBOX\r\nTAG OK\r\n',
    }
    with ScriptedImap(answers) as server:
        document = client_of(server.port).refusal("mark_read", uids=[1])

    assert document["details"]["reason"] == "login_failed"
    assert "settings of the account" in document["error"]


def test_text_for_people_that_looks_like_a_literal_is_none() -> None:
    answers = {"LIST": b'* OK see {5}\r\n* LIST () "/" INBOX\r\nTAG OK {9}\r\n'}
    with ScriptedImap(answers) as server:
        assert [f["folder"] for f in client_of(server.port).call("list_folders")["folders"]] == ["INBOX"]


def test_lines_that_end_in_a_line_feed_alone_and_lower_case_are_understood() -> None:
    answers = {"LIST": b'* list () "/" {3}\na"b\n* lIsT (\\noselect) "/" x\nTAG ok\n'}
    with ScriptedImap(answers, greeting=HELLO.lower().replace(b"\r", b"")) as server:
        folders = client_of(server.port).call("list_folders")["folders"]

    assert [(folder["folder"], folder["selectable"]) for folder in folders] == [('a"b', True), ("x", False)]


class Injector(Relay):
    """Puts lines of its own behind the server's answer to STARTTLS, as one who sits in between could."""

    def __init__(self, target: int, lines: bytes) -> None:
        super().__init__(target)
        self._lines = lines

    def _pass_back(self, data: bytes) -> bytes:
        is_answer = b"T1 OK" in data
        return data + self._lines if is_answer else data


@pytest.fixture(autouse=True)
def _no_threads_are_left() -> Iterator[None]:
    import threading

    before = threading.active_count()
    yield
    assert threading.active_count() <= before
