"""What `mail_send` says and does when an SMTP server misbehaves; real ones are in test_mail_send.py."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.mail.outgoing.sent import file_copy
from sending_world import SendingClient, sender_to
from services.certificates import LOOPBACK, Authority
from services.scripted_imap import ScriptedImap
from services.scripted_smtp import CLOSE, SILENCE, ScriptedSmtp

from clitool.errors import ClitoolError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from services.certificates import Certificate

MESSAGE = {"to": ["bob@example.test", "carl@example.test"], "subject": "Hello", "text": "…"}
PLAIN = b"250-scripted\r\n250 AUTH PLAIN\r\n"
LOGIN = b"250-scripted\r\n250 AUTH LOGIN\r\n"
PASSWORD = "s3cret-password"


def attempt(client: SendingClient, *, seconds: float = 10, **params: Any) -> ClitoolError:
    """Return the error of a call that must fail, and show nothing secret."""
    with pytest.raises(ClitoolError) as caught:
        client.call("send", seconds=seconds, **{**MESSAGE, **params})
    assert PASSWORD not in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


FAULTS: list[Any] = [
    pytest.param({"greeting": SILENCE}, {}, "timeout", "sends no greeting", id="greeting-never-comes"),
    pytest.param({"greeting": b"220-one\r\n" + SILENCE}, {}, "timeout", "no greeting", id="greeting-never-ends"),
    pytest.param({"greeting": CLOSE}, {}, "connection_lost", "before its greeting", id="greeting-closed"),
    pytest.param({"greeting": b"220-x\r\n" + CLOSE}, {}, "connection_lost", "before its", id="greeting-cut"),
    pytest.param({"greeting": b"554 go away\r\n"}, {}, "refused", "554 go away", id="greeting-refused"),
    pytest.param({"greeting": b"421 busy\r\n" + CLOSE}, {}, "refused", "421 busy", id="greeting-busy"),
    pytest.param({"greeting": b"* OK IMAP4rev1\r\n"}, {}, "unreachable", "does not speak SMTP", id="imap"),
    pytest.param({"greeting": b"HTTP/1.1 400 Bad\r\n"}, {}, "unreachable", "does not speak SMTP", id="http"),
    pytest.param({"greeting": b"SSH-2.0-x\r\n"}, {}, "unreachable", "smtp_host and smtp_port", id="ssh"),
    pytest.param({"greeting": b"220-x\r\n" * 5000}, {}, "unreachable", "does not speak", id="greeting-endless"),
    pytest.param({"greeting": "٢٢٠ x\r\n".encode()}, {}, "unreachable", "does not speak", id="other-digits"),
    pytest.param({"greeting": b"220 " + b"x" * 100_000}, {}, "unreachable", "does not speak", id="line-endless"),
    pytest.param({}, {"EHLO": b"502 what\r\n"}, "refused", "502 what", id="no-ehlo"),
    pytest.param({}, {"EHLO": b"250 scripted\r\n"}, "login_failed", "neither AUTH PLAIN nor LOGIN", id="no-auth"),
    pytest.param({}, {"EHLO": b"250-x\r\n250 AUTH GSSAPI\r\n"}, "login_failed", "neither", id="other-auth"),
    pytest.param({}, {"AUTH": b"535 5.7.8 no\r\n"}, "login_failed", "(535 5.7.8); check username", id="auth"),
    pytest.param({}, {"AUTH": b"535 5.7.139 basic\r\n"}, "login_failed", "set token_command", id="microsoft"),
    pytest.param(
        {}, {"AUTH": b"535 SMTP basic authentication is disabled\r\n"}, "login_failed", "token_command", id="basic"
    ),
    pytest.param({}, {"AUTH": b"454 4.7.0 later\r\n"}, "login_failed", "at the moment (454 4.7.0)", id="auth-later"),
    pytest.param({}, {"AUTH": f"535 {PASSWORD}\r\n".encode()}, "login_failed", "(535)", id="auth-echo"),
    pytest.param({}, {"AUTH": b"334 eyJz\r\n", "": b"535 no\r\n"}, "login_failed", "(535)", id="auth-challenge"),
    pytest.param({}, {"AUTH": CLOSE}, "connection_lost", "in the middle", id="auth-closed"),
    pytest.param({}, {"AUTH": SILENCE}, "timeout", "does not answer in time", id="auth-silent"),
    pytest.param(
        {},
        {"EHLO": LOGIN, "AUTH": b"334 x\r\n", "YW5uQGV4YW1wbGUudGVzdA==": b"535 x\r\n"},
        "login_failed",
        "(535",
        id="login",
    ),
    pytest.param({}, {"MAIL": b"553 5.7.1 not yours\r\n"}, "refused", "'ann@example.test' (setting from)", id="from"),
    pytest.param({}, {"MAIL": CLOSE}, "connection_lost", "in the middle", id="mail-closed"),
    pytest.param({}, {"RCPT": b"550 no\r\n"}, "refused", "'bob@example.test' and 1 more: 550 no", id="rcpt"),
    pytest.param({}, {"RCPT": b"450 greylisted\r\n"}, "refused", "450 greylisted", id="greylisted"),
    pytest.param({}, {"RCPT": [b"250 ok\r\n", CLOSE]}, "connection_lost", "in the middle", id="rcpt-closed"),
    pytest.param({}, {"RCPT": b"550 \x1b[2J\xff\r\n"}, "refused", "550 \\x1b[2J", id="words-with-controls"),
    pytest.param({}, {"RCPT": b"550 " + b"x" * 999 + b"\r\n"}, "refused", "xxx…", id="words-without-end"),
    pytest.param({}, {"DATA": b"554 no\r\n"}, "refused", "554 no", id="data"),
    pytest.param({}, {"DATA": CLOSE}, "connection_lost", "in the middle", id="data-closed"),
    pytest.param({}, {".": b"554 spam\r\n"}, "refused", "554 spam", id="content"),
    pytest.param({}, {".": b"452 full\r\n"}, "refused", "452 full", id="content-later"),
    pytest.param({}, {".": b"421 bye\r\n" + CLOSE}, "refused", "421 bye", id="content-bye"),
    pytest.param({}, {".": CLOSE}, "unknown_outcome", "cannot be known", id="verdict-closed"),
    pytest.param({}, {".": b"2" + CLOSE}, "unknown_outcome", "cannot be known", id="verdict-cut"),
    pytest.param({}, {".": SILENCE}, "unknown_outcome", "cannot be known", id="verdict-silent"),
    pytest.param({}, {".": b"what\r\n"}, "unknown_outcome", "cannot be known", id="verdict-garbage"),
    pytest.param({}, {".": b"250-x\r\n" * 999}, "unknown_outcome", "cannot be known", id="verdict-endless"),
    pytest.param({}, {".": b"354 go on\r\n"}, "unknown_outcome", "(354 go on)", id="verdict-goes-on"),
    pytest.param({}, {".": b"100 wait\r\n"}, "unknown_outcome", "(100 wait)", id="verdict-not-yet"),
    pytest.param({}, {".": b"000 x\r\n"}, "unknown_outcome", "(0 x)", id="verdict-of-no-kind"),
    pytest.param({}, {".": b"999 x\r\n"}, "unknown_outcome", "(999 x)", id="verdict-of-another-kind"),
    pytest.param({"greeting": b"000 x\r\n"}, {}, "refused", "does not talk", id="greeting-of-no-kind"),
    pytest.param({}, {"RCPT": b"100 x\r\n"}, "refused", "100 x", id="rcpt-not-yet"),
]


@pytest.mark.parametrize(("server", "answers", "reason", "said"), FAULTS)
def test_every_fault_has_its_reason_and_its_sentence(
    tmp_path: Path, server: dict[str, Any], answers: dict[str, Any], reason: str, said: str
) -> None:
    """Only what may have been sent is `unknown_outcome`; every other error means that it was not."""
    with ScriptedSmtp(answers, **server) as smtp:
        client = sender_to(smtp.port, tmp_path, max_sends_per_hour=1)
        silent = any(SILENCE in answer for answer in (*server.values(), *answers.values()))
        # Where silence comes last, the steps before it must have the time that they need on a busy machine.
        seconds = 10.0 if not silent else 1.5 if answers else 0.3
        error = attempt(client, seconds=seconds, idempotency_key="k")

        assert error.reason == reason
        assert said in str(error)
        if reason == "unknown_outcome":
            assert error.details["message_id"].startswith("<")  # type: ignore[attr-defined]  # a text
            assert attempt(client, idempotency_key="k").details["message_id"] == error.details["message_id"]
            assert attempt(client).reason == "rate_limited"
        assert (b"." in smtp.lines) is (reason == "unknown_outcome" or "." in answers)


@pytest.mark.parametrize("answers", [{"AUTH": b"535 no\r\n"}, {"RCPT": b"550 no\r\n"}, {".": b"554 no\r\n"}], ids=str)
def test_what_was_not_sent_is_not_counted_and_leaves_its_key_free(tmp_path: Path, answers: dict[str, bytes]) -> None:
    with ScriptedSmtp(answers) as bad, ScriptedSmtp() as good:
        client = sender_to(bad.port, tmp_path, max_sends_per_hour=1)
        attempt(client, idempotency_key="k")
        client.settings["smtp_port"] = good.port

        assert client.call("send", **MESSAGE, idempotency_key="k")["accepted"] == MESSAGE["to"]


def test_a_server_that_trickles_does_not_outlast_the_deadline(tmp_path: Path) -> None:
    with ScriptedSmtp(greeting=b"220-x\r\n" * 1000, pause=0.02) as smtp:
        started = time.monotonic()
        error = attempt(sender_to(smtp.port, tmp_path), seconds=0.3)

        assert error.reason == "timeout"
        assert time.monotonic() - started < 10  # and not the 140 seconds of the greeting


# --- what the server offers


def test_without_pipelining_each_command_waits_for_its_answer(tmp_path: Path) -> None:
    with ScriptedSmtp({"EHLO": PLAIN}) as smtp:
        answer = sender_to(smtp.port, tmp_path).call("send", **MESSAGE)

    assert answer["accepted"] == MESSAGE["to"]
    assert smtp.verbs == ["EHLO", "AUTH", "MAIL", "RCPT", "RCPT", "DATA", ".", "QUIT"]
    assert b"MAIL FROM:<ann@example.test>" in smtp.lines  # without SIZE, which was not offered


@pytest.mark.parametrize("size", [b"", b" 0", b" x", b" -1", b" " + b"9" * 5000, "\u00a0\u0661".encode()], ids=str)
def test_a_size_that_is_none_limits_nothing(tmp_path: Path, size: bytes) -> None:
    with ScriptedSmtp({"EHLO": b"250-x\r\n250-SIZE%s\r\n250 AUTH PLAIN\r\n" % size}) as smtp:
        assert sender_to(smtp.port, tmp_path).call("send", **MESSAGE)["accepted"] == MESSAGE["to"]


def test_login_in_two_steps(tmp_path: Path) -> None:
    steps = {
        "EHLO": LOGIN,
        "AUTH": b"334 VXNlcm5hbWU6\r\n",
        "asO2cmc=": b"334 UGFzc3dvcmQ6\r\n",
        "cMOkc3M=": b"235 ok\r\n",
    }
    with ScriptedSmtp(steps) as smtp:
        sender_to(smtp.port, tmp_path, username="jörg", password="päss").call("send", **MESSAGE)

    assert smtp.lines[1:4] == [b"AUTH LOGIN", b"asO2cmc=", b"cMOkc3M="]


def test_a_token_is_not_sent_as_a_password(tmp_path: Path) -> None:
    with ScriptedSmtp({"EHLO": PLAIN}) as smtp:
        error = attempt(sender_to(smtp.port, tmp_path, password=None, token_command=["printf", "tok"]))

    assert error.reason == "login_failed"
    assert smtp.verbs == ["EHLO", "QUIT"][: len(smtp.verbs)]


UTF8 = b"250-x\r\n250-SMTPUTF8\r\n250-8BITMIME\r\n250 AUTH PLAIN\r\n"


def test_letters_beyond_ascii_are_announced_where_they_are_taken(tmp_path: Path) -> None:
    with ScriptedSmtp({"EHLO": UTF8}) as smtp:
        sender_to(smtp.port, tmp_path).call("send", **{**MESSAGE, "to": ["jörg@bücher.test"]})

    assert b"MAIL FROM:<ann@example.test> BODY=8BITMIME SMTPUTF8" in smtp.lines
    assert "RCPT TO:<jörg@xn--bcher-kva.test>".encode() in smtp.lines
    assert "To: jörg@xn--bcher-kva.test".encode() in smtp.lines


def test_letters_beyond_ascii_are_not_tried_where_they_are_not(tmp_path: Path) -> None:
    """Row 34."""
    with ScriptedSmtp() as smtp:
        for params in ({"to": ["jörg@example.test"]}, {"bcc": ["bob@example.test", "jörg@example.test"]}):
            assert attempt(sender_to(smtp.port, tmp_path), **params).reason == "smtputf8_unavailable"

    assert "MAIL" not in smtp.verbs


def test_the_message_on_the_wire_is_the_message_that_was_checked(tmp_path: Path) -> None:
    with ScriptedSmtp() as smtp:
        sender_to(smtp.port, tmp_path).call("send", to="bob@example.test", subject="", text=".\n..\nQUIT\n.")

    start = smtp.lines.index(b"")
    assert smtp.lines[start + 1 : start + 6] == [b"..", b"...", b"QUIT", b"..", b"."]
    content = smtp.lines[smtp.lines.index(b"DATA") + 1 : start + 5]
    size = sum(len(line.removeprefix(b".") if line.startswith(b"..") else line) + 2 for line in content)
    assert f"MAIL FROM:<ann@example.test> SIZE={size}".encode() in smtp.lines


# --- encryption


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def issue(authority: Authority) -> Callable[..., Certificate]:
    """Issues each certificate once: the making of keys takes the time."""
    return functools.cache(lambda name, *hosts, **options: authority.issue(name, hosts or LOOPBACK, **options))


@pytest.mark.parametrize(
    ("host", "said"),
    [
        pytest.param("DNS:other.example.test", "is for another name; set smtp_host", id="other-name"),
        pytest.param("IP:10.0.0.1", "is for another name; set smtp_host", id="other-address"),
    ],
)
@pytest.mark.parametrize("tls", ["implicit", "starttls"])
def test_a_certificate_for_another_name_is_not_accepted(
    tmp_path: Path, authority: Authority, issue: Callable[..., Certificate], tls: str, host: str, said: str
) -> None:
    with starttls_server(issue(host.partition(":")[0], host), implicit=tls == "implicit") as smtp:
        error = attempt(sender_to(smtp.port, tmp_path, smtp_tls=tls, tls_ca=str(authority.path)))

    assert error.reason == "tls"
    assert said in str(error)
    assert "AUTH" not in smtp.verbs


def starttls_server(certificate: Any, *, implicit: bool = False, **more: Any) -> ScriptedSmtp:
    plain, encrypted = b"250-x\r\n250 STARTTLS\r\n", PLAIN
    answers = {"EHLO": [plain, encrypted] if not implicit else encrypted, **more.pop("answers", {})}
    return ScriptedSmtp(answers, certificate=certificate, implicit=implicit, **more)


def test_a_certificate_of_a_stranger_is_not_accepted(tmp_path: Path, issue: Callable[..., Certificate]) -> None:
    with starttls_server(issue("leaf")) as smtp:
        error = attempt(sender_to(smtp.port, tmp_path, smtp_tls="starttls"))

    assert error.reason == "tls"
    assert "an authority that this machine does not trust" in str(error)
    assert "tls_ca" in str(error)
    assert "AUTH" not in smtp.verbs


def test_a_self_signed_certificate_is_named_as_one(tmp_path: Path, authority: Authority) -> None:
    with starttls_server(authority, implicit=True) as smtp:
        error = attempt(sender_to(smtp.port, tmp_path, smtp_tls="implicit"))

    assert error.reason == "tls"
    assert "self-signed" in str(error)
    assert "tls_ca" in str(error)


def test_an_expired_certificate_is_named_as_one(
    tmp_path: Path, authority: Authority, issue: Callable[..., Certificate]
) -> None:
    with starttls_server(issue("old", days=-1), implicit=True) as smtp:
        error = attempt(sender_to(smtp.port, tmp_path, smtp_tls="implicit", tls_ca=str(authority.path)))

    assert error.reason == "tls"
    assert "expired" in str(error)


def test_the_operator_trusts_whom_he_names(
    tmp_path: Path, authority: Authority, issue: Callable[..., Certificate]
) -> None:
    with starttls_server(issue("leaf")) as smtp:
        sender_to(smtp.port, tmp_path, smtp_tls="starttls", tls_ca=str(authority.path)).call("send", **MESSAGE)

    assert smtp.verbs[:4] == ["EHLO", "STARTTLS", "EHLO", "AUTH"]


@pytest.mark.parametrize(
    "ehlo", [b"250 x\r\n", b"250-x\r\n250 AUTH PLAIN\r\n", b"250-x\r\n250 XSTARTTLS\r\n"], ids=["bare", "auth", "other"]
)
def test_who_takes_starttls_away_gets_no_password(tmp_path: Path, ehlo: bytes) -> None:
    """Encryption that was asked for is not given up because a server, or somebody before it, does not offer it."""
    with ScriptedSmtp({"EHLO": ehlo}) as smtp:
        error = attempt(sender_to(smtp.port, tmp_path, smtp_tls="starttls"))

    assert error.reason == "tls"
    assert "smtp_tls: implicit" in str(error)
    assert "AUTH" not in smtp.verbs


def test_a_server_that_refuses_starttls_gets_no_password(tmp_path: Path) -> None:
    with ScriptedSmtp({"EHLO": b"250-x\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n", "STARTTLS": b"454 no\r\n"}) as smtp:
        error = attempt(sender_to(smtp.port, tmp_path, smtp_tls="starttls"))

    assert error.reason == "tls"
    assert "AUTH" not in smtp.verbs


def test_what_was_said_before_encryption_is_forgotten_after_it(
    tmp_path: Path, authority: Authority, issue: Callable[..., Certificate]
) -> None:
    """An answer put in before STARTTLS is not read behind it (github.com/dinhvh/libetpan/issues/386)."""
    injected = b"220 go\r\n250-evil\r\n250-PIPELINING\r\n250 AUTH LOGIN\r\n"
    with starttls_server(issue("leaf"), answers={"STARTTLS": injected}) as smtp:
        client = sender_to(smtp.port, tmp_path, smtp_tls="starttls", tls_ca=str(authority.path))
        client.call("send", **MESSAGE)

    assert [line.split(b" ")[1] for line in smtp.lines if line.startswith(b"AUTH")] == [b"PLAIN"]


def test_a_server_that_hangs_in_the_handshake_is_given_up(tmp_path: Path) -> None:
    with ScriptedSmtp(greeting=SILENCE) as smtp:
        error = attempt(sender_to(smtp.port, tmp_path, smtp_tls="implicit"), seconds=0.3)

    assert error.reason == "timeout"
    assert "TLS handshake; check smtp_host, smtp_port and smtp_tls" in str(error)


@pytest.mark.parametrize(
    ("greeting", "reason", "said"),
    [
        pytest.param(b"220 plain\r\n", "tls", "smtp_tls: starttls", id="plain"),
        pytest.param(CLOSE, "connection_lost", "TLS handshake", id="closed"),
    ],
)
def test_a_port_without_tls_is_recognised(tmp_path: Path, greeting: bytes, reason: str, said: str) -> None:
    with ScriptedSmtp(greeting=greeting) as smtp:
        error = attempt(sender_to(smtp.port, tmp_path, smtp_tls="implicit"))

    assert error.reason == reason
    assert said in str(error)


# --- the copy, where the other server misbehaves


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        pytest.param({"LIST": b"TAG OK done\r\n"}, "no folder for sent mail", id="no-folder"),
        pytest.param({"APPEND": b"TAG NO [OVERQUOTA] full\r\n"}, "no room", id="quota"),
        pytest.param({"UID SEARCH": b"close"}, "ended the connection", id="closed"),
        pytest.param({"LIST": b"TAG BAD what\r\n"}, "list the folders", id="bad"),
        pytest.param({"LIST": b"* LIST " + b"(" * 9999 + b"\r\nTAG OK\r\n"}, "nests lists", id="lists-in-lists"),
        pytest.param({"APPEND": b"* CAPABILITY " + b"(" * 9999 + b"\r\n"}, "cannot be known", id="nonsense"),
        pytest.param({"APPEND": b"+ more?\r\n"}, "cannot be known", id="asks-for-more"),
    ],
)
def test_a_message_stays_sent_whatever_the_mailbox_says(
    tmp_path: Path, answers: dict[str, bytes], expected: str
) -> None:
    sent = {"LIST": b'* LIST (\\Sent) "/" Sent\r\nTAG OK done\r\n', **answers}
    with ScriptedSmtp() as smtp, ScriptedImap(sent) as imap:
        client = sender_to(smtp.port, tmp_path, imap_host="127.0.0.1", imap_port=imap.port, imap_tls="none")
        answer = client.call("send", **MESSAGE)

    assert answer["accepted"] == MESSAGE["to"]
    assert answer["sent_copy"]["state"] == "not_saved"
    assert expected in answer["sent_copy"]["why"]


def test_a_message_stays_sent_although_this_program_has_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error would say that it was not sent, and it would be sent again."""

    def fail(*_args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("clitool_tools.mail.outgoing.sent._file", fail)
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path, imap_host="127.0.0.1", imap_port=1, imap_tls="none")
        answer = client.call("send", **MESSAGE, idempotency_key="k")

        assert (answer["accepted"], answer["sent_copy"]["state"]) == (MESSAGE["to"], "not_saved")
        assert client.call("send", **MESSAGE, idempotency_key="k") == answer


@pytest.mark.parametrize("save_sent", ["auto", "always"])
def test_a_copy_that_the_server_has_filed_is_not_filed_again(tmp_path: Path, save_sent: str) -> None:
    """Exactly one copy (github.com/pimalaya/himalaya/issues/693)."""
    answers = {
        "LIST": b'* LIST (\\Sent) "/" Sent\r\nTAG OK done\r\n',
        "UID SEARCH": b"* SEARCH 7\r\nTAG OK done\r\n",
    }
    with ScriptedSmtp() as smtp, ScriptedImap(answers) as imap:
        client = sender_to(smtp.port, tmp_path, imap_host="127.0.0.1", imap_port=imap.port, imap_tls="none")
        client.settings["save_sent"] = save_sent
        answer = client.call("send", **MESSAGE)

    assert answer["sent_copy"] == {"state": "already_there", "folder": "Sent"}
    assert "APPEND" not in imap.commands


@pytest.mark.parametrize("host", ["smtp.gmail.com", "SMTP.Office365.com", "smtp-mail.outlook.com"])
def test_a_server_that_files_copies_a_moment_later_is_not_asked(tmp_path: Path, host: str) -> None:
    client = sender_to(1, tmp_path, smtp_host=host, smtp_port=None, smtp_tls=None, imap_host="127.0.0.1", imap_port=1)
    servers = client.context().connection("")

    assert file_copy(servers, b"", "<a@b>") == {"state": "left_to_server"}
    client.settings["save_sent"] = "always"
    assert file_copy(client.context().connection(""), b"", "<a@b>")["state"] == "not_saved"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(CLOSE, id="closed"),
        pytest.param(b"* BYE\r\n" + CLOSE, id="goodbye"),
        pytest.param(b"+ more?\r\n", id="asks-for-more"),
        pytest.param(b"* CAPABILITY " + b"(" * 9999 + b"\r\n", id="nonsense"),
    ],
)
def test_a_draft_whose_filing_got_no_answer_may_have_been_filed(tmp_path: Path, answer: bytes) -> None:
    answers = {"LIST": b'* LIST (\\Drafts) "/" Drafts\r\nTAG OK done\r\n', "APPEND": answer}
    with ScriptedImap(answers) as imap:
        client = sender_to(1, tmp_path, imap_host="127.0.0.1", imap_port=imap.port, imap_tls="none")
        params = {"subject": "", "text": "", "idempotency_key": "k"}

        first, second = (client.refusal("draft", **params) for _ in range(2))

    assert first["details"]["reason"] == second["details"]["reason"] == "unknown_outcome"
    assert first["details"]["message_id"] == second["details"]["message_id"]
    assert imap.commands.count("APPEND") == 1
