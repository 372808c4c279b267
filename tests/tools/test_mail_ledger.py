"""What is sent once stays sent once: repeated calls, killed processes, many at a time, and the quota."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.mail.outgoing import quota
from sending_process import MOMENTS, SendingProcess
from sending_world import SendingWorld, sender_to
from services.scripted_smtp import ScriptedSmtp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from services.mail import MailServers

KEY = {"idempotency_key": "order 4711"}
PLACE = f"send  {hashlib.sha256(KEY['idempotency_key'].encode()).hexdigest()}"  # where the state of that call is kept


@pytest.fixture
def world(mail_servers: MailServers, tmp_path: Path) -> Iterator[SendingWorld]:
    """A sender and a receiver whom no other test has used."""
    made = SendingWorld(mail_servers, tmp_path)
    yield made
    made.close()


# --- the same call again


def test_the_same_call_with_the_same_key_sends_nothing_again(world: SendingWorld) -> None:
    first, second = world.send(**KEY), world.send(**KEY)

    assert second == first
    assert len(world.settled()) == 1
    assert len([copy for copy in world.messages("Sent") if b"The last one" not in copy]) == 1


def test_without_a_key_each_call_sends(world: SendingWorld) -> None:
    assert world.send()["message_id"] != world.send()["message_id"]
    assert len(world.received(2)) == 2


def test_different_keys_are_different_messages(world: SendingWorld) -> None:
    world.send(idempotency_key="a")
    world.send(idempotency_key="b")

    assert len(world.received(2)) == 2


def test_the_first_answer_comes_again_although_the_server_is_gone(world: SendingWorld) -> None:
    first = world.send(**KEY)
    world.settings |= {"smtp_port": 1, "imap_port": 1}

    assert world.send(**KEY) == first


CHANGES: list[Any] = [
    pytest.param({"subject": "Other"}, id="subject"),
    pytest.param({"text": "Other"}, id="text"),
    pytest.param({"html": "<p>"}, id="html"),
    pytest.param({"to": ["bob@example.test"]}, id="to"),
    pytest.param({"cc": ["bob@example.test"]}, id="cc"),
    pytest.param({"bcc": ["bob@example.test"]}, id="bcc"),
    pytest.param({"in_reply_to": "<a@b>"}, id="in-reply-to"),
    pytest.param({"attachments": ["b.txt"]}, id="file-of-another-name"),
    pytest.param({"attachments": []}, id="no-file"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_same_key_for_something_else_is_an_error(tmp_path: Path, change: dict[str, Any]) -> None:
    """Neither the other message is lost in silence, nor is it sent."""
    (tmp_path / "files").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "files" / name).write_text("x")
    params = {"to": ["ann@example.test"], "subject": "Hello", "text": "…", "attachments": ["a.txt"], **KEY}
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path, attachments_path="files")
        client.call("send", **params)

        assert client.reason("send", **{**params, **change}) == "key_reused"
        assert smtp.verbs.count("DATA") == 1


def test_a_file_that_has_changed_is_something_else(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("x")
    params = {"to": ["ann@example.test"], "subject": "Hello", "text": "…", "attachments": ["a.txt"], **KEY}
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path, attachments_path="files")
        client.call("send", **params)
        (tmp_path / "files" / "a.txt").write_text("y")

        assert client.reason("send", **params) == "key_reused"


def test_the_same_call_in_other_words_is_the_same(tmp_path: Path) -> None:
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path)
        first = client.call("send", to=["bob@example.test"], subject="a", text="b", **KEY)

        assert client.call("send", to="bob@EXAMPLE.test", cc=[], subject="a", text="b", **KEY) == first


def test_an_answer_that_is_too_long_to_be_kept_is_still_the_answer(tmp_path: Path) -> None:
    """The message is sent; only a repeated call has to say that nobody knows."""
    everybody = [f"u{number}@example.test" for number in range(1000)]
    refused = b"550 " + "漢".encode() * 300 + b"\r\n"
    with ScriptedSmtp({"RCPT": [b"250 ok\r\n", refused]}) as smtp:
        client = sender_to(smtp.port, tmp_path, max_recipients=1000)
        params = {"to": everybody, "subject": "", "text": "", **KEY}

        assert len(client.call("send", **params)["refused"]) == 999
        assert client.reason("send", **params) in ("locked", "unknown_outcome")
        assert smtp.verbs.count("DATA") == 1


def test_keys_of_accounts_and_tools_are_their_own(world: SendingWorld) -> None:
    settings = dict(world.settings)
    world.settings = {"connections": {"one": settings, "two": settings}}
    params = {"to": [world.receiver.user.address], "subject": "", "text": "", **KEY}

    answers = [world.call("send", **params, connection=name) for name in ("one", "two")]
    drafts = [world.call("draft", **params, connection=name) for name in ("one", "two", "two")]

    assert answers[0]["message_id"] != answers[1]["message_id"]
    assert drafts[0]["uid"] != drafts[1]["uid"] == drafts[2]["uid"]
    assert len(world.messages("Drafts")) == 2


def test_without_a_folder_for_state_a_key_or_a_quota_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    """What cannot be remembered is not promised."""
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path)
        client.has_state = False
        params = {"to": "bob@example.test", "subject": "", "text": ""}

        assert client.reason("send", **params, **KEY) == "state"
        client.settings["max_sends_per_hour"] = 5
        assert client.reason("send", **params) == "state"
        del client.settings["max_sends_per_hour"]
        assert client.call("send", **params)["message_id"]
    assert smtp.verbs.count("DATA") == 1


# --- killed

BEFORE = ("logging in", "envelope accepted")
UNKNOWN = ("entry made", "content unsent", "content sent", "taken by the server")
AFTER = ("answer kept", "copy begun", "copy filed")


def test_every_moment_is_tried() -> None:
    assert {*BEFORE, *UNKNOWN, *AFTER} == set(MOMENTS)


@pytest.mark.parametrize("moment", BEFORE)
def test_killed_before_it_could_be_sent_the_call_sends_when_it_is_repeated(world: SendingWorld, moment: str) -> None:
    assert killed(world, moment) == {}
    answer = world.send(**KEY)

    assert [answer["message_id"] in str(message) for message in world.settled()] == [True]


@pytest.mark.parametrize("moment", UNKNOWN)
def test_killed_while_it_may_have_been_sent_it_is_not_sent_again(world: SendingWorld, moment: str) -> None:
    """The message is there once or not at all, and the caller is told what cannot be known."""
    assert killed(world, moment) == {}

    again = repeated(world)
    assert again["details"]["reason"] == "locked"  # for all we know, the first call still runs
    expire(world)
    again = repeated(world)
    assert again["details"]["reason"] == "unknown_outcome"
    assert "cannot be known" in again["error"]
    messages = world.settled()
    assert len(messages) == (moment in ("content sent", "taken by the server"))
    assert all(again["details"]["message_id"].encode() in message for message in messages)


@pytest.mark.parametrize("moment", AFTER)
def test_killed_after_the_answer_was_kept_the_call_is_completed_when_it_is_repeated(
    world: SendingWorld, moment: str
) -> None:
    """Exactly one message and exactly one copy, whichever step was the last."""
    assert killed(world, moment) == {}
    if moment != "answer kept":  # for all we know, the first call still files it
        assert "another call" in world.send(**KEY)["sent_copy"]["why"]
        assert len(world.messages("Sent")) == (moment == "copy filed")
        state = world.state
        state.delete(f"copy {PLACE}")
        state.close()
    first, second = world.send(**KEY), world.send(**KEY)

    assert first == second
    assert first["sent_copy"]["state"] == ("already_there" if moment == "copy filed" else "saved")
    [message] = world.settled()
    [copy] = [one for one in world.messages("Sent") if b"The last one" not in one]
    assert first["message_id"].encode() in copy
    assert message.partition(b"Date: ")[2] == copy.partition(b"Date: ")[2]


def test_the_copy_that_is_filed_later_is_the_message_that_was_sent(world: SendingWorld) -> None:
    world.deliver(b"Message-ID: <3@x>\r\nReferences: <1@x>\r\nSubject: a\r\n\r\nb\r\n")
    params = {"to": [world.receiver.user.address], "subject": "Re", "text": "x", "in_reply_to": "<3@x>", **KEY}
    SendingProcess(world, "send", params, "answer kept").outcome()
    world.call("send", **params)

    [message], [copy] = world.received(), world.messages("Sent")
    assert message.partition(b"Date: ")[2] == copy.partition(b"Date: ")[2]
    assert b"References: <1@x> <3@x>" in copy


def killed(world: SendingWorld, moment: str) -> dict[str, Any]:
    params = {"to": [world.receiver.user.address], "subject": "Hello", "text": "…", **KEY}
    return SendingProcess(world, "send", params, moment).outcome()


def repeated(world: SendingWorld) -> dict[str, Any]:
    return world.refusal("send", to=[world.receiver.user.address], subject="Hello", text="…", **KEY)


def expire(world: SendingWorld) -> None:
    """Let the time pass by which the first process must have ended."""
    state = world.state
    state.set(PLACE, json.dumps({**json.loads(state.get(PLACE) or ""), "until": 0}))
    state.close()


# --- many at a time


def test_of_many_processes_with_one_key_one_sends(world: SendingWorld) -> None:
    params = {"to": [world.receiver.user.address], "subject": "Hello", "text": "…", **KEY}
    outcomes = [process.outcome() for process in [SendingProcess(world, "send", params) for _ in range(4)]]
    answers = [outcome for outcome in outcomes if "message_id" in outcome]
    refused = [outcome["details"]["reason"] for outcome in outcomes if "message_id" not in outcome]

    assert len({answer["message_id"] for answer in answers}) == 1
    assert set(refused) <= {"locked"}
    assert world.send(**KEY)["message_id"] == answers[0]["message_id"]
    assert len(world.settled()) == 1


def test_of_many_processes_as_many_send_as_the_quota_permits(tmp_path: Path) -> None:
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path, max_sends_per_hour=2)
        params = {"to": ["bob@example.test", "carl@example.test"], "subject": "", "text": ""}
        outcomes = [process.outcome() for process in [SendingProcess(client, "send", params) for _ in range(4)]]

    assert [outcome["details"]["reason"] for outcome in outcomes if "error" in outcome] == ["rate_limited"] * 2
    assert smtp.verbs.count("DATA") == 2  # messages are counted, not recipients


# --- the quota


def test_the_quota_is_that_of_the_last_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params = {"to": "bob@example.test", "subject": "", "text": ""}
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path, max_sends_per_hour=3)
        monkeypatch.setattr(quota, "_HOUR", 0.001)
        client.call("send", **params)  # long ago, soon
        monkeypatch.undo()
        for _ in range(3):
            client.call("send", **params)
        document = client.refusal("send", **params)

    assert document["details"]["reason"] == "rate_limited"
    assert "3 messages" in document["error"]
    assert "max_sends_per_hour" in document["error"]


def test_a_repeated_call_is_not_counted_again(tmp_path: Path) -> None:
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path, max_sends_per_hour=1)
        params = {"to": "bob@example.test", "subject": "", "text": "", **KEY}

        assert client.call("send", **params) == client.call("send", **params)


def test_each_account_has_its_quota(tmp_path: Path) -> None:
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path, max_sends_per_hour=1)
        client.settings = {"connections": {"one": client.settings, "two": client.settings}}
        params = {"to": "bob@example.test", "subject": "", "text": ""}
        for name in ("one", "two"):
            client.call("send", **params, connection=name)

            assert client.reason("send", **params, connection=name) == "rate_limited"


def test_a_killed_call_counts(tmp_path: Path) -> None:
    """It may have sent: better one message too few."""
    with ScriptedSmtp() as smtp:
        client = sender_to(smtp.port, tmp_path, max_sends_per_hour=1)
        params = {"to": "bob@example.test", "subject": "", "text": ""}
        SendingProcess(client, "send", params, "content sent").outcome()

        assert client.reason("send", **params) == "rate_limited"
