"""`mail_send` and `mail_draft` on real servers: what arrives, where, and what the caller is told."""

from __future__ import annotations

import os
from email import message_from_bytes
from email.policy import default
from typing import TYPE_CHECKING, Any

import pytest
from mail_world import MailWorld
from sending_world import SendingWorld

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from services.mail import MailServers


@pytest.fixture
def world(mail_servers: MailServers, tmp_path: Path) -> Iterator[SendingWorld]:
    """A sender and a receiver whom no other test has used."""
    made = SendingWorld(mail_servers, tmp_path)
    yield made
    made.close()


def read(data: bytes) -> Any:
    return message_from_bytes(data, policy=default)


# --- on the way


@pytest.mark.parametrize("tls", ["implicit", "starttls"])
@pytest.mark.parametrize("secret", ["password", "password_command", "token_command"])
def test_a_message_is_delivered_whichever_way(world: SendingWorld, tls: str, secret: str) -> None:
    ports = {"implicit": world.servers.postfix.smtps, "starttls": world.servers.postfix.submission}
    word = world.user.token if secret == "token_command" else world.user.password
    world.settings |= {"smtp_port": ports[tls], "smtp_tls": tls, "password": world.user.password}
    world.settings[f"smtp_{secret}"] = word if secret == "password" else ["printf", "%s\\nmore", word]

    answer = world.send(subject="Grüße")
    [message] = world.received()

    assert answer["accepted"] == [world.receiver.user.address]
    assert answer["refused"] == []
    assert read(message)["Message-ID"] == answer["message_id"]
    assert read(message)["Subject"] == "Grüße"
    assert read(message)["From"] == world.user.address


def test_a_relay_on_this_machine_without_encryption_is_not_told_a_password_that_it_does_not_want(
    world: SendingWorld,
) -> None:
    """Postfix offers no AUTH before TLS; so there is no login, and no message."""
    world.settings |= {"smtp_port": world.servers.postfix.smtp, "smtp_tls": "none"}

    assert world.reason("send", to=world.receiver.user.address, subject="", text="") == "login_failed"


@pytest.mark.parametrize(
    ("settings", "reason", "said"),
    [
        pytest.param({"smtp_password": "wrong-pw"}, "login_failed", "smtp_password", id="password"),
        pytest.param({"smtp_username": "nobody"}, "login_failed", "check username", id="user"),
        pytest.param({"smtp_token_command": ["printf", "wrong"]}, "login_failed", "fresh token", id="token"),
        pytest.param({"smtp_password_command": ["false"]}, "login_failed", "smtp_password_command", id="command"),
        pytest.param({"tls_ca": None}, "tls", "tls_ca", id="unknown-authority"),
        pytest.param({"tls_ca": "/nonexistent.pem"}, "settings", "tls_ca", id="no-authority"),
        pytest.param({"tls_ca": "/etc/hostname"}, "settings", "tls_ca", id="authority-is-none"),
        pytest.param({"smtp_port": "submission"}, "tls", "smtp_tls: starttls", id="starttls-wanted"),
        pytest.param({"smtp_port": "imaps"}, "unreachable", "does not speak SMTP", id="another-protocol"),
        pytest.param({"smtp_port": 1}, "unreachable", "smtp_port", id="nobody-listens"),
        pytest.param({"smtp_host": "nowhere.invalid"}, "unreachable", "smtp_host", id="no-such-host"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_with_what_to_set(
    world: SendingWorld, settings: dict[str, Any], reason: str, said: str
) -> None:
    ports = {"submission": world.servers.postfix.submission, "imaps": world.servers.dovecot.imaps}
    changed = {
        **world.settings,
        **{key: ports.get(value, value) if key == "smtp_port" else value for key, value in settings.items()},
    }
    world.settings = {key: value for key, value in changed.items() if value is not None}

    document = world.refusal("send", to=world.receiver.user.address, subject="", text="")

    assert document["details"]["reason"] == reason
    assert said in document["error"]
    assert "wrong" not in document["error"].replace("WRONG_VERSION_NUMBER", "")


def test_a_port_that_waits_for_tls_is_recognised_by_its_silence(world: SendingWorld) -> None:
    world.settings["smtp_tls"] = "starttls"

    with pytest.raises(Exception, match=r"no greeting.*smtp_tls: implicit") as caught:
        world.call("send", seconds=0.5, to=world.receiver.user.address, subject="", text="")

    assert caught.value.reason == "timeout"  # type: ignore[attr-defined]  # an error of the project's


# --- who gets it


def test_bcc_gets_the_message_and_nobody_sees_it(world: SendingWorld) -> None:
    hidden = MailWorld(world.servers)

    world.send(bcc=[f"Hidden <{hidden.user.address}>"], cc=[world.user.address])
    [first], [second], [third] = world.received(), world.received(world=hidden), world.received(world=world)

    for message in (first, second, third, *world.messages("Sent")):
        assert b"Bcc" not in message
        assert hidden.user.address.encode() not in message.partition(b"Date:")[2]
    hidden.close()


def test_the_same_mailbox_in_several_fields_gets_one_message(world: SendingWorld) -> None:
    address = world.receiver.user.address

    answer = world.send(to=[address, f"Again <{address}>"], cc=address.upper(), bcc=[address])

    assert answer["accepted"] == [address]
    assert len(world.settled()) == 1


def test_recipients_that_the_server_refuses_are_reported_and_the_others_get_it(world: SendingWorld) -> None:
    answer = world.send(to=[world.receiver.user.address], cc=["nobody-here@example.test"])

    assert answer["accepted"] == [world.receiver.user.address]
    [refused] = answer["refused"]
    assert (refused["address"], refused["code"]) == ("nobody-here@example.test", 550)
    assert "User unknown" in refused["message"]
    assert len(world.received()) == 1


def test_if_every_recipient_is_refused_that_is_an_error(world: SendingWorld) -> None:
    document = world.refusal("send", to=["nobody-here@example.test", "nor-here@example.test"], subject="", text="")

    assert document["details"]["reason"] == "refused"
    assert "'nobody-here@example.test' and 1 more" in document["error"]
    assert world.messages("Sent") == []


def test_a_recipient_who_is_not_listed_is_refused_before_the_server_is_asked(world: SendingWorld) -> None:
    world.settings["smtp_port"] = 1

    for field in ("to", "cc", "bcc"):
        params = {"to": [world.receiver.user.address], field: ["mallory@evil.test"]}
        assert world.reason("send", subject="", text="", **params) == "recipient_not_allowed"


def test_a_local_part_beyond_ascii_is_taken_where_the_server_can(world: SendingWorld) -> None:
    """Row 34: Postfix has SMTPUTF8; Dovecot behind it has not, so the mail comes back."""
    world.settings["allowed_recipients"] = ["jörg@example.test"]

    assert world.send(to=["Jörg <jörg@example.test>"])["accepted"] == ["jörg@example.test"]
    assert "\r\n <jörg@example.test>\r\n".encode() in world.messages("Sent")[0]


# --- what arrives


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(".\n..\n.x\n", id="57-dots"),
        pytest.param("x" * 3000 + "\n.\n" + "ü" * 3000, id="57-long"),
        pytest.param("end\n.\nQUIT\n", id="57-like-the-end"),
        pytest.param("From me\n\n\n", id="from"),
    ],
)
def test_a_text_arrives_unchanged(world: SendingWorld, text: str) -> None:
    world.send(text=text)
    [message] = world.received()

    assert read(message).get_content().replace("\r\n", "\n").removesuffix("\n") == text.removesuffix("\n")


@pytest.mark.parametrize(
    "subject",
    ["=?utf-8?q?hi=0D=0AReply-To:_evil=40evil.test?=", "=?utf-8?q?hi=0D=0A=0D=0Aforged?="],
    ids=["46", "46-body"],
)
def test_no_header_is_forged_on_the_way(world: SendingWorld, subject: str) -> None:
    """The bytes that arrive have the headers that were meant, after every server on the way."""
    world.send(subject=subject, text="real")
    [message] = world.received()

    assert b"\nReply-To" not in message
    assert read(message).get_content().strip() == "real"


def test_files_arrive(world: SendingWorld) -> None:
    (world.folder / "files" / "sub").mkdir()
    (world.folder / "files" / "sub" / "Übersicht 1.pdf").write_bytes(b"%PDF\0\r\n.\r\n")
    (world.folder / "files" / "b.txt").write_bytes(b"")

    world.send(attachments=["sub/Übersicht 1.pdf", str(world.folder / "files" / "b.txt")])
    [message] = world.received()
    files = [(part.get_filename(), part.get_payload(decode=True)) for part in read(message).iter_attachments()]

    assert files == [("Übersicht 1.pdf", b"%PDF\0\r\n.\r\n"), ("b.txt", b"")]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        pytest.param("../state/state.db", "outside_root", id="55"),
        pytest.param("../../.ssh/id_rsa", "outside_root", id="55-home"),
        pytest.param("/etc/passwd", "outside_root", id="55-absolute"),
        pytest.param("link.txt", "symlink", id="55-symlink"),
        pytest.param("folder/x", "symlink", id="55-symlink-on-the-way"),
        pytest.param("pipe", "not_regular", id="55-fifo"),
        pytest.param("hard.txt", "hardlink", id="55-hardlink"),
        pytest.param("dir", "is_directory", id="folder"),
        pytest.param("missing.txt", "not_found", id="missing"),
        pytest.param("a\0.txt", "bad_path", id="nul"),
        pytest.param("big.bin", "too_large", id="size"),
    ],
)
def test_a_file_outside_the_jail_is_not_sent(world: SendingWorld, path: str, reason: str) -> None:
    """Row 55: attachments come through the jail of their folder alone."""
    files = world.folder / "files"
    (world.folder / "secret.txt").write_text("secret")
    (files / "link.txt").symlink_to(world.folder / "secret.txt")
    (files / "folder").symlink_to(world.folder)
    (files / "dir").mkdir()
    os.mkfifo(files / "pipe")
    (files / "hard.txt").hardlink_to(world.folder / "secret.txt")
    (files / "big.bin").write_bytes(bytes(5000))
    world.settings |= {"max_message_bytes": 4096, "smtp_port": 1}

    assert world.reason("send", to="a@example.test", subject="", text="", attachments=[path]) == reason


def test_a_message_is_bounded_whole(world: SendingWorld) -> None:
    world.settings |= {"max_message_bytes": 4096, "smtp_port": 1}
    for name in ("a", "b"):
        (world.folder / "files" / name).write_bytes(bytes(2500))

    for params in ({"attachments": ["a", "b"]}, {"attachments": ["a"], "text": "x" * 1000}, {"text": "x" * 5000}):
        assert world.reason("send", to="a@example.test", subject="", **{"text": "", **params}) == "too_large"


def test_a_message_larger_than_the_server_takes_is_not_begun(world: SendingWorld) -> None:
    (world.folder / "files" / "a").write_bytes(bytes(8 << 20))

    document = world.refusal("send", to="a@example.test", subject="", text="", attachments=["a"])

    assert document["details"]["reason"] == "too_large"
    assert "10485760" in document["error"]


def test_an_answer_continues_its_thread(world: SendingWorld) -> None:
    world.deliver(
        b"Message-ID: <3@x>\r\nReferences: <1@x>\r\n\t<2@x> =?utf-8?q?=0D=0AX:_y?=\r\nSubject: a\r\n\r\nb\r\n"
    )

    world.send(in_reply_to="<3@x>")
    [message] = world.received()

    assert read(message)["In-Reply-To"] == "<3@x>"
    assert read(message)["References"].split() == ["<1@x>", "<2@x>", "<3@x>"]


def test_an_answer_to_a_message_that_is_not_there_is_sent_all_the_same(world: SendingWorld) -> None:
    world.send(in_reply_to="<3@x>")
    world.settings["password"], world.settings["smtp_password"] = "wrong-pw", world.user.password
    world.send(in_reply_to="<4@x>")

    assert [read(message)["References"] for message in world.received(2)] == ["<3@x>", "<4@x>"]


def test_a_rehearsal_asks_the_server_and_sends_nothing(world: SendingWorld) -> None:
    world.settings["max_sends_per_hour"] = 1
    answer = world.send(cc=["nobody-here@example.test"], dry_run=True, idempotency_key="k")

    assert answer["dry_run"] is True
    assert answer["message_id"] is None
    assert answer["accepted"] == [world.receiver.user.address]
    assert [one["code"] for one in answer["refused"]] == [550]
    assert world.settled() == []  # and the one message that may be sent is not used up
    assert len(world.messages("Sent")) == 1


def test_what_is_sent_is_listed_read_saved_marked_and_answered(world: SendingWorld, tmp_path: Path) -> None:
    subject, name = "=?utf-8?q?hi=0D=0AReply-To:_evil=40evil.test?=", "=?utf-8?q?x=0D=0AX-Evil:_1?=.txt"
    (world.folder / "files" / name).write_bytes(b"\0\r\n.\r\n")
    first = world.send(subject=subject, text="Grüße\n.\n", attachments=[name])
    world.received()
    receiver = world.receiver
    (tmp_path / "saved").mkdir()
    receiver.settings |= {"attachments_path": str(tmp_path / "saved"), "allowed_recipients": [world.user.address]}

    [row] = receiver.call("read_inbox", unread=True)["messages"]
    read_message = receiver.call("read_message", uid=row["uid"])["untrusted"]
    [attachment] = read_message["attachments"]
    saved = receiver.call("save_attachment", uid=row["uid"], part=attachment["part"], path="a.bin")
    receiver.call("mark_read", uids=[row["uid"]])
    thread = [*read_message["references"], read_message["message_id"]]
    answer = receiver.call("send", to=world.user.address, subject="Re", text="", in_reply_to=thread)
    [reply] = world.received(world=world)

    assert (row["subject"], read_message["subject"], read_message["text"].strip()) == (subject, subject, "Grüße\n.")
    assert (tmp_path / "saved" / saved["path"]).read_bytes() == b"\0\r\n.\r\n"
    assert receiver.call("read_inbox", unread=True)["messages"] == []
    assert first["message_id"] == read_message["message_id"] == read(reply)["In-Reply-To"]
    assert answer["message_id"] == read(reply)["Message-ID"]


# --- the copy


def test_a_copy_is_filed_and_read_already(world: SendingWorld) -> None:
    answer = world.send()
    [copy] = world.messages("Sent")
    [message] = world.received()

    assert answer["sent_copy"] == {"state": "saved", "folder": "Sent"}
    assert message.endswith(copy)
    assert world.flags(1, "Sent") == {"\\Seen"}


def test_never_means_never(world: SendingWorld) -> None:
    world.settings["save_sent"] = "never"

    assert world.send()["sent_copy"]["state"] == "not_saved"
    assert world.messages("Sent") == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param({"imap_host": None, "imap_port": None, "imap_tls": None}, "imap_host", id="no-imap"),
        pytest.param({"password": "wrong-pw"}, "check username", id="wrong-password"),
        pytest.param({"imap_port": 1}, "nothing listens", id="unreachable"),
    ],
)
def test_a_copy_that_cannot_be_filed_leaves_a_sent_message_sent(
    world: SendingWorld, settings: dict[str, Any], said: str
) -> None:
    changed = {**world.settings, "smtp_password": world.user.password, **settings}
    world.settings = {key: value for key, value in changed.items() if value is not None}

    answer = world.send()

    assert answer["sent_copy"]["state"] == "not_saved"
    assert said in answer["sent_copy"]["why"]
    assert len(world.received()) == 1


# --- drafts


def test_a_draft_waits_for_a_person(world: SendingWorld) -> None:
    """The list does not keep anything from being written down; it is shown what it would refuse."""
    answer = world.call(
        "draft",
        to=["Mallory <mallory@evil.test>", world.receiver.user.address],
        bcc=["hidden@evil.test"],
        subject="Grüße",
        text="a",
        html="<p>a",
    )
    [draft] = map(read, world.messages("Drafts"))

    assert answer == {
        "message_id": draft["Message-ID"],
        "folder": "Drafts",
        "uid": 1,
        "not_allowed": ["mallory@evil.test", "hidden@evil.test"],
        "dry_run": False,
    }
    assert draft["Bcc"] == "hidden@evil.test"
    assert {"\\Draft", "\\Seen"} == world.flags(1, "Drafts")
    assert world.messages("Sent") == []
    assert world.settled() == []


def test_a_draft_may_have_no_recipient(world: SendingWorld) -> None:
    del world.settings["allowed_recipients"]

    assert world.call("draft", subject="", text="")["not_allowed"] == []
    assert world.call("draft", subject="", text="", to="a@b.test")["not_allowed"] == ["a@b.test"]
    assert len(world.messages("Drafts")) == 2


def test_a_rehearsed_draft_is_not_filed(world: SendingWorld) -> None:
    answer = world.call("draft", subject="", text="", dry_run=True)

    assert (answer["folder"], answer["uid"], answer["dry_run"]) == ("Drafts", None, True)
    assert world.messages("Drafts") == []


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        pytest.param({"to": "a@b.test, c@d.test"}, "bad_address", id="9"),
        pytest.param({"subject": "a\r\nBcc: e@evil.test"}, "bad_header", id="44"),
        pytest.param({"in_reply_to": "x"}, "bad_header", id="50"),
        pytest.param({"attachments": ["../x"]}, "outside_root", id="55"),
        pytest.param({"text": None}, "schema", id="no-content"),
    ],
)
def test_a_draft_is_judged_like_a_message(world: SendingWorld, params: dict[str, Any], reason: str) -> None:
    given = {key: value for key, value in {"subject": "", "text": "", **params}.items() if value is not None}

    assert world.reason("draft", **given) == reason


def test_what_a_call_touches_is_numbers_and_files_and_no_address(world: SendingWorld) -> None:
    """The audit trail holds no values."""
    (world.folder / "files" / "a.txt").write_text("x")
    context = world.context()
    from clitool_tools.mail.sending import MailSend

    params: Any = {"to": [world.receiver.user.address, "bob@example.test"], "attachments": ["a.txt"], "dry_run": True}
    MailSend(context).execute(subject="s3cret", text="s3cret", **params)
    context.close()

    assert context.touches == {"connection": "", "recipients": 2, "attachments": ["a.txt"], "dry_run": True}
